"""The outcome of a trial as types, written by `scripts/crate_types.py` from the crate `outcome`."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

U8 = Annotated[int, Meta(ge=0, le=2**8 - 1)]
U16 = Annotated[int, Meta(ge=0, le=2**16 - 1)]
U32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
U64 = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class DiskLimits(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Most of reads and of writes."""

    read_bps: U64
    """Bytes read per second."""
    read_iops: U64
    """Requests to read per second."""
    write_bps: U64
    """Bytes written per second."""
    write_iops: U64
    """Requests to write per second."""


class DiskRates(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What a disk does."""

    read_bps: float
    """Bytes read per second."""
    read_iops: float
    """Requests to read per second."""
    write_bps: float
    """Bytes written per second."""
    write_iops: float
    """Requests to write per second."""


class BackingDisk(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A disk of the machine that stood for a device, held to what the device does."""

    device: str
    """Name of the device."""
    disk: str
    """Major and minor number of the disk."""
    envelope: DiskLimits
    """What it was held to."""
    host: str
    """Name of the host."""
    measured: DiskRates
    """What it does without limits."""


class BlockCounts(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What the programs of a workload have counted of blocks."""

    failed_blocks: U64
    """Blocks that were given up."""
    lost_blocks: U64
    """Blocks that were lost and asked for again."""
    messages: U64
    """Messages of both directions."""
    received_blocks: U64
    """Blocks that arrived."""


class BlockedPort(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A port that is blocked."""

    link: U64
    """Number of its link in the plan, from 0."""
    node: str
    """Name of its switch."""
    port: U64
    """Number of the port, from 1."""
    towards: str
    """Name of the node at the other end."""


class BondedInterface(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """An interface of a bond."""

    received_frames: U64
    """That it took."""
    sent_bytes: U64
    """That it has sent."""
    sent_frames: U64
    """That it has sent."""


class Bridge(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What a switch has settled on."""

    name: str
    """Name of the switch."""
    priority: U16
    """Bridge priority."""
    root: str
    """Name of its root."""
    root_path_cost: U64
    """From here."""
    root_port: U64 | None
    """Number of its port towards the root, from 1; null at the root."""
    root_port_towards: str | None
    """Name of the node at the other end of that port; null at the root."""


class Capture(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A capture at a port."""

    file: str
    """Path of the file."""
    frames: U64
    """In it."""
    port: str
    """As it was asked for."""


ColumnValues = list[U32 | U64 | float]
"""The values of a column."""


class Connections(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Connections of a workload, as their sending ends knew them."""

    count: U64
    """That ended."""
    expected: U64 | None
    """That the workload opened; null where it is not known."""
    retransmitted_bytes: U64
    """That were sent again."""
    round_trip_least_ms: float | None
    """The shortest; null where none is known."""
    round_trip_mean_ms: float | None
    """The mean; null where none is known."""


class Conservation(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Where all frames are that hosts have sent: delivered, dropped, or in the network."""

    delivered: U64
    """Given to hosts."""
    dropped: U64
    """Dropped by the network."""
    in_network: U64
    """On their way at the end."""
    sent: U64
    """By hosts."""


class ControlGroup(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A control group with a quota."""

    name: str
    """As in the plan."""
    periods: U64
    """Periods in which one of its tasks was ready."""
    throttled: U64
    """Periods in which the quota was used up."""
    throttled_ps: U64
    """For how long it was held."""


class CoreTimes(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """How a core spent its time."""

    idle_ps: U64
    """On nothing."""
    softirq_ps: U64
    """On the network stack, in software interrupts."""
    steal_ps: U64
    """Taken by a hypervisor."""
    system_ps: U64
    """On system calls."""
    user_ps: U64
    """On programs."""


class CoreWait(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What a workload lost because its programs waited for a core."""

    exposed: float
    """Part of the waiting that its users feel, 0 to 1."""
    of_s: float
    """Time of its users."""
    share: float
    """Of that time, what was lost, 0 to 1."""
    stolen_s: float
    """Taken by a hypervisor."""
    wait_s: float
    """For which programs waited."""


class Cpu(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Shares of processor time during the measured interval, 0 to 1."""

    idle_share: float | None = None
    """Of the machine, on nothing."""
    steal_share: float | None = None
    """Of the machine, taken by a hypervisor."""
    switch_share: float | None = None
    """Of one core, by the switch."""


class CutOff(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What was running when a trial ended: latencies that are known to be longer than this
    (censored on the right).
    """

    buckets: list[tuple[U64, U64]]
    """Upper edge of each bucket that is not empty, in picoseconds and in order, and how many are
    in it.
    """
    count: U64
    """How many."""
    longest_ps: U64
    """How long the first of them had been running; 0 where there are none."""


class DatagramCounts(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What became of the datagrams of a sender of frames."""

    delivered: U64
    """That arrived."""
    refused: U64
    """That the sender's own interface refused."""
    sent: U64
    """That left."""


class Delays(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Delays of frames, in microseconds."""

    frames: U64
    """How many frames."""
    mean: float
    """The mean; 0 where there are none."""
    p99: float
    """The 99th percentile."""


class Dpp(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What Dynamic Packet Prioritization has done."""

    deferred_resets: U64
    """Silent flows that stayed old because their packets still waited (order-safe rule)."""
    evictions: U64
    """Flows that lost their entry to another while they were active."""
    new_flows: U64
    """Flows that got an entry."""
    normal_frames: U64
    """Frames to the queue of their class."""
    prioritised_frames: U64
    """Frames to the express queue."""
    reordering_resets: U64
    """Silent flows that became new while their packets still waited (naive rule)."""
    resets: U64
    """Silent flows that became new again."""
    untracked_frames: U64
    """Frames of flows that found no entry."""


class Dropped(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Frames that were dropped for one cause."""

    bytes: U64 | None = None
    """Their bytes; absent where a kernel counts frames alone."""
    frames: U64
    """How many."""


class Elephants(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What the elephant trap has seen."""

    bytes: U64
    """That arrived at the port, dropped or not."""
    elephant_bytes: U64
    """Those of frames whose flow was an elephant."""
    evictions: U64
    """Elephants that lost their entry to another flow."""
    found: U64
    """Flows that became elephants."""
    silences: list[U64]
    """Elephants that were evicted because they sent too little, by how long they were silent:
    element n counts those of at least 2^n and less than 2^(n+1) age periods, the last element
    longer ones too.
    """


class Ends(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Where the connections of a workload end."""

    client: str
    """Host that opens them."""
    client_ports: list[U16]
    """Empty for any."""
    server: str
    """Host that accepts them."""
    server_ports: list[U16]
    """Of its servers."""


class ExactHost(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What the engine knows of a guest."""

    foreign_frames: U64
    """Frames that are no part of the plan."""
    name: str
    """Name of the host."""
    programs: list[int | None]
    """How its programs ended: exit status, null for those that were killed."""
    qdisc_drops: U64
    """Frames that did not fit the queueing discipline."""


class ExactPrograms(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Real programs of a trial."""

    commands: dict[str, list[str]]
    """Command lines, by host and name of the program, such as `web/server`."""
    configurations: dict[str, str]
    """Configuration files, by name."""
    reports: dict[str, str]
    """What programs reported themselves, by workload: the last characters."""
    versions: dict[str, str | None]
    """By program; null where it does not tell."""


class Registers(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Room for the registers of a processor."""

    bytes: U64
    """That they take."""
    room_bytes: U64
    """That there are."""


class Turns(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """How often guests were let run, and why they stopped."""

    interrupts: U64
    """Interrupts that were given to guests."""
    kicks: U64
    """Notices of guests that they have frames to send."""
    runs: U64
    """Runs of guests."""
    steps: U64
    """Steps of virtual time."""


class Exact(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """How the engine and its guests ran."""

    captures: list[Capture]
    """Captures that were asked for."""
    hosts: list[ExactHost]
    """In the order of the plan."""
    programs: ExactPrograms | None = None
    """Real programs that were run; absent without any."""
    registers: Registers | None
    """Of the guests' processors; null without guests."""
    run_wall_s: float
    """Wall-clock time of the trial itself."""
    span_ps: U64
    """Length of the trial."""
    start_wall_s: float
    """Wall-clock time until all guests had started."""
    turns: Turns
    """How often guests ran."""
    warnings: list[str] | None = None
    """What to look at before its figures are trusted; absent without any."""


class LatenessEffect(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What lateness did at a port: the difference between the trial and a switch without
    lateness for the same frames.
    """

    drain_ms: float
    """How long the longest queue of the port takes to drain."""
    drops: U64
    """Drops that happened."""
    frames: U64
    """That were given to the host of the port; 0 at a port between switches."""
    mean_ms: float | None
    """Difference of the mean delay; null where no host tells."""
    p99_ms: float | None
    """Difference of the 99th percentiles."""
    punctual_drops: U64
    """Drops of a switch without lateness."""
    slope: float | None
    """Mean delay that comes with each unit of mean lateness added on purpose, 1 where queues do
    not react to it.
    """
    slope_drops: int
    """Drops that come with that lateness."""


class LossesOutside(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Frames that a host lost outside of the modelled queues. Absent where its counters cannot
    be read.
    """

    rx_dropped: U64 | None = None
    """That it did not take."""
    tx_dropped: U64 | None = None
    """That did not fit its queue towards the fabric."""
    write_failed: U64 | None = None
    """That the fabric could not give to it."""


class LatenessUs(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A distribution of lateness, in microseconds."""

    max: float
    """The most."""
    p50: float
    """The median."""
    p90: float
    """The 90th percentile."""
    p99: float
    """The 99th percentile."""
    p99_9: float
    """Percentile 99.9."""


class Stalls(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Times for which the machine let a thread wait."""

    count: U64
    """How many."""
    max_us: float
    """The longest."""
    total_us: float
    """All together."""


class Fabric(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """How a fabric ran. What is absent is not told by a foreign switch."""

    cpu: Cpu
    """Processor time of the machine."""
    delay_us: dict[str, Delays] | None = None
    """By port towards a host, from the first switch of a frame to the host."""
    effect: dict[str, LatenessEffect] | None = None
    """By port, what lateness did there; absent where it was not judged."""
    foreign_frames: U64 | None = None
    """Frames that are no part of the plan."""
    frames_in: U64 | None = None
    """That entered."""
    frames_lost_outside: dict[str, LossesOutside] | None = None
    """By host, what was lost outside of the modelled queues: each should be zero."""
    frames_out: U64 | None = None
    """That left."""
    frames_refused: dict[str, U64] | None = None
    """By host, frames that the senders of a workload have counted as refused by their own
    interface.
    """
    kind: str | None = None
    """Name of the kind of fabric, such as `tap`."""
    lateness_us: LatenessUs | None = None
    """How late frames left."""
    log_error: str | None = None
    """Why the log is not whole; absent where it is."""
    max_gap_us: float | None = None
    """The longest time between two looks at the wires."""
    own_lateness_us: LatenessUs | None = None
    """How late frames left by the fabric's own doing: without the times for which the machine
    did not let it run.
    """
    pool_exhausted: U64 | None = None
    """Frames for which there was no memory."""
    rate_error_ppm: dict[str, float] | None = None
    """By port towards a host, how far its rate was off over its longest busy time; ports without
    one are left out.
    """
    realtime: bool | None = None
    """Whether it ran before all ordinary threads."""
    replay_log: str | None = None
    """Where the log of what entered is; null where none is kept."""
    stalls: Stalls | None = None
    """Times for which the machine did not let it run."""
    ticks: U64 | None = None
    """How often it was woken."""
    write_failed: dict[str, U64] | None = None
    """By host, frames that the host did not take."""


Side = Literal["client", "server"]
"""An end of a connection."""


class Failure(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What went wrong with a connection of a traffic program."""

    at_ps: U64
    """From the start of the trial."""
    error: str
    """In the words of the system."""
    side: Side
    """Of the connection."""
    user: U32
    """Number of the user within the workload."""
    workload: U32
    """Number of the workload in the plan."""


class Group(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A group of priorities that share an ingress buffer."""

    bytes_max: U64
    """The most that it held."""
    depth_bytes: U64
    """At the end, besides its headroom."""
    drop_frames: U64
    """Frames that were dropped because the headroom was full, or because a lossy group was at
    its limit.
    """
    headroom_max_bytes: U64
    """The most in its headroom."""
    priorities: U8
    """Bit mask: bit n is priority n."""
    xoff_sent: U64
    """Pauses that were sent, without refreshes."""
    xon_sent: U64
    """Resumes that were sent."""


class Pause(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Pauses at one end of a link, by priority."""

    paused_ps: list[U64]
    """For how long each priority was paused."""
    received: list[U64]
    """Pause frames of each priority."""
    storms_detected: U64
    """Storms that the watchdog has found."""
    storms_ended: U64
    """Those that were over before the end."""


class LosslessInterface(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """An interface of a host that takes part in data-centre bridging."""

    limiters: list[U64]
    """Rates to which congestion notifications hold its flows, in bits per second."""
    notifications: U64
    """Congestion notifications that arrived."""
    pause: Pause
    """Pauses that it has obeyed."""
    queue_drops: U64
    """Frames that did not fit its queues."""
    unlimited_notifications: U64
    """Notifications for which there was no limiter left."""


class Ip(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What a host has cut and put together, in the words of `/proc/net/snmp`."""

    FragCreates: U64
    """Fragments that were sent."""
    FragFails: U64
    """Datagrams of which a fragment did not fit the queue of the interface."""
    FragOKs: U64
    """Datagrams that were cut."""
    ReasmFails: U64
    """Fragments that were refused, and datagrams that were given up."""
    ReasmOKs: U64
    """Datagrams that were put together."""
    ReasmReqds: U64
    """Fragments that came."""
    ReasmTimeout: U64
    """Datagrams that were given up because their time was over."""
    reassembly_memory_bytes: U64
    """Memory of datagrams that are not whole, at the end."""
    reassembly_memory_max_bytes: U64
    """The most of it."""


class ProcessorWorkload(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What the programs of a workload used of a processor."""

    involuntary_switches: U64
    """Switches to another task while they could have gone on."""
    name: str
    """Name of the workload."""
    system_ps: U64
    """On system calls."""
    user_ps: U64
    """On the programs."""
    voluntary_switches: U64
    """Switches because they had nothing to do."""


class Processor(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What the processor of a host spent its time on."""

    cores: list[CoreTimes]
    """By core."""
    datagram_drops: U64
    """Datagrams that did not fit the buffer of their socket."""
    groups: list[ControlGroup]
    """Control groups with a quota."""
    interrupts: U64
    """Interrupts that were taken."""
    involuntary_switches: U64
    """Switches to another task while the first could have gone on."""
    ksoftirqd_wakeups: U64
    """How often the kernel thread for software interrupts was woken."""
    migrations: U64
    """Tasks that went on at another core."""
    polls: U64
    """Polls of the receive queues."""
    runnable_area_ps: str
    """Tasks that ran or waited, times picoseconds, as a decimal number: it may not fit 64 bits."""
    runnable_max: U64
    """The most tasks that ran or waited at once."""
    time_squeezes: U64
    """Polls that ended with frames left."""
    voluntary_switches: U64
    """Switches from a task that had nothing to do."""
    workloads: list[ProcessorWorkload]
    """Those whose programs ran here."""


class Program(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What a load generator used."""

    involuntary_switches: U64
    """Switches to another task while it could have gone on."""
    name: str
    """Name of the workload."""
    system_ps: U64
    """On system calls."""
    user_ps: U64
    """On the program itself."""
    voluntary_switches: U64
    """Switches because it had nothing to do."""


class Host(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A host."""

    bond: list[BondedInterface] | None = None
    """The interfaces of a bond, in the order of the links; null where the host has no bond,
    absent where only simulated hosts have one.
    """
    counted_from_ps: U64 | None = None
    """When counting began, from the start of the trial."""
    cpu_busy_ps: U64
    """For how long its processor was busy with receiving."""
    failures: list[Failure] | None = None
    """What went wrong with its connections; absent where the host has no traffic program."""
    interface: LosslessInterface | None = None
    """Its interface, where it takes part in data-centre bridging; null where it does not."""
    ip: Ip | None = None
    """What it has cut and put together; absent where that is nothing."""
    late_max_ps: U64 | None = None
    """The most by which its traffic program was late."""
    listen_drops: U64 | None = None
    """Requests for connections that found the queue of a listener full."""
    name: str
    """As in the plan."""
    nic_queue_drops: U64
    """Frames that did not fit the queue of the interface."""
    processor: Processor | None = None
    """Its processor; null where it has none."""
    program_busy_ps: U64
    """For how long its processor was busy with programs."""
    programs: list[Program] | None = None
    """Load generators on it."""
    rx_frames: U64
    """Frames that arrived at the interface."""
    rx_ring_drops: U64
    """Frames that found the receive ring full."""
    tx_frames: U64 | None = None
    """Frames that were sent."""


class HostSettings(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """How the kernel of a host was set."""

    offloads: dict[str, str]
    """`on` or `off`, by name."""
    route: str
    """Its route."""
    sysctls: dict[str, str]
    """Those of TCP, by name."""
    tcp_metrics: U64
    """Earlier connections that it remembered: none."""


class HypervisorPort(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A port of the switch of a hypervisor."""

    is_uplink: bool
    """Whether it leads out of the machine."""
    receive_overruns: U64
    """Frames from its node that found a queue full."""
    send_overruns: U64
    """Frames to its node that found a queue full."""
    towards: str
    """Name of the node at the other end."""


TaskKind = Literal["virtual-cores", "vhost", "polling", "neighbour"]
"""What a task of a hypervisor is."""


class HypervisorTask(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What tasks of one owner used."""

    involuntary_switches: U64
    """Switches to another task while they could have gone on."""
    kind: TaskKind
    """What they are."""
    name: str
    """Of the owner."""
    system_ps: U64
    """On system calls."""
    user_ps: U64
    """On the tasks themselves."""
    voluntary_switches: U64
    """Switches because they had nothing to do."""


class Hypervisor(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What the cores of a hypervisor spent their time on, and where frames found queues full."""

    backlog_overruns: U64
    """Frames that found the backlog full."""
    cores: list[CoreTimes]
    """By core."""
    exits: U64
    """Exits of virtual cores."""
    interrupts: U64
    """Interrupts that were taken."""
    involuntary_switches: U64
    """Switches to another task while the first could have gone on."""
    ksoftirqd_wakeups: U64
    """How often the kernel thread for software interrupts was woken."""
    migrations: U64
    """Tasks that went on at another core."""
    name: str
    """Name of its switch."""
    notifications: U64
    """By which guests told of frames (kicks)."""
    polled_for_frames_ps: U64
    """For how long queues were polled for frames."""
    ports: list[HypervisorPort]
    """By port of its switch."""
    preemptions: U64
    """Tasks that were put off their core by another."""
    signals: U64
    """By which guests were told of frames."""
    tasks: list[HypervisorTask]
    """Whose tasks ran."""
    time_squeezes: U64
    """Polls that ended with frames left."""
    voluntary_switches: U64
    """Switches from a task that had nothing to do."""


class Interface(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """The counters of an interface, as `netstat -i` has them. A null is what an engine cannot
    count, which is not zero.
    """

    flags: str
    """In the letters of netstat(8)."""
    mtu_bytes: U32 | None
    """Largest packet; null where the port has no limit."""
    name: str
    """Name of the interface at its node."""
    node: str
    """Name of its host or switch."""
    rx_dropped: U64 | None
    """Frames that were received and not taken."""
    rx_errors: U64 | None
    """Frames that were received damaged, or too long."""
    rx_frames: U64 | None
    """Frames that were received."""
    rx_overruns: U64 | None
    """Frames that found the receive ring full."""
    towards: str | None
    """Name of the node at the other end of the port of a switch; null for the interface of a
    host.
    """
    tx_dropped: U64 | None
    """Frames that did not fit the queue."""
    tx_errors: U64 | None
    """Frames that could not be sent."""
    tx_frames: U64 | None
    """Frames that were sent."""
    tx_overruns: U64 | None
    """Frames that the device did not take in time."""


class Interfaces(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Counters of interfaces."""

    hosts: dict[str, dict[str, int]]
    """By host."""
    switch: dict[str, dict[str, int]]
    """Of a foreign switch, by name of the interface."""


class Latency(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Of the transactions, flows or datagrams of a workload that are complete."""

    above: CutOff | None = None
    """Those that were longer than the program that measured them counts one by one; absent where
    there is no such bound. A percentile among them is their least.
    """
    buckets: list[tuple[U64, U64]]
    """Upper edge of each bucket that is not empty, in picoseconds and in order, and how many are
    in it.
    """
    count: U64
    """How many."""
    max_ps: U64
    """The longest."""
    mean_ps: float
    """The mean."""
    min_ps: U64
    """The shortest."""
    p50_ps: U64
    """The median."""
    p90_ps: U64
    """The 90th percentile."""
    p95_ps: U64
    """The 95th percentile."""
    p99_9_ps: U64
    """Percentile 99.9."""
    p99_ps: U64
    """The 99th percentile."""


class Limits(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """For how long connections were limited by what, added up over both ends. What is absent is
    not told by a system.
    """

    ack_core_permille: U64 | None = None
    """How busy the core was that received the acknowledgements, in thousandths; the mean of
    several.
    """
    congestion_ps: U64 | None = None
    """By the congestion window."""
    connections: "list[Limits | None] | None" = None
    """Of the first connections one by one, where they last; null for one that was not open."""
    interface_ps: U64 | None = None
    """By the sender's interface."""
    open_ps: U64
    """For how long they were open: both ends are for the same time, which counts once."""
    pacing_ps: U64 | None = None
    """By the pacing rate."""
    queued_ps: U64 | None = None
    """For how long segments waited in queues of the network; congestion and queueing may be at
    once.
    """
    reader_late_ps: U64 | None = None
    """For how long data waited for the reading program."""
    receive_core_permille: U64 | None = None
    """How busy the core was that received the data, in thousandths; the mean of several."""
    receive_window_ps: U64 | None = None
    """By the receiver's window."""
    recovery_ps: U64 | None = None
    """By the recovery of losses."""
    send_buffer_ps: U64 | None = None
    """By the send buffer: the program has written all that fits, or nothing."""
    sender_busy_permille: U64 | None = None
    """How busy the busiest program of the sending host was, in thousandths of a core."""
    sender_processor_ps: U64 | None = None
    """By the sender's processor."""


class MachineTimes(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What everything on the machine used."""

    backlog: dict[str, int]
    """Of the receive queues of all cores."""
    context_switches: U64
    """Of all cores."""
    idle_ps: U64 | None = None
    """On nothing."""
    softirq_ps: U64
    """On software interrupts."""
    steal_ps: U64 | None = None
    """Taken by a hypervisor."""
    system_ps: U64
    """On system calls."""
    user_ps: U64
    """On programs."""


class SpentTimes(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What programs used."""

    involuntary_switches: U64
    """Switches to another task while they could have gone on."""
    system_ps: U64
    """On system calls."""
    user_ps: U64
    """On the programs."""
    voluntary_switches: U64
    """Switches because they had nothing to do."""


class LivePrograms(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What was run."""

    commands: dict[str, list[str]]
    """Command lines by program."""
    configurations: dict[str, str]
    """Configuration files by name."""
    reports: dict[str, str]
    """What programs reported themselves, by workload: the last characters."""


class RoundTrip(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Round trips of a ping, in microseconds. Absent where no answer came."""

    max: float | None = None
    """The longest."""
    mean: float | None = None
    """The mean."""
    min: float | None = None
    """The shortest."""


class SwitchTimes(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What the program that switches frames used."""

    involuntary_switches: U64
    """Switches to another task while they could have gone on."""
    program: str
    """Its name."""
    system_ps: U64
    """On system calls."""
    user_ps: U64
    """On the programs."""
    voluntary_switches: U64
    """Switches because they had nothing to do."""


class Live(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """How the programs and the machine of a trial were."""

    begin_skew_ms: float
    """Between the first and the last workload that began."""
    begun_within_us: U64
    """How far apart the beginnings by the clocks of the fabric and of the programs may be."""
    client_ports: dict[str, list[U16]]
    """By workload, the ports of its clients; left out where they are not known."""
    congestion_controls: list[str]
    """Names of those in use."""
    connections: dict[str, Connections]
    """By workload, its connections at their ends."""
    core_waits: dict[str, CoreWait]
    """By workload, what it lost because its programs waited for a core."""
    counters: dict[str, dict[str, int]]
    """By host, what its kernel counted."""
    ends: dict[str, Ends]
    """By workload, where its connections end; left out where there are none."""
    generator_lag_us: dict[str, float]
    """By workload, how late its load came on average."""
    idle_share: float | None
    """Of the machine, on nothing, 0 to 1."""
    interfaces: Interfaces
    """Where interfaces lost frames."""
    kernel_wait_share: dict[str, float]
    """By thread of the kernel, the share of the trial for which it waited for a core."""
    machine: MachineTimes
    """What everything on the machine used."""
    neighbours: dict[str, SpentTimes]
    """By name, what a neighbour used."""
    offsets_ps: dict[str, int]
    """By workload, how much later its transactions were than its log says; left out where that
    is nothing.
    """
    programs: LivePrograms
    """The programs that were run."""
    round_trip_us: dict[str, RoundTrip]
    """Pings before the trial, by place."""
    server_rss_max_bytes: dict[str, U64]
    """By host, the largest resident memory of a server."""
    settings: dict[str, HostSettings]
    """By host, how its kernel was set."""
    smoothed_round_trip_mean_ms: float | None
    """Of the connections that were seen; null without any."""
    span_s: float
    """Length of the measured interval."""
    start_skew_ms: dict[str, float]
    """By workload of several hosts, between the first and the last of them that began."""
    steal_by_core: list[float | None]
    """By core, the share that a hypervisor took; null where the kernel does not tell."""
    steal_share: float | None
    """Of the machine, taken by a hypervisor, 0 to 1."""
    switch: SwitchTimes | None
    """What the program that switches used; null where the kernel switches."""
    warnings: list[str]
    """What is to be known of the trial."""
    window_mean_segments: float | None
    """Congestion windows of the connections that were seen; null without any."""


class MpiSize(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """One size of message."""

    algorithm: str
    """How the operation was done; its rounds."""
    bytes: U64
    """Of the message."""
    max_ps: U64 | None
    """The longest of a rank; null where none is complete."""
    mean_of_ranks_ps: list[float]
    """Of each rank that has measured, in their order."""
    min_ps: U64 | None
    """The shortest of a rank; null where none is complete."""
    planned: U64
    """Repetitions that were asked for."""
    ranks: U64
    """Ranks that have measured."""
    repetitions: U64
    """Repetitions that are complete."""


class MpiTimes(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What the ranks of a job have measured."""

    pattern: str
    """What they did, such as `allreduce`."""
    ranks: U64
    """That took part."""
    sizes: list[MpiSize]
    """In the order of the plan."""


class MtuDrops(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Frames longer than the MTU of a port."""

    egress: U64
    """Frames that were to leave."""
    ingress: U64
    """Frames that arrived."""


class Qcn(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Notices of a congestion point."""

    feedback_sum: U64
    """Sum of the quantized feedback of all, each 1 to 63."""
    notifications: U64
    """How many were sent."""


class Queue(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A queue of a port."""

    depth_bytes: U64
    """At the end."""
    depth_max_bytes: U64 | None = None
    """The most."""
    depth_mean_bytes: float | None = None
    """Over the counted time."""
    drops: dict[str, Dropped]
    """Frames that were dropped."""
    marked_frames: U64 | None = None
    """Frames that were given a congestion mark."""
    name: str
    """Name of its class."""
    qcn: Qcn | None = None
    """Quantized congestion notification; null where nothing was notified."""
    tx_bytes: U64
    """That were sent."""
    tx_frames: U64
    """That were sent."""


class SourceTraffic(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Frames with data of one source of traffic in one queue."""

    dropped_frames: U64
    """That were dropped."""
    queue: str
    """Name of the queue."""
    sent_frames: U64
    """That were sent."""
    workloads: list[str]
    """Names of the workloads of the source."""


class Port(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """The counters of a port of a switch. What is absent cannot be told by an engine that does
    not look into the switch.
    """

    dpp: Dpp | None = None
    """Of Dynamic Packet Prioritization; null where the port has none."""
    elephants: Elephants | None = None
    """Of the elephant trap; null where the port has none."""
    groups: list[Group] | None = None
    """Of the ingress side."""
    mtu_drops: MtuDrops | None = None
    """Frames longer than the MTU; null where the port has none."""
    node: str
    """Name of its switch."""
    pause: Pause | None = None
    """Pauses that the port has obeyed; null where it obeys none."""
    queues: list[Queue]
    """By class, in the order of the plan."""
    rate_bps: U64
    """Of its link."""
    towards: str
    """Name of the node at the other end."""
    traffic: list[SourceTraffic] | None = None
    """Frames with data by source and queue; null where the port is not observed."""
    tx_bytes: U64
    """Sent by all queues."""
    tx_frames: U64
    """Sent by all queues."""


class SourceLosses(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Losses of one source of traffic."""

    frames: U64
    """All frames that were dropped."""
    policed_frames: U64
    """Those above a rate."""
    too_long_frames: U64
    """Those longer than the MTU of a port."""
    workloads: list[str]
    """Names of the workloads of the source."""


class Switch(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A switch."""

    buffer_bytes: U64
    """Size of its shared buffer."""
    buffer_max_bytes: U64 | None = None
    """The most of it that was occupied; absent where an engine cannot look into the switch."""
    early_drops: dict[str, Dropped]
    """Frames that were dropped before they had a port."""
    losses: list[SourceLosses] | None = None
    """What was dropped of each source of traffic, for whatever reason; sources without losses
    are left out. Absent where an engine cannot look into the switch.
    """
    name: str
    """As in the plan."""
    no_route_frames: U64 | None = None
    """Frames without a way to their destination; absent where an engine cannot look into the
    switch.
    """


class NetworkOutcome(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """The part of an outcome that the network knows: what a fabric tells of a measured interval."""

    conservation: Conservation | None = None
    """Where all frames are; absent where an engine cannot look into the switch."""
    counted_from_ps: U64 | None = None
    """When counting began, from the start of the trial."""
    digest: str | None
    """Of everything that happened, in hexadecimal; null where it is not known."""
    end_ps: U64
    """Length of the interval."""
    fabric: Fabric | None = None
    """How the fabric ran; absent in virtual time."""
    interfaces: dict[str, LosslessInterface] | None = None
    """By host, the interfaces that take part in data-centre bridging."""
    name: str
    """Of the plan."""
    netstat: list[Interface]
    """Interfaces of hosts, then ports of switches."""
    ports: list[Port]
    """By switch, in the order of the plan."""
    seed: U64
    """Of the plan."""
    switches: list[Switch]
    """In the order of the plan."""
    tables: dict[str, dict[str, ColumnValues]] | None = None
    """Observed ports over time."""


class Tree(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A spanning tree, as it has settled."""

    blocked: list[BlockedPort]
    """Its alternate ports."""
    bridges: list[Bridge]
    """By switch, in the order of the plan."""
    forwards: list[bool]
    """By link, in the order of the plan, whether it forwards."""
    instance: U16
    """Number of the instance; 0 is the common one."""
    path_costs: list[U32]
    """By link, in the order of the plan."""
    roots: list[str]
    """Names of the switches that are a root: one for each part of a network that is not
    connected.
    """
    vlans: list[U16]
    """The VLANs of the instance."""


class StorageDevices(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What devices did."""

    busy_s: float
    """For how long they had something to do, added up over all."""
    count: U64
    """How many there are."""
    pieces: U64
    """Pieces of requests that they completed."""
    pieces_wait_s: float
    """From submission to completion of each piece, added up."""


class StorageWaits(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What requests waited for, in seconds, added up over all. Absent where a program does not
    tell.
    """

    device: float | None = None
    """The medium and the link of the device, while they serve it."""
    entry: float | None = None
    """An entry of the protocol's queue of commands."""
    network: float | None = None
    """The network, and what is before and behind it."""
    processor: float | None = None
    """The processor of the initiator, and that processor's work."""
    queue: float | None = None
    """The block layer and the device, for what came before."""
    r2t: float | None = None
    """The target's permission to send data (ready to transfer)."""
    turn: float | None = None
    """Their turn: their job had as many requests under way as it may."""


class StorageOp(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Requests that ask for the same."""

    bytes: U64
    """What they read or wrote."""
    count: U64
    """How many."""
    latency: Latency | None
    """From the intended start; null where there are none."""
    waits_s: StorageWaits
    """What they waited for."""


class StorageRequests(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Requests of storage that are complete, by what they asked for, and what devices did."""

    devices: StorageDevices | None
    """What the devices did; null where they are real ones."""
    flush: StorageOp
    """Requests that flush."""
    read: StorageOp
    """Requests that read."""
    write: StorageOp
    """Requests that write."""


class StorageInitiator(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What an initiator did."""

    name: str
    """Name of its host."""
    requests: StorageRequests
    """Its requests."""


class RequestCounts(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What the programs of a workload have counted of requests."""

    answered: U64
    """Answered whole."""
    begun: U64
    """Begun."""
    connections: U64
    """Connections that were opened."""
    failed: U64
    """Without an answer."""
    failed_calls: U64
    """Calls of other services that had no answer."""
    failed_connections: U64
    """Connections that could not be opened, or broke."""
    lost_queries: U64
    """Queries in datagrams that were lost."""
    timed_out: U64
    """Given up because their time was over."""


class Tcp(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Counters of TCP connections, added up. What is absent is not told by a system."""

    acks_sent: U64 | None = None
    """Segments without data."""
    ecn_reductions: U64 | None = None
    """Reductions of the window because of congestion marks."""
    fast_recoveries: U64 | None = None
    """Recoveries without a timeout."""
    marked_segments: U64 | None = None
    """Segments that arrived with a congestion mark."""
    out_of_order: U64 | None = None
    """Segments that arrived after one with later data."""
    retransmits: U64 | None = None
    """Segments that were sent again."""
    segments_sent: U64 | None = None
    """Segments with data, those sent again included."""
    spurious_retransmits: U64 | None = None
    """Segments that were sent again and had arrived before."""
    tail_loss_probes: U64 | None = None
    """Probes for a loss at the end of what was sent."""
    timeouts: U64 | None = None
    """Retransmission timeouts."""


class Workload(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What a workload did. What is absent belongs to other kinds, or is not told by an engine or
    a program.
    """

    backing: list[BackingDisk] | None = None
    """Disks that stood for its device; absent where that is none with limits."""
    block_counts: BlockCounts | None = None
    """Of kinds whose programs count blocks."""
    block_latency: Latency | None = None
    """Of single blocks, of kinds whose programs count them; null where none is complete."""
    completion_ps: U64 | None
    """When all of it was complete, from the start of the trial; null where it was not, or has no
    end.
    """
    connection_bytes: list[U64] | None = None
    """What each connection has carried, in the order in which they start; null for kinds of
    which that is not told.
    """
    counted_from_ps: U64
    """When counting began, from the start of the trial."""
    cut_off: CutOff
    """Transactions and flows that were running at the end."""
    datagrams: DatagramCounts | None = None
    """Of a sender of frames."""
    failed_attempts: dict[str, U64] | None = None
    """Transactions that were rolled back and tried again, by error of the database."""
    goodput_bytes: U64
    """Payload that arrived."""
    initiators: list[StorageInitiator] | None = None
    """Of storage, what each initiator did; absent where a program or an engine does not tell."""
    kind: str
    """As in the plan."""
    latency: Latency | None
    """Of what is complete; null where nothing is."""
    limits: Limits | None = None
    """What limited its connections; null where none was open, or where an engine does not tell."""
    lost_datagrams: U64 | None = None
    """Datagrams that did not arrive."""
    mpi_times: MpiTimes | None = None
    """Of MPI jobs."""
    name: str
    """As in the plan."""
    request_counts: RequestCounts | None = None
    """Of kinds whose programs count requests."""
    storage_requests: StorageRequests | None = None
    """Of storage."""
    tcp: Tcp | None = None
    """Counters of its connections; null where they are not told."""
    transactions: U64
    """Transactions, flows or datagrams that are complete."""
    user_completion_ps: list[U64 | None]
    """When each user was done, from the start of the trial; null for those that were not."""


class Outcome(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What a trial gave."""

    cancelled: bool
    """Whether it was ended before its time, and is no result."""
    conservation: Conservation | None = None
    """Where all frames are; absent where an engine cannot look into the switch."""
    counted_from_ps: U64 | None = None
    """When counting began, from the start of the trial; absent where it is the start."""
    deadlock: list[str] | None = None
    """Links of a cycle of pauses that never ends, such as `sw1>sw2`; only simulated."""
    digest: str | None
    """Of everything that happened, in hexadecimal; null where it is not known."""
    end_ps: U64
    """When it ended, from its start."""
    events: U64 | None = None
    """Events that were handled; only simulated."""
    exact: Exact | None = None
    """What only trials of real kernels in virtual time have."""
    fabric: Fabric | None = None
    """How a fabric in real time ran."""
    finished: bool
    """Whether everything that has an end was complete."""
    hosts: list[Host]
    """In the order of the plan."""
    hypervisors: list[Hypervisor] | None = None
    """In the order of the plan; only simulated, and absent where the plan has none."""
    interfaces: dict[str, LosslessInterface] | None = None
    """By host, the interfaces of a fabric that take part in data-centre bridging; those of
    simulated hosts are at the hosts.
    """
    live: Live | None = None
    """What only trials with real programs have."""
    name: str
    """Of the plan."""
    netstat: list[Interface]
    """Interfaces of hosts, then ports of switches, in the order of the plan."""
    packet_hops: U64 | None = None
    """Frames sent over a link; only simulated."""
    packets_delivered: U64 | None = None
    """Frames given to hosts; only simulated."""
    ports: list[Port]
    """By switch, in the order of the plan."""
    seed: U64
    """Of the plan."""
    spanning_trees: list[Tree] | None = None
    """Only simulated; empty without spanning trees."""
    switches: list[Switch]
    """In the order of the plan."""
    wall_s: float
    """Wall-clock time that the trial took."""
    workloads: list[Workload]
    """In the order of the plan."""


class TrafficHost(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What the traffic program of a host tells of itself."""

    calls: U64
    """How often it was called."""
    ended_ps: U64
    """When it ended, from the start of the trial."""
    failures: list[Failure]
    """What went wrong with its connections."""
    late_max_ps: U64
    """The most by which it was late."""
    late_mean_ps: U64
    """By how much it was late in the mean of all calls."""
    name: str
    """Name of the host."""
    program_busy_ps: U64
    """For how long it was busy."""
    unsent_datagrams: U64
    """Datagrams that the system did not take."""


class TrafficOutcome(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """The part of an outcome that the traffic programs know."""

    counted_from_ps: U64
    """When counting began, from the start of the trial."""
    end_ps: U64
    """When the trial ended, from its start."""
    finished: bool
    """Whether everything that has an end was complete."""
    hosts: list[TrafficHost]
    """Of every host that takes part."""
    name: str
    """Of the plan."""
    seed: U64
    """Of the plan."""
    tables: dict[str, dict[str, ColumnValues]] | None = None
    """Transactions and more."""
    workloads: list[Workload]
    """In the order of the plan."""
