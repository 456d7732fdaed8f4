"""Lines of a file and of its included files, each with its location, and the problems found in
them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from tailrace.errors import Problem, ScenarioError, reason_of
from tailrace.files import read_text
from tailrace.importers.remarks import Remarks, Verdict

INCLUDES_MAX = 16
"""Nesting of included files."""
IMPORTED_BYTES_MAX = 20_000_000
"""Of an imported file; a larger one is no configuration."""
LINES_MAX = 100_000
"""Lines of a file and of all included files."""


@dataclass(frozen=True)
class Location:
    """A line of the file, or of an included file."""

    file: str
    line: int
    via: int = 0
    """Line of the main file that includes it; 0 for lines of the main file itself."""

    @property
    def of_main(self) -> int:
        """The line of the main file."""
        return self.via or self.line


@dataclass(frozen=True)
class Line:
    """One line of text and its location."""

    text: str
    location: Location


@dataclass
class Findings:
    """Remarks about every line, and the problems for which nothing is written."""

    remarks: Remarks = field(default_factory=lambda: Remarks(about="requests"))
    problems: list[Problem] = field(default_factory=list)
    source: str = ""
    """The importer and the file, as in `tailrace import fio a.fio`."""
    unset: dict[str, tuple[Location, str]] = field(default_factory=dict)
    """Variables without a value: where the first of them stands, and a usual value."""

    def say(self, location: Location, text: str, verdict: Verdict, words: str) -> None:
        """Adds a remark; one about an included line names that file and line."""
        self.advance_to(location, text)
        self.remarks.add(location.of_main, _shown(location, text), verdict, words)

    def advance_to(self, location: Location, text: str) -> None:
        """Advances to a piece of a line: remarks are in the order of the pieces."""
        self.remarks.advance_to(location.of_main, _shown(location, text))

    def assume(self, words: str, text: str = "") -> None:
        """Adds a remark about a setting that the file does not state."""
        self.remarks.add(0, text, "assumed", words)

    def fault(self, location: Location, key: str, what: str, hint: str = "") -> None:
        """Adds a problem for which the file is refused."""
        self.problems.append(Problem(location.file, location.line, key, what, hint))

    def stop_if_faulty(self) -> None:
        """Raises all collected problems, if any."""
        if self.problems:
            self._refuse_unset()
            raise ScenarioError(self.problems)

    def refuse(self, location: Location, key: str, what: str, hint: str = "") -> NoReturn:
        """Raises this problem together with the collected ones."""
        self.fault(location, key, what, hint)
        self._refuse_unset()
        raise ScenarioError(self.problems)

    def _refuse_unset(self) -> None:
        """All variables without a value, with a command that gives them usual ones."""
        if not self.unset:
            return
        location = next(iter(self.unset.values()))[0]
        defines = " ".join(f"--define {name}={usual}" for name, (_, usual) in self.unset.items())
        command = f"tailrace import {self.source} {defines}"
        what = f"without a value: {', '.join(self.unset)}"
        self.fault(location, "variables", what, f"with values of yours: {command}")


def included(
    name: str, location: Location, folders: list[Path], findings: Findings, open_files: list[Path]
) -> tuple[Path, str]:
    """Path and text of an included file, which must not be one of `open_files`."""
    found = next((path for folder in folders if _is_file(path := folder / name)), None)
    if found is None:
        findings.refuse(
            location, "include", f"cannot find the file '{name}'", f"looked in {folders[0] or '.'}"
        )
    if any(found.resolve() == one.resolve() for one in open_files):
        findings.refuse(
            location,
            "include",
            f"'{name}' includes itself",
            "a file may not be included while it is being read",
        )
    if len(open_files) > INCLUDES_MAX:
        findings.refuse(location, "include", f"more than {INCLUDES_MAX} nested includes")
    try:
        return found, read_text(found, IMPORTED_BYTES_MAX)
    except (OSError, UnicodeDecodeError) as error:
        findings.refuse(location, "include", f"cannot read '{name}': {reason_of(error)}")


def _shown(location: Location, text: str) -> str:
    return f"{location.file}:{location.line}: {text}" if location.via else text


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name with NUL, or one that is too long
        return False
