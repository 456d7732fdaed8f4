"""Switches and the queueing policies of their ports."""

from typing import Annotated, Literal

from pydantic import Field

from tailrace.scenario.policies.aqm.kinds import Aqm
from tailrace.scenario.policies.aqm.none import NoAqm
from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.policies.etrap import Etrap
from tailrace.scenario.policies.limit import Limit, QueueLimit
from tailrace.scenario.policies.pause import PRIORITIES, LinkPause, Pfc, Police, Priorities
from tailrace.scenario.policies.sharing import shares_of
from tailrace.scenario.text.quantities import (
    Count,
    Name,
    Part,
    Rate,
    Share,
    Size,
    SmallCount,
    Time,
    stepped,
    within,
)
from tailrace.scenario.text.units import PLAN_INTEGER_MAX, SIZE

BRIDGE_PRIORITY = 32_768
"""IEEE 802.1Q-2018 table 13-3: the default."""
BRIDGE_PRIORITY_STEP = 4_096
BRIDGE_PRIORITY_MAX = 61_440
RULES_MAX = 512
"""Classification rules of one switch, at most."""

QCN_SET_POINT_BYTES_MIN = 100
"""The smallest value that a plan accepts (crates/plan)."""

MTU_BYTES_MIN = 576
"""IPv4: every host must accept a datagram of this size (RFC 791)."""
MTU_BYTES_MAX = 9216
"""The largest jumbo MTU of the modelled switches."""

Mtu = Annotated[Size, within(SIZE, least=MTU_BYTES_MIN, most=MTU_BYTES_MAX)]
BridgePriority = Annotated[
    int, *stepped(BRIDGE_PRIORITY_STEP, BRIDGE_PRIORITY_MAX, "bridge priority")
]


class Shape(Part):
    """Guaranteed and largest rate of a queue, of frames with their wire overhead."""

    min: Rate | None = None
    """Guaranteed rate of a queue with a share: below it, the queue is served before the other
    queues with shares, and shares refer to the remaining bandwidth. Strict queues are served before
    both.
    """
    max: Rate | None = None
    """Upper limit of the rate, with a burst of 18 460 B (two jumbo frames) after an idle period."""


class Qcn(Part):
    """QCN congestion point (802.1Qau): reports to senders the distance of the queue from its set
    point."""

    set_point: Annotated[
        Size, within(SIZE, least=QCN_SET_POINT_BYTES_MIN, most=PLAN_INTEGER_MAX)
    ] = 26_000
    """Set point of the queue depth (IEEE8021-CN-MIB: 26 000 octets)."""
    weight: Annotated[Count, Field(ge=1, le=1024)] = 2
    """Weight of the queue's growth (IEEE8021-CN-MIB: 2)."""


class Queue(Part):
    """One output queue: strict, or with a share of the bandwidth that strict queues leave."""

    strict: Annotated[Count, Field(ge=1, le=8)] | None = None
    """Strict priority: level 1 is served first."""
    share: Share | None = None
    """Share of the weighted bandwidth. Default: an equal part of what the stated shares leave."""
    limit: QueueLimit = Limit(unit="alpha-milli", amount=8000)
    """Limit of the queue: bytes, `dynamic(alpha)` of the free buffer, or frames [K]: dynamic(8) is
    a usual default."""
    reserved: Size = 0
    """Guaranteed bytes of this queue."""
    shape: Shape | None = None
    """Guaranteed and largest rate."""
    aqm: Aqm = NoAqm(kind="none")
    """Active queue management."""
    qcn: Qcn | None = None
    """Quantised congestion notification; senders need `nic.qcn`."""


class Dpp(Part):
    """Dynamic Packet Prioritization (Cisco C11-738425, page 5)."""

    max_packets: Annotated[SmallCount, Field(ge=1)] = 120
    """Number of first packets of a flow that use the express queue [K]: 120 is the NX-OS default,
    the paper uses 20."""
    age: Time = 5 * 10**9
    """Silence after which a flow is new again; 5ms in the paper."""
    express: str = "express"
    """Name of the express queue; it must be strict."""
    reset: Literal["order-safe", "naive"] = "order-safe"
    """order-safe: a flow is not new again while its packets wait in the normal queue; naive: only
    the age decides."""
    table_entries: Count = 65_536
    """Entries of the flow table, a power of two."""
    when_full: Literal["evict-oldest", "untracked"] = "evict-oldest"
    """Treatment of a flow for which the table has no free entry."""
    priorities: Priorities = list(range(PRIORITIES))
    """Classes whose flows are prioritised (`class type network-qos` of a switch). Default: all."""


class Policy(Part):
    """Queues, scheduling and pauses of a port."""

    queues: Annotated[dict[Name, Queue], Field(min_length=1, max_length=8)]
    """Queues by name, one to eight."""
    priorities: dict[Annotated[int, Field(ge=0, le=7)], str] = {}
    """Queue of each priority (0 to 7). Default: the first weighted queue that is not for a lossless
    priority."""
    dpp: Dpp | None = None
    """Dynamic packet prioritisation."""
    etrap: Etrap | None = None
    """Elephant trap for queues with `afd`. Default: the switch's defaults if a queue has `afd`."""
    pfc: Pfc | None = None
    """Priority flow control at this port, in both directions."""
    link_pause: LinkPause | None = None
    """802.3x pauses at this port, in both directions; a port has this or `pfc`."""
    police: Police | None = None
    """Policer for frames that arrive at this port."""

    @property
    def trap(self) -> Etrap | None:
        """The elephant trap: the stated one, or the default one if a queue needs it."""
        needs = any(queue.aqm.needs_trap for queue in self.queues.values())
        return self.etrap or (Etrap() if needs else None)

    @property
    def pausing(self) -> Pfc | LinkPause | None:
        """The section that makes the port lossless: `pfc` or `link_pause`; None for neither."""
        return self.pfc or self.link_pause

    @property
    def usual_queue(self) -> str:
        """Queue of unlisted priorities: the first weighted queue without a lossless priority."""
        lossless = (
            {self.priorities.get(priority) for priority in self.pfc.priorities}
            if self.pfc
            else set()
        )
        weighted = [name for name, queue in self.queues.items() if queue.strict is None]
        return next((name for name in weighted if name not in lossless), list(self.queues)[-1])

    def queue_of(self, priority: int) -> str:
        """Queue of a priority."""
        return self.priorities.get(priority, self.usual_queue)

    def shares(self) -> dict[str, int]:
        """Share of each weighted queue in parts per billion; queues without a stated share divide
        the rest equally."""
        return shares_of(self.queues)


class Switch(Part):
    """A switch; omitted keys are taken from `switches.defaults`."""

    switching: Literal["store-and-forward", "cut-through"] = "store-and-forward"
    """Forwards a frame after all of it has arrived (store-and-forward), or after its header
    (cut-through)."""
    latency: Time = 1_000_000
    """Fixed delay from ingress to the output queue [K]: around 1 us for data-centre switches."""
    buffer: Size = 12_000_000
    """Packet memory shared by all ports [K]: 12 MB is a Trident II."""
    classify: Annotated[list[Rule], Field(max_length=RULES_MAX)] = []
    """Classification rules; the first match applies. The class of a frame without a match is its
    priority."""
    policy: str = "fifo"
    """Name of the policy of every port (`fifo` is predefined: one queue, tail drop, dynamic(8))."""
    ports: dict[str, str] = {}
    """Policies of individual ports: name of the neighbour, name of the policy."""
    mtu: Mtu | None = None
    """IP MTU of every port, 576B to 9216B: a longer frame is dropped silently, whether it arrives
    or leaves. Default: frames of any length.
    """
    port_mtu: dict[str, Mtu] = {}
    """IP MTU of individual ports: name of the neighbour, size."""
    bridge_priority: BridgePriority = BRIDGE_PRIORITY
    """Priority in spanning trees, 0 to 61440 in steps of 4096: the lowest becomes the root, and of
    equal ones the first switch.
    """


FIFO = Policy(queues={"default": Queue()})
"""The policy named `fifo` when a scenario does not declare one."""
