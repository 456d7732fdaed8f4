"""The run directory: files are written atomically, and no result is ever overwritten."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from errno import EISDIR, ENOTDIR
from io import BytesIO
from os import stat_result
from pathlib import Path
from typing import Any, Literal

from msgspec import ValidationError, convert

from tailrace.errors import RunRefusedError, reason_of
from tailrace.experiment.native import Columns
from tailrace.experiment.schedule import TrialKey
from tailrace.files import parse_json, read_bytes
from tailrace.folder import Folder, IrregularFileError
from tailrace.outcome.journal import JOURNAL, LOST, DamagedError
from tailrace.outcome.run_files import (
    ATTEMPT,
    MANIFEST,
    OUTCOME,
    TABLE,
    TRIALS,
    RunFiles,
    TrialFiles,
)
from tailrace.outcome.stored import (
    FORMAT,
    Planned,
    StoredTrial,
    format_words,
    read_stored,
    stored_bytes,
)
from tailrace.outcome.tables import check_table

KEPT = ("ok", "invalid")
"""Statuses of trials that are results; failed trials run again when the run is resumed."""

LOCK = "run.lock"
BEGINNINGS = frozenset({TRIALS, JOURNAL, LOCK})
"""Files that a run directory may have before its manifest is written."""
OTHER_OUT = "(hint: choose another --out)"

COLUMN_FORMATS: dict[str, Literal["I", "Q", "d"]] = {"u32": "I", "u64": "Q", "f64": "d"}
"""Column types of the simulator, and their formats in Python's buffer protocol."""


class UnusableTrialError(ValueError):
    """The files of a trial are there and cannot be used; the text says which and why."""


class RunDirectory:
    """The folder of a run and its files."""

    def __init__(self, path: Path, planned: Callable[[TrialKey], Planned] | None = None) -> None:
        """`planned` returns the identity that the file of a trial must have; None where no trials
        are read."""
        self.files = RunFiles(path)
        self._planned = planned
        self._sound: dict[str, tuple[int, ...]] = {}
        """Tables whose digest was verified, with the file metadata that changes with the file."""

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.files.path

    @path.setter
    def path(self, path: Path) -> None:
        self.files = RunFiles(path)

    def open(self, identity: str) -> dict[str, Any] | None:
        """Creates the directory, or opens it when it holds the same run; returns its manifest.

        Raises `RunRefusedError` for a directory with other content.
        """
        manifest = self.manifest()
        if manifest is not None and (version := manifest.get("manifest_version")) != FORMAT:
            raise RunRefusedError(f"{self.path}: {format_words(version)} {OTHER_OUT}")
        if manifest is not None and manifest.get("identity") != identity:
            held = manifest.get("name", "another run")
            raise RunRefusedError(
                f"{self.path}: the directory holds another run ('{held}'; plans, seed, engine, "
                "fabric or build differ);"
                f" results are not overwritten {OTHER_OUT}"
            )
        if manifest is not None:
            self._refuse_damaged(manifest)
        if manifest is None and self.path.exists() and not self._is_fresh():
            why = (
                f": {MANIFEST} cannot be read"
                if self.path.is_dir() and self.files.folder.has(MANIFEST)
                else ""
            )
            raise RunRefusedError(
                f"{self.path}: the directory is not empty and is not a run "
                f"directory{why} {OTHER_OUT}"
            )
        try:
            self.files.folder.make(TRIALS)
        except OSError as error:
            if isinstance(error, IrregularFileError):
                raise
            raise RunRefusedError(
                f"{error.filename}: cannot create it: {error.strerror} {OTHER_OUT}"
            ) from None
        return manifest

    def _refuse_damaged(self, manifest: dict[str, Any]) -> None:
        """Raises `RunRefusedError` for a manifest that results could not read, or that the run has
        not written."""
        from tailrace.results.directory.manifest import Manifest
        from tailrace.results.directory.names import manifest_fault

        try:
            fault = manifest_fault(convert(manifest, Manifest))
            if not fault and self.files.journal.is_kept:
                self.files.read(MANIFEST)
        except (ValidationError, DamagedError) as error:
            fault = str(error)
        if fault:
            raise RunRefusedError(f"{self.path / MANIFEST}: cannot be read: {fault} {OTHER_OUT}")
        if manifest.get("journal") and not self.files.journal.is_kept:
            raise RunRefusedError(f"{self.path / JOURNAL}: {LOST} {OTHER_OUT}")

    def _is_fresh(self) -> bool:
        """Whether the folder contains nothing but the first files of a run that was killed or has
        just started."""
        if not self.path.is_dir():
            return False
        folder = self.files.folder
        is_begun = folder.has(LOCK)
        names = {
            name
            for name in (*folder.names(), *folder.folders())
            if not name.startswith(f".{MANIFEST}.")
        }
        held = [*folder.names(TRIALS), *folder.folders(TRIALS)]
        return not names - (BEGINNINGS if is_begun else {TRIALS}) and not held

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes from writing to the same run."""
        folder = self.files.folder
        try:
            with folder.locked(LOCK):
                # Left by a process that was killed.
                for below in (
                    "",
                    "plans",
                    *(f"{TRIALS}/{name}" for name in folder.folders(TRIALS)),
                ):
                    folder.remove_parts(below)
                self.files.journal.begin()
                yield
        except BlockingIOError:
            raise RunRefusedError(
                f"{self.path}: another process is running this experiment (hint: wait until it "
                "has finished)"
            ) from None

    def manifest(self) -> dict[str, Any] | None:
        """The manifest; None when there is none."""
        return self.object(MANIFEST)

    def object(self, name: str) -> dict[str, Any] | None:
        """The JSON object in a file; None when the file is missing or incomplete."""
        try:
            content = parse_json(self.files.folder.read(name))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        return content if isinstance(content, dict) else None

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Replaces the manifest."""
        self.files.write_json(MANIFEST, {**manifest, "journal": JOURNAL})

    def trial_files(self, key: TrialKey) -> TrialFiles:
        """The files of a trial."""
        return TrialFiles(self.files, f"{TRIALS}/{key.folder}", str(key.number))

    def trial_path(self, key: TrialKey) -> Path:
        """File of a trial's outcome."""
        return self.trial_files(key).outcome_path

    def finished(self, key: TrialKey) -> StoredTrial | None:
        """A finished trial with a result; None where there is none, for a failed trial, and where
        its files are unusable.

        Raises `IrregularFileError` where a folder has the name of one of them.
        """
        try:
            held = self._read(key)
        except UnusableTrialError:
            return None
        return held if held is not None and held.status in KEPT else None

    def problem(self, key: TrialKey) -> str | None:
        """Why the files of a trial are unusable; None where they are usable or absent."""
        try:
            self._read(key)
        except UnusableTrialError as error:
            return str(error)
        return None

    def _read(self, key: TrialKey) -> StoredTrial | None:
        files = self.trial_files(key)
        assert self._planned is not None, f"{files.stem} is read without a plan"
        file = files.outcome_path
        try:
            held = read_stored(files.read_outcome(), self._planned(key))
            for table in files.tables():
                file = files.table_path(table)
                self._check_table(files, table)
        except FileNotFoundError:
            return None
        except IrregularFileError as error:
            if error.errno in (EISDIR, ENOTDIR) or error.filename != str(file):
                raise  # no file can be written in its place
            raise UnusableTrialError(f"{file}: {error.strerror}") from None
        except ValueError as error:
            raise UnusableTrialError(f"{file}: {reason_of(error)}") from None
        return held

    def _check_table(self, files: TrialFiles, table: str) -> None:
        """Raises as `TrialFiles.read_table`; a verified table is not read again."""
        name = files.beside(f"{table}{TABLE}")
        if (status := self.files.folder.status(name)) is not None and self._sound.get(
            name
        ) == _signature(status):
            return
        content = files.read_table(table)
        check_table(content, table)
        if status is not None:
            self._sound[name] = _signature(status)

    def is_there(self, key: TrialKey) -> bool:
        """Whether a trial has an outcome, including a failed one; an empty file is none, and a file
        is not read, which takes a second for each large one.
        """
        status = self.files.folder.status(self.trial_files(key).beside(OUTCOME))
        return status is not None and status.st_size > 0

    def attempts(self, key: TrialKey) -> int:
        """Number of times that a trial has ended."""
        files = self.trial_files(key)
        first = f"{key.number}{ATTEMPT}"
        names = self.files.folder.names(f"{TRIALS}/{key.folder}")
        return sum(
            name.startswith(first) and name.endswith(f".{OUTCOME}") for name in names
        ) + self.files.folder.has(files.beside(OUTCOME))

    def _set_aside(self, key: TrialKey) -> None:
        """Renames an earlier attempt, its tables first: no outcome is left with the tables of
        another attempt."""
        files, folder = self.trial_files(key), self.files.folder
        aside = TrialFiles(
            self.files, f"{TRIALS}/{key.folder}", f"{key.number}{ATTEMPT}{self.attempts(key)}"
        )
        for end in (*(f"{table}{TABLE}" for table in files.tables()), OUTCOME):
            folder.rename(files.beside(end), aside.beside(end))

    def write_trial(
        self, key: TrialKey, stored: StoredTrial, tables: Mapping[str, Columns]
    ) -> None:
        """Writes a trial with its tables. An earlier, invalid attempt is kept beside it."""
        if self.finished(key) is not None:
            self._set_aside(key)
        contents = {name: parquet(columns) for name, columns in tables.items()}
        self.files.write_trial(
            f"{TRIALS}/{key.folder}/{key.number}", stored_bytes(stored), contents
        )

    def write_plan(self, key: TrialKey, plan: dict[str, Any]) -> None:
        """Keeps the plan of an arm's first trial beside the results, unless it is there."""
        name = f"plans/{key.folder}.json"
        try:
            self.files.read(name)
        except (FileNotFoundError, IrregularFileError, DamagedError):
            self.files.write_json(name, plan)

    def copy(self, source: Path, name: str) -> None:
        """Copies a file of the scenario into the run."""
        content = read_bytes(source)
        self.files.write(name, content)


def _signature(status: stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def outcome_bytes(path: Path) -> int:
    """Size of the plans and outcomes of a run directory, by which the time for its summary
    grows."""
    folder = Folder(path)
    folders = ["plans", *(f"{TRIALS}/{name}" for name in folder.folders(TRIALS))]
    names = [
        f"{below}/{name}"
        for below in folders
        for name in folder.names(below)
        if name.endswith(".json")
    ]
    return sum(status.st_size for name in names if (status := folder.status(name)) is not None)


def parquet(columns: Columns) -> memoryview:
    """One table as the content of a Parquet file.

    It is made in memory, where it is smaller than the columns, and written like all other files:
    the table writer would panic on a full disk.
    """
    from arro3.core import Array, Table
    from arro3.io import write_parquet as write

    arrays: dict[str, Any] = {
        name: Array.from_buffer(memoryview(data).cast(COLUMN_FORMATS[kind]))
        for name, (kind, data) in columns.items()
    }
    made = BytesIO()
    write(Table.from_pydict(arrays), made, compression="zstd(1)")
    return made.getbuffer()
