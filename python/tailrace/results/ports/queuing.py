"""Counters of a port under the names that switches use (Cisco-NX-OS-device.yang,
`ipqos_QueuingStats`).

Names without a vendor's counterpart are defined here: mean and largest depths, headroom, QCN, and
drops before any queue. `curr...` and `ingQDepthBytes` are the state at the end of the trial.
"""

from collections.abc import Callable, Sequence

from msgspec import UNSET, Struct, UnsetType

from tailrace.outcome.types import Dpp, Dropped, Elephants, Group, MtuDrops, Port, Queue, Switch
from tailrace.plan import types as planned
from tailrace.plan.types import Plan, Policy
from tailrace.results.ports.outcome import known
from tailrace.scenario.policies.aqm.kinds import DROP_CAUSES

WATCHDOG_CAUSE = "watchdog"
INGRESS_CAUSES = ("ingress-full", "headroom-full", "policed", "mtu", "line")
"""Drops before a queue was reached."""
PRIORITIES = range(8)


class Counters(Struct, frozen=True, kw_only=True, rename="camel"):
    """Counters whose JSON has the names of switches. None for counters that an engine does not
    have."""


class QueueCounters(Counters, frozen=True, kw_only=True):
    """One queue. Drops are separate by cause; `drop_packets` are those that found no room."""

    name: str
    setting: planned.Queue | None
    """In the plan; None where that is not known."""
    tx_packets: int
    tx_bytes: int
    drop_packets: int
    drop_bytes: int | None
    rand_drop_packets: int
    rand_drop_bytes: int | None
    rand_ecn_marked_packets: int | None
    curr_queue_depth: int
    mean_queue_depth: int | None
    max_queue_depth: int | None
    pfcwd_flushed_packets: int
    cnm_tx: int | UnsetType
    """Notices of a congestion point; unset where the queue is none."""
    cnm_fb_sum: int | UnsetType
    qos_groups: list[int]


class GroupCounters(Counters, frozen=True, kw_only=True):
    """A group of priorities at the ingress."""

    priorities: list[int]
    ing_q_drop_packets: int
    ing_q_depth_bytes: int
    ing_q_max_depth_bytes: int
    headroom_max_bytes: int
    xoff_tx: int
    xon_tx: int


class PfcCounters(Counters, frozen=True, kw_only=True):
    """Pauses of a port in both directions; lists are by priority.

    One frame speaks of all priorities of its group; renewals of a pause are not counted.
    """

    pfc_tx_ppp: int
    pfc_rx_ppp: int
    tx_count: list[int]
    rx_count: list[int]
    paused_ps: list[int]
    pfcwd_shutdown_count: int
    pfcwd_restored_count: int


class PortCounters(Counters, frozen=True, kw_only=True):
    """Everything that a port counted."""

    port: str
    """`leaf>db`."""
    rate_bps: int
    queues: list[QueueCounters]
    ingress: list[GroupCounters]
    pfc: PfcCounters | None
    """None where the port takes no part in pausing."""
    elephants: Elephants | None
    dpp: Dpp | None
    mtu_drops: MtuDrops | UnsetType
    """Unset where the port has no MTU."""


class EarlyCounters(Counters, frozen=True, kw_only=True):
    """Frames that one cause dropped before any queue."""

    drop_packets: int
    drop_bytes: int | None


class SwitchCounters(Counters, frozen=True, kw_only=True):
    """Drops of a switch before any queue, by cause, and the use of its memory."""

    switch: str
    buffer_bytes: int
    max_buffer_bytes: int | None
    early_drops: dict[str, EarlyCounters]


def port_counters(port: Port, policy: Policy | None) -> PortCounters:
    """The counters of a port. `policy` is the port's in the plan; without it, settings are left
    out."""
    if policy is not None and [queue.name for queue in policy.queues] != [
        queue.name for queue in port.queues
    ]:
        policy = None  # a foreign switch has different queues
    settings = policy.queues if policy else [None] * len(port.queues)
    classes = policy.queue_of_priority if policy else []
    return PortCounters(
        port=f"{port.node}>{port.towards}",
        rate_bps=port.rate_bps,
        queues=[
            queue_counters(
                queue, setting, [group for group, own in enumerate(classes) if own == number]
            )
            for number, (queue, setting) in enumerate(zip(port.queues, settings, strict=True))
        ],
        ingress=[_group(group) for group in port.groups or []],
        pfc=_pfc(port),
        elephants=port.elephants,
        dpp=port.dpp,
        mtu_drops=port.mtu_drops or UNSET,
    )


def queue_counters(
    queue: Queue, setting: planned.Queue | None, qos_groups: list[int]
) -> QueueCounters:
    """The counters of a queue."""
    random = [lost for cause, lost in queue.drops.items() if cause in DROP_CAUSES]
    flushed = queue.drops.get(WATCHDOG_CAUSE)
    named = (*DROP_CAUSES, WATCHDOG_CAUSE, *INGRESS_CAUSES)
    tail = [lost for cause, lost in queue.drops.items() if cause not in named]
    mean = queue.depth_mean_bytes
    return QueueCounters(
        name=queue.name,
        setting=setting,
        tx_packets=queue.tx_frames,
        tx_bytes=queue.tx_bytes,
        drop_packets=sum(lost.frames for lost in tail),
        drop_bytes=_bytes(tail),
        rand_drop_packets=sum(lost.frames for lost in random),
        rand_drop_bytes=_bytes(random),
        rand_ecn_marked_packets=queue.marked_frames,
        curr_queue_depth=queue.depth_bytes,
        mean_queue_depth=None if mean is None else round(mean),
        max_queue_depth=queue.depth_max_bytes,
        pfcwd_flushed_packets=flushed.frames if flushed else 0,
        cnm_tx=queue.qcn.notifications if queue.qcn else UNSET,
        cnm_fb_sum=queue.qcn.feedback_sum if queue.qcn else UNSET,
        qos_groups=qos_groups,
    )


def switch_counters(switch: Switch) -> SwitchCounters:
    """The counters of a switch itself."""
    return SwitchCounters(
        switch=switch.name,
        buffer_bytes=switch.buffer_bytes,
        max_buffer_bytes=switch.buffer_max_bytes,
        early_drops={
            cause: EarlyCounters(drop_packets=lost.frames, drop_bytes=lost.bytes)
            for cause, lost in switch.early_drops.items()
        },
    )


def _group(group: Group) -> GroupCounters:
    return GroupCounters(
        priorities=[priority for priority in PRIORITIES if group.priorities >> priority & 1],
        ing_q_drop_packets=group.drop_frames,
        ing_q_depth_bytes=group.depth_bytes,
        ing_q_max_depth_bytes=group.bytes_max,
        headroom_max_bytes=group.headroom_max_bytes,
        xoff_tx=group.xoff_sent,
        xon_tx=group.xon_sent,
    )


def _pfc(port: Port) -> PfcCounters | None:
    groups, pause = port.groups or [], port.pause
    if pause is None and not any(group.xoff_sent for group in groups):
        return None
    sent = [
        sum(
            group.xoff_sent + group.xon_sent for group in groups if group.priorities >> priority & 1
        )
        for priority in PRIORITIES
    ]
    received = pause.received if pause else [0] * len(PRIORITIES)
    return PfcCounters(
        pfc_tx_ppp=sum(group.xoff_sent + group.xon_sent for group in groups),
        pfc_rx_ppp=sum(received),
        tx_count=sent,
        rx_count=received,
        paused_ps=pause.paused_ps if pause else [0] * len(PRIORITIES),
        pfcwd_shutdown_count=pause.storms_detected if pause else 0,
        pfcwd_restored_count=pause.storms_ended if pause else 0,
    )


def _bytes(lost: Sequence[Dropped]) -> int | None:
    """All together; None where those of one cause were not counted."""
    sizes = known([one.bytes for one in lost])
    return None if sizes is None else sum(sizes)


def port_policies(plan: Plan | None) -> Callable[[str, str], Policy | None]:
    """The policy of any port of a plan, by node and neighbour."""
    switches = {switch.name: switch for switch in plan.switches} if plan else {}
    own = {
        (name, port.towards): port.policy
        for name, switch in switches.items()
        for port in switch.port_policies
    }

    def policy(node: str, towards: str) -> Policy | None:
        usual = switches[node].policy if node in switches else None
        return own.get((node, towards), usual)

    return policy
