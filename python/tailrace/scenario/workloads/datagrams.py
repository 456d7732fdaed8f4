"""Datagrams at a rate that does not depend on the network."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field

from tailrace.scenario.network.topology import Graph
from tailrace.scenario.text.distribution import Distribution
from tailrace.scenario.text.quantities import Count, Size, SizeDistribution, Time, TimeDistribution
from tailrace.scenario.workloads import division
from tailrace.scenario.workloads.base import (
    Found,
    Raw,
    Surroundings,
    Unanswered,
    too_late,
)
from tailrace.scenario.workloads.facts import Facts
from tailrace.scenario.workloads.ports import STREAM

PAYLOAD_BYTES_MAX = 65_507
"""An IP packet has at most 65 535 bytes, with 20 of IP (RFC 791) and 8 of UDP (RFC 768)."""
MEAN_LOSS_MIN = 1e-3
"""Reduction of the mean size by that limit, as a share, above which there is a warning."""


def too_large(sizes: Distribution) -> bool:
    """Whether some datagrams of these sizes, which have a limit, fit no IP packet."""
    return PAYLOAD_BYTES_MAX < sizes.largest < float("inf")


def no_datagram(sizes: Distribution) -> tuple[str, str]:
    """What is wrong with such sizes, and a hint."""
    what = f"a datagram carries at most {PAYLOAD_BYTES_MAX} bytes, not {sizes.largest:.0f}"
    return what, f"write at most {PAYLOAD_BYTES_MAX}B"


class Datagrams(Unanswered):
    """Datagrams at a rate that does not depend on the network."""

    kind: Literal["datagrams"]
    sizes: SizeDistribution
    """Payload of each datagram; at most 65507B, and larger draws are truncated to that. Above the
    MTU of the source a datagram is sent in fragments (docs/models/ip.md).
    """
    interarrival: TimeDistribution
    """Gap between datagrams."""
    count: Annotated[Count, Field(ge=1)] | None = None
    """Number of datagrams. Default: until the end of the trial."""
    send_buffer: Size | None = None
    """Bytes of its frames that may wait in the interface of the source. A program that finds it
    full waits until half of it is free, and then catches up, as at a blocking socket
    (docs/models/host.md). Default: the program never waits, and the interface drops what finds no
    room. Real programs have the buffer of their kernel.
    """
    start: Time = 0
    """Time before the first gap."""
    first_at_start: bool = False
    """The first datagram comes at `start`, and not a gap later."""

    @classmethod
    def facts(cls) -> Facts:
        return cls.unanswered_facts(
            noun="datagrams",
            main_metrics=("latency_p99_ms", "goodput_gbps"),
            sweep_metrics=("latency_p50_ms", "latency_p99_ms", "goodput_gbps"),
            live_load="udp-datagrams",
        )

    def problems(self, around: Surroundings) -> Found:
        if too_large(self.sizes):
            yield ("sizes",), *no_datagram(self.sizes)
        if self.send_buffer == 0:
            yield (
                ("send_buffer",),
                "`send_buffer` must be greater than zero",
                "write a size such as 139kB, or omit it",
            )
        if self.interarrival.mean < 1:
            yield (
                ("interarrival",),
                "`interarrival` must be greater than zero",
                "write a gap such as 10us",
            )
        yield from too_late(self.start, around)

    def cautions(self, around: Surroundings) -> Found:
        room = PAYLOAD_BYTES_MAX
        if self.sizes.largest <= room:
            return
        mean = self.sizes.mean_up_to(room)
        if self.sizes.mean - mean < MEAN_LOSS_MIN * self.sizes.mean:
            return
        what = (
            f"a datagram has at most {room} bytes: {100 * self.sizes.above(room):.2g} % of "
            "them are truncated to that "
            f"size, and the mean is {mean:.0f} instead of {self.sizes.mean:.0f} bytes"
        )
        yield ("sizes",), what, f"write sizes that fit, such as uniform(64B, {room}B)"

    def usual_port(self) -> int:
        return STREAM

    def is_first_at_start(self) -> bool:
        return self.first_at_start

    def lowered(self, graph: Graph) -> Raw:
        return {
            "source": self.source,
            "destination": self.destination,
            "sizes": self.sizes.raw,
            "interarrival": self.interarrival.raw,
            "count": self.count or 0,
        } | ({"send_buffer_bytes": self.send_buffer} if self.send_buffer else {})

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        slower = self.interarrival.scaled(scale.divisor)
        count = division.divided_count(self.count, scale.divisor)
        return self.model_copy(update={"count": count, "interarrival": slower})
