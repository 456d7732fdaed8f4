"""Reads from a drive, and what the kernel counted of them (`/sys/block/*/stat`, the columns of
iostat)."""

import mmap
import os
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import RunRefusedError
from tailrace.tools.drive.counters import Direction, Reading
from tailrace.tools.drive.drive import SECTOR_BYTES, Drive

READS = 64
ATTEMPTS = 5
"""Attempts without requests of others on the drive."""


@dataclass(frozen=True)
class Seen:
    """What was asked, and what the drive was asked for."""

    reads: int
    size_bytes: int
    issued: int
    issued_bytes: int
    wait_ms: int
    """Sum over the issued requests."""

    @property
    def pieces(self) -> float:
        """Requests of the drive for each read."""
        return self.issued / self.reads

    @property
    def mean_bytes(self) -> float:
        """Size of these (iostat: areq-sz)."""
        return self.issued_bytes / self.issued if self.issued else 0.0


def prove(drive: Drive, size_bytes: int) -> Seen:
    """Reads one request after another, past the page cache. Raises `RunRefusedError` where the
    drive cannot be read so, or others use it all the time.
    """
    reads = min(READS, drive.size_bytes // size_bytes)
    if reads == 0:
        what = f"{drive.device} has {drive.size_bytes} bytes, and a read would have {size_bytes}"
        raise RunRefusedError(f"--bs: {what} (hint: write a smaller one)")
    try:
        descriptor = os.open(drive.device, os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        what = f"{drive.device}: it cannot be read past the page cache: {error.strerror}"
        raise RunRefusedError(
            f"--prove: {what} (hint: root reads devices, unless a container forbids it)"
        ) from None
    try:
        # Distances keep the block layer from joining one read with the next.
        stride = max(1, drive.size_bytes // size_bytes // reads) * size_bytes
        for _ in range(ATTEMPTS):
            seen = _once(descriptor, drive.counters, reads, size_bytes, stride)
            if seen.issued_bytes == reads * size_bytes:
                return seen
    finally:
        os.close(descriptor)
    what = f"the drive was asked for {seen.issued_bytes} bytes where {reads * size_bytes} were read"
    raise RunRefusedError(
        f"--prove: {what}: others use it, or holes of the file are not read (hint: repeat it)"
    )


def _once(descriptor: int, counters: Path, reads: int, size_bytes: int, stride: int) -> Seen:
    with mmap.mmap(-1, size_bytes) as memory:
        memory.write(bytes(size_bytes))  # every page is there, and those behind each other stay so
        before = _counted(counters)
        for number in range(reads):
            try:
                done = os.preadv(descriptor, [memory], number * stride)
            except OSError as error:
                raise RunRefusedError(f"--prove: reading failed: {error.strerror}") from None
            if done != size_bytes:
                raise RunRefusedError(f"--prove: a read of {size_bytes} bytes gave {done}")
        after = _counted(counters)
    issued_bytes = (after.sectors - before.sectors) * SECTOR_BYTES
    return Seen(
        reads,
        size_bytes,
        after.requests - before.requests,
        issued_bytes,
        after.wait_ms - before.wait_ms,
    )


def _counted(counters: Path) -> Direction:
    """Reads that are complete."""
    return Reading.of(counters).read
