"""Summaries of switches and their ports in an arm. Figures are means over its trials."""

from msgspec import field

from tailrace.results.summary.base import Part


class Lost(Part, frozen=True, kw_only=True):
    """Frames that one cause lost."""

    frames: float
    bytes: float | None
    """None where a trial did not count them."""


class EarlyDrops(Part, frozen=True, kw_only=True):
    """Drops of a switch before any queue: no route, policed, no room at the ingress."""

    switch: str
    drops: dict[str, Lost]
    """By cause."""


class QueueMeans(Part, frozen=True, kw_only=True):
    """A queue of a port. A counter that some trial lacks is None."""

    name: str
    tx_frames: float
    tx_bytes: float
    drops: dict[str, Lost]
    """By cause."""
    drops_frames: float
    """Of all causes."""
    marked_frames: float | None
    depth_mean_bytes: float | None
    depth_max_bytes: float | None
    """The most in any trial."""


class DppMeans(Part, frozen=True, kw_only=True):
    """Effects of Dynamic Packet Prioritization at a port."""

    prioritised_frames: float
    normal_frames: float
    new_flows: float
    resets: float
    deferred_resets: float
    reordering_resets: float
    evictions: float
    untracked_frames: float


class MtuDropMeans(Part, frozen=True, kw_only=True):
    """Frames above the MTU of a port."""

    ingress: float
    egress: float


class PortMeans(Part, frozen=True, kw_only=True):
    """A port of a switch; parallel links are one."""

    node: str
    """Its switch."""
    towards: str
    """The node at the other end."""
    rate_bps: int
    """Of its link."""
    tx_bytes: float
    throughput_gbps: float
    """Of what it sent."""
    drops_frames: float
    """Of all queues."""
    mtu_drops: MtuDropMeans | None
    """None where the port has no MTU."""
    queues: list[QueueMeans]
    dpp: DppMeans | None
    """None where the port has none."""

    @property
    def label(self) -> str:
        """`leaf → db`."""
        return f"{self.node} → {self.towards}"


class PauseMeans(Part, frozen=True, kw_only=True):
    """Pauses at a port of a switch, or at the interface of a host."""

    label: str = field(name="place")
    """`leaf → db`, or `db → network` of a host."""
    xoff_sent: float
    """Pauses that were sent, without renewals."""
    received: float
    paused_percent: float
    """Share of the time for which the priority paused longest stood still."""
    storms_detected: float
    storms_ended: float
    headroom_max_bytes: float
    drops_frames: float
    """Lost at the ingress."""


class Deadlock(Part, frozen=True, kw_only=True):
    """A cycle of pauses at the end of trials."""

    words: str
    """`s0 → s1 → s2 → s0`."""
    links: list[str]
    """`s0>s1` and so on, in the order of the cycle."""
    trials: list[int]


class LockOut(Part, frozen=True, kw_only=True):
    """Workloads that a queue locked out, in the trial in which they lost most."""

    port: str
    """`leaf>db`."""
    queue: str
    workloads: list[str]
    lost_share: float
    """Of their data frames, 0 to 1."""
    others: list[str]
    """Workloads beside them that lost least."""
    others_lost_share: float
    trials: list[int]
    """All in which they were locked out."""


class IdleFairDrop(Part, frozen=True, kw_only=True):
    """A port where fair drop did next to nothing although its queue was too long."""

    port: str
    """`leaf>db`."""
    elephant_share: float
    """Share of the bytes that arrived from elephants, 0 to 1."""
    full_frames: float
    """Frames that found no room in queues with fair drop."""
    depth_mean_bytes: float
    desired_bytes: int
    age_ps: int
    age_needed_ps: int | None
    """The age that would have kept most elephants, in doublings; None where too few became one."""


class Counts(Part, frozen=True, kw_only=True):
    """Counters by which arms are compared. A counter that some trial lacks is None."""

    drops: float | None
    marks: float | None
    retransmits: float | None


class Rates(Part, frozen=True, kw_only=True):
    """Counters of trials that may end at different times."""

    end_s: float | None
    """Mean length of the counted part of the trials; None without trials."""
    frames: float | None
    """Sent by hosts; None where they were not counted from the beginning."""
    per_second: Counts
    per_million_frames: Counts
