"""qemu-nbd: an iSCSI session of libiscsi, offered to the programs of its host as a block device
over a Unix socket."""

from pathlib import Path

from tailrace.programs.command import Command
from tailrace.programs.needed import Needed

PROGRAM = "qemu-nbd"
QEMU_NBD = Needed(PROGRAM, "qemu-utils", "--version", "workloads of kind storage over iscsi")
DRIVER = "block-iscsi.so"
"""QEMU loads it when a device is named `iscsi:`."""
CONNECTIONS_SPARE = 4
"""Besides one for each job: every job first requests the size of the device."""


def _driver(name: str) -> Path | None:
    """A block driver of QEMU; None where it is missing."""
    return next(iter(sorted(Path("/usr/lib").glob(f"*/qemu/{name}"))), None)


ISCSI = Needed(
    DRIVER,
    "qemu-block-extra",
    "",
    "workloads of kind storage over iscsi",
    find=_driver,
    title="QEMU's iSCSI driver",
)


def command(
    name: str, host: str, socket: str, uri: str, jobs: int, priority: int | None
) -> Command:
    """One session with the device at `uri`. Nothing is cached, and requests are passed on as they
    come."""
    argv = [
        PROGRAM,
        "--format=raw",
        "--cache=none",
        "--persistent",
        f"--shared={2 * jobs + CONNECTIONS_SPARE}",
    ]
    return Command(name, [*argv, f"--socket={socket}", uri], host=host, priority=priority)


def socket_uri(socket: str) -> str:
    """Where fio finds it."""
    return f"nbd+unix:///?socket={socket}"
