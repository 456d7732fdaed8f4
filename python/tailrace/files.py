"""Atomic writing of files, and reading of regular files up to a size that the caller states.

Every `OSError` names the destination file, also where the system gives no name (a failed write or
fsync) or the name of the temporary file beside it.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.json_text import json_text, read_json_text

PART = ".part"
"""Suffix of a file that is being written."""
DEPTH_MAX = 64
"""Levels of nesting in a file that is read; a scenario has about eight."""
BYTES_MAX = 2**31
"""Of a file that is read, at most."""
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""To open a file that may be something else: a pipe without a writer is no reason to wait."""
_KINDS = (
    (stat.S_ISLNK, errno.ELOOP, "a link"),
    (stat.S_ISDIR, errno.EISDIR, "a folder"),
    (stat.S_ISFIFO, errno.ESPIPE, "a pipe"),
    (stat.S_ISSOCK, errno.ENXIO, "a socket"),
)
"""File types that are not regular: a test, the number of the error, and the name."""
_OF_THE_KERNEL = (Path("/proc"), Path("/sys"))
"""Their regular files have no stored content: it is generated while it is read, and may be gone
then."""
PLAIN = re.compile(r"[\w./+=-]+")
"""Letters and digits of any script, and characters that no job file, list or shell script divides
or evaluates."""


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
    """Writes a file in an open directory atomically. A link of that name is replaced, and none is
    followed."""
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
    """The descriptor of a new file; the remains of a killed process of the same number are
    removed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, 0o666, dir_fd=directory)
    except FileExistsError:
        os.unlink(name, dir_fd=directory)
        return os.open(name, flags, 0o666, dir_fd=directory)


def irregular(mode: int) -> tuple[int, str] | None:
    """The number of the error and the name of a type that is no regular file, by its mode; None for
    a file."""
    if stat.S_ISREG(mode):
        return None
    return next(
        ((number, kind) for is_one, number, kind in _KINDS if is_one(mode)),
        (errno.ENODEV, "a device"),
    )


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """The file that the user names, opened for reading; links are followed. Raises `OSError` where
    it is no regular file."""
    with named(path):
        _refuse_irregular(path.stat())  # some devices act when they are opened
        with os.fdopen(os.open(path, READ), "rb") as file:
            _refuse_irregular(os.fstat(file.fileno()))
            yield file


def _refuse_irregular(status: os.stat_result) -> None:
    if (found := irregular(status.st_mode)) is not None:
        raise OSError(found[0], f"it is {found[1]}, not a file")
    if any(folder.exists() and folder.stat().st_dev == status.st_dev for folder in _OF_THE_KERNEL):
        raise OSError(errno.ENODEV, "it is made by the kernel while it is read")


def read_bytes(path: Path, most: int = BYTES_MAX) -> bytes:
    """The content of a file that the user names; raises as `opened`, and where it has more than
    `most` bytes."""
    with opened(path) as file:
        content = file.read(most + 1)
        if len(content) > most:
            raise OSError(errno.EFBIG, f"it has more than {_size(most)}")
    return content


def read_text(path: Path, most: int) -> str:
    """The text of a file in UTF-8, with or without a mark of its order of bytes; raises as
    `read_bytes`, and `UnicodeDecodeError`.
    """
    return read_bytes(path, most).decode("utf-8-sig")


def _size(size_bytes: int) -> str:
    return f"{size_bytes // 10**6} MB" if size_bytes >= 10**6 else f"{size_bytes} bytes"


def read_json(path: Path) -> Any:
    """The content of a JSON file; raises `OSError`, or `ValueError` for invalid JSON."""
    return parse_json(read_bytes(path))


def parse_json(content: bytes) -> Any:
    """The value of a JSON document; raises `ValueError` for invalid or too deeply nested ones."""
    try:
        return read_json_text(content.decode("utf-8"))
    except RecursionError:
        raise TooDeepError from None


def make_folder(path: Path) -> None:
    """Creates a folder and its parents if they do not exist."""
    with named(path):
        path.mkdir(parents=True, exist_ok=True)


def require_plain(what: str, path: Path, hint: str) -> None:
    """Raises `RunRefusedError` for a path that a program would not take as one name.

    Job files, lists and scripts divide or evaluate a path at some characters, and not all of them
    can quote it (docs/fields-that-reach-commands.md).
    """
    absolute = str(path.absolute())
    if found := next((one for one in absolute if not PLAIN.fullmatch(one)), None):
        raise RunRefusedError(
            f"{what} {absolute!r}: programs do not take {found!r} as part of a name (hint: {hint})"
        )


@contextmanager
def named(path: Path) -> Iterator[None]:
    """An `OSError` raised inside carries the name of this file."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename == str(path):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
