"""Bulk TCP connections."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from tailrace.scenario.network.topology import Graph
from tailrace.scenario.text.quantities import Count, Rate, Size, Time
from tailrace.scenario.workloads import division
from tailrace.scenario.workloads.base import (
    PS_PER_S,
    ClosedLoop,
    Found,
    LeastTime,
    LongFlows,
    OneWay,
    Raw,
    Surroundings,
    line_bps,
    scaled_count,
)
from tailrace.scenario.workloads.facts import Facts
from tailrace.scenario.workloads.ports import STREAM

BPS_PER_GBPS = 10**9
CONNECTION_BPS_MIN = 1000
"""Lowest rate of one connection."""
WRITE_TIME_PS = PS_PER_S // 1000
"""Interval of the writes of a rate-limited program, as in load generators [K]."""
WRITE_BYTES_MIN, WRITE_BYTES_MAX = 1024, 131_072
"""Bounds of the size of a write; the larger is the default of load generators [K]."""


class Stream(OneWay):
    """Bulk TCP connections."""

    kind: Literal["stream"]
    connections: Annotated[Count, Field(ge=1, le=60_000)] = 1
    """Parallel connections."""
    size: Size | None = None
    """Bytes of each connection. Default: until the end of the trial."""
    rate: Rate | None = None
    """Rate limit of the sending programs, an equal part for each connection. Default: no limit."""
    start: Time = 0
    """Start of the first connection."""
    stagger: Time = 0
    """Time from the start of one connection to the start of the next."""
    pin_forward: list[str] = []
    """Switches of the forward path, to pin it; empty for ECMP."""
    pin_backward: list[str] = []
    """Switches of the reverse path, to pin it; empty for ECMP."""

    @classmethod
    def facts(cls) -> Facts:
        return Facts(
            noun="bytes",
            group_noun="workloads",
            protocol="tcp",
            is_open_loop=False,
            is_ever_done=True,
            done_key="goodput_bytes",
            latency=None,
            metrics=frozenset({"completion_s", "connections_spread_percent"}),
            main_metrics=("completion_s", "goodput_gbps"),
            sweep_metrics=("goodput_gbps",),
            load_metric=None,
            growth=("connections", "goodput_gbps"),
            has_slowdown_by_size=False,
            are_datagrams_timed=False,
            is_unasked=True,
            live_load="tcp-stream",
            live_refusal=None,
        )

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        return int(body.get("bytes", 0) * body.get("connections", 1))

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        return None

    @classmethod
    def endless_connections_in(cls, body: Mapping[str, Any]) -> int | None:
        return None if body["bytes"] else int(body["connections"])

    def pinned_keys(self) -> tuple[str, ...]:
        return tuple(key for key in ("pin_forward", "pin_backward") if getattr(self, key))

    def problems(self, around: Surroundings) -> Found:
        if self.size == 0:
            yield (
                ("size",),
                "`size` must be greater than zero",
                "omit it to send until the end of the trial",
            )
        if self.start >= around.duration_ps:
            yield (
                ("start",),
                "the workload starts after the end of the trial",
                "lower start or raise experiment.duration",
            )
        if self.rate is not None and self.rate < CONNECTION_BPS_MIN * self.connections:
            what = (
                f"{self.rate} bit/s is less than 1 kbit/s for each of its "
                f"{self.connections} connections"
            )
            yield ("rate",), what, "raise the rate, or omit it for no limit"
        ends = {
            "pin_forward": (self.source, self.destination),
            "pin_backward": (self.destination, self.source),
        }
        for key, (first, last) in ends.items():
            pins = getattr(self, key)
            for a, b in pairwise([first, *pins, last]):
                if pins and not around.graph.are_joined(a, b):
                    yield (
                        (key,),
                        f"no link joins '{a}' and '{b}'",
                        "list the switches of the path in order, each joined to the next",
                    )

    def cautions(self, around: Surroundings) -> Found:
        line_bps = around.graph.rates_bps[self.source]
        if self.rate is not None and self.rate > line_bps:
            what = (
                f"{self.rate / BPS_PER_GBPS:g} Gbit/s is more than the {line_bps / BPS_PER_GBPS:g} "
                "Gbit/s of the source's link: the rate has no effect"
            )
            yield ("rate",), what, "lower it, or omit it"

    def least_time(self, graph: Graph) -> LeastTime | None:
        if not self.size:
            return None
        own_bps = line_bps(graph, self.source, self.destination)
        rate_bps = min(own_bps, self.rate or own_bps)
        needed_s = self.start / PS_PER_S + self.connections * self.size * 8 / rate_bps
        return LeastTime(
            needed_s, "at the line rate" if rate_bps == own_bps else "at its own rate", "size"
        )

    def bulk_to(self) -> tuple[str, int] | None:
        return (self.destination, self.connections * self.size) if self.size else None

    def long_flows(self) -> LongFlows | None:
        return LongFlows(self.source, self.destination, self.connections)

    def usual_port(self) -> int:
        return STREAM

    def held_ports(self) -> list[tuple[str, str, int]]:
        return [(self.source, "connections", self.connections)]

    def start_ps(self) -> int:
        return self.start

    def live_choices(self) -> Raw:
        return {}

    def lowered(self, graph: Graph) -> Raw:
        return {
            "source": self.source,
            "destination": self.destination,
            "connections": self.connections,
            "bytes": self.size or 0,
            "stagger_ps": self.stagger,
            "pin_forward": self.pin_forward,
            "pin_backward": self.pin_backward,
            **self._pace(),
        }

    def _pace(self) -> Raw:
        if self.rate is None:
            return {}
        in_time = self.rate * WRITE_TIME_PS // (8 * PS_PER_S * self.connections)
        return {
            "rate_bps": self.rate,
            "write_bytes": min(WRITE_BYTES_MAX, max(WRITE_BYTES_MIN, in_time)),
        }

    def work(self) -> int:
        return self.size or 0

    def scaled(self, factor: float) -> Self:
        return self.model_copy(
            update={"size": scaled_count(self.size, factor), "start": round(self.start * factor)},
        )

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        less = {
            key: division.divided_count(getattr(self, key), scale.divisor)
            for key in ("size", "rate")
        }
        return self.model_copy(update=less)

    def closed_loop(self) -> ClosedLoop | None:
        return None
