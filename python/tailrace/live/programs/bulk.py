"""Streams and datagrams: pairs of iperf3."""

from collections.abc import Sequence

from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.measure.closings import Meant
from tailrace.live.measure.latency import cut_off_outcome, latency_outcome
from tailrace.live.measure.series import Moved, Row, bytes_after
from tailrace.live.programs import iperf3
from tailrace.live.programs.generators import PS_PER_S, Interval, Measured
from tailrace.live.programs.iperf3 import Pair, Received


class Bulk:
    """iperf3 pairs, for streams and for datagrams."""

    def __init__(self, kind: str, name: str, pairs: Sequence[Pair]) -> None:
        self.name = name
        self.is_finite = kind == "stream" and all(pair.is_finite for pair in pairs)
        self._kind = kind
        self._pairs = pairs
        self._servers: dict[Pair, Program] = {}
        self._clients: dict[Pair, Program] = {}
        self._begun_s: dict[Pair, float] = {}
        self._is_cut = False
        """Whether the trial ended before it did."""

    def prepare(self, lab: Lab) -> None:
        """Starts the receiving ends and waits until they listen."""
        for pair in self._pairs:
            self._servers[pair] = lab.start(pair.server(lab.address(pair.destination, pair.vlan)))
        for pair in self._pairs:
            iperf3.wait_for_listener(lab, pair, self._servers[pair])

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
        return len(self._clients) == len(self._pairs) and all(each.ended for each in self._clients.values())

    def stop(self, lab: Lab) -> None:
        """Interrupts what still runs; both ends then write their reports."""
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

    def measured(self, interval: Interval) -> Measured:
        """From the reports of the receiving ends."""
        received = {pair: iperf3.read_server(self._servers[pair].out_path) for pair in self._clients}
        ends_ps = [round((self._begun_s[pair] + each.seconds) * PS_PER_S) for pair, each in received.items()]
        is_complete = self.is_finite and not self._is_cut
        rows = [self._row(index, pair, each) for index, (pair, each) in enumerate(received.items())]
        moved = [part for pair, each in received.items() for part in self._moved(pair, each, interval.span_s)]
        cut_off = self._cut_off(interval) if self.is_finite and self._is_cut and self._kind == "stream" else []
        counted_from_ps = 0 if self.is_finite and self._kind == "stream" else interval.counted_from_ps
        outcome = {
            "name": self.name,
            "kind": self._kind,
            "counted_from_ps": counted_from_ps,
            "completion_ps": max(ends_ps) if is_complete else None,
            "transactions": len(ends_ps) if is_complete else 0,
            "goodput_bytes": bytes_after(moved, counted_from_ps),
            "latency": latency_outcome(row.latency_ps for row in rows) if is_complete else None,
            "user_completion_ps": ends_ps if is_complete else [],
            "cut_off": cut_off_outcome([row.latency_ps for row in cut_off]),
            "lost_datagrams": sum(each.lost for each in received.values()),
        }
        begun_ps = round(min(self._begun_s.values()) * PS_PER_S) if self._begun_s else None
        return Measured(outcome, rows if is_complete else [], moved, begun_ps, cut_off=cut_off)

    def connections(self, lab: Lab) -> Meant | None:
        """Those of all its pairs, each with one more for iperf3's control connection; None for datagrams."""
        if self._kind != "stream" or not self._clients:
            return None
        [(source, destination, vlan)] = {(pair.source, pair.destination, pair.vlan) for pair in self._pairs}
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

    def _cut_off(self, interval: Interval) -> list[Row]:
        """Transfers that the end cut off. Which of them had ended is not known: all count from their beginning."""
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
