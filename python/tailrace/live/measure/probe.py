"""Reads the kernel's figures of a host (counters, connections, ping round trips) and of the
machine's cores."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tailrace.live.lab.lab import Lab
from tailrace.outcome.types import RoundTrip
from tailrace.programs.command import Command

LIMIT_S = 10.0
FILES = ("/proc/net/snmp", "/proc/net/netstat", "/proc/net/dev")
DEVICE = "eth0"
LOOPBACK = "lo"
COLUMNS = 16
"""Numbers of an interface in /proc/net/dev."""
INTERFACE = {
    "rx_frames": 1,
    "rx_dropped": 3,
    "rx_overruns": 4,
    "tx_frames": 9,
    "tx_dropped": 11,
    "tx_overruns": 12,
}
"""Columns of an interface in /proc/net/dev; `rx_overruns` is RX-OVR of netstat(8)."""
PINGS = 20
PS_PER_TICK = 10**10
"""Linux's USER_HZ is 100 (time(7))."""
KINDS = ("user", "user", "system", "idle", "idle", "softirq", "softirq", "steal")
"""Kinds of time in the order of /proc/stat: user nice system idle iowait irq softirq steal."""
TICKS_MIN = 50
"""Shares of fewer ticks (10 ms each) would have a larger error than their bounds."""
TCP_NAMES = {
    "segments_sent": ("OutSegs",),
    "retransmits": ("RetransSegs",),
    "timeouts": ("TCPTimeouts",),
    "tail_loss_probes": ("TCPLossProbes",),
    "fast_recoveries": ("TCPSackRecovery", "TCPRenoRecovery"),
    "spurious_retransmits": ("TCPDSACKRecv",),
}
"""The simulator's names of a sender's counters, and Linux's
(Documentation/networking/snmp_counter.rst)."""
RECEIVER_NAMES = {"out_of_order": ("TCPOFOQueue",)}
"""Counters of the receiving host."""

Counters = dict[str, int]


def counters(lab: Lab, host: str, when: str) -> Counters:
    """Every counter of a host by its Linux name, and `rx_frames` and `tx_frames` of its
    interface."""
    return parse_counters(
        lab.run(
            Command(f"counters-{when}-{host}", ["cat", *FILES], host=host, observes=True), LIMIT_S
        )
    )


def switch_interfaces(lab: Lab, when: str) -> dict[str, Counters]:
    """Interfaces of a foreign switch, which are in the lab's own namespace, by name."""
    return parse_interfaces(
        lab.run(Command(f"interfaces-{when}", ["cat", "/proc/net/dev"], observes=True), LIMIT_S)
    )


def parse_interfaces(text: str) -> dict[str, Counters]:
    """As `switch_interfaces`, from the text of the file."""
    rows = [line.replace(":", " ", 1).split() for line in text.splitlines() if ":" in line]
    return {
        name: _interface(words)
        for name, *words in rows
        if name != LOOPBACK and len(words) == COLUMNS
    }


def _interface(words: Sequence[str]) -> Counters:
    return {key: int(words[at]) for key, at in INTERFACE.items()}


def parse_counters(text: str) -> Counters:
    """As `counters`, from the text of the three files."""
    found: Counters = {}
    heads: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, _, rest = line.strip().partition(":")
        words = rest.split()
        if name == DEVICE:
            found |= _interface(words)
        elif words and name in ("Tcp", "TcpExt", "Udp"):
            if name not in heads:
                heads[name] = words
            else:
                numbers = zip(heads[name], words, strict=False)
                found |= {key: int(value) for key, value in numbers if key not in found}
    return found


def tcp_outcome(sender: Mapping[str, int], receiver: Mapping[str, int]) -> Counters:
    """A workload's TCP counters under the simulator's names, from the counts of its two hosts
    during the trial."""
    sums = {name: sum(sender.get(key, 0) for key in keys) for name, keys in TCP_NAMES.items()}
    return sums | {
        name: sum(receiver.get(key, 0) for key in keys) for name, keys in RECEIVER_NAMES.items()
    }


def difference(before: Mapping[str, int], after: Mapping[str, int]) -> Counters:
    """The counts between two readings."""
    return {key: value - before.get(key, 0) for key, value in after.items()}


def round_trip_us(lab: Lab, source: str, destination: str, address: str) -> RoundTrip:
    """Minimum, mean and maximum round trip of small pings without other traffic, in
    microseconds."""
    argv = ["ping", "-n", "-q", "-c", str(PINGS), "-i", "0.01", "-w", "5", address]
    return parse_ping(
        lab.run(Command(f"ping-{source}-{destination}", argv, host=source, observes=True), LIMIT_S)
    )


def parse_ping(text: str) -> RoundTrip:
    """From ping's last line, `rtt min/avg/max/mdev = 0.1/0.2/0.3/0.0 ms`."""
    found = re.search(r"= ([\d.]+)/([\d.]+)/([\d.]+)/", text)
    if found is None:
        return RoundTrip()
    least, mean, most = (float(found[i]) * 1000 for i in (1, 2, 3))
    return RoundTrip(min=least, mean=mean, max=most)


@dataclass(frozen=True)
class Connections:
    """The connections of a host that carry data, at one moment."""

    congestion_controls: frozenset[str]
    windows: tuple[int, ...]
    """Congestion windows in segments."""
    round_trips_ms: tuple[float, ...]
    """Smoothed round trips."""


def connections(lab: Lab, host: str, moment: int) -> Connections:
    """A sample of a host's established connections."""
    argv = ["ss", "--no-header", "--tcp", "--info", "--numeric", "state", "established"]
    return parse_connections(
        lab.run(Command(f"ss-{moment}-{host}", argv, host=host, observes=True), LIMIT_S)
    )


def parse_connections(text: str) -> Connections:
    """From the lines of `ss --info`, of which the second of each connection begins with the
    congestion control."""
    controls = set()
    for name in re.findall(
        r"^\s+(?:ts\s+|sack\s+|ecn\s+|ecnseen\s+|fastopen\s+)*([a-z]+)\s", text, re.MULTILINE
    ):
        controls.add(name)
    windows = tuple(int(value) for value in re.findall(r"\bcwnd:(\d+)", text))
    trips = tuple(float(value) for value in re.findall(r"\brtt:([\d.]+)/", text))
    return Connections(frozenset(controls), windows, trips)


@dataclass(frozen=True)
class Used:
    """Use of the machine's cores between two readings."""

    shares: Mapping[str, float | None]
    """`idle_share` and `steal_share` of all cores together; None where the interval was too short.
    """
    steal_by_core: tuple[float | None, ...]
    """Share of each core's time that a hypervisor took, in the order of the cores; None where the
    interval was too short."""
    machine: Mapping[str, int] = field(default_factory=dict)
    """Time of all cores by kind in ps, and context switches, of everything that ran on the
    machine."""


@dataclass(frozen=True)
class CpuTicks:
    """Time of all cores of the machine together, in ticks."""

    total: int
    idle: int
    steal: int
    cores: "tuple[CpuTicks, ...]" = ()
    """Each core alone."""
    by_kind: tuple[int, ...] = ()
    """In the order of the file."""
    switches: int = 0
    """Context switches of the whole machine."""

    def used_since(self, before: "CpuTicks") -> Used:
        """Use since an earlier reading."""
        cores = [
            now.shares_since(then)["steal_share"]
            for now, then in zip(self.cores, before.cores, strict=False)
        ]
        return Used(self.shares_since(before), tuple(cores), self._machine_since(before))

    def _machine_since(self, before: "CpuTicks") -> dict[str, int]:
        spans = [now - then for now, then in zip(self.by_kind, before.by_kind, strict=False)]
        found = {"context_switches": self.switches - before.switches} | {
            f"{kind}_ps": 0 for kind in KINDS
        }
        for kind, ticks in zip(KINDS, spans, strict=False):
            found[f"{kind}_ps"] += ticks * PS_PER_TICK
        return found

    def shares_since(self, before: "CpuTicks") -> dict[str, float | None]:
        """Shares of all cores' time since an earlier reading; None where the interval was too
        short."""
        span = self.total - before.total
        if span < TICKS_MIN:
            return {"idle_share": None, "steal_share": None}
        return {
            "idle_share": (self.idle - before.idle) / span,
            "steal_share": (self.steal - before.steal) / span,
        }


def cpu() -> CpuTicks:
    """From /proc/stat: user nice system idle iowait irq softirq steal (guest is part of user)."""
    return parse_cpu(Path("/proc/stat").read_text(encoding="ascii"))


def parse_cpu(text: str) -> CpuTicks:
    """As `cpu`, from the text of the file."""
    lines = [line.split() for line in text.splitlines() if line.startswith("cpu")]
    whole, *cores = [
        CpuTicks(sum(times), times[3] + times[4], times[7], by_kind=tuple(times))
        for times in map(_ticks, lines)
    ]
    switches = next(
        (int(line.split()[1]) for line in text.splitlines() if line.startswith("ctxt ")), 0
    )
    return replace(whole, cores=tuple(cores), switches=switches)


def _ticks(words: list[str]) -> list[int]:
    return [int(word) for word in words[1:9]]


BACKLOG = {"received": 0, "dropped": 1, "squeezed": 2}
"""Columns of /proc/net/softnet_stat: frames that a core has received, frames that did not fit its
queue (`netdev_max_backlog`), and polls that left frames for later (`netdev_budget`)."""


def backlog() -> Counters:
    """Receive queues of all cores of the machine together, which every virtual interface uses."""
    return parse_backlog(Path("/proc/net/softnet_stat").read_text(encoding="ascii"))


def parse_backlog(text: str) -> Counters:
    """As `backlog`, from the text of the file: a line of hexadecimal numbers for each core."""
    lines = [line.split() for line in text.splitlines()]
    return {name: sum(int(words[at], 16) for words in lines) for name, at in BACKLOG.items()}
