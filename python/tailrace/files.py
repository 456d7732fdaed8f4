"""Atomic writing of files, and reading of JSON with bounded nesting.

Every `OSError` names the destination file, also where the system gives no name (a failed write or fsync) or the
name of the temporary file beside it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tailrace.json_text import json_text, read_json_text

PART = ".part"
"""Suffix of a file that is being written."""
DEPTH_MAX = 64
"""Levels of nesting in a file that is read; a scenario has about eight."""


class TooDeepError(ValueError):
    """A file is nested deeper than `DEPTH_MAX`."""

    def __init__(self) -> None:
        super().__init__(f"nested deeper than {DEPTH_MAX} levels")


def write_json(path: Path, content: object) -> None:
    """Writes JSON atomically: readers see the old file or the complete new one.

    Raises `OSError` with the file's name.
    """
    write_text(path, f"{json_text(content)}\n")


def write_text(path: Path, text: str) -> None:
    """Writes text atomically, like `write_json`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Writes bytes atomically, like `write_json`."""
    part = path.with_name(f".{path.name}.{os.getpid()}{PART}")
    with named(path):
        try:
            with part.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            with suppress(OSError):  # the first error is the one to report
                part.unlink(missing_ok=True)
            raise


def read_json(path: Path) -> Any:
    """The content of a JSON file; raises `OSError`, or `ValueError` for invalid JSON."""
    with named(path):
        text = path.read_text(encoding="utf-8")
    try:
        return read_json_text(text)
    except RecursionError:
        raise TooDeepError from None


def make_folder(path: Path) -> None:
    """Creates a folder and its parents if they do not exist."""
    with named(path):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """An `OSError` raised inside carries the name of this file."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename == str(path):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
