"""Datagrams at a rate that does not depend on the network."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from tailrace.scenario.network.topology import Graph
from tailrace.scenario.text.quantities import Count, SizeDistribution, Time, TimeDistribution
from tailrace.scenario.workloads import division
from tailrace.scenario.workloads.base import (
    ClosedLoop,
    Found,
    LeastTime,
    LongFlows,
    OneWay,
    Raw,
    Surroundings,
    scaled_count,
)
from tailrace.scenario.workloads.facts import Facts

UDP_IPV4_HEADERS_BYTES = 28
"""RFC 768 (8) and RFC 791 without options (20)."""
MEAN_LOSS_MIN = 1e-3
"""Reduction of the mean size by the MTU, as a share, above which there is a warning."""


class Datagrams(OneWay):
    """Datagrams at a rate that does not depend on the network."""

    kind: Literal["datagrams"]
    sizes: SizeDistribution
    """Payload of each datagram; larger draws are truncated to what the MTU allows."""
    interarrival: TimeDistribution
    """Gap between datagrams."""
    count: Annotated[Count, Field(ge=1)] | None = None
    """Number of datagrams. Default: until the end of the trial."""
    start: Time = 0
    """Start of the first datagram."""

    @classmethod
    def facts(cls) -> Facts:
        return Facts(
            noun="datagrams",
            group_noun="workloads",
            protocol="udp",
            is_open_loop=True,
            is_ever_done=False,
            done_key="transactions",
            latency="one-way delay",
            metrics=frozenset(),
            main_metrics=("latency_p99_ms", "goodput_gbps"),
            sweep_metrics=("latency_p50_ms", "latency_p99_ms", "goodput_gbps"),
            load_metric=None,
            growth=None,
            has_slowdown_by_size=False,
            are_datagrams_timed=True,
            live_load="udp-datagrams",
            live_refusal=None,
        )

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        return 0

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        return None

    def pinned_keys(self) -> tuple[str, ...]:
        return ()

    def problems(self, around: Surroundings) -> Found:
        mtu = around.mtu_of(self.source)
        room = mtu - UDP_IPV4_HEADERS_BYTES
        largest = self.sizes.largest
        if room < largest < float("inf"):
            what = f"a datagram of {largest:.0f} bytes does not fit an MTU of {mtu} bytes"
            yield ("sizes",), what, f"write at most {room}B"
        if self.interarrival.mean < 1:
            yield ("interarrival",), "`interarrival` must be greater than zero", "write a gap such as 10us"

    def cautions(self, around: Surroundings) -> Found:
        mtu = around.mtu_of(self.source)
        room = mtu - UDP_IPV4_HEADERS_BYTES
        if self.sizes.largest <= room:
            return
        mean = self.sizes.mean_up_to(room)
        if self.sizes.mean - mean < MEAN_LOSS_MIN * self.sizes.mean:
            return
        what = (
            f"an MTU of {mtu} bytes holds at most {room} bytes of a datagram: {100 * self.sizes.above(room):.2g} % of "
            f"them are cut to that size, and the mean is {mean:.0f} instead of {self.sizes.mean:.0f} bytes"
        )
        hint = f"write sizes that fit, such as uniform(64B, {room}B), or give '{self.source}' a larger mtu"
        yield ("sizes",), what, hint

    def least_time(self, graph: Graph) -> LeastTime | None:
        return None

    def bulk_to(self) -> tuple[str, int] | None:
        return None

    def long_flows(self) -> LongFlows | None:
        return None

    def client_ports(self) -> list[tuple[str, str, int]]:
        return [(self.source, "source", 1)]

    def start_ps(self) -> int:
        return self.start

    def live_choices(self) -> Raw:
        return {}

    def lowered(self, graph: Graph) -> Raw:
        return {
            "source": self.source,
            "destination": self.destination,
            "sizes": self.sizes.raw,
            "interarrival": self.interarrival.raw,
            "count": self.count or 0,
        }

    def work(self) -> int:
        return self.count or 0

    def scaled(self, factor: float) -> Self:
        return self.model_copy(
            update={"count": scaled_count(self.count, factor), "start": round(self.start * factor)},
        )

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        slower = self.interarrival.scaled(scale.divisor)
        count = division.divided_count(self.count, scale.divisor)
        return self.model_copy(update={"count": count, "interarrival": slower})

    def closed_loop(self) -> ClosedLoop | None:
        return None
