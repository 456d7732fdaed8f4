"""nbdkit: a server of network block devices, with one export for each device."""

from tailrace.programs.command import Command
from tailrace.programs.needed import Needed

PROGRAM = "nbdkit"
THREADS = 16
"""Concurrent requests of each connection [A]; 1 to 64."""
NBDKIT = Needed(PROGRAM, "nbdkit", "--version", "workloads of kind storage over nbd")


def server(
    host: str, address: str | None, port: int, folder: str, cpus: float | None, priority: int
) -> Command:
    """The server in the foreground, on one address or all (None): every file of `folder` is an
    export."""
    address_options = [f"--ipaddr={address}"] if address else []
    argv = [
        PROGRAM,
        "--foreground",
        *address_options,
        f"--port={port}",
        f"--threads={THREADS}",
        "file",
        f"dir={folder}",
    ]
    return Command(f"nbdkit-{host}", argv, host=host, cpus=cpus, priority=priority or None)


def uri(address: str, port: int, export: str) -> str:
    """Where fio finds an export."""
    return f"nbd://{address}:{port}/{export}"
