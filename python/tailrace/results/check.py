"""Whether a run directory is as the run has written it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tailrace.errors import TailraceError, reason_of
from tailrace.folder import IrregularFileError
from tailrace.outcome.journal import LOST
from tailrace.outcome.run_files import MANIFEST, OUTCOME, TRIALS, RunFiles, TrialFiles, is_trial
from tailrace.results.directory.kept import read_manifest, read_object
from tailrace.results.directory.run_directory import FINISHED, Run
from tailrace.results.large.lines import Lines
from tailrace.results.large.summary import is_large

REPAIR = (
    "run the same command again: it repeats the trials that are "
    "damaged, and writes other files again"
)


@dataclass
class Checked:
    """The checked files and the faults found."""

    has_identities: bool
    """False of a run of an earlier version: nothing could be compared."""
    trials: int = 0
    tables: int = 0
    others: int = 0
    problems: list[str] = field(default_factory=list)
    """A sentence for each file."""

    def is_sound(self, path: Path, read: Callable[[], object]) -> bool:
        """Reads a file and records its faults."""
        try:
            read()
        except IrregularFileError as error:
            self.problems.append(str(error))
        except FileNotFoundError:
            self.problems.append(f"{path}: {LOST}")
        except (OSError, ValueError) as error:
            self.problems.append(f"{path}: {reason_of(error)}")
        else:
            return True
        return False


def check_run(path: Path) -> Checked:
    """Compares every file that results are read from with its SHA-256, and reads the run as results
    do.

    Raises `RunDirectoryError` where it is no run directory, or the manifest is not the written one.
    """
    files = RunFiles(path)
    manifest = read_object(files, MANIFEST, "name a run directory; `tailrace list` shows them")
    if is_large(manifest):
        return Checked(True, trials=sum(len(lines) for lines in Lines(files.folder).read()))
    read_manifest(files)
    found = Checked(files.journal.is_kept)
    if found.has_identities:
        for trial in _trials(files, is_finished=manifest.get("state") == FINISHED):
            _check_trial(trial, found)
        for name in _others(files):
            found.others += 1
            found.is_sound(files.path / name, partial(files.read, name))
    if not found.problems:
        try:
            read = Run.read(path)
        except TailraceError as error:
            found.problems.append(str(error))
        else:
            found.trials = sum(len(trials) for trials in read.trials.values())
    return found


def _trials(files: RunFiles, *, is_finished: bool) -> Iterator[TrialFiles]:
    """Existing trial files, including repeated attempts, and the missing ones of a finished run."""
    found = set(_written(files)) if is_finished else set()
    for arm in files.folder.folders(TRIALS):
        names = [name.removesuffix(f".{OUTCOME}") for name in files.folder.names(f"{TRIALS}/{arm}")]
        found |= {f"{TRIALS}/{arm}/{name}" for name in names if is_trial(name)}
    for stem in sorted(found):
        folder, _, name = stem.rpartition("/")
        yield TrialFiles(files, folder, name)


def _check_trial(trial: TrialFiles, found: Checked) -> None:
    found.trials += 1
    if found.is_sound(trial.outcome_path, trial.read_outcome):
        for table in trial.tables():
            found.tables += 1
            found.is_sound(trial.table_path(table), partial(trial.read_table, table))


def _others(files: RunFiles) -> list[str]:
    """Names of the files that were written by themselves."""
    trials = {*_written(files)}
    return sorted(f"{stem}.{end}" for stem, end in files.journal.written() if stem not in trials)


def _written(files: RunFiles) -> Iterator[str]:
    """Stems of the trials that were written."""
    return (stem for stem in files.journal.stems(TRIALS) if stem.rpartition("/")[2].isdecimal())
