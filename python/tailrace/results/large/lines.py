"""The trials of a large sweep: a line of JSON for each, in a file for each thousand points.

`trials/000012.jsonl` holds the points 12000 to 12999 in the order in which their trials ended. A later line about the
same trial replaces an earlier one: failed trials run again.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tailrace.errors import TailraceError
from tailrace.files import named, write_bytes

POINTS_OF_FILE = 1000
IMPOSSIBLE = "impossible"
"""Status of a point that makes no sound scenario; its line has the number 0 and stands for all of its trials."""
KEPT = ("ok", "invalid", IMPOSSIBLE)
"""Statuses of trials that do not run again."""


@dataclass(frozen=True)
class Line:
    """One trial."""

    point: int
    """Number of the point, from 0; the last axis is the fastest."""
    arm: str
    trial: int
    """From 1; 0 stands for all trials of the arm at the point."""
    status: str
    reason: str = ""
    seed: int | None = None
    digest: str | None = None
    wall_s: float = 0.0
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    """By workload and metric, in the unit that ends the metric's name; those that a trial lacks are absent."""
    bounds: dict[str, list[str]] = field(default_factory=dict)
    """By workload the metrics that are lower bounds, because transactions were running when the trial ended."""


class Lines:
    """The files of a large sweep."""

    def __init__(self, run: Path) -> None:
        self.folder = run / "trials"

    def add(self, line: Line) -> None:
        """Appends a line; raises `OSError` with the name of the file."""
        path = self._path(line.point)
        text = json.dumps({key: value for key, value in asdict(line).items() if value not in ("", None, {})})
        with named(path), path.open("ab") as file:
            file.write(text.encode() + b"\n")

    def mend(self) -> None:
        """Removes the incomplete last lines that a process left when it was killed."""
        for path in self.files():
            with named(path), path.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - 1))
                is_whole = size == 0 or file.read(1) == b"\n"
            if not is_whole:
                content = path.read_bytes()
                write_bytes(path, content[: content.rfind(b"\n") + 1])

    def files(self) -> list[Path]:
        """The files, points in order."""
        return sorted(self.folder.glob("*.jsonl"))

    def read(self) -> Iterator[dict[tuple[int, str, int], Line]]:
        """The trials of each file, by point, arm and number; raises `TailraceError` for a line that is damaged."""
        for path in self.files():
            found: dict[tuple[int, str, int], Line] = {}
            with named(path), path.open("rb") as file:
                for number, text in enumerate(file, start=1):
                    if text.endswith(b"\n"):
                        line = _parsed(path, number, text)
                        found[line.point, line.arm, line.trial] = line
            yield found

    def _path(self, point: int) -> Path:
        return self.folder / f"{point // POINTS_OF_FILE:06}.jsonl"


def _parsed(path: Path, number: int, text: bytes) -> Line:
    try:
        return Line(**json.loads(text))
    except (ValueError, TypeError):
        hint = "remove the line, and run the same command again"
        raise TailraceError(f"{path}:{number}: not a line of a large sweep (hint: {hint})") from None
