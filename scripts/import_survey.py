"""Imports every file of a folder and prints a table of what became of its lines.

    scripts/import_survey.py fio FOLDER...
    scripts/import_survey.py vdbench FOLDER...

A file is imported, has nothing to import (file systems, other engines), or is refused with its
reason. The columns count remarks by verdict.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.errors import ScenarioError
from tailrace.importers.fio.importer import import_fio
from tailrace.importers.remarks import WORDS
from tailrace.importers.storage.scenario import Setting
from tailrace.importers.vdbench.importer import import_vdbench

IMPORTERS = {"fio": import_fio, "vdbench": import_vdbench}
COLUMNS = {
    "understood": "read",
    "no-effect": "none",
    "not-modelled": "NOT MOD",
    "not-understood": "UNKNOWN",
    "contradiction": "CONTRA",
    "assumed": "assumed",
}
STARTS = ("sd=", "wd=", "rd=", "hd=", "fsd=", "fwd=")
"""What lines of a vdbench file begin with, if nothing in its name says so."""
FILE_BYTES_MAX = 1_000_000


@dataclass
class Row:
    """One file."""

    path: Path
    outcome: str
    reason: str = ""
    counts: Counter[str] = field(default_factory=Counter)


def main() -> int:
    """Prints the table; the exit code is 1 if a file was refused."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", choices=list(IMPORTERS))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--define", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    setting = Setting(variables=dict(text.partition("=")[::2] for text in arguments.define))
    rows = [
        _row(arguments.source, path, setting)
        for folder in arguments.folders
        for path in _files(arguments.source, folder)
    ]
    _print(rows)
    return 1 if any(row.outcome == "refused" for row in rows) else 0


def _files(source: str, folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*") if folder.is_dir() else [folder]):
        if not path.is_file() or path.stat().st_size > FILE_BYTES_MAX:
            continue
        if path.suffix == ".fio" if source == "fio" else _is_vdbench(path):
            yield path


def _is_vdbench(path: Path) -> bool:
    """Parameter files have no usual suffix: those with a line that starts a definition of each kind
    that they need."""
    if path.suffix in (".html", ".java", ".sh", ".py", ".ps1", ".orig", ".md", ".csv"):
        return False
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except UnicodeDecodeError:
        return False
    return any(line.startswith("rd=") for line in lines) and any(
        line.startswith(STARTS) for line in lines
    )


def _row(source: str, path: Path, setting: Setting) -> Row:
    try:
        scenario, remarks = IMPORTERS[source](path.read_text(encoding="utf-8-sig"), path, setting)
    except ScenarioError as error:
        return Row(path, "refused", str(error.problems[0]))
    except UnicodeDecodeError:
        return Row(path, "refused", "not UTF-8")
    counts = Counter[str](remark.verdict for remark in remarks.found)
    if scenario is None:
        return Row(path, "nothing", "", counts)
    return Row(path, "imported", "", counts)


def _print(rows: list[Row]) -> None:
    print(f"{'':9}" + "".join(f"{title:>8}" for title in COLUMNS.values()) + "  file")
    for row in rows:
        numbers = "".join(f"{row.counts[verdict] or '':>8}" for verdict in COLUMNS)
        print(
            f"{row.outcome:9}{numbers}  {row.path}"
            + (f"\n{'':10}{row.reason}" if row.reason else "")
        )
    outcomes = Counter(row.outcome for row in rows)
    total: Counter[str] = Counter()
    for row in rows:
        total += row.counts
    assert set(COLUMNS) == set(WORDS)
    print(
        f"{len(rows)} files: "
        + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    )
    print(", ".join(f"{total[verdict]} {title}" for verdict, title in COLUMNS.items()))


if __name__ == "__main__":
    sys.exit(main())
