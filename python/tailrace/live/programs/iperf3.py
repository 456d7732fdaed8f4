"""iperf3: bulk streams and datagrams.

A stream with an end has a process for each connection, one without an end has one process for all.
Both ends bind to their host's address; the server serves one test and ends.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailrace.live.lab.lab import Lab
from tailrace.live.lab.listening import wait_until_listening
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Load, Refusals, Task
from tailrace.live.measure.closings import Meant
from tailrace.live.programs.iperf3_report import INTERVAL_S, Received, read_server
from tailrace.live.service import Raw
from tailrace.outcome.types import Workload
from tailrace.programs.command import Command
from tailrace.programs.latency import cut_off_outcome, latency_outcome
from tailrace.programs.measured import PS_PER_S, Measured, MeasuredInterval
from tailrace.programs.needed import Needed
from tailrace.programs.series import Moved, Row, bytes_after
from tailrace.scenario.workloads.datagrams import Datagrams
from tailrace.scenario.workloads.stream import Stream

PROGRAM = "iperf3"
DATAGRAM_BYTES_MAX = 65_507
"""Largest UDP payload over IPv4."""
BLOCK_BYTES = 131_072
"""iperf3 writes this much at a time, and its count of bytes ends with a whole write."""
TIME_S_MAX = 86_400
"""Longest test of iperf3."""


@dataclass(frozen=True)
class Pair:
    """One client and its server."""

    name: str
    source: str
    destination: str
    port: int
    arguments: tuple[str, ...]
    """Of the client, besides addresses and format."""
    delay_s: float
    """From the beginning of the trial."""
    is_finite: bool
    priority: int | None
    vlan: int
    """0 for none."""
    dscp: int | None = None
    """Code point of its connections; iperf3 itself marks datagrams."""
    connections: int = 1
    """That carry data."""

    def server(self, address: str) -> Command:
        """The receiving end."""
        argv = [
            PROGRAM,
            "--server",
            "--one-off",
            "--bind",
            address,
            "--port",
            str(self.port),
            "--json",
        ]
        return Command(
            f"{self.name}-server",
            [*argv, "--interval", str(INTERVAL_S)],
            host=self.destination,
            priority=self.priority,
        )

    def client(self, source: str, destination: str) -> Command:
        """The sending end."""
        argv = [
            PROGRAM,
            "--client",
            destination,
            "--bind",
            source,
            "--port",
            str(self.port),
            "--json",
        ]
        argv += ["--interval", str(INTERVAL_S), *self.arguments]
        return Command(
            f"{self.name}-client", argv, host=self.source, priority=self.priority, dscp=self.dscp
        )


def stream_pairs(raw: Mapping[str, Any], first_port: int, limit_s: float) -> list[Pair]:
    """The pairs of a workload of kind `stream`."""
    count, size = raw["connections"], raw["bytes"]
    pace = _pace(raw)
    is_together = not size and not raw["stagger_ps"]
    if is_together:
        arguments = ("--parallel", str(count), "--time", _time(limit_s), *pace)
        together = _pair(raw, 0, first_port, arguments, is_finite=False)
        return [replace(together, connections=count, dscp=raw.get("dscp") or None)]
    pairs = []
    for index in range(count):
        end = (
            _length(size, raw.get("write_bytes") or BLOCK_BYTES)
            if size
            else ("--time", _time(limit_s))
        )
        pair = _pair(raw, index, first_port + index, (*end, *pace), is_finite=bool(size))
        pairs.append(replace(pair, dscp=raw.get("dscp") or None))
    return pairs


def datagram_pairs(raw: Mapping[str, Any], first_port: int, limit_s: float) -> list[Pair]:
    """The pair of a workload of kind `datagrams`, which has even gaps and one size."""
    size, gap_ps = raw["sizes"]["constant"], raw["interarrival"]["constant"]
    rate_bps = math.ceil(size * 8 * PS_PER_S / gap_ps)
    end = ("--blockcount", str(raw["count"])) if raw["count"] else ("--time", _time(limit_s))
    marked = ("--dscp", str(raw["dscp"])) if raw.get("dscp") else ()
    arguments = ("--udp", "--bitrate", str(rate_bps), "--length", str(size), *end, *marked)
    return [_pair(raw, 0, first_port, arguments, is_finite=bool(raw["count"]))]


def _pace(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """The rate of each connection: iperf3 limits its streams one by one, after each write."""
    if not raw.get("rate_bps"):
        return ()
    length = () if raw["bytes"] else ("--length", str(raw["write_bytes"]))
    return ("--bitrate", str(raw["rate_bps"] // raw["connections"]), *length)


def _length(size: int, write_bytes: int) -> tuple[str, ...]:
    return ("--bytes", str(size), "--length", str(min(write_bytes, size)))


def _time(limit_s: float) -> str:
    return str(min(TIME_S_MAX, math.ceil(limit_s)))


def _pair(
    raw: Mapping[str, Any], index: int, port: int, arguments: tuple[str, ...], *, is_finite: bool
) -> Pair:
    delay_s = (raw["start_ps"] + index * raw.get("stagger_ps", 0)) / PS_PER_S
    name = f"iperf3-{raw['name']}-{index + 1}"
    ends = (raw["source"], raw["destination"])
    return Pair(
        name,
        *ends,
        port,
        arguments,
        delay_s,
        is_finite,
        raw["priority"] or None,
        raw.get("vlan") or 0,
    )


class Iperf3(Load):
    """Pairs of iperf3: the common part of streams and datagrams."""

    needs = (Needed("iperf3", "iperf3", "--version", "workloads of kind stream and datagrams"),)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._pairs = self.pairs(task.raw, task.first_port, task.limit_s)
        self._servers: dict[Pair, Program] = {}
        self._clients: dict[Pair, Program] = {}
        self._begun_s: dict[Pair, float] = {}
        self._is_cut = False
        """Whether the trial ended before it did."""

    @staticmethod
    @abstractmethod
    def pairs(raw: Raw, first_port: int, limit_s: float) -> list[Pair]:
        """Its pairs, the ports of their servers from `first_port` on."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """Kind of the workload in the outcome."""

    @property
    @abstractmethod
    def is_stream(self) -> bool:
        """Whether it has TCP connections."""

    @property
    def ends(self) -> tuple[str, str]:
        """From source to destination."""
        return str(self.task.raw["source"]), str(self.task.raw["destination"])

    @property
    def opens(self) -> tuple[str, str]:
        """The source connects."""
        return self.ends

    @property
    def waiting(self) -> int:
        """Its connections; one for datagrams."""
        return int(self.task.raw.get("connections", 1))

    def exposed(self, send_buffer_bytes: int) -> float:
        """None: socket buffers hide all of a wait."""
        return 0.0

    @property
    def is_finite(self) -> bool:
        """Whether it has a number of bytes to transfer. False for datagrams."""
        return self.is_stream and all(pair.is_finite for pair in self._pairs)

    @property
    def ports(self) -> int:
        """One for each pair."""
        return len(self._pairs)

    def prepare(self, lab: Lab) -> None:
        """Starts the receiving ends and waits until they listen."""
        for pair in self._pairs:
            self._servers[pair] = lab.start(pair.server(lab.address(pair.destination, pair.vlan)))
        for pair in self._pairs:
            wait_until_listening(lab, pair.name, self._servers[pair], pair.port)

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """Starts the clients that are due."""
        for pair in self._pairs:
            if pair not in self._clients and elapsed_s >= pair.delay_s:
                ends = (lab.address(host, pair.vlan) for host in (pair.source, pair.destination))
                command = pair.client(*ends)
                self._begun_s[pair] = elapsed_s
                self._clients[pair] = lab.start(command)

    @property
    def programs(self) -> Sequence[Program]:
        """Clients and servers."""
        return [*self._servers.values(), *self._clients.values()]

    @property
    def is_done(self) -> bool:
        """Whether every client has started and ended."""
        return len(self._clients) == len(self._pairs) and all(
            each.ended for each in self._clients.values()
        )

    def stop(self, lab: Lab) -> None:
        """Interrupts running programs; both ends then write their reports."""
        self._is_cut = not self.is_done
        for program in self._clients.values():
            program.signal("INT")
        for program in self._clients.values():
            program.wait(STOP_LIMIT_S)
        for pair, program in self._servers.items():
            if pair in self._clients:
                program.wait(STOP_LIMIT_S)
            else:
                program.stop("INT")

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the reports of the receiving ends."""
        received = {pair: read_server(self._servers[pair].out_path) for pair in self._clients}
        ends_ps = [
            round((self._begun_s[pair] + each.seconds) * PS_PER_S)
            for pair, each in received.items()
        ]
        is_complete = self.is_finite and not self._is_cut
        rows = [self._row(index, pair, each) for index, (pair, each) in enumerate(received.items())]
        moved = [
            part
            for pair, each in received.items()
            for part in self._moved(pair, each, interval.span_s)
        ]
        cut_off = (
            self._cut_off(interval) if self.is_finite and self._is_cut and self.is_stream else []
        )
        counted_from_ps = 0 if self.is_finite and self.is_stream else interval.counted_from_ps
        outcome = Workload(
            name=self.name,
            kind=self.kind,
            counted_from_ps=counted_from_ps,
            completion_ps=max(ends_ps) if is_complete else None,
            transactions=len(ends_ps) if is_complete else 0,
            goodput_bytes=bytes_after(moved, counted_from_ps),
            latency=latency_outcome(row.latency_ps for row in rows) if is_complete else None,
            user_completion_ps=[*ends_ps] if is_complete else [],
            cut_off=cut_off_outcome([row.latency_ps for row in cut_off]),
            lost_datagrams=sum(each.lost for each in received.values()),
        )
        begun_ps = round(min(self._begun_s.values()) * PS_PER_S) if self._begun_s else None
        return Measured(outcome, rows if is_complete else [], moved, begun_ps, cut_off=cut_off)

    def connections(self, lab: Lab) -> Meant | None:
        """Those of all its pairs, each with one more for iperf3's control connection; None for
        datagrams."""
        if not self.is_stream or not self._clients:
            return None
        [(source, destination, vlan)] = {
            (pair.source, pair.destination, pair.vlan) for pair in self._pairs
        }
        return Meant(
            client=source,
            client_address=lab.address(source, vlan),
            client_ports=frozenset(),
            server=destination,
            server_address=lab.address(destination, vlan),
            server_ports=frozenset(pair.port for pair in self._clients),
            server_sends=False,
            count=sum(pair.connections + 1 for pair in self._clients),
        )

    def _cut_off(self, interval: MeasuredInterval) -> list[Row]:
        """Transfers that the end cut off. Which of them had ended is not known: all count from
        their beginning."""
        begun = (self._begun_s[pair] for pair in self._clients)
        return [
            Row(index, round(begun_s * PS_PER_S), round((interval.span_s - begun_s) * PS_PER_S))
            for index, begun_s in enumerate(begun)
        ]

    def _row(self, index: int, pair: Pair, each: Received) -> Row:
        return Row(index, round(self._begun_s[pair] * PS_PER_S), round(each.seconds * PS_PER_S))

    def _moved(self, pair: Pair, each: Received, span_s: float) -> list[Moved]:
        begun_s = self._begun_s[pair]
        parts = [*each.intervals, each.tail(span_s - begun_s)]
        moved = [
            Moved(round((begun_s + start_s) * PS_PER_S), round((begun_s + end_s) * PS_PER_S), size)
            for start_s, end_s, size in parts
            if size
        ]
        return [part.until(round(span_s * PS_PER_S)) for part in moved]


class Iperf3Stream(Iperf3):
    """TCP connections that transfer bytes as fast as possible, or at a rate."""

    load_name = "iperf3"
    sort = "tcp-stream"
    kind = "stream"
    is_stream = True
    pairs = staticmethod(stream_pairs)

    @classmethod
    def refusals(cls, workload: Stream) -> Refusals:
        """Paths."""
        if workload.pin_forward or workload.pin_backward:
            yield (), "paths cannot be pinned in live runs", "omit pin_forward and pin_backward"


class Iperf3Datagrams(Iperf3):
    """Datagrams of one size at even gaps."""

    load_name = "iperf3"
    sort = "udp-datagrams"
    kind = "datagrams"
    is_stream = False
    marks_itself = True
    pairs = staticmethod(datagram_pairs)

    @classmethod
    def refusals(cls, workload: Datagrams) -> Refusals:
        """Problems: varying sizes and gaps, and sizes that UDP does not support."""
        for key in ("sizes", "interarrival"):
            if "constant" not in getattr(workload, key).raw:
                yield (key,), "iperf3 sends datagrams of one size at even gaps", "write one value"
        if workload.sizes.largest > DATAGRAM_BYTES_MAX:
            yield (
                ("sizes",),
                "a datagram is larger than UDP allows",
                f"write at most {DATAGRAM_BYTES_MAX}B",
            )
