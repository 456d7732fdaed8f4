"""Files of a directory that may be another person's: no link in it is followed, and only regular
files are opened.

Every file is opened relative to a descriptor of its directory (`openat`), each part of its name by
itself and with `O_NOFOLLOW`. The directory itself is the one that the user has named, which may be
a link.
"""

import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tailrace.errors import TailraceError
from tailrace.files import BYTES_MAX, PART, READ, irregular, make_folder, named, write_whole

_PART_OF_NAME = re.compile(r"(?!\.{1,2}$)[^/\x00-\x1f\x7f]+")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class IrregularFileError(TailraceError, OSError):
    """A file, or its folder, has another type."""

    def __init__(self, number: int, what: str, path: Path) -> None:
        OSError.__init__(self, number, what, str(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror} (hint: remove it)"


class Folder:
    """A directory. Names of files are relative to it, their parts divided by slashes; errors have
    the whole path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes:
        """The content of a file; raises `OSError`, and `IrregularFileError` where it is no regular
        file."""
        with self.opened(name) as file:
            content = file.read(BYTES_MAX + 1)
        if len(content) > BYTES_MAX:
            raise IrregularFileError(
                errno.EFBIG, f"it has more than {BYTES_MAX} bytes", self.path / name
            )
        return content

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """A file, to be read; raises as `read`."""
        with self._above(name) as (directory, last):
            descriptor = self._regular(directory, last, name, READ | os.O_NOFOLLOW)
        with named(self.path / name), os.fdopen(descriptor, "rb") as file:
            yield file

    def has(self, name: str) -> bool:
        """Whether a file exists; raises `IrregularFileError` where it is no regular file."""
        return self.status(name) is not None

    def status(self, name: str) -> os.stat_result | None:
        """Size and times of a file; None where there is none. Raises as `has`."""
        try:
            with self._above(name) as (directory, last):
                found = os.stat(last, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            return None
        self._refuse_irregular(found, name)
        return found

    def names(self, folder: str = "") -> list[str]:
        """Sorted names in a folder, without folders; empty where there is none. Links and other
        types are included: opening them refuses them."""
        return self._listed(folder, are_folders=False)

    def folders(self, folder: str = "") -> list[str]:
        """The folders in a folder, sorted; links to folders are none."""
        return self._listed(folder, are_folders=True)

    def write(self, name: str, content: bytes | memoryview) -> None:
        """Writes a file atomically, and makes its folder; a link of that name is replaced."""
        with self._above(name, is_made=True) as (directory, last):
            try:
                write_whole(directory, last, content)
            except IsADirectoryError:
                raise _irregular(stat.S_IFDIR, self.path / name) from None

    def append(self, name: str, content: bytes, *, is_synced: bool = False) -> None:
        """Appends to a file of one name: another one, elsewhere, would change too. `is_synced`:
        once it is on disk."""
        flags = (
            os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        )
        with self._above(name, is_made=True) as (directory, last):
            descriptor = self._regular(directory, last, name, flags)
            with os.fdopen(descriptor, "ab") as file:
                if os.fstat(descriptor).st_nlink > 1:
                    raise IrregularFileError(
                        errno.EMLINK, "it has a second name elsewhere", self.path / name
                    )
                file.write(content)
                file.flush()
                if is_synced:
                    os.fsync(descriptor)

    def make(self, folder: str) -> None:
        """Makes a folder and those above it, where they do not exist."""
        with self._above(f"{folder}/x", is_made=True):
            pass

    def move(self, old: str, new: str) -> None:
        """Moves a file to another folder, which is made."""
        with self._above(old) as (above, last), self._above(new, is_made=True) as (target, name):
            os.replace(last, name, src_dir_fd=above, dst_dir_fd=target)

    def rename(self, old: str, new: str) -> None:
        """Renames a file within its folder."""
        with self._above(old) as (directory, last):
            os.replace(last, new.rpartition("/")[2], src_dir_fd=directory, dst_dir_fd=directory)

    def remove(self, name: str) -> None:
        """Removes a file or a link, where there is one."""
        with suppress(FileNotFoundError), self._above(name) as (directory, last):
            os.unlink(last, dir_fd=directory)

    def make_empty(self, folder: str) -> None:
        """Makes a folder, in place of an existing file or folder."""
        self.remove_folder(folder)
        with self._above(folder, is_made=True) as (directory, last):
            os.mkdir(last, dir_fd=directory)

    def remove_folder(self, folder: str) -> None:
        """Removes a folder with all that is in it, as far as that is allowed; of a link, the link
        alone."""
        with suppress(FileNotFoundError), self._above(folder) as (directory, last):
            with suppress(OSError):
                os.unlink(last, dir_fd=directory)
            shutil.rmtree(last, ignore_errors=True, dir_fd=directory)

    def remove_parts(self, folder: str = "") -> None:
        """Removes unfinished files of killed processes in this folder."""
        for name in self.names(folder):
            if name.startswith(".") and name.endswith(PART):
                self.remove(f"{folder}/{name}" if folder else name)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Holds the lock on a file, which is made where there is none and whose content stays;
        raises `BlockingIOError` where another process holds it.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        with self._above(name) as (directory, last):
            descriptor = self._regular(directory, last, name, flags)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def _above(self, name: str, *, is_made: bool = False) -> Iterator[tuple[int, str]]:
        """A descriptor of the folder in which a file stands, and the last part of its name."""
        *parts, last = name.split("/")
        if not all(_PART_OF_NAME.fullmatch(part) for part in (*parts, last)):
            raise IrregularFileError(
                errno.EINVAL, "it is no name of a file in a run directory", self.path / repr(name)
            )
        if is_made:
            make_folder(self.path)
        with named(self.path):
            directory = os.open(self.path, _DIRECTORY)
        try:
            for depth, part in enumerate(parts, start=1):
                above, directory = (
                    directory,
                    self._entered(directory, parts[:depth], part, is_made=is_made),
                )
                os.close(above)
            with named(self.path / name):
                yield directory, last
        finally:
            os.close(directory)

    def _entered(self, above: int, parts: list[str], name: str, *, is_made: bool) -> int:
        path = self.path.joinpath(*parts)
        with named(path):
            if is_made:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=above)
            try:
                return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
            except (NotADirectoryError, OSError) as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
        found = os.stat(name, dir_fd=above, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            raise _irregular(found.st_mode, path)
        raise IrregularFileError(errno.ENOTDIR, "it is a file, in the place of a folder", path)

    def _regular(self, directory: int, last: str, name: str, flags: int) -> int:
        """The descriptor of a file; a device is not even opened, unless it takes the file's name in
        the meantime."""
        with suppress(FileNotFoundError):  # it may be made
            self._refuse_irregular(os.stat(last, dir_fd=directory, follow_symlinks=False), name)
        descriptor = os.open(last, flags, 0o666, dir_fd=directory)
        try:
            self._refuse_irregular(os.fstat(descriptor), name)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _refuse_irregular(self, found: os.stat_result, name: str) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise _irregular(found.st_mode, self.path / name)

    def _listed(self, folder: str, *, are_folders: bool) -> list[str]:
        try:
            with (
                self._above(f"{folder}/x" if folder else "x") as (directory, _),
                os.scandir(directory) as entries,
            ):
                return sorted(
                    one.name for one in entries if one.is_dir(follow_symlinks=False) == are_folders
                )
        except FileNotFoundError:
            return []


def _irregular(mode: int, path: Path) -> IrregularFileError:
    number, kind = irregular(mode) or (errno.EINVAL, "a file")
    where = (
        ", and links in a run directory are not followed"
        if stat.S_ISLNK(mode)
        else ", in the place of a file"
    )
    return IrregularFileError(number, f"it is {kind}{where}", path)
