"""The kernel's figures of each TCP connection at its end: `ss --events` reports every socket that
is destroyed.

Figures are per connection, so workloads that share a host are distinguished by addresses and ports.
They cover the whole life of the connection: its opening, its end, and data sent after the measured
interval.
"""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.outcome.types import Connections, Ends
from tailrace.programs.command import Command

LIMIT_S = 10.0
SETTLE_S = 2.0
"""Connections close within a few round trips of their program's end; 2 s is ten minimum timeouts of
Linux."""
POLL_S = 0.02
PATTERNS = {
    "segments_sent": r"\bdata_segs_out:(\d+)",
    "retransmits": r"\bretrans:\d+/(\d+)",
    "spurious_retransmits": r"\bdsack_dups:(\d+)",
    "out_of_order": r"\brcv_ooopack:(\d+)",
    "retransmitted_bytes": r"\bbytes_retrans:(\d+)",
}
"""The simulator's names of counters, and their patterns in `ss --info`, which omits counters that
are 0."""
SENDER_NAMES = ("segments_sent", "retransmits", "spurious_retransmits")
RECEIVER_NAMES = ("out_of_order",)

End = tuple[str, int]
"""Address and port."""


@dataclass(frozen=True)
class Closed:
    """A connection that has ended, from the view of one of its hosts."""

    local: End
    peer: End
    counters: Mapping[str, int]
    round_trip_ms: float | None
    """Smoothed round trip at its end."""
    round_trip_least_ms: float | None


@dataclass(frozen=True)
class Seen:
    """The connections of one workload that were seen to end, at both of their ends."""

    sent: Sequence[Closed]
    """By the host that sends most."""
    received: Sequence[Closed]
    expected: int
    """Number of its connections."""

    @property
    def is_whole(self) -> bool:
        """Whether both hosts saw all of them end; otherwise the sums are too small."""
        return min(len(self.sent), len(self.received)) >= self.expected


@dataclass(frozen=True)
class Meant:
    """The connections of one workload."""

    client: str
    """Host."""
    client_address: str
    client_ports: frozenset[int]
    """Empty: any."""
    server: str
    server_address: str
    server_ports: frozenset[int]
    server_sends: bool
    """Whether most bytes come from the server."""
    count: int

    @property
    def ends(self) -> tuple[str, str]:
        """Sending and receiving host."""
        return (self.server, self.client) if self.server_sends else (self.client, self.server)

    @property
    def outcome(self) -> Ends:
        """Hosts and ports, for an outcome."""
        return Ends(
            client=self.client,
            client_ports=sorted(self.client_ports),
            server=self.server,
            server_ports=sorted(self.server_ports),
        )

    def has(self, one: Closed, *, at_server: bool) -> bool:
        """Whether the connection, seen by the server's or the client's host, belongs to the
        workload."""
        server, client = (one.local, one.peer) if at_server else (one.peer, one.local)
        if self.client_ports and client[1] not in self.client_ports:
            return False
        return (server[0], client[0]) == (self.server_address, self.client_address) and server[
            1
        ] in self.server_ports


class Closings:
    """Listens on hosts for connections that end."""

    def __init__(self, lab: Lab, hosts: Iterable[str]) -> None:
        """Starts to listen."""
        argv = [
            "stdbuf",
            "--output=L",
            "ss",
            "--no-header",
            "--events",
            "--tcp",
            "--info",
            "--numeric",
        ]
        self._programs = {
            host: lab.start(Command(f"closings-{host}", argv, host=host, observes=True))
            for host in hosts
        }

    def of(self, host: str) -> list[Closed]:
        """Connections of a host that have ended."""
        return parse_closed(self._programs[host].output())

    def pair(self, meant: Meant) -> Seen:
        """The ended connections of a workload, from its sending and its receiving host. Waits for a
        limited time."""
        sender, receiver = meant.ends
        sent = self._settled(sender, meant, at_server=meant.server_sends)
        return Seen(
            sent, self._settled(receiver, meant, at_server=not meant.server_sends), meant.count
        )

    def _settled(self, host: str, meant: Meant, *, at_server: bool) -> list[Closed]:
        deadline = time.monotonic() + SETTLE_S
        while True:
            found = [one for one in self.of(host) if meant.has(one, at_server=at_server)]
            if len(found) >= meant.count or time.monotonic() >= deadline:
                return found
            time.sleep(POLL_S)

    def stop(self) -> None:
        """Ends the listening."""
        for program in self._programs.values():
            program.stop()


def parse_closed(text: str) -> list[Closed]:
    """Parses the lines of `ss --events --info`: the ends of a connection, and indented its last
    state."""
    found = []
    lines = text.splitlines(keepends=True)
    for first, second in pairwise(lines):
        words = first.split()
        if (
            first[:1].isspace()
            or not second[:1].isspace()
            or not second.endswith("\n")
            or len(words) < 5
        ):
            continue
        local, peer = end_of(words[3]), end_of(words[4])
        if local and peer:
            counters = {
                name: int(hit[1]) if (hit := re.search(at, second)) else 0
                for name, at in PATTERNS.items()
            }
            trips = (_number(r"\brtt:([\d.]+)/", second), _number(r"\bminrtt:([\d.]+)", second))
            found.append(Closed(local, peer, counters, *trips))
    return found


def end_of(word: str) -> End | None:
    """`10.77.0.1:5432`, or the same in the form of IPv6; None for a listener's."""
    found = re.fullmatch(r"(?:\[::ffff:)?([\d.]+)\]?:(\d+)", word)
    return (found[1], int(found[2])) if found else None


def _number(pattern: str, text: str) -> float | None:
    found = re.search(pattern, text)
    return float(found[1]) if found else None


def tcp_outcome(ends: Seen) -> dict[str, int]:
    """TCP counters of the connections that these are the two ends of. Linux counts timeouts, probes
    and recoveries by host and not by connection: they are left out."""
    sums = {name: sum(one.counters[name] for one in ends.sent) for name in SENDER_NAMES}
    return sums | {
        name: sum(one.counters[name] for one in ends.received) for name in RECEIVER_NAMES
    }


def summary(ends: Seen) -> Connections:
    """Further figures of the sending ends."""
    sent = ends.sent
    trips = [one.round_trip_ms for one in sent if one.round_trip_ms is not None]
    least = [one.round_trip_least_ms for one in sent if one.round_trip_least_ms is not None]
    return Connections(
        count=len(sent),
        expected=ends.expected,
        retransmitted_bytes=sum(one.counters["retransmitted_bytes"] for one in sent),
        round_trip_mean_ms=sum(trips) / len(trips) if trips else None,
        round_trip_least_ms=min(least, default=None),
    )


def client_ports(lab: Lab, client: Program, server_port: int, attempt: int = 0) -> frozenset[int]:
    """The ports of a running program's connections to a server. Each attempt has its own number."""
    argv = ["ss", "--no-header", "--tcp", "--numeric", "--processes", f"dport = :{server_port}"]
    text = lab.run(
        Command(
            f"ports-{client.command.name}-{attempt}", argv, host=client.command.host, observes=True
        ),
        LIMIT_S,
    )
    mine = [line.split() for line in text.splitlines() if f"pid={client.pid}," in line]
    ends = [end_of(words[3]) for words in mine if len(words) > 4]
    return frozenset(end[1] for end in ends if end)
