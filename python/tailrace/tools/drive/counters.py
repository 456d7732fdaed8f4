"""The kernel's counters of a drive (`/sys/block/*/stat`, the columns of iostat) and what follows
from two readings."""

from dataclasses import dataclass
from pathlib import Path

from tailrace.tools.drive.drive import SECTOR_BYTES

MS_PER_S = 1000
FIELDS_MIN = 11


@dataclass(frozen=True)
class Direction:
    """Completed requests of one direction, after splitting and merging."""

    requests: int
    sectors: int
    wait_ms: int
    """Sum over the requests, from the block layer's queue to the end."""


@dataclass(frozen=True)
class Reading:
    """The counters at one moment (Documentation/block/stat.rst)."""

    read: Direction
    write: Direction
    busy_ms: int
    waiting_ms: int
    """Requests under way, added up over time."""

    @classmethod
    def of(cls, counters: Path) -> "Reading":
        """Reads a file `stat`."""
        words = [int(word) for word in counters.read_text(encoding="ascii").split()]
        assert len(words) >= FIELDS_MIN, "eleven counters since Linux 2.6"
        return cls(
            Direction(words[0], words[2], words[3]),
            Direction(words[4], words[6], words[7]),
            words[9],
            words[10],
        )


@dataclass(frozen=True)
class Issued:
    """What a drive was asked for in an interval, in one direction: iostat's columns."""

    requests_per_s: float
    bytes_per_s: float
    mean_bytes: float
    """Size of a request as issued (areq-sz); 0 without requests."""
    await_ms: float
    queue: float
    """Requests under way on average, of both directions (aqu-sz)."""
    busy_share: float
    """%util as a share."""
    other_bytes_per_s: float
    """Of the other direction: others use the drive."""


def issued(before: Reading, after: Reading, seconds: float, *, is_write: bool) -> Issued:
    """The difference of two readings, `seconds` apart (more than zero)."""
    now, then = (after.write, before.write) if is_write else (after.read, before.read)
    other_now, other_then = (after.read, before.read) if is_write else (after.write, before.write)
    requests, sectors = now.requests - then.requests, now.sectors - then.sectors
    return Issued(
        requests_per_s=requests / seconds,
        bytes_per_s=sectors * SECTOR_BYTES / seconds,
        mean_bytes=sectors * SECTOR_BYTES / requests if requests else 0.0,
        await_ms=(now.wait_ms - then.wait_ms) / requests if requests else 0.0,
        queue=(after.waiting_ms - before.waiting_ms) / MS_PER_S / seconds,
        busy_share=min(1.0, (after.busy_ms - before.busy_ms) / MS_PER_S / seconds),
        other_bytes_per_s=(other_now.sectors - other_then.sectors) * SECTOR_BYTES / seconds,
    )
