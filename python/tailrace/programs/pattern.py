"""The data of a storage device: every engine and every trial writes the same bytes, and reads them
back.

A program of its own, which is started where the device is: `python -I pattern.py PATH BYTES` writes
and verifies, and prints the checksum.
"""

import hashlib
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

PIECE_BYTES = 2**20


def pieces(size_bytes: int) -> Iterator[bytes]:
    """The data, piece by piece: random bytes, so that no layer below gains from compression or zero
    pages."""
    for number in range(-(-size_bytes // PIECE_BYTES)):
        left_bytes = size_bytes - number * PIECE_BYTES
        yield random.Random(number).randbytes(min(PIECE_BYTES, left_bytes))


def write(path: Path, size_bytes: int) -> str:
    """Writes the data to a file or device; returns the checksum of the intended data."""
    digest = hashlib.sha256()
    with path.open("r+b" if path.exists() else "wb") as file:
        for piece in pieces(size_bytes):
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
        # The data that is read back then comes from the disk; in memory this has no effect.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return digest.hexdigest()


def read(path: Path, size_bytes: int) -> str:
    """The checksum of the content."""
    digest, left_bytes = hashlib.sha256(), size_bytes
    with path.open("rb") as file:
        while left_bytes and (piece := file.read(min(PIECE_BYTES, left_bytes))):
            digest.update(piece)
            left_bytes -= len(piece)
    return digest.hexdigest()


def main() -> int:
    """Writes and verifies."""
    path, size_bytes = Path(sys.argv[1]), int(sys.argv[2])
    meant = write(path, size_bytes)
    found = read(path, size_bytes)
    if meant != found:
        sys.stderr.write(f"{path} has the checksum {found}, not {meant}\n")
        return 1
    sys.stdout.write(f"{found}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
