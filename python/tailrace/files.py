"""Files that appear whole or not at all, and JSON that is read within bounds.

Every error of the system names the file, also where the system does not (a failed write or fsync has no name), and
means the file that was to be there and not the part beside it.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tailrace.json_text import json_text

PART = ".part"
"""Ends the name of a file that is being written."""
DEPTH_MAX = 64
"""Levels of nesting in a file that people or other programs write; a scenario has about eight."""


class TooDeepError(ValueError):
    """A file is nested deeper than anything that is meant."""

    def __init__(self) -> None:
        super().__init__(f"nested deeper than {DEPTH_MAX} levels")


def write_json(path: Path, content: object) -> None:
    """Writes JSON so that readers see the old file or the whole new one; raises `OSError` with the name of the file."""
    write_text(path, json_text(content) + "\n")


def write_text(path: Path, text: str) -> None:
    """As `write_json`, for text."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """As `write_json`, for any content."""
    part = path.with_name(f".{path.name}.{os.getpid()}{PART}")
    with named(path):
        try:
            with part.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            with suppress(OSError):  # the first error is the one to tell
                part.unlink(missing_ok=True)
            raise


def read_json(path: Path) -> Any:
    """The content of a JSON file; raises `OSError`, or `ValueError` where it is no JSON."""
    with named(path):
        text = path.read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except RecursionError:
        raise TooDeepError from None


def make_folder(path: Path) -> None:
    """Makes a folder and those above it where they are not there."""
    with named(path):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Errors of the system inside carry the name of this file."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename == str(path):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
