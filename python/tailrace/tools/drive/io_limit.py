"""Limits of the control groups that this process is in, for one drive: `io.max` (v2),
`blkio.throttle.*` (v1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LEVELS_MAX = 64
"""Groups of which one is in the other; the kernel has a limit of its own."""
FILES_V1 = {
    "blkio.throttle.read_bps_device": ("read", "bytes"),
    "blkio.throttle.write_bps_device": ("write", "bytes"),
    "blkio.throttle.read_iops_device": ("read", "requests"),
    "blkio.throttle.write_iops_device": ("write", "requests"),
}
KEYS_V2 = {
    "rbps": ("read", "bytes"),
    "wbps": ("write", "bytes"),
    "riops": ("read", "requests"),
    "wiops": ("write", "requests"),
}


@dataclass(frozen=True)
class IoLimit:
    """One limit."""

    direction: str
    unit: str
    """`bytes` or `requests`, per second."""
    per_s: int
    file: str


def io_limits(number: str, root: Path = Path("/")) -> list[IoLimit]:
    """Every limit on the drive with this number (`8:0`) in the groups of this process, of whatever
    version."""
    return [limit for folder in _groups(root) for limit in _in(folder, number)]


def _groups(root: Path) -> Iterator[Path]:
    """Folders of the groups of this process that may limit its requests, and of those around
    them."""
    for line in _lines(root / "proc" / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "blkio" not in controllers.split(","):
            continue
        for mount in _mounts(root, "cgroup" if controllers else "cgroup2"):
            place = Path(path.lstrip("/"))
            for at in [place, *place.parents][:LEVELS_MAX]:
                yield root / mount / at


def _mounts(root: Path, kind: str) -> Iterator[Path]:
    """Where file systems of this kind are mounted; of version 1, the one with the controller."""
    for line in _lines(root / "proc" / "self" / "mounts"):
        words = line.split()
        if words[2] == kind and (kind == "cgroup2" or "blkio" in words[3].split(",")):
            yield Path(words[1].lstrip("/"))


def _in(folder: Path, number: str) -> Iterator[IoLimit]:
    for line in _lines(folder / "io.max"):
        device, *pairs = line.split()
        for key, _, value in (pair.partition("=") for pair in pairs):
            if device == number and key in KEYS_V2 and value.isdecimal():
                yield IoLimit(*KEYS_V2[key], int(value), str(folder / "io.max"))
    for name, (direction, unit) in FILES_V1.items():
        for line in _lines(folder / name):
            device, _, value = line.partition(" ")
            if device == number and value.isdecimal() and int(value):
                yield IoLimit(direction, unit, int(value), str(folder / name))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
