"""Figures of a workload, or of the members of a group together, in one arm."""

from collections.abc import Sequence

from tailrace.results.summary.base import Part, Sample
from tailrace.results.summary.causes import Explained
from tailrace.results.summary.kinds import BlockFigures, LatencyFigures, MpiFigures, StorageFigures
from tailrace.statistics import Interval


class RequestMeans(Part, frozen=True, kw_only=True):
    """Counters of requests per trial."""

    answered: float
    failed: float
    connections: float
    failed_connections: float
    lost_queries: float
    failed_calls: float
    timed_out: float


class FailedAttempts(Part, frozen=True, kw_only=True):
    """Attempts of transactions that the database rolled back, per trial."""

    mean: float
    by_error: dict[str, float]


class TcpMeans(Part, frozen=True, kw_only=True):
    """Counters per trial; None where a trial lacks one: real hosts have fewer counters than
    modelled ones."""

    segments_sent: float | None
    retransmits: float | None
    timeouts: float | None
    tail_loss_probes: float | None
    fast_recoveries: float | None
    spurious_retransmits: float | None
    out_of_order: float | None
    ecn_reductions: float | None


class CutOffWaits(Part, frozen=True, kw_only=True):
    """Waits that the end of a trial cut off."""

    count: int
    longest: float
    """In milliseconds."""


class LatencySummary(LatencyFigures, frozen=True, kw_only=True):
    """Figures of all trials together in milliseconds."""

    count: int
    """Transactions, flows or datagrams that were recorded."""
    min: float | None
    """None where nothing was recorded."""
    bounds: list[str]
    """Figures that are lower bounds."""
    cut_off: CutOffWaits
    intervals: dict[str, Interval | None]
    """By figure; None for too few trials, and for the maximum."""
    trials_needed: dict[str, int]
    """By figure that has no interval yet, about how many trials of this length make one."""
    of_trials: dict[str, list[float]]
    """By figure, that of each trial."""


class ConnectionLimits(Part, frozen=True, kw_only=True):
    """The limit of one connection."""

    limited_by: str
    shares_percent: dict[str, float]
    """Of the time in which it was open, by cause."""


class LimitSummary(Part, frozen=True, kw_only=True):
    """The limit of a workload."""

    limited_by: str
    """A cause of `vocabulary.LIMITS`, `mixed`, or the text of the critical path's verdict."""
    limited_percent: float | None
    """Share of the time that `limited_by` names; None where it is mixed."""
    shares_percent: dict[str, Sample]
    """By cause, of the time of connections; by part, of the latency where the critical path is
    known."""
    connections: list[ConnectionLimits]
    """Of the first trial."""
    measured_by: str | None
    """Critical paths are those of the `simulator` or the `fabric`; counters of connections are the
    `kernel`'s, or None those of the modelled TCP.
    """
    trial: int | None
    """The number of the trial whose critical paths are known."""


class GroupUnfinished(Part, frozen=True, kw_only=True):
    """Where a group is not done."""

    trials: list[int]
    """In which a member with an end did not reach it."""


class Unfinished(GroupUnfinished, frozen=True, kw_only=True):
    """Trials in which a workload with an end did not reach it."""

    of: int
    """Trials that have the workload."""
    after_s: float
    """Length of the shortest of the unfinished trials."""
    mean_bound_s: float
    """Mean completion over all trials, at least."""
    done_share: float
    """Of the work, in the unfinished trials, 0 to 1."""
    noun: str
    """Unit of the work."""


class Slowdown(Sample, frozen=True, kw_only=True):
    """Completion in an arm over the mean completion alone."""

    solo_completion_s: float
    solo_trials: int


class SlowdownPercentiles(Part, frozen=True, kw_only=True):
    """Completion time of flows over the least time of their size on an empty path."""

    count: int
    mean: float
    p50: float
    p99: float | None
    """None of few flows."""


class SizeClass(SlowdownPercentiles, frozen=True, kw_only=True):
    """Flows above `from_bytes`, up to `to_bytes`."""

    from_bytes: int
    to_bytes: int | None
    """None of the last class."""


class FlowSlowdown(SlowdownPercentiles, frozen=True, kw_only=True):
    """Of all flows, and by class of size."""

    sizes: list[SizeClass]


class SubjectSummary(Part, frozen=True, kw_only=True):
    """Common fields of one workload and of several together."""

    trials: list[int]
    """Numbers of those that have it."""
    unfinished_trials: list[int]
    completion_s: Sample
    """Of the last of several; without values where a trial has none."""
    completion_full_scale_s: list[float]
    rate_per_s: Sample
    failed_percent: Sample
    loss_percent: Sample
    request_counts: RequestMeans | None
    """None for workloads that make no requests."""
    failed_attempts: FailedAttempts | None
    """None for workloads without any."""
    transactions: Sample
    goodput_gbps: Sample
    latency_ms: LatencySummary | None
    """None where nothing was recorded or cut off."""
    users_jain: float | None
    """Fairness among users by their speed (the inverse of their completion), mean over trials."""
    tcp: TcpMeans | None
    limits: LimitSummary | None
    """None where no engine reports it."""
    connection_limits: LimitSummary | None
    """The TCP counters of its connections, where `limits` are those of the critical path."""
    datagram_bytes_mean: float | None
    """Payload of the datagrams that arrived: below the mean of their distribution where the MTU
    limits them."""
    block_figures: BlockFigures | None
    storage_figures: StorageFigures | None
    slowdown: Slowdown | None
    """None for groups, and without a run of the workload alone."""
    flow_slowdown: FlowSlowdown | None
    """None where no flow has a size."""
    causes: Explained | None
    """Parts of the latency, in the explained trial."""
    unfinished: GroupUnfinished | None


class WorkloadSummary(SubjectSummary, frozen=True, kw_only=True):
    """Summary of one workload."""

    kind: str
    scale: float
    """Share of its work that was run."""
    planned: int | None
    """Its total work; None where it has no end."""
    unfinished: Unfinished | None
    mpi_figures: MpiFigures | None


class GroupSummary(SubjectSummary, frozen=True, kw_only=True):
    """Summary of the members of a group together, over the trials that have all of them."""

    kinds: list[str]
    members: Sequence[str]


WorkloadOrGroup = WorkloadSummary | GroupSummary
"""A row of tables."""


class EarlyEnd(Part, frozen=True, kw_only=True):
    """Trials of an arm that ended with their work, long before the duration of the scenario."""

    trials: int
    of: int
    first_s: float
    last_s: float
    duration_s: float
    """At the scale of the run."""
