"""Frames that the threads of a program send as fast as their host can, or at a rate."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field

from tailrace.scenario.network.topology import Graph
from tailrace.scenario.text.distribution import parse_distribution
from tailrace.scenario.text.quantities import Count, Size, Time, TimeDistribution
from tailrace.scenario.text.units import TIME
from tailrace.scenario.workloads import division
from tailrace.scenario.workloads.base import (
    PS_PER_S,
    Found,
    Raw,
    Surroundings,
    Unanswered,
    too_late,
)
from tailrace.scenario.workloads.facts import Facts
from tailrace.scenario.workloads.ports import DISCARD

ETHERNET_BYTES = 14
"""Addresses and type, which no MTU counts."""
HEADER_BYTES = ETHERNET_BYTES + 20 + 8
"""Ethernet, IP without options (RFC 791), UDP (RFC 768)."""
FRAME_BYTES_MIN, FRAME_BYTES_MAX = 60, 9_216 + 14
"""Without the check sequence: the shortest of Ethernet, and an MTU of 9216."""
COST = parse_distribution("1us", TIME)
"""[A], 0.3 to 3 us, as `cpu.per_send`."""
NONE = parse_distribution("0s", TIME)


class Frames(Unanswered):
    """Frames of one size that the threads of a program send, such as `tailrace blast`, without a
    transport."""

    kind: Literal["frames"]
    frame: Size
    """Bytes of a frame from its addresses on, without the check sequence: 60B to the MTU and 14B.
    Its headers are those of Ethernet, IP and UDP.
    """
    threads: Annotated[Count, Field(ge=1, le=64)] = 1
    """Threads that send. Each begins with its next frame when the one before is handed over."""
    delay: Time = 0
    """Pause of a thread after each of its frames."""
    rate: Annotated[Count, Field(ge=1, le=1_000_000_000)] | None = None
    """Frames per second of all threads together, evenly spaced within each. Default: as many as the
    host can send."""
    cost: TimeDistribution = COST
    """Time of a core for each frame, before the lock [A]. Default: 1us. A host with `cpu.cores`
    adds its own costs. A live run takes at least this long for each; `1ns` leaves only what the
    machine itself needs.
    """
    locked: TimeDistribution = NONE
    """Time for each frame under the lock of the transmit queue, which one thread of the workload
    holds at a time: it bounds all threads together. Default: none.
    """
    count: Annotated[Count, Field(ge=1)] | None = None
    """Number of frames of all threads. Default: until the end of the trial."""
    start: Time = 0
    """Time before the first frame."""

    @classmethod
    def facts(cls) -> Facts:
        return cls.unanswered_facts(
            noun="frames",
            main_metrics=("goodput_gbps", "latency_p99_ms"),
            sweep_metrics=("goodput_gbps", "latency_p50_ms", "latency_p99_ms"),
            live_load="raw-frames",
        )

    def problems(self, around: Surroundings) -> Found:
        if not FRAME_BYTES_MIN <= self.frame <= FRAME_BYTES_MAX:
            what = (
                f"a frame has {FRAME_BYTES_MIN} to {FRAME_BYTES_MAX} bytes without its check "
                f"sequence, not {self.frame}"
            )
            yield ("frame",), what, "write 1000B"
        elif self.source in around.mtus and self.frame > (
            longest := around.mtus[self.source] + ETHERNET_BYTES
        ):
            what = (
                f"a frame of {self.frame} bytes is longer than the MTU of '{self.source}' and "
                f"{ETHERNET_BYTES} bytes"
            )
            yield ("frame",), what, f"write at most {longest}B, or raise hosts.{self.source}.mtu"
        if self.delay == 0 and self.rate is None and self.cost.mean + self.locked.mean < 1:
            what = "a thread that needs no time for a frame would send without end at one moment"
            yield ("cost",), what, "write `cost`, `delay` or `rate`"
        if self.delay > 0 and self.rate is not None:
            yield ("rate",), "`rate` and `delay` exclude each other", "omit one of them"
        yield from too_late(self.start, around)

    def cautions(self, around: Surroundings) -> Found:
        if self.rate is not None and self.rate > self.rate_max:
            most = f"at most {self.rate_max:.4g} frames per second"
            what = f"{self.threads} threads send {most} at their `cost` and `locked`"
            yield ("rate",), what, "raise `threads`, or lower `cost`"

    @property
    def rate_max(self) -> float:
        """Frames per second that the costs of the workload allow."""
        one = self.cost.mean + self.locked.mean
        bounds = [self.threads * PS_PER_S / one] if one else []
        bounds += [PS_PER_S / self.locked.mean] if self.locked.mean else []
        return min(bounds, default=float("inf"))

    def usual_port(self) -> int:
        return DISCARD

    def lowered(self, graph: Graph) -> Raw:
        return {
            "source": self.source,
            "destination": self.destination,
            "payload_bytes": self.frame - HEADER_BYTES,
            "threads": self.threads,
            "delay_ps": self.delay,
            "interval_ps": 0 if self.rate is None else PS_PER_S * self.threads // self.rate,
            "cost": self.cost.raw,
            "locked": self.locked.raw,
            "count": self.count or 0,
        }

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        return self.model_copy(
            update={
                "count": division.divided_count(self.count, scale.divisor),
                "rate": division.divided_count(self.rate, scale.divisor),
                "delay": self.delay * scale.divisor,
                "cost": self.cost.scaled(scale.divisor),
                "locked": self.locked.scaled(scale.divisor),
            }
        )
