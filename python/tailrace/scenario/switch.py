"""Switches and the queueing policies of their ports."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from tailrace.scenario.quantities import NAME_PATTERN, Count, Part, Share, Size, Time, refuse
from tailrace.scenario.units import FRAMES, SIZE, QuantityError, parse

ONE_PPB = 10**9
ALPHA_MAX = 128.0
"""Larger factors of a dynamic threshold mean the whole buffer."""

Name = Annotated[str, Field(pattern=NAME_PATTERN)]


class Limit(Part):
    """When a queue is full: bytes, frames, or alpha times the free buffer."""

    unit: Literal["bytes", "frames", "alpha-milli"]
    amount: int


def _limit(value: object) -> Limit:
    if isinstance(value, Limit):
        return value
    if isinstance(value, str) and value.strip().startswith("dynamic(") and value.strip().endswith(")"):
        return Limit(unit="alpha-milli", amount=_alpha(value.strip()[len("dynamic(") : -1]))
    frames = isinstance(value, str) and value.strip().endswith(("frames", "frame"))
    try:
        return Limit(unit="frames" if frames else "bytes", amount=parse(value, FRAMES if frames else SIZE))
    except QuantityError as error:
        raise refuse(error.what, "write a size such as 4MB, dynamic(8), or 100 frames") from None


def _alpha(text: str) -> int:
    try:
        alpha = float(text)
    except ValueError:
        raise refuse(f"'{text}' is not a factor", "write dynamic(8): at most 8 times the free buffer") from None
    if not 0.001 <= alpha <= ALPHA_MAX:
        raise refuse(f"alpha {text} is outside 0.001 to {ALPHA_MAX:g}", "usual factors are 0.125 to 14")
    return round(alpha * 1000)


_LIMIT_PATTERN = r"^\s*(\d+(\.\d+)?\s*(B|kB|MB|GB|KiB|MiB|GiB|frames?)|dynamic\(\s*\d+(\.\d+)?\s*\))\s*$"
QueueLimit = Annotated[
    Limit,
    BeforeValidator(_limit),
    WithJsonSchema({"type": "string", "pattern": _LIMIT_PATTERN, "examples": ["4MB", "dynamic(8)", "100 frames"]}),
]


class NoAqm(Part):
    """The limit alone (tail drop)."""

    kind: Literal["none"]


class Step(Part):
    """Mark above an instantaneous depth: DCTCP's step (RFC 8257)."""

    kind: Literal["step"]
    threshold: Size
    """Depth above which a frame is marked (or dropped when it is not ECN-capable)."""


class Red(Part):
    """Random early detection (Floyd and Jacobson 1993)."""

    kind: Literal["red"]
    minimum: Size
    """Average depth below which nothing is dropped."""
    maximum: Size
    """Average depth above which everything is dropped."""
    probability: Share = 20_000_000
    """Probability at the maximum; 2% is the classic 1/50."""
    weight_exponent: Annotated[Count, Field(le=15)] = 9
    """The average's weight is 2 to the minus this; 9 is 0.002."""
    ecn: bool = False
    """Mark what is capable instead of dropping it."""


class Codel(Part):
    """CoDel (RFC 8289)."""

    kind: Literal["codel"]
    target: Time = 5 * 10**9
    """Acceptable standing delay."""
    interval: Time = 100 * 10**9
    """Window of the minimum."""
    ecn: bool = False
    """Mark what is capable instead of dropping it."""
    ce_threshold: Time = 0
    """Mark every capable frame that waited longer; 0s for never."""


Aqm = Annotated[NoAqm | Step | Red | Codel, Field(discriminator="kind")]


class Queue(Part):
    """One output queue: strict, or a share of what strict queues leave."""

    strict: Annotated[Count, Field(ge=1, le=8)] | None = None
    """Strict priority: level 1 is served first."""
    share: Share | None = None
    """Share of the weighted bandwidth. Left out: what the other shares leave."""
    limit: QueueLimit = Limit(unit="alpha-milli", amount=8000)
    """When it is full: bytes, `dynamic(alpha)` of the free buffer, or frames [K]: dynamic(8) is a usual default."""
    aqm: Aqm = NoAqm(kind="none")
    """Active queue management."""


class Dpp(Part):
    """Dynamic Packet Prioritization (Cisco C11-738425, page 5)."""

    max_packets: Annotated[Count, Field(ge=1)] = 120
    """The first this many packets of a flow use the express queue [K]: 120 is the NX-OS default, the paper uses 20."""
    age: Time = 5 * 10**9
    """A flow that was silent for this long is new again; the paper: 5ms."""
    express: str = "express"
    """Name of the express queue; it must be strict."""
    reset: Literal["order-safe", "naive"] = "order-safe"
    """order-safe: a flow is not new again while packets of it wait in the normal queue; naive: the age decides."""
    table_entries: Count = 65_536
    """Entries of the flow table, a power of two."""
    when_full: Literal["evict-oldest", "untracked"] = "evict-oldest"
    """What happens to a flow that finds no entry."""


class Policy(Part):
    """What an output port does."""

    queues: Annotated[dict[Name, Queue], Field(min_length=1, max_length=8)]
    """Queues by name, one to eight."""
    priorities: dict[Annotated[int, Field(ge=0, le=7)], str] = {}
    """Queue of each priority (0 to 7). Left out: the first weighted queue."""
    dpp: Dpp | None = None
    """Dynamic packet prioritisation."""

    @property
    def usual_queue(self) -> str:
        """Where frames go whose priority is not named: the first weighted queue, the last queue if there is none."""
        weighted = (name for name, queue in self.queues.items() if queue.strict is None)
        return next(weighted, list(self.queues)[-1])

    def shares(self) -> dict[str, int]:
        """Share of each weighted queue in parts per billion; those that state none divide what is left."""
        weighted = {name: queue.share for name, queue in self.queues.items() if queue.strict is None}
        stated = sum(share for share in weighted.values() if share is not None)
        unstated = sum(1 for share in weighted.values() if share is None)
        left = max(0, ONE_PPB - stated) // max(1, unstated)
        return {name: left if share is None else share for name, share in weighted.items()}


class Switch(Part):
    """A switch: what is left out comes from `switches.defaults`."""

    switching: Literal["store-and-forward", "cut-through"] = "store-and-forward"
    """When a frame is forwarded: when it has arrived whole, or when its header has."""
    latency: Time = 1_000_000
    """Fixed delay from ingress to the output queue [K]: around 1 us for data-centre switches."""
    buffer: Size = 12_000_000
    """Packet memory shared by all ports [K]: 12 MB is a Trident II."""
    policy: str = "fifo"
    """Name of the policy of every port (`fifo` exists without being declared: one queue, tail drop, dynamic(8))."""
    ports: dict[str, str] = {}
    """Policies of single ports: name of the neighbour, name of the policy."""


FIFO = Policy(queues={"default": Queue()})
"""The policy named `fifo` when a scenario does not declare one."""
