"""Lines of a parameter file: comments, `eof`, `include=`, variables, and parameters repeated for
each host.

The rules are those of vdbench 5.04 (Vdb_scan.java, InsertHosts.java).
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.importers.storage.source import LINES_MAX, Findings, Line, Location, included

COMMENTS = ("/", "#", "*")
OBJECTS = ("sd", "fsd", "wd", "fwd", "rd", "hd")
VARIABLE = re.compile(r"=\(?[$!](?!host\b)([A-Za-z_]\w*)")
"""vdbench searches unresolved variables directly behind `=`; here also in a list."""


@dataclass
class Lines:
    """Reads the lines that hold parameters."""

    findings: Findings
    variables: dict[str, str] = field(default_factory=dict)
    kept: list[Line] = field(default_factory=list)
    unresolved: set[str] = field(default_factory=set)

    def read(self, text: str, file: Path) -> list[Line]:
        """Lines of the file and of its included files."""
        self._file(text, file, 0, [file])
        return self.kept

    def _file(self, text: str, file: Path, via: int, open_files: list[Path]) -> None:
        for number, raw in enumerate(text.splitlines(), start=1):
            location = Location(str(file), number, via)
            line = self._substitute(raw.strip(), location)
            if line.startswith("eof"):
                self.findings.say(
                    location, line, "no-effect", "end of the parameters; the rest is not read"
                )
                return
            if not line or line.startswith(COMMENTS):
                continue
            if line.startswith("include="):
                self._include(line, location, file, open_files)
            elif len(self.kept) >= LINES_MAX:
                self.findings.refuse(
                    location,
                    "",
                    f"more than {LINES_MAX} lines",
                    "expected a vdbench parameter file",
                )
            else:
                self.kept.append(Line(line, location))

    def _include(self, line: str, location: Location, file: Path, open_files: list[Path]) -> None:
        name = line.partition("=")[2].split()[0] if line.partition("=")[2].split() else ""
        if not name:
            self.findings.refuse(location, "include", "no file is named", "write include=FILE")
        path, text = included(name, location, [file.parent, Path()], self.findings, open_files)
        self.findings.say(
            location, f"include={name}", "understood", f"{len(text.splitlines())} lines"
        )
        self._file(text, path, location.of_main, [*open_files, path])

    def _substitute(self, line: str, location: Location) -> str:
        if line.startswith(COMMENTS):
            return line
        for name, value in self.variables.items():
            line = line.replace(f"${name}", value).replace(f"!{name}", value)
        for name in VARIABLE.findall(line):
            if name not in self.unresolved:
                self.unresolved.add(name)
                what = f"the variable '{name}' has no value"
                self.findings.unset[name] = (location, "VALUE")
                self.findings.fault(
                    location,
                    name,
                    what,
                    f"vdbench takes it from its command line: --define {name}=VALUE",
                )
        return line


def repeated_for_hosts(lines: list[Line], hosts: list[str]) -> list[Line]:
    """Repeats every definition with `$host`, `!host` or `#host` for each host, with its name or
    number inserted."""
    lines = [Line(line.text.replace("#hosts", str(len(hosts))), line.location) for line in lines]
    out: list[Line] = []
    for definition in _definitions(lines):
        is_repeated = any(_of_host(line.text, "", 0) != line.text for line in definition)
        if not is_repeated or definition[0].text.startswith("rd="):
            out += definition
            continue
        for number, host in enumerate(hosts):
            out += [Line(_of_host(line.text, host, number), line.location) for line in definition]
    return out


def _of_host(text: str, host: str, number: int) -> str:
    return text.replace("$host", host).replace("!host", host).replace("#host", str(number))


def _definitions(lines: list[Line]) -> list[list[Line]]:
    """Lines of each definition together: from a line that starts one to the next such line."""
    found: list[list[Line]] = []
    for line in lines:
        if not found or line.text.startswith(OBJECTS):
            found.append([line])
        else:
            found[-1].append(line)
    return found
