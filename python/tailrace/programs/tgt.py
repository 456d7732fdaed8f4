"""tgt: an iSCSI target of user space, with one logical unit for each device."""

from collections.abc import Iterator, Sequence

from tailrace.programs.command import Command
from tailrace.programs.needed import Needed

PROGRAM = "tgtd"
TARGET = 1
"""Number of the one target of a server."""
IQN = "iqn.2026-11.org.tailrace"
"""Of targets; the name of the host follows."""
FIRST_LUN = 1
"""tgt has a controller at 0."""
TGT = Needed(PROGRAM, "tgt", "--version", "workloads of kind storage over iscsi", title="tgt")


def server(
    host: str, addresses: Sequence[str], port: int, control: int, cpus: float | None, priority: int
) -> Command:
    """The server in the foreground. `control` is the number of its control socket, unique in the
    lab."""
    portals = [f"portal={address}:{port}" for address in addresses]
    argv = [PROGRAM, "--foreground", "--control-port", str(control), "--iscsi", ",".join(portals)]
    return Command(f"tgt-{host}", argv, host=host, cpus=cpus, priority=priority or None)


def iqn(host: str) -> str:
    """Name of the target of a host."""
    return f"{IQN}:{host.lower()}"


def uri(address: str, port: int, host: str, lun: int) -> str:
    """Where an initiator finds a logical unit."""
    return f"iscsi://{address}:{port}/{iqn(host)}/{lun}"


def set_up(host: str, control: int, files: Sequence[str], storage: str) -> Iterator[Command]:
    """Makes the target, a logical unit for each file, and admits every initiator."""
    steps = [["new", "--mode", "target", "--targetname", iqn(host)]]
    steps += [
        [
            "new",
            "--mode",
            "logicalunit",
            "--lun",
            str(lun),
            "--bstype",
            storage,
            "--backing-store",
            file,
        ]
        for lun, file in enumerate(files, FIRST_LUN)
    ]
    steps += [["bind", "--mode", "target", "--initiator-address", "ALL"]]
    for number, words in enumerate(steps):
        yield _admin(f"tgt-{host}-set-{number}", host, control, words)


def show(host: str, control: int, attempt: int) -> Command:
    """Lists its targets: succeeds when it accepts commands."""
    return _admin(
        f"tgt-{host}-show-{attempt}", host, control, ["show", "--mode", "target"], has_target=False
    )


def _admin(
    name: str, host: str, control: int, words: Sequence[str], *, has_target: bool = True
) -> Command:
    target = ["--tid", str(TARGET)] if has_target else []
    return Command(
        name,
        ["tgtadm", "--control-port", str(control), "--lld", "iscsi", "--op", *words, *target],
        host=host,
    )
