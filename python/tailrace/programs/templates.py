"""Templates of databases: loaded once, copied for each trial.

A template is a stopped data directory below the run's folder, named by its content. Trials share no
pages, locks, statistics or log.
"""

import hashlib
import shutil
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tailrace.files import make_folder, read_json, write_json
from tailrace.programs.command import Command
from tailrace.programs.needed import Needed
from tailrace.programs.program_runner import ProgramRunner
from tailrace.scenario.lowering.plan import canonical_json

TABLE_BYTES = 64_000_000
"""A table has rows for about this much, so that every data set fits the server's own memory."""
ROWS_MIN = 2
ROWS_MAX = 1000
LOAD_LIMIT_S = 120.0
COPY_LIMIT_S = 60.0
NAME_DIGITS = 12

CP = Needed("cp", "coreutils", "--version", "restoring databases")


@dataclass(frozen=True)
class Template:
    """A loaded data directory and the facts that identify a correct copy."""

    data: Path
    rows: Mapping[int, int]
    """Rows of each table by the size of the answers that they make."""
    facts: Mapping[str, str]
    """By table: count, bytes and checksum of the rows, as the database itself computes them."""


def rows_of(response_bytes: int) -> int:
    """How many rows a table has."""
    return min(ROWS_MAX, max(ROWS_MIN, TABLE_BYTES // max(1, response_bytes)))


def sizes_of(workloads: Iterable[Mapping[str, Any]]) -> frozenset[int]:
    """Response sizes that workloads of a plan request."""
    return frozenset(trip["response_bytes"] for raw in workloads for trip in raw["round_trips"])


def sizes_kept(workloads: Iterable[Mapping[str, Any]]) -> frozenset[int]:
    """Sizes of the rows that workloads of a cluster read or write."""
    return frozenset(row_size(trip) for raw in workloads for trip in raw["round_trips"])


def is_write(trip: Mapping[str, Any]) -> bool:
    """Whether a statement writes, where the database takes writes: it sends more than it gets."""
    return bool(trip["request_bytes"] > trip["response_bytes"])


def row_size(trip: Mapping[str, Any]) -> int:
    """Size of the row of a statement of a cluster."""
    return int(trip["request_bytes"] if is_write(trip) else trip["response_bytes"])


class Templates(ABC):
    """The templates of one run."""

    def __init__(
        self, folder: Path, open_runner: Callable[[Path], AbstractContextManager[ProgramRunner]]
    ) -> None:
        """`open_runner` opens a runner for the programs that make them, which may write into a
        folder."""
        self._folder = folder.absolute()
        self._open_runner = open_runner
        self._lock = threading.Lock()

    @abstractmethod
    def identity(self) -> list[Any]:
        """Properties that distinguish a template from another one with the same rows: versions of
        the server and of its layout."""

    @abstractmethod
    def load(self, runner: ProgramRunner, rows: Mapping[int, int]) -> tuple[str, Mapping[str, str]]:
        """Makes a data directory in the scratch folder, and stops its server; returns it and the
        facts of its rows."""

    def get(self, sizes: frozenset[int]) -> Template:
        """The template with tables for these sizes of answers; made where it is not there."""
        rows = {size: rows_of(size) for size in sorted(sizes)}
        kind = canonical_json([*self.identity(), sorted(rows.items())])
        path = self._folder / hashlib.sha256(kind.encode()).hexdigest()[:NAME_DIGITS]
        with self._lock:  # of two trials at the same time
            if not (path / "facts.json").exists():
                self._make(path, rows)
        return Template(path / "data", rows, read_json(path / "facts.json"))

    def _make(self, path: Path, rows: Mapping[int, int]) -> None:
        shutil.rmtree(path, ignore_errors=True)  # left by a run that was killed while loading
        make_folder(path)
        with self._open_runner(path / "lab") as runner:
            data, facts = self.load(runner, rows)
            copy_tree(runner, "keep", data, str(path / "data"))
        shutil.rmtree(path / "lab")
        write_json(path / "facts.json", dict(facts))


Made = TypeVar("Made", bound=Templates)


class Stock:
    """The templates of several databases, each in a folder of its own."""

    def __init__(
        self, folder: Path, open_runner: Callable[[Path], AbstractContextManager[ProgramRunner]]
    ) -> None:
        self._folder = folder
        self._open_runner = open_runner
        self._lock = threading.Lock()
        self._made: dict[type[Templates], Templates] = {}

    def of(self, kind: type[Made]) -> Made:
        """Those of one database."""
        with self._lock:  # of two trials at the same time
            if kind not in self._made:
                self._made[kind] = kind(self._folder / kind.__name__, self._open_runner)
            found = self._made[kind]
        assert isinstance(found, kind), "it was made as this"
        return found


def copy_tree(runner: ProgramRunner, name: str, source: str, target: str) -> None:
    """Copies a folder with owners and modes; shared where the file system can."""
    runner.run(Command(name, ["cp", "--archive", "--reflink=auto", source, target]), COPY_LIMIT_S)
