"""The run directory: files are written atomically, and no result is ever overwritten."""

import fcntl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from msgspec import ValidationError, convert

from tailrace.errors import RunRefusedError, reason_of
from tailrace.experiment.native import Columns
from tailrace.experiment.schedule import TrialKey
from tailrace.files import PART, make_folder, named, read_json, write_bytes, write_json
from tailrace.outcome.stored import FORMAT, Planned, StoredTrial, format_words, read_stored, write_stored
from tailrace.outcome.tables import check_table

KEPT = ("ok", "invalid")
"""Statuses of trials that are results; failed trials run again when the run is resumed."""

ATTEMPT = ".attempt-"
"""Separates the number of a trial from that of an invalid attempt in file names."""
MANIFEST = "manifest.json"
LOCK = "run.lock"
BEGINNINGS = frozenset({"trials", LOCK})
"""Files that a run directory may have before its manifest is written."""

COLUMN_FORMATS: dict[str, Literal["I", "Q", "d"]] = {"u32": "I", "u64": "Q", "f64": "d"}
"""Column types of the simulator, and their formats in Python's buffer protocol."""


class UnusableTrialError(ValueError):
    """The files of a trial are there and cannot be used; the text says which and why."""


class RunDirectory:
    """The folder of a run and its files."""

    def __init__(self, path: Path, planned: Callable[[TrialKey], Planned] | None = None) -> None:
        """`planned` tells what the file of a trial has to be of; None where no trials are read."""
        self.path = path
        self._planned = planned

    def open(self, identity: str) -> dict[str, Any] | None:
        """Creates the directory, or opens it when it holds the same run; returns the manifest that it held.

        Raises `RunRefusedError` when it contains anything else.
        """
        manifest = self.manifest()
        if manifest is not None and (version := manifest.get("manifest_version")) != FORMAT:
            raise RunRefusedError(f"{self.path}: {format_words(version)} (hint: choose another --out)")
        if manifest is not None and manifest.get("identity") != identity:
            held = manifest.get("name", "another run")
            raise RunRefusedError(
                f"{self.path}: the directory holds another run ('{held}'; plans, seed, engine, fabric or build differ);"
                " results are not overwritten (hint: choose another --out)"
            )
        if manifest is not None:
            self._refuse_damaged(manifest)
        if manifest is None and self.path.exists() and not self._is_fresh():
            raise RunRefusedError(
                f"{self.path}: the directory is not empty and is not a run directory (hint: choose another --out)"
            )
        try:
            make_folder(self.path / "trials")
        except OSError as error:
            raise RunRefusedError(
                f"{error.filename}: cannot create it: {error.strerror} (hint: choose another --out)"
            ) from None
        return manifest

    def _refuse_damaged(self, manifest: dict[str, Any]) -> None:
        """Raises `RunRefusedError` for a manifest that results could not read."""
        from tailrace.results.directory.manifest import Manifest

        try:
            convert(manifest, Manifest)
        except ValidationError as error:
            raise RunRefusedError(
                f"{self.path / MANIFEST}: cannot be read: {error} (hint: choose another --out)"
            ) from None

    def _is_fresh(self) -> bool:
        """Whether the folder contains nothing but the first files of a run that was killed or has just started."""
        if not self.path.is_dir():
            return False
        is_begun = self.lock_path.exists()
        names = {file.name for file in self.path.iterdir() if not file.name.startswith(".manifest.json.")}
        return not names - (BEGINNINGS if is_begun else {"trials"}) and not any(self.path.glob("trials/*"))

    @property
    def lock_path(self) -> Path:
        """The file that the running process has locked."""
        return self.path / LOCK

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes from writing to the same run."""
        with self.lock_path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunRefusedError(
                    f"{self.path}: another process is running this experiment (hint: wait until it has finished)"
                ) from None
            for folder in ("", "plans/", "trials/*/"):
                for left in self.path.glob(f"{folder}.*{PART}"):
                    left.unlink(missing_ok=True)  # left by a process that was killed
            yield

    def manifest(self) -> dict[str, Any] | None:
        """The manifest; None when there is none."""
        return read_object(self.path / MANIFEST)

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Replaces the manifest."""
        write_json(self.path / MANIFEST, manifest)

    def trial_path(self, key: TrialKey) -> Path:
        """File of a trial's outcome."""
        return self.path / "trials" / key.folder / f"{key.number}.json"

    def finished(self, key: TrialKey) -> StoredTrial | None:
        """A trial that is a result; None without one, for a failed trial, and where its files are unusable.

        Raises `RunRefusedError` where a folder is in the place of one of them.
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
        path = self.trial_path(key)
        assert self._planned is not None, f"{path} is read without a plan"
        try:
            held = read_stored(path, self._planned(key))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except IsADirectoryError:
            raise _folder(path) from None
        except ValueError as error:
            raise UnusableTrialError(f"{path}: {reason_of(error)}") from None
        for table in path.parent.glob(f"{key.number}.*.parquet"):
            try:
                check_table(table)
            except IsADirectoryError:
                raise _folder(table) from None
            except ValueError as error:
                raise UnusableTrialError(f"{table}: {error}") from None
        return held

    def is_there(self, key: TrialKey) -> bool:
        """Whether a trial has an outcome, including a failed one; an empty file is none, and a file is not read, which
        takes a second for each large one.
        """
        path = self.trial_path(key)
        return path.is_file() and path.stat().st_size > 0

    def attempts(self, key: TrialKey) -> int:
        """Number of times that a trial has ended."""
        path = self.trial_path(key)
        return len(list(path.parent.glob(f"{key.number}{ATTEMPT}*.json"))) + path.exists()

    def _set_aside(self, key: TrialKey) -> None:
        """Renames an earlier attempt, its tables first: no outcome is left with the tables of another attempt."""
        path = self.trial_path(key)
        name = f"{key.number}{ATTEMPT}{self.attempts(key)}"
        for table in path.parent.glob(f"{key.number}.*.parquet"):
            with named(table):
                table.replace(table.with_name(name + table.name.removeprefix(str(key.number))))
        with named(path):
            path.replace(path.with_name(f"{name}.json"))

    def write_trial(self, key: TrialKey, stored: StoredTrial, tables: Mapping[str, Columns]) -> None:
        """Writes the tables of a trial, then its outcome: a trial with an outcome is complete.

        An earlier, invalid attempt is kept beside it.
        """
        path = self.trial_path(key)
        make_folder(path.parent)
        if self.finished(key) is not None:
            self._set_aside(key)
        for name, columns in tables.items():
            write_bytes(path.with_name(f"{key.number}.{name}.parquet"), parquet(columns))
        write_stored(path, stored)

    def write_plan(self, key: TrialKey, plan: dict[str, Any]) -> None:
        """Keeps the plan of an arm's first trial beside the results."""
        path = self.path / "plans" / f"{key.folder}.json"
        if not path.exists():
            make_folder(path.parent)
            write_json(path, plan)

    def copy(self, source: Path, name: str) -> None:
        """Copies a file of the scenario into the run."""
        with named(source):
            content = source.read_bytes()
        write_bytes(self.path / name, content)


def _folder(path: Path) -> RunRefusedError:
    return RunRefusedError(f"{path}: it is a folder, in the place of a file (hint: remove it)")


def read_object(path: Path) -> dict[str, Any] | None:
    """A JSON object; None when the file is missing or incomplete."""
    try:
        content = read_json(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def parquet(columns: Columns) -> memoryview:
    """One table as the content of a Parquet file.

    It is made in memory, where it is smaller than the columns, and written like all other files: the table writer would
    panic on a full disk.
    """
    from arro3.core import Array, Table
    from arro3.io import write_parquet as write

    arrays: dict[str, Any] = {
        name: Array.from_buffer(memoryview(data).cast(COLUMN_FORMATS[kind])) for name, (kind, data) in columns.items()
    }
    made = BytesIO()
    write(Table.from_pydict(arrays), made, compression="zstd(1)")
    return made.getbuffer()
