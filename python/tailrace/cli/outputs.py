"""Checks of output files, and of trials that differ from those of the run: the same for every
command."""

from pathlib import Path

from tailrace.errors import RunRefusedError


def refuse_unwritable(option: str, file: Path, example: str) -> None:
    """Refuses a place where no file can be written, before any work is done."""
    if file.is_dir():
        raise RunRefusedError(
            f"{option}: {file}: this is a directory (hint: name a file, such as {file / example})"
        )
    if not file.absolute().parent.is_dir():
        raise RunRefusedError(
            f"{option}: {file}: there is no directory {file.parent} (hint: mkdir -p {file.parent})"
        )
