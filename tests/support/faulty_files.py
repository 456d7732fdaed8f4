"""A disk on which one operation fails: every open, write, fsync, rename and new folder below a
folder is counted, and the n-th fails once, as a full, broken or forbidden disk would make it fail.
A write that fails has written a part.
"""

import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PASSING = ("r", "rb", "rt")
"""Modes of files that are only read."""


@dataclass
class Disk:
    """What was done below `folder`; operation `failing` (from 1 on; 0 for none) fails with
    `number`."""

    folder: Path
    failing: int = 0
    number: int = 0
    done: list[tuple[str, str]] = field(default_factory=list)
    """Kind of operation and file, in their order."""
    failed: tuple[str, str] | None = None
    _lock: Any = field(default_factory=threading.Lock)

    def step(self, what: str, path: object) -> None:
        """Counts an operation; raises when it is the one that fails."""
        if not isinstance(path, str | os.PathLike):
            return
        place = Path(os.path.abspath(path))  # noqa: PTH100  a path that need not exist, without a look at it
        if not place.is_relative_to(self.folder):
            return
        with self._lock:
            self.done.append((what, str(place.relative_to(self.folder))))
            if len(self.done) != self.failing:
                return
            self.failed = self.done[-1]
        # As the system: a failed write or fsync has no name.
        named = [str(path)] if what in ("open", "rename", "mkdir") else []
        raise OSError(self.number, os.strerror(self.number), *named)


class _File:
    """An open file whose writes are counted."""

    def __init__(self, file: Any, path: object, disk: Disk, open_files: dict[int, object]) -> None:
        self._file, self._path, self._disk = file, path, disk
        open_files[file.fileno()] = path

    def write(self, content: Any) -> int:
        """Writes; half of it where it fails."""
        try:
            self._disk.step("write", self._path)
        except OSError:
            self._file.write(content[: len(content) // 2])
            raise
        return int(self._file.write(content))

    def __enter__(self) -> "_File":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _place(path: Any, directory: int | None) -> str:
    """A path, of one that is relative to an open directory."""
    return (
        os.fspath(path)
        if directory is None
        else str(Path(f"/proc/self/fd/{directory}").readlink() / path)
    )


@contextmanager
def watched(disk: Disk) -> Iterator[None]:
    """Everything that this process writes below the disk's folder is counted, and fails as asked
    for."""
    open_files: dict[int, object] = {}
    made: dict[int, str] = {}
    """Descriptors of files that are written, before they are files of Python."""
    really = {name: getattr(os, name) for name in ("fsync", "replace", "rename", "mkdir", "open")}
    really_open = io.open

    def opened(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if mode in PASSING:
            return really_open(file, mode, *arguments, **options)
        if file in made:
            return _File(
                really_open(file, mode, *arguments, **options), made.pop(file), disk, open_files
            )
        disk.step("open", file)
        return _File(really_open(file, mode, *arguments, **options), file, disk, open_files)

    def open_descriptor(
        path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None
    ) -> int:
        is_written = bool(flags & (os.O_WRONLY | os.O_RDWR))
        place = _place(path, dir_fd) if is_written else ""
        if is_written:
            disk.step("open", place)
        descriptor: int = really["open"](path, flags, mode, dir_fd=dir_fd)
        if is_written:
            made[descriptor] = place
        return descriptor

    def fsync(descriptor: int) -> None:
        disk.step("fsync", open_files.get(descriptor))
        really["fsync"](descriptor)

    def mkdir(path: Any, *arguments: Any, dir_fd: int | None = None, **options: Any) -> None:
        place = Path(_place(path, dir_fd))
        if place.parent.is_dir() and not place.is_dir():  # else it fails by itself, as is expected
            disk.step("mkdir", str(place))
        really["mkdir"](path, *arguments, dir_fd=dir_fd, **options)

    def renamed(name: str) -> Callable[..., Any]:
        def run(source: Any, target: Any, **options: Any) -> Any:
            disk.step("rename", _place(target, options.get("dst_dir_fd")))
            return really[name](source, target, **options)

        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "open", opened)
        patch.setattr("builtins.open", opened)
        patch.setattr(os, "open", open_descriptor)
        patch.setattr(os, "fsync", fsync)
        for name in ("replace", "rename"):
            patch.setattr(os, name, renamed(name))
        patch.setattr(os, "mkdir", mkdir)
        yield
