"""Errors that the user can correct: each names the location, the fault and the remedy."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

LISTED_MAX = 12
"""Names that a hint lists at most."""

_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that a terminal interprets instead of showing them, except tab and newline: control
characters (ECMA-48), separators of lines and paragraphs, changes of the direction of writing
(Unicode Standard Annex 9), and halves of surrogate pairs."""

KeyPath = tuple[str | int, ...]
"""Location of a value in a scenario: keys and list positions from the top."""


class TailraceError(Exception):
    """An error that the user can correct; its text is complete and needs no traceback."""


class RunRefusedError(TailraceError):
    """A run cannot start or continue as requested, e.g. because the directory contains another
    run."""


class ScenarioWarning(UserWarning):
    """A valid scenario has a problem that may affect the result; the text has the form of an
    error's."""


def dotted(path: Iterable[str | int]) -> str:
    """The dotted form of a path: `workloads.XS.users` for `("workloads", "XS", "users")`."""
    return ".".join(str(part) for part in path)


def nearest(name: str, known: Sequence[str], likeness: float = 0.6) -> str | None:
    """The known name closest to `name`, ignoring case; None when none is close."""
    same = next((one for one in known if one.lower() == name.lower()), None)
    return same or next(iter(get_close_matches(name, known, n=1, cutoff=likeness)), None)


def listed(names: Sequence[str]) -> str:
    """The names, at most `LISTED_MAX` of them: a sweep has thousands of arms."""
    return ", ".join(names[:LISTED_MAX]) + (", ..." if len(names) > LISTED_MAX else "")


def escaped(text: str) -> str:
    """The text of others with `\\u001b` in place of an escape character, and so for all that a
    terminal obeys."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_line(text: str) -> str:
    """The text of others, escaped, in one line."""
    return escaped(text).replace("\n", "\\n").replace("\t", "\\t")


def few(names: Sequence[str], most: int) -> str:
    """The first names, at most `most` of them, and the number of the others: `a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def closest(name: str, known: Sequence[str], noun: str) -> str:
    """A hint with the closest known name, or otherwise a list of the known names."""
    if (near := nearest(name, known)) is not None:
        return f"did you mean '{near}'?"
    return f"{noun}: {listed(known)}" if known else f"there are no {noun}"


def known_arm(name: str, known: Sequence[str], where: str = "") -> str:
    """The name, when it is that of an arm; raises `RunRefusedError` with a hint otherwise. `where`
    is the file."""
    if name not in known:
        prefix = f"{where}: " if where else ""
        raise RunRefusedError(
            f"{prefix}there is no arm '{name}' (hint: {closest(name, known, 'arms')})"
        )
    return name


def reason_of(error: BaseException) -> str:
    """The reason for which a file could not be read, in one line, without error number and path."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, UnicodeDecodeError):
        return f"not valid UTF-8 (byte {error.start + 1})"
    return " ".join(str(error).split())


@dataclass(frozen=True, order=True)
class Problem:
    """One problem of a scenario."""

    file: str
    line: int
    """The first line is 1; 0 when the value is not in the file (e.g. a command-line override)."""
    path: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        location = f"{self.file}:{self.line}" if self.line else self.file
        key = f" {self.path}:" if self.path else ""
        hint = f" (hint: {self.hint})" if self.hint else ""
        return in_line(f"{location}:{key} {self.what}{hint}")


def _report_order(problem: Problem) -> tuple[bool, Problem]:
    """Sort key: problems without a line first, because an override (`--set`) is the likely cause of
    the others."""
    return problem.line > 0, problem


class ScenarioError(TailraceError):
    """A scenario that cannot be run. Lists all problems: those without a line first, then in the
    order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(set(problems), key=_report_order))
        super().__init__("\n".join(str(problem) for problem in self.problems))
