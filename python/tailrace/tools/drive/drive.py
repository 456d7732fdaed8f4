"""A drive as the kernel describes it (`/sys/block`), and the limits of its queue."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.tools.drive.link import Link, link_of

SYS = Path("/sys")
SECTOR_BYTES = 512
"""Of the kernel's counters and sizes, whatever the drive's sectors are."""
KIB = 1024


@dataclass(frozen=True)
class Limits:
    """What splits a request."""

    max_sectors_bytes: int
    """Largest request (`max_sectors_kb`)."""
    max_hw_sectors_bytes: int
    """The same of the driver, which `max_sectors_kb` cannot exceed; an NVMe drive's MDTS is in
    it."""
    max_segments: int
    """Pieces of memory in a request."""
    max_segment_bytes: int
    """Largest of these."""
    logical_block_bytes: int
    physical_block_bytes: int
    chunk_bytes: int = 0
    """A request does not cross a multiple of this (`chunk_sectors`); 0 for no such limit."""


@dataclass(frozen=True)
class Drive:
    """One drive."""

    name: str
    """The kernel's, of the whole drive."""
    queue: Path
    counters: Path
    """Of the drive, or of the partition that was named."""
    device: Path
    """To read from."""
    size_bytes: int
    limits: Limits
    facts: dict[str, Any]
    """For people."""
    lower: tuple[str, ...]
    """Drives below this one, whose own limits split requests once more."""
    number: str = ""
    """Major and minor number of the whole drive, `8:0`: limits of control groups name it so."""
    link: Link | None = None

    @property
    def part(self) -> str:
        """The kernel's name of what was named: the drive, or a partition."""
        return self.counters.parent.name

    @property
    def is_nvme(self) -> bool:
        """Whether nvme-cli can ask it."""
        return self.name.startswith("nvme")


def drive_of(path: Path, sys: Path = SYS) -> Drive:
    """The drive that a device file is, or that has the file system of a file; raises
    `RunRefusedError` otherwise."""
    try:
        found = path.stat()
    except OSError as error:
        raise RunRefusedError(
            f"{path}: {error.strerror} (hint: name a block device, or a file on one)"
        ) from None
    is_device = stat.S_ISBLK(found.st_mode)
    if not is_device and not stat.S_ISREG(found.st_mode):
        raise RunRefusedError(
            f"{path} is neither a block device nor a file (hint: `lsblk` lists devices)"
        )
    number = found.st_rdev if is_device else found.st_dev
    folder = sys / "dev" / "block" / f"{os.major(number)}:{os.minor(number)}"
    if not folder.exists():
        what = (
            f"{path} is on no block device: its file system is in memory, "
            "on the network, or stacked"
        )
        raise RunRefusedError(f"{what} (hint: name a device of `lsblk`)")
    folder = folder.resolve()
    whole = folder if (folder / "queue").is_dir() else folder.parent
    if not (whole / "queue").is_dir():
        raise RunRefusedError(f"{path}: {whole.name} has no queue of requests")
    size_bytes = _number(folder / "size") * SECTOR_BYTES if is_device else found.st_size
    lower = tuple(sorted(each.name for each in (whole / "slaves").glob("*")))
    return Drive(
        whole.name,
        whole / "queue",
        folder / "stat",
        path,
        size_bytes,
        limits_of(whole / "queue"),
        _facts(whole),
        lower,
        _text(whole / "dev") or "",
        link_of(whole, sys),
    )


def limits_of(queue: Path) -> Limits:
    """The limits in a folder `queue`."""
    return Limits(
        max_sectors_bytes=_number(queue / "max_sectors_kb") * KIB,
        max_hw_sectors_bytes=_number(queue / "max_hw_sectors_kb") * KIB,
        max_segments=_number(queue / "max_segments"),
        max_segment_bytes=_number(queue / "max_segment_size"),
        logical_block_bytes=_number(queue / "logical_block_size"),
        physical_block_bytes=_number(queue / "physical_block_size"),
        chunk_bytes=_number(queue / "chunk_sectors", 0) * SECTOR_BYTES,
    )


def _facts(whole: Path) -> dict[str, Any]:
    """What it is; what the kernel does not tell is None."""
    queue = whole / "queue"
    scheduler = _text(queue / "scheduler") or ""
    current = scheduler.partition("[")[2].partition("]")[0] or scheduler
    return {
        "model": _text(whole / "device" / "model"),
        "firmware": _text(whole / "device" / "rev") or _text(whole / "device" / "firmware_rev"),
        "size_bytes": _number(whole / "size") * SECTOR_BYTES,
        "transport": _transport(whole),
        "is_rotational": _text(queue / "rotational") == "1",
        "is_read_only": _text(whole / "ro") == "1",
        "queue_depth": _number(queue / "nr_requests", 0) or None,
        "drive_queue_depth": _number(whole / "device" / "queue_depth", 0) or None,
        "scheduler": current or None,
        "write_cache": _text(queue / "write_cache"),
        "backing_file": _text(whole / "loop" / "backing_file"),
    }


def _transport(whole: Path) -> str | None:
    """From its place in the tree of devices."""
    words = whole.parts
    for transport in ("nvme", "virtio", "usb", "ata", "loop", "zram", "dm-", "md"):
        if any(word.startswith(transport) for word in words):
            return {"dm-": "device mapper", "md": "software RAID"}.get(transport, transport)
    return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _number(path: Path, otherwise: int | None = None) -> int:
    text = _text(path)
    if text is not None and text.isdecimal():
        return int(text)
    if otherwise is None:
        raise RunRefusedError(
            f"{path} has no number (hint: this kernel, or container, does "
            "not tell the queue's limits)"
        )
    return otherwise
