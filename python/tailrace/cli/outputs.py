"""Files that a command is to write, and trials that are not those of the run: checked and told alike everywhere."""

from pathlib import Path

from tailrace.cli.console import note
from tailrace.errors import RunRefusedError
from tailrace.experiment.explain import other_events_words
from tailrace.experiment.schedule import TrialKey


def refuse_unwritable(option: str, file: Path, example: str) -> None:
    """Refuses a place where no file can be written, before any work is done."""
    if file.is_dir():
        raise RunRefusedError(f"{option}: {file}: this is a directory (hint: name a file, such as {file / example})")
    if not file.absolute().parent.is_dir():
        raise RunRefusedError(f"{option}: {file}: there is no directory {file.parent} (hint: mkdir -p {file.parent})")


def warn_other_events(key: TrialKey, more: str = "") -> None:
    """Warns that a trial, simulated once more, was another one than that of the run."""
    note(other_events_words(key, more))
