"""The identities of the files of a run: the SHA-256 of each, as it was written, in a journal beside
the manifest.

A line of `journal.jsonl` names what was written together, before it appears: an outcome with its
tables, or one file. A file is what the run has written if some line has its SHA-256. This finds
accidents: damage, files that are swapped, lost, or of another attempt. It is no signature: a person
who changes a file on purpose can change it too.
"""

import hashlib
from collections.abc import Iterator, Mapping

import msgspec

from tailrace.folder import Folder

JOURNAL = "journal.jsonl"
"""Its name in the run directory; the manifest names it under the key `journal`."""
CHANGED = f"it is not what the run has written: {JOURNAL} has another SHA-256"
LOST = f"no such file, and the run has written one ({JOURNAL})"
UNKNOWN = f"{JOURNAL} has no SHA-256 of it"

Digests = Mapping[str, str]
"""By the end of a file's name, behind the first dot: `json`, `transactions.parquet`."""


class DamagedError(ValueError):
    """A file is not the written one."""


class _Line(msgspec.Struct, frozen=True):
    stem: str
    """The names of the files without their ends: `trials/fifo/1`."""
    sha256: dict[str, str]


class Journal:
    """The journal of one run directory, read on first use."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._lines: dict[str, list[Digests]] | None = None
        self._bytes = -1

    @property
    def is_kept(self) -> bool:
        """Whether the run has one; those of earlier versions have none, and nothing of them is
        compared."""
        self._read()
        return self._bytes >= 0

    def begin(self) -> None:
        """Begins one where there is none."""
        if not self.is_kept:
            self._folder.append(JOURNAL, b"")
            self._bytes = 0

    def stems(self, below: str) -> Iterator[str]:
        """Written files below a folder, without the ends of names."""
        return (stem for stem in self._read() if stem.startswith(f"{below}/"))

    def written(self) -> Iterator[tuple[str, str]]:
        """The stem and the end of every file that was written."""
        every = {
            (stem, end) for stem, lines in self._read().items() for one in lines for end in one
        }
        return iter(sorted(every))

    def add(self, stem: str, contents: Mapping[str, bytes | memoryview]) -> None:
        """Records files before they are written, unless they are known; `contents` are by the end
        of the name."""
        digests = {end: digest_of(content) for end, content in contents.items()}
        lines = self._read().setdefault(stem, [])
        if digests in lines:
            return
        # The first byte ends the line that a killed process has left incomplete.
        self._folder.append(
            JOURNAL, b"\n" + msgspec.json.encode(_Line(stem, digests)) + b"\n", is_synced=True
        )
        lines.append(digests)

    def together(self, stem: str, end: str, content: bytes) -> Digests:
        """The files that were written together with this file; raises `DamagedError` where no line
        has its SHA-256."""
        digest = digest_of(content)
        found = self._found(stem, end, digest)
        if found is None and self._has_grown():  # by a run that goes on meanwhile
            self._lines = None
            found = self._found(stem, end, digest)
        if found is None:
            raise DamagedError(
                CHANGED if any(end in one for one in self._read().get(stem, ())) else UNKNOWN
            )
        return found

    def expects(self, stem: str, end: str) -> bool:
        """Whether the run has written such a file."""
        return any(end in digests for digests in self._read().get(stem, ()))

    def _found(self, stem: str, end: str, digest: str) -> Digests | None:
        """The last such line: an attempt that was repeated may have had the same outcome with other
        tables."""
        return next(
            (one for one in reversed(self._read().get(stem, [])) if one.get(end) == digest), None
        )

    def _has_grown(self) -> bool:
        status = self._folder.status(JOURNAL)
        return status is not None and status.st_size != self._bytes

    def _read(self) -> dict[str, list[Digests]]:
        if self._lines is None:
            self._lines = {}
            try:
                content = self._folder.read(JOURNAL)
            except FileNotFoundError:
                return self._lines
            self._bytes = len(content)
            for line in content.split(b"\n"):
                if (one := _parsed(line)) is not None:
                    self._lines.setdefault(one.stem, []).append(one.sha256)
        return self._lines


def _parsed(line: bytes) -> _Line | None:
    """The entry of a line; None for an empty or damaged one, whose files have no identity then."""
    try:
        return _LINES.decode(line) if line else None
    except (ValueError, RecursionError):
        return None


_LINES = msgspec.json.Decoder(_Line)


def digest_of(content: bytes | memoryview) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
