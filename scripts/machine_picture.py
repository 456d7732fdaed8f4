"""What a live run may leave on a machine: a picture of it to compare, and the tree of a run's
processes."""

import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
SYSCTLS = (
    "net/ipv4/tcp_*",
    "net/ipv4/ip_forward",
    "net/ipv6/conf/*/disable_ipv6",
    "net/core/*",
    "kernel/sched_rt_*",
)
"""Settings of the machine's own network that a lab sets in namespaces of its own, and those near
them."""
PLACES = (
    "/dev/shm",
    "/dev/mqueue",
    "/dev/hugepages",
    "/tmp",
    "/var/tmp",
    "/run",
    "/run/lock",
    "/run/netns",
    "/var/lib",
)
"""Where programs leave data outside a run's folder."""
SUSPECT = re.compile(r"tailrace-[a-z]+-\d+|pgsql|postgres|pgbench|iperf", re.IGNORECASE)
"""Names of what a live run's programs make; other people's files come and go."""
CGROUP = re.compile(r"tailrace-(\d+)-(\d+)-[0-9a-f]{16}")
"""A lab's group: number and start of the process that made it, and a check."""


@dataclass(frozen=True)
class Process:
    """One process of a run."""

    pid: int
    parent: int
    start_ticks: int
    """Since the boot: with the number it names a process for ever."""
    depth: int
    """In how many process namespaces below the machine's it is."""
    words: tuple[str, ...]
    namespaces: frozenset[str]
    """Namespaces in which it is, other than the machine's."""

    @property
    def name(self) -> str:
        """Its program."""
        return Path(self.words[0].split(":")[0]).name if self.words else ""


def picture() -> dict[str, frozenset[str]]:
    """The machine now, by kind of thing. What comes and goes by itself is left out."""
    return {
        "interface": frozenset(_interfaces()),
        "address": frozenset(_lines("net/fib_trie")) | frozenset(_lines("net/if_inet6")),
        "route": frozenset(line.rpartition("\t")[0] for line in _lines("net/route")),
        "mount": frozenset(_lines("self/mountinfo")),
        "shared memory": frozenset(_columns("sysvipc/shm")),
        "semaphore": frozenset(_columns("sysvipc/sem")),
        "message queue": frozenset(_columns("sysvipc/msg")),
        "file": frozenset(_files()),
        "setting": frozenset(_settings()),
    }


def differences(
    before: Mapping[str, frozenset[str]], after: Mapping[str, frozenset[str]]
) -> list[str]:
    """What is new and what is gone."""
    new = [f"new {kind}: {each}" for kind in after for each in sorted(after[kind] - before[kind])]
    return new + [
        f"lost {kind}: {each}" for kind in before for each in sorted(before[kind] - after[kind])
    ]


def tree(root: int) -> list[Process]:
    """A process and all that descend from it."""
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        process = look(pid)
        if process is not None:
            found.append(process)
        waiting += _children(pid)
    return found


def look(pid: int) -> Process | None:
    """One process; None when it has ended."""
    try:
        stat = (
            (PROC / str(pid) / "stat")
            .read_text(encoding="utf-8", errors="replace")
            .rpartition(")")[2]
            .split()
        )
        words = (
            (PROC / str(pid) / "cmdline")
            .read_bytes()
            .decode("utf-8", errors="replace")
            .rstrip("\0")
            .split("\0")
        )
        status = (PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    if stat[0] in "ZX":
        return None
    line = re.search(r"^NSpid:(.*)$", status, re.MULTILINE)
    depth = len(line[1].split()) - 1 if line else 0
    return Process(
        pid,
        int(stat[1]),
        int(stat[19]),
        depth,
        tuple(words),
        _namespaces(pid) - _namespaces("self"),
    )


def cgroups() -> dict[str, tuple[int, int]]:
    """Control groups of labs in every hierarchy, with number and start of their owner."""
    found = {}
    for line in _lines("self/mountinfo"):
        place, _, kind = line.partition(" - ")
        if kind.startswith("cgroup"):
            for group in Path(place.split()[4]).iterdir():
                if owner := CGROUP.fullmatch(group.name):
                    found[str(group)] = (int(owner[1]), int(owner[2]))
    return found


def is_alive(pid: int, start_ticks: int) -> bool:
    """Whether this very process lives."""
    process = look(pid)
    return process is not None and process.start_ticks == start_ticks


def users_of(namespaces: frozenset[str], before_ticks: int) -> list[str]:
    """Processes anywhere on the machine that are in one of these namespaces and had started before
    a moment.

    The kernel gives the numbers of namespaces that are gone to new ones, in which later processes
    are.
    """
    found = []
    for process in _everybody():
        if process.start_ticks < before_ticks and process.namespaces & namespaces:
            found.append(
                f"process {process.pid} is in a namespace of the run: {' '.join(process.words)}"
            )
    return found


def namers_of(words: str) -> list[str]:
    """Processes anywhere on the machine whose command line has these words."""
    lines = [(process.pid, " ".join(process.words)) for process in _everybody()]
    return [f"process {pid}: {line}" for pid, line in lines if words in line and pid != os.getpid()]


def now_ticks() -> int:
    """Now, as processes tell their start."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def _everybody() -> Iterator[Process]:
    for folder in PROC.iterdir():
        if folder.name.isdecimal() and (process := look(int(folder.name))) is not None:
            yield process


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in (PROC / str(pid) / "task").iterdir():
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    except OSError:
        return found  # it ended meanwhile
    return found


def _namespaces(pid: int | str) -> frozenset[str]:
    found = []
    try:
        for link in (PROC / str(pid) / "ns").iterdir():
            found.append(str(link.readlink()))
    except OSError:
        return frozenset(found)  # it ended meanwhile
    return frozenset(found)


def _lines(name: str) -> list[str]:
    try:
        return (PROC / name).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []  # this kernel has none


def _columns(name: str) -> Iterator[str]:
    """Key, number and owner, without what is counted."""
    for line in _lines(name)[1:]:
        fields = line.split()
        yield " ".join([*fields[:3], *fields[7:9]])


def _interfaces() -> Iterator[str]:
    for folder in Path("/sys/class/net").iterdir():
        if folder.is_dir():
            mtu = (folder / "mtu").read_text(encoding="ascii").strip()
            queue = (folder / "tx_queue_len").read_text(encoding="ascii").strip()
            yield f"{folder.name} mtu {mtu} queue {queue}"


def _files() -> Iterator[str]:
    for place in {*PLACES, tempfile.gettempdir()}:
        folder = Path(place)
        if folder.is_dir():
            yield from (
                f"{place}/{path.name}" for path in folder.iterdir() if _is_suspect(place, path.name)
            )


def _is_suspect(place: str, name: str) -> bool:
    return place in ("/run/netns", "/dev/mqueue", "/dev/hugepages") or bool(SUSPECT.search(name))


def _settings() -> Iterator[str]:
    for pattern in SYSCTLS:
        for path in (PROC / "sys").glob(pattern):
            try:
                yield (
                    f"{path.relative_to(PROC / 'sys')} = "
                    f"{' '.join(path.read_text(encoding='ascii').split())}"
                )
            except OSError:
                continue  # written only
