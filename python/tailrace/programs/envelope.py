"""The envelope of a device: rates and requests per second to which a control group holds the
programs that use a disk.

A live run with another device than memory has a file on the disk of the run directory, past the
page cache. What the control group imposes are four numbers, which follow from the device: both
rates, and what all servers do per second. Latency, queue, splitting and write cache stay those of
this machine.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.outcome.types import BackingDisk, DiskLimits, DiskRates
from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.scenario.text.tails import mean_of

MEMORY = "memory"
"""The device that a file in memory is, without an envelope."""
BITS = 8
PS_PER_S = 10**12
IOPS_MAX = 2**32 - 1
"""The largest limit of Linux, which is none."""
CHECK_S = 1
CHECK_DEPTH = 64
CHECKS = {
    "read_iops": ("randread", "4k", "iops"),
    "write_iops": ("randwrite", "4k", "iops"),
    "read_bps": ("read", "1m", "bw_bytes"),
    "write_bps": ("write", "1m", "bw_bytes"),
}
"""What fio does to find each limit of this machine, and the name of the result."""
DEVICES = Path("/sys/dev/block")
WORDS = {
    "read_bps": ("reads", "B/s"),
    "write_bps": ("writes", "B/s"),
    "read_iops": ("reads", "requests/s"),
    "write_iops": ("writes", "requests/s"),
}


@dataclass(frozen=True)
class Envelope:
    """Most of reads and of writes, in bytes per second and in requests per second."""

    read_bps: int
    write_bps: int
    read_iops: int
    write_iops: int

    @classmethod
    def of(cls, device: Mapping[str, Any] | None) -> "Envelope | None":
        """From a device of the plan; None for memory."""
        if device is None or device["name"] == MEMORY:
            return None
        read_iops, write_iops = (
            _iops(device["servers"], mean_of(device[key]))
            for key in ("read_latency", "write_latency")
        )
        return cls(device["read_bps"] // BITS, device["write_bps"] // BITS, read_iops, write_iops)

    @property
    def limits(self) -> DiskLimits:
        """For an outcome."""
        return DiskLimits(**{key: getattr(self, key) for key in CHECKS})

    def order(self, name: str, disk: str) -> dict[str, Any]:
        """The limits as the fabric takes them; programs of the same `name` share them."""
        return {"name": name, "disk": disk, **{key: getattr(self, key) for key in CHECKS}}


def _iops(servers: int, latency_ps: float) -> int:
    """Requests per second of this many servers."""
    return (
        min(IOPS_MAX, max(1, round(servers * PS_PER_S / latency_ps)))
        if latency_ps > 0
        else IOPS_MAX
    )


def disk_of(path: Path) -> str:
    """Major and minor number of the whole disk under a file. Raises `ProgramError` where it is on
    none."""
    number = path.stat().st_dev
    major, minor = os.major(number), os.minor(number)
    device = DEVICES / f"{major}:{minor}"
    if major == 0 or not device.exists():
        raise ProgramError(
            f"{path}: it is on no disk whose rate could be limited (hint: choose another --out)"
        )
    if (device / "partition").exists():
        return (device.resolve().parent / "dev").read_text(encoding="ascii").strip()
    return f"{major}:{minor}"


def check_command(name: str, path: str, size_bytes: int) -> Command:
    """Measures the disk without limits: four jobs of a second each, one after the other."""
    argv = [
        "fio",
        "--output-format=json",
        "--ioengine=libaio",
        "--direct=1",
        f"--iodepth={CHECK_DEPTH}",
    ]
    argv += [
        f"--filename={path}",
        f"--size={size_bytes}",
        "--time_based",
        f"--runtime={CHECK_S}",
        "--thread",
    ]
    for key, (mode, block, _) in CHECKS.items():
        argv += [f"--name={key}", "--stonewall", f"--rw={mode}", f"--bs={block}"]
    return Command(name, argv)


def read_check(text: str) -> DiskRates:
    """The measured rates of the disk, by the names of the limits. Raises `ProgramError` where fio
    reports no such jobs."""
    try:
        rows = {row["jobname"]: row for row in json.loads(text[text.index("{") :])["jobs"]}
        return DiskRates(
            **{
                key: float(rows[key]["write" if "write" in mode else "read"][figure])
                for key, (mode, _, figure) in CHECKS.items()
            }
        )
    except (ValueError, KeyError, TypeError):
        raise ProgramError("fio did not report what the disk does without limits") from None


def shortfalls(backing: BackingDisk) -> list[str]:
    """The rates that the disk does not reach: the envelope would not be the bound."""
    found = []
    for key, (op, unit) in WORDS.items():
        wanted, measured = getattr(backing.envelope, key), getattr(backing.measured, key)
        if wanted < IOPS_MAX and measured < wanted:
            found.append(
                f"{op} {measured:,.0f} {unit}, and the device '{backing.device}' has {wanted:,.0f}"
            )
    return found
