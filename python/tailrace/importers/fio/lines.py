"""Lines of a job file: sections with their options, comments, `include`, `${ENVIRONMENT}`,
`$pagesize`.

The rules are those of the HOWTO of fio 3 ("Job file format").
"""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.importers.fio.options import ALIASES
from tailrace.importers.storage.source import LINES_MAX, Findings, Location, included

GLOBAL = "global"
COMMENT = re.compile(r"[;#].*")
"""A comment ends every line, within values too (parse.c, `strip_blank_end`)."""
VARIABLE = re.compile(r"\$\{(\w+)\}")
RESERVED = {"pagesize": "4096", "ncpus": "4", "mb_memory": "16384"}
"""fio's own keywords; of the machine only the size of a page is usual, the others are assumed."""
USUAL = {
    "bs": "4k",
    "filename": "/dev/nvme0n1",
    "iodepth": "16",
    "ioengine": "libaio",
    "numjobs": "1",
    "rate": "10m",
    "rate_iops": "1000",
    "runtime": "60",
    "rw": "randread",
    "size": "10g",
}
"""Values that a hint proposes for the variables of options."""
SECTIONS_MAX = 1000


@dataclass(frozen=True)
class Option:
    """One option of a section."""

    name: str
    value: str | None
    """None: the option stands alone."""
    text: str
    location: Location


@dataclass
class Section:
    """One job, or `[global]`, with the options of its own."""

    name: str
    location: Location
    options: list[Option] = field(default_factory=list)


@dataclass
class Lines:
    """Reads the sections of a file."""

    findings: Findings
    variables: dict[str, str] = field(default_factory=dict)
    sections: list[Section] = field(default_factory=list)
    count: int = 0

    def read(self, text: str, file: Path) -> list[Section]:
        """All sections, in order."""
        self._file(text, file, 0, [file])
        return self.sections

    def _file(self, text: str, file: Path, via: int, open_files: list[Path]) -> None:
        for number, raw in enumerate(text.splitlines(), start=1):
            location = Location(str(file), number, via)
            self.count += 1
            if self.count > LINES_MAX:
                self.findings.refuse(
                    location, "", f"more than {LINES_MAX} lines", "expected a fio job file"
                )
            line = COMMENT.sub("", raw).strip()
            if not line:
                continue
            if line.startswith("["):
                self._section(line, location)
            elif line.split()[0] == "include" and "=" not in line.split()[0]:
                self._include(line, location, file, open_files)
            else:
                self._option(line, location)

    def _section(self, line: str, location: Location) -> None:
        name = line[1:].partition("]")[0].strip()
        if "]" not in line or not name:
            self.findings.refuse(
                location, "", f"'{line[:60]}' is not the head of a section", "write [NAME]"
            )
        if location.via:
            self.findings.refuse(
                location, f"[{name}]", "an included file may not contain sections", "only options"
            )
        if len(self.sections) >= SECTIONS_MAX:
            self.findings.refuse(location, f"[{name}]", f"more than {SECTIONS_MAX} sections")
        self.sections.append(Section(name, location))

    def _include(self, line: str, location: Location, file: Path, open_files: list[Path]) -> None:
        name = self._expand(line.partition("include")[2].strip(), location, "include")
        if not name:
            self.findings.refuse(location, "include", "no file is named", "write include FILE")
        path, text = included(name, location, [Path(), file.parent], self.findings, open_files)
        self.findings.say(location, line, "understood", f"{len(text.splitlines())} lines")
        self._file(text, path, location.of_main, [*open_files, path])

    def _option(self, line: str, location: Location) -> None:
        if not self.sections:
            self.findings.refuse(
                location,
                "",
                f"'{line[:60]}' stands before the first section",
                "write [global] above it",
            )
        name, equals, value = line.partition("=")
        key = name.strip().lower()
        shown = self._expand(value.strip(), location, ALIASES.get(key, key)) if equals else None
        self.sections[-1].options.append(Option(name.strip().lower(), shown, line, location))

    def _expand(self, value: str, location: Location, key: str) -> str:
        """The value with its variables: those of --define first, then the environment, as fio reads
        it."""
        for name in VARIABLE.findall(value):
            found = self.variables.get(name, os.environ.get(name, ""))
            if not found:
                self.findings.unset.setdefault(name, (location, USUAL.get(key, "VALUE")))
                self.findings.say(
                    location,
                    f"${{{name}}}",
                    "assumed",
                    f"not set, and so empty: --define {name}=VALUE",
                )
            value = value.replace(f"${{{name}}}", found)
        for name, usual in RESERVED.items():
            if f"${name}" in value:
                if name != "pagesize":
                    self.findings.say(
                        location, f"${name}", "assumed", f"{usual}, of an assumed machine"
                    )
                value = value.replace(f"${name}", usual)
        return value
