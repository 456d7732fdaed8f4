"""The files of a run directory: each is read as the run has written it, or refused."""

import re
from collections.abc import Mapping
from pathlib import Path

from tailrace.folder import Folder
from tailrace.json_text import json_text
from tailrace.outcome.journal import CHANGED, LOST, DamagedError, Digests, Journal, digest_of

MANIFEST = "manifest.json"
TRIALS = "trials"
ATTEMPT = ".attempt-"
"""Separates the number of a trial from that of an invalid attempt in file names."""
OUTCOME = "json"
"""End of the name of an outcome."""
TABLE = ".parquet"
_TRIAL = re.compile(rf"[0-9]{{1,9}}(?:{re.escape(ATTEMPT)}[0-9]{{1,9}})?")


class RunFiles:
    """The files of one run, by their names in its directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = Folder(path)
        self.journal = Journal(self.folder)

    def read(self, name: str) -> bytes:
        """The content of a file; raises `OSError`, or `DamagedError` for another one than the run
        has written."""
        content = self.folder.read(name)
        if self.journal.is_kept:
            self.journal.together(*parted(name), content)
        return content

    def read_if_kept(self, name: str) -> bytes | None:
        """The same; None where the run has not written it. Raises `DamagedError` for one that is
        lost."""
        try:
            return self.read(name)
        except FileNotFoundError:
            if self.journal.expects(*parted(name)):
                raise DamagedError(LOST) from None
            return None

    def write(self, name: str, content: bytes) -> None:
        """Writes a file whole or not at all, once its identity is noted in a run that has a
        journal."""
        if self.journal.is_kept:
            stem, end = parted(name)
            self.journal.add(stem, {end: content})
        self.folder.write(name, content)

    def write_json(self, name: str, content: object) -> None:
        """Writes JSON, as `write`."""
        self.write(name, f"{json_text(content)}\n".encode())

    def write_trial(
        self, stem: str, outcome: bytes, tables: Mapping[str, bytes | memoryview]
    ) -> None:
        """Writes the tables of a trial, then its outcome: a trial with an outcome is complete."""
        ends = {f"{name}{TABLE}": content for name, content in tables.items()}
        if self.journal.is_kept:
            self.journal.add(stem, {OUTCOME: outcome, **ends})
        for end, content in ends.items():
            self.folder.write(f"{stem}.{end}", content)
        self.folder.write(f"{stem}.{OUTCOME}", outcome)


def is_trial(name: str) -> bool:
    """Whether this is the name of a trial, or of an attempt, without the end: `1`,
    `1.attempt-2`."""
    return _TRIAL.fullmatch(name) is not None


def parted(name: str) -> tuple[str, str]:
    """The stem and the end of a file that was written by itself."""
    stem, _, end = name.rpartition(".")
    return stem, end


class TrialFiles:
    """The files of one trial, or of an attempt that was repeated."""

    def __init__(self, run: RunFiles, folder: str, name: str) -> None:
        """`folder` is that of the arm, such as `trials/fifo`; `name` is `1`, or `1.attempt-2`."""
        self._run, self._folder, self.name = run, folder, name
        self._digests: Digests | None = None
        """Of the outcome and the files written with it, once the outcome was read."""

    @property
    def stem(self) -> Path:
        """Where its files stand, without the ends of their names."""
        return self._run.path / self._folder / self.name

    @property
    def outcome_path(self) -> Path:
        """Where its outcome stands."""
        return self._run.path / self._named(OUTCOME)

    def table_path(self, table: str) -> Path:
        """Where its table of this name stands; it need not exist."""
        return self._run.path / self._named(f"{table}{TABLE}")

    def read_outcome(self) -> bytes:
        """Its outcome; raises `OSError`, or `DamagedError` for another one than the run has
        written."""
        content, journal = self._run.folder.read(self._named(OUTCOME)), self._run.journal
        if journal.is_kept:
            self._digests = journal.together(
                f"{self._folder}/{self.name.partition('.')[0]}", OUTCOME, content
            )
        return content

    def tables(self) -> list[str]:
        """Names of its tables; in a run with a journal, those in the journal."""
        names = self._expected() if self._run.journal.is_kept else self._there()
        return [name.removesuffix(TABLE) for name in names if name.endswith(TABLE)]

    def has(self, table: str) -> bool:
        """Whether it has a table of this name; raises as `read_outcome`."""
        if not self._run.journal.is_kept:
            return self._run.folder.has(self._named(f"{table}{TABLE}"))
        return f"{table}{TABLE}" in self._expected()

    def read_table(self, table: str) -> bytes:
        """The content of a table; raises as `read_outcome`."""
        end = f"{table}{TABLE}"
        expected = self._expected().get(end) if self._run.journal.is_kept else None
        try:
            content = self._run.folder.read(self._named(end))
        except FileNotFoundError:
            if expected is not None:
                raise DamagedError(LOST) from None
            raise
        if expected is not None and digest_of(content) != expected:
            raise DamagedError(CHANGED)
        return content

    def beside(self, end: str) -> str:
        """The name of another file of the trial, for callers that read and write it themselves."""
        return self._named(end)

    @property
    def run(self) -> RunFiles:
        """The files of its run."""
        return self._run

    def _named(self, end: str) -> str:
        return f"{self._folder}/{self.name}.{end}"

    def _expected(self) -> Digests:
        if self._digests is None:
            self.read_outcome()
        assert self._digests is not None, "the journal is kept"
        return self._digests

    def _there(self) -> list[str]:
        first = f"{self.name}."
        return [
            name.removeprefix(first)
            for name in self._run.folder.names(self._folder)
            if name.startswith(first)
        ]
