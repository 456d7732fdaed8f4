"""Requests of a recording, each with its own size and time."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from tailrace.errors import RunRefusedError
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.workloads.base import (
    ClientServer,
    ClosedLoop,
    Found,
    LeastTime,
    LongFlows,
    Raw,
    Surroundings,
    line_bps,
)
from tailrace.scenario.workloads.division import Divisor
from tailrace.scenario.workloads.facts import Facts
from tailrace.scenario.workloads.ports import HTTP
from tailrace.scenario.workloads.recording import PS_PER_NS, Recorded, Recording, RecordingFile

BITS_PER_BYTE = 8
NS_PER_S = 10**9


class Replay(ClientServer):
    """Requests and responses of a recording: their sizes, the server's times, and the users' pauses
    or times."""

    kind: Literal["replay"]
    client: str
    """Host that asks."""
    server: str
    """Host that answers."""
    file: RecordingFile
    """Recording, a file relative to the scenario: one line for each request, below the header
    `connection,start_ns,think_ns,request_bytes,server_ns,response_bytes`. `tailrace fit --replay`
    writes it.
    """
    pace: Literal["think", "time"] = "think"
    """think: a request begins after the recorded pause since the response before it (closed loop).
    time: it begins at its recorded time, or, if a response is still awaited, when that has arrived;
    its latency counts from its time.
    """

    @classmethod
    def facts(cls) -> Facts:
        return Facts(
            noun="requests",
            group_noun="workloads",
            protocol="tcp",
            is_open_loop=False,
            is_ever_done=True,
            done_key="transactions",
            latency="response time",
            metrics=frozenset({"completion_s", "rate_per_s"}),
            main_metrics=("latency_p99_ms", "latency_p50_ms", "completion_s", "rate_per_s"),
            sweep_metrics=("latency_p50_ms", "latency_p99_ms", "rate_per_s"),
            load_metric=None,
            growth=None,
            has_slowdown_by_size=False,
            are_datagrams_timed=False,
            is_unasked=False,
            live_load="recorded-requests",
            live_refusal=None,
        )

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        return sum(len(one["begin_ps"]) for one in body["connections"])

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        return 1

    def problems(self, around: Surroundings) -> Found:
        first_ns = min(requests[0].start_ns for requests in self.file.connections)
        if first_ns * PS_PER_NS >= around.duration_ps:
            what = (
                f"its first request begins {first_ns / NS_PER_S:g} s after the start, when the "
                "trial is over"
            )
            yield ("file",), what, "raise experiment.duration"

    def cautions(self, around: Surroundings) -> Found:
        yield from ()

    def least_time(self, graph: Graph) -> LeastTime | None:
        pace_s = max(map(self._pace_s, self.file.connections))
        bits = self.file.response_bytes * BITS_PER_BYTE
        bounds = [
            (pace_s, "at its recorded pace"),
            (bits / line_bps(graph, self.client, self.server), "at the line rate"),
        ]
        return LeastTime(*max(bounds), "file")

    def _pace_s(self, requests: tuple[Recorded, ...]) -> float:
        """A connection alone, without a network."""
        answered = sum(one.server_ns for one in requests)
        if self.pace == "time":
            return (requests[-1].start_ns + requests[-1].server_ns) / NS_PER_S
        return (
            requests[0].start_ns + sum(one.think_ns for one in requests[1:]) + answered
        ) / NS_PER_S

    def bulk_to(self) -> tuple[str, int] | None:
        return self.client, self.file.response_bytes

    def long_flows(self) -> LongFlows | None:
        return None

    def usual_port(self) -> int:
        return HTTP

    def held_ports(self) -> list[tuple[str, str, int]]:
        return [(self.client, "file", len(self.file.connections))]

    def recordings(self) -> list[Recording]:
        return [self.file]

    def start_ps(self) -> int:
        return 0

    def live_choices(self) -> Raw:
        return {}

    def lowered(self, graph: Graph) -> Raw:
        return {
            "client": self.client,
            "server": self.server,
            "pace": self.pace,
            "connections": self.file.lowered_by_time
            if self.pace == "time"
            else self.file.lowered_by_think,
        }

    def work(self) -> int:
        return self.file.requests

    def scaled(self, factor: float) -> Self:
        return self.model_copy(update={"file": self.file.shortened(factor)})

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: Divisor) -> Self:
        raise RunRefusedError(
            f"--live-scale {scale.divisor}: workload '{name}' has recorded requests, which cannot "
            "be divided (hint: a workload of kind requests)"
        )

    def closed_loop(self) -> ClosedLoop | None:
        return None
