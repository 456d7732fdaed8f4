"""Summaries of hosts, processors, hypervisors and machines in an arm."""

from tailrace.results.summary.base import Part


class BondMeans(Part, frozen=True, kw_only=True):
    """An interface of a bond, means over trials."""

    received_frames: float
    sent_bytes: float
    sent_frames: float


class IpMeans(Part, frozen=True, kw_only=True):
    """Fragmentation and reassembly of a host, means over trials, under the names of
    `/proc/net/snmp`."""

    FragCreates: float
    FragFails: float
    FragOKs: float
    ReasmFails: float
    ReasmOKs: float
    ReasmReqds: float
    ReasmTimeout: float
    reassembly_memory_bytes: float
    """Of datagrams that are not whole, at the end."""
    reassembly_memory_max_bytes: float


class HostMeans(Part, frozen=True, kw_only=True):
    """A host, means over trials."""

    name: str
    rx_frames: float
    nic_queue_drops: float
    rx_ring_drops: float
    cpu_busy_share: float
    """For which its processor was busy with receiving, 0 to 1."""
    program_busy_cores: float
    bond: list[BondMeans] | None
    """By interface; None for a host with one."""
    ip: IpMeans | None
    """None for a host without fragments."""


class ProcessorMeans(Part, frozen=True, kw_only=True):
    """The processor of a host, means over trials: cores busy on average, by kind of work, and
    rates."""

    name: str
    """Of the host."""
    cores: float
    user_cores: float
    system_cores: float
    softirq_cores: float
    steal_cores: float
    idle_cores: float
    voluntary_per_s: float
    involuntary_per_s: float
    migrations_per_s: float
    interrupts_per_s: float
    ksoftirqd_wakeups: float
    datagram_drops: float
    runnable_mean: float
    """Tasks that run or wait, over time."""
    runnable_max: float
    throttled_s: float
    """Of all control groups together."""


class HypervisorMeans(Part, frozen=True, kw_only=True):
    """A hypervisor, means over trials: cores busy on average, by kind of work, rates, and frames
    that found one of its queues full.
    """

    name: str
    """Of its switch."""
    cores: float
    user_cores: float
    """Without polling for nothing."""
    system_cores: float
    softirq_cores: float
    idle_cores: float
    polling_cores: float
    """For nothing."""
    voluntary_per_s: float
    involuntary_per_s: float
    exits_per_s: float
    receive_overruns: float
    send_overruns: float
    backlog_overruns: float
    overruns: float
    """All three together."""


class Spent(Part, frozen=True, kw_only=True):
    """Processor time of a program, of all programs of a workload on a host, or of a switch."""

    user_cores: float
    system_cores: float
    voluntary_per_s: float
    involuntary_per_s: float
    switches_per_request: float | None
    """None where no request was complete."""
    cpu_us_per_request: float | None


class MachineSpent(Part, frozen=True, kw_only=True):
    """Processor time of the whole machine. None for figures that its kernel does not report."""

    user_cores: float
    system_cores: float
    softirq_cores: float
    steal_cores: float | None
    idle_cores: float | None
    switches_per_s: float
    switches_per_request: float | None
    backlog_dropped: float
    backlog_squeezed: float


class InterfaceLosses(Part, frozen=True, kw_only=True):
    """Frames that an interface lost."""

    rx_dropped: float
    rx_overruns: float
    tx_dropped: float
    tx_overruns: float


class Costs(Part, frozen=True, kw_only=True):
    """Costs of live trials, means over those that report them."""

    programs: dict[str, Spent]
    """By workload and host, `shop/web`."""
    switch: Spent | None
    """None where the kernel switches."""
    neighbours: dict[str, Spent]
    machine: MachineSpent
    losses: dict[str, InterfaceLosses]
    """Interfaces that lost frames, over the trials in which they did."""


class Fidelity(Part, frozen=True, kw_only=True):
    """Fidelity of live trials: the worst value over the trials of an arm. None where no trial
    reports it."""

    lateness_p50_us: float | None
    lateness_p99_us: float | None
    lateness_p99_9_us: float | None
    lateness_max_us: float | None
    delay_error_ms: float | None
    """Error of the mean delay at a port, relative to a switch without lateness."""
    delay_error_p99_ms: float | None
    drop_error: float | None
    """Drops at a port that are too many or too few."""
    core_wait_share: float | None
    """Share of the time of a workload's users that was lost because its programs waited for a core,
    0 to 1."""
    own_lateness_p99_9_us: float | None
    """Without the times for which the machine did not let the fabric run."""
    stalls_us: float | None
    pacing_error_ppm: float | None
    frames_lost_outside: int
    """Outside of the modelled queues, in all trials together."""
    switch_share: float | None
    """Of one core, 0 to 1."""
    steal_share: float | None
    """Of the machine, 0 to 1."""
    idle_share: float | None
    """Of the machine, 0 to 1: the least."""
    generator_lag_us: float | None
    begin_skew_ms: float | None
    """Between the first and the last workload that began."""
    congestion_controls: list[str]
    """Names of those in use in any trial."""
