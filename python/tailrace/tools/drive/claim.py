"""Whether a drive may be written to, what is lost by that, and a claim that keeps others from
mounting it meanwhile.

A drive in use is never written to. Partitions and signatures of one that is not in use are lost if
its name was typed, and are named before. Every refusal is made before anything is written. The
kernel's own claim (`O_EXCL`) comes last: it fails wherever a file system, swap, RAID or device
mapper has the drive, also in namespaces that this process does not see.
"""

import errno
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tailrace.errors import RunRefusedError, reason_of
from tailrace.programs.needed import on_the_path
from tailrace.tools.drive.drive import Drive

WIPEFS = "wipefs"
WIPEFS_LIMIT_S = 30.0
OPTION = "--destroy-data"


@contextmanager
def claimed(drive: Drive, typed: str, root: Path = Path("/")) -> Iterator[list[str]]:
    """Holds the drive while it is written to; yields what is lost. Raises `RunRefusedError` where
    it is in use."""
    lost = lost_by_writing(drive, typed, root)
    try:
        descriptor = os.open(drive.device, os.O_RDWR | os.O_EXCL)
    except OSError as error:
        if error.errno == errno.EBUSY:
            raise _refusal(drive, "it is in use", "`lsblk` and `fuser -v` tell by what") from None
        raise _refusal(
            drive, reason_of(error), "root writes to devices, unless one is read-only"
        ) from None
    try:
        yield lost
    finally:
        os.close(descriptor)


def lost_by_writing(drive: Drive, typed: str, root: Path = Path("/")) -> list[str]:
    """Partitions and signatures that are lost, such as `sdz: gpt` and `sdz1: ext4`; empty for a
    drive without any.

    Raises `RunRefusedError` with the first reason against writing.
    """
    if typed not in (drive.part, str(drive.device)):
        raise RunRefusedError(
            f"{OPTION}: '{typed}' is not the name of {drive.device} (hint: everything on it is "
            f"lost; if that is meant, write {OPTION} {drive.part})"
        )
    folders = [drive.counters.parent, *_partitions(drive.counters.parent)]
    for folder in folders:
        number = (folder / "dev").read_text(encoding="ascii").strip()
        if place := _mounted(number, root):
            raise _refusal(
                drive, f"{folder.name} is mounted at {place}", "unmount it if its data may be lost"
            )
        if _is_swap(folder.name, root):
            raise _refusal(
                drive, f"{folder.name} is swap space in use", "`swapoff`, if it may be lost"
            )
        if held := sorted(each.name for each in (folder / "holders").glob("*")):
            raise _refusal(
                drive, f"{', '.join(held)} lies on {folder.name}", "take that down first"
            )
    devices = drive.device.resolve().parent
    found = {folder.name: signatures(devices / folder.name) for folder in folders}
    named = {name: ", ".join(types) for name, types in found.items() if types or name != drive.part}
    return [f"{name}: {types or 'a partition'}" for name, types in named.items()]


def signatures(device: Path) -> list[str]:
    """Types of file systems, partition tables, RAID and LVM members and swap spaces on a device
    (`wipefs --no-act`)."""
    if on_the_path(WIPEFS) is None:
        raise RunRefusedError(f"{OPTION} needs {WIPEFS} (hint: apt-get install util-linux)")
    words = [WIPEFS, "--no-act", "--json", str(device)]
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WIPEFS_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunRefusedError(f"{WIPEFS} {device}: {reason_of(error)}") from None
    if done.returncode:
        raise RunRefusedError(
            f"{WIPEFS} {device}: {done.stderr.strip() or f'status {done.returncode}'}"
        )
    return types_in(done.stdout)


def types_in(told: str) -> list[str]:
    """Types in what wipefs tells as JSON; it prints nothing for a device without signatures."""
    if not told.strip():
        return []
    try:
        rows = json.loads(told)["signatures"]
        return sorted({str(row["type"]) for row in rows})
    except (ValueError, KeyError, TypeError):
        raise RunRefusedError(
            f"{WIPEFS}: its answer is not understood, and nothing is written"
        ) from None


def _partitions(folder: Path) -> list[Path]:
    return sorted(each.parent for each in folder.glob("*/partition"))


def _mounted(number: str, root: Path) -> str | None:
    for line in _lines(root / "proc" / "self" / "mountinfo"):
        words = line.split()
        if words[2] == number:
            return words[4]
    return None


def _is_swap(name: str, root: Path) -> bool:
    return any(Path(line.split()[0]).name == name for line in _lines(root / "proc" / "swaps")[1:])


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def _refusal(drive: Drive, what: str, hint: str) -> RunRefusedError:
    return RunRefusedError(f"{OPTION}: {drive.device} is not written to: {what} (hint: {hint})")
