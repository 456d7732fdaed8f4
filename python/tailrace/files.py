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
    with named(path):
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            write_whole(directory, path.name, content)
        finally:
            os.close(directory)


def write_whole(directory: int, name: str, content: bytes | memoryview) -> None:
    """Writes a file in an open directory atomically. A link in its place is replaced, and none is followed."""
    part = f".{name}.{os.getpid()}{PART}"
    try:
        with os.fdopen(_made(directory, part), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(OSError):  # the first error is the one to report
            os.unlink(part, dir_fd=directory)
        raise


def _made(directory: int, name: str) -> int:
    """The descriptor of a new file; what a killed process of the same number has left is removed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, 0o666, dir_fd=directory)
    except FileExistsError:
        os.unlink(name, dir_fd=directory)
        return os.open(name, flags, 0o666, dir_fd=directory)


def read_json(path: Path) -> Any:
    """The content of a JSON file; raises `OSError`, or `ValueError` for invalid JSON."""
    with named(path):
        content = path.read_bytes()
    return parse_json(content)


def parse_json(content: bytes) -> Any:
    """The value of a JSON document; raises `ValueError` for what is none, or is nested too deeply."""
    try:
        return read_json_text(content.decode("utf-8"))
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
