"""Files that a command is to write, and trials that are not those of the run: checked and told
alike everywhere."""

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
