"""The trials of a large sweep: a line of JSON for each, in a file for each thousand points.

`trials/000012.jsonl` holds the points 12000 to 12999 in the order in which their trials ended. A
later line about the same trial replaces an earlier one: failed trials run again.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from msgspec import convert

from tailrace.errors import TailraceError
from tailrace.folder import Folder
from tailrace.outcome.run_files import TRIALS

POINTS_OF_FILE = 1000
IMPOSSIBLE = "impossible"
"""Status of a point that makes the scenario invalid; its line has the number 0 and stands for all
of its trials."""
SUFFIX = ".jsonl"
SHA256 = "sha256"
"""Key of the identity of a line; those of earlier versions have none."""
DIGITS = 16
"""Hexadecimal digits of it: 64 bits, against accidents."""
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
    """By workload and metric, in the unit that ends the metric's name; absent figures of a trial
    are omitted."""
    bounds: dict[str, list[str]] = field(default_factory=dict)
    """By workload the metrics that are lower bounds, because transactions were running when the
    trial ended."""


_KEYS = {key.name for key in fields(Line)}


class Lines:
    """The files of a large sweep."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def add(self, line: Line) -> None:
        """Appends a line; raises `OSError` with the name of the file."""
        name = f"{TRIALS}/{line.point // POINTS_OF_FILE:06}{SUFFIX}"
        self._folder.append(name, _text(line))

    def mend(self) -> None:
        """Removes the incomplete last lines that a process left when it was killed."""
        for name in self.names():
            content = self._folder.read(name)
            if content and not content.endswith(b"\n"):
                self._folder.write(name, content[: content.rfind(b"\n") + 1])

    def names(self) -> list[str]:
        """The names of the files, points in order."""
        return [f"{TRIALS}/{name}" for name in self._folder.names(TRIALS) if name.endswith(SUFFIX)]

    def count(self) -> int:
        """Number of lines."""
        return sum(self._folder.read(name).count(b"\n") for name in self.names())

    def read(self) -> Iterator[dict[tuple[int, str, int], Line]]:
        """The trials of each file, by point, arm and number; raises `TailraceError` for a line that
        is damaged."""
        for name in self.names():
            found: dict[tuple[int, str, int], Line] = {}
            with self._folder.opened(name) as file:
                for number, text in enumerate(file, start=1):
                    if text.endswith(b"\n"):
                        line = _parsed(self._folder.path / name, number, text)
                        found[line.point, line.arm, line.trial] = line
            yield found


def _text(line: Line) -> bytes:
    """A line that ends with its checksum: the beginning of the SHA-256 of the preceding text."""
    text = json.dumps(
        {key: value for key, value in asdict(line).items() if value not in ("", None, {})}
    )
    return f'{text[:-1]}, "{SHA256}": "{_digest(text[:-1])}"}}\n'.encode()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _read(text: bytes) -> Line:
    held = json.loads(text)
    before = text.decode().rpartition(f', "{SHA256}"')[0]
    if held.pop(SHA256, None) not in (None, _digest(before)) or not held.keys() <= _KEYS:
        raise ValueError(SHA256)
    return convert(held, Line)


def _parsed(path: Path, number: int, text: bytes) -> Line:
    try:
        return _read(text)
    except (ValueError, TypeError, RecursionError):
        hint = "remove the line, and run the same command again"
        raise TailraceError(
            f"{path}:{number}: not a line of a large sweep (hint: {hint})"
        ) from None
