"""The plan of a trial as types, written by `scripts/crate_types.py` from the crate `plan`."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

U8 = Annotated[int, Meta(ge=0, le=2**8 - 1)]
U16 = Annotated[int, Meta(ge=0, le=2**16 - 1)]
U32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
U64 = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class AqmAfd(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Approximate fair drop of elephants; the port must have an elephant trap."""

    desired_bytes: U64
    """Target queue depth."""
    ecn: bool
    """Mark ECN-capable frames instead of dropping them."""


class AqmCodel(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """CoDel (RFC 8289), decided at dequeue."""

    ce_threshold_ps: U64
    """Mark every capable frame whose delay is above this; 0 for never (Linux `ce_threshold`), in
    picoseconds.
    """
    ecn: bool
    """Mark ECN-capable frames instead of dropping them."""
    interval_ps: U64
    """The delay must stay above the target for this long before anything is dropped
    (picoseconds).
    """
    target_ps: U64
    """Acceptable standing delay (picoseconds)."""


class AqmRed(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Random early detection on the average depth (Floyd and Jacobson 1993)."""

    ecn: bool
    """Mark ECN-capable frames instead of dropping them."""
    gentle: bool = False
    """From the maximum to twice of it the probability rises to one, instead of being one."""
    maximum_bytes: U64
    """From here on: always, unless `gentle`."""
    minimum_bytes: U64
    """Below: never."""
    not_capable: tuple[U64, U64, U32] | None = None
    """Thresholds for frames without ECN, if they differ: minimum, maximum, probability in
    thousandths.
    """
    probability_milli: U32
    """Probability just below the maximum, thousandths."""
    weight_exponent: U8
    """The average's weight is 2^-this."""


class AqmStep(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Mark ECN-capable frames above an instantaneous depth (DCTCP's step); other frames are
    dropped only at the limit.
    """

    threshold_bytes: U64
    """Depth in bytes."""


class AqmByKind(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Active queue management of one queue. One member is there."""

    step: AqmStep | None = None
    """Mark ECN-capable frames above an instantaneous depth (DCTCP's step); other frames are
    dropped only at the limit.
    """
    red: AqmRed | None = None
    """Random early detection on the average depth (Floyd and Jacobson 1993)."""
    afd: AqmAfd | None = None
    """Approximate fair drop of elephants; the port must have an elephant trap."""
    codel: AqmCodel | None = None
    """CoDel (RFC 8289), decided at dequeue."""


Aqm = Literal["none"] | AqmByKind
"""Active queue management of one queue."""


BondPolicy = Literal["flow", "hosts"]
"""How a bond chooses the interface of a packet."""


CongestionControl = Literal["cubic", "new-reno", "dctcp", "bbr"]
"""Congestion control."""


class ControlGroup(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Programs of some workloads on one host."""

    cores: list[U32]
    """Cores that they may use."""
    name: str
    """Its name."""
    nice: int
    """Nice value, -20 to 19."""
    period_ps: U64 | None = None
    """Period of the quota."""
    quota_ps: U64 | None = None
    """Time of all cores in each period; missing for no limit."""
    workloads: list[str]
    """Workloads whose programs belong to it; those that the plan does not have are left out."""


class Steal(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A hypervisor takes every core for `slice_ps` once in `every_ps`."""

    every_ps: U64
    """From one time to the next."""
    slice_ps: U64
    """How long a core is gone."""


class Processor(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Cores that the kernel and the programs of a host share, and what the kernel's work costs."""

    budget_frames: U32
    """Frames of one receive soft interrupt."""
    budget_ps: U64
    """Longest receive soft interrupt (picoseconds)."""
    context_switch_ps: U64
    """Per switch to another thread (picoseconds)."""
    cores: U32
    """Number of cores, 1 to 256."""
    groups: list[ControlGroup] = []
    """Control groups."""
    idle_exit_ps: U64 = 0
    """Each thread that is woken on a core with nothing to run."""
    irq_cores: list[U32]
    """The core of each receive queue's interrupt; there are as many queues."""
    per_frame_ps: U64
    """Per received frame, before GRO (picoseconds)."""
    per_interrupt_ps: U64
    """Per receive interrupt (picoseconds)."""
    per_poll_ps: U64
    """Per NAPI poll (picoseconds)."""
    per_send_ps: U64
    """Per burst or acknowledgement that is handed to the interface (picoseconds)."""
    program_cores: list[U32]
    """Cores of programs that belong to no group."""
    read_byte_fs: U64
    """Per byte that a program reads, in femtoseconds."""
    slice_ps: U64
    """How long a thread runs before others of its core are looked at (picoseconds)."""
    steal: Steal | None = None
    """A hypervisor that takes cores away."""
    system_call_ps: U64
    """Per system call (picoseconds)."""
    wake_up_ps: U64
    """Per thread that is woken (picoseconds)."""
    write_byte_fs: U64
    """Per byte that a program writes, in femtoseconds."""


class Cpu(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Without a processor, one core serves all received frames of a host, in order; the others
    run its programs.
    """

    per_byte_fs: U64
    """Per received payload byte, in femtoseconds (1000 fs = 1 ps)."""
    per_packet_ps: U64
    """Per received aggregate (after GRO), picoseconds."""
    processor: Processor | None = None
    """Cores that the kernel and the programs share. They replace the two keys above."""
    program_cores: U32 = 0
    """Cores that the programs share; 0, also when missing, for as many as they need."""
    time_slice_ps: U64 = 0
    """Time slice after which a program yields its core at the end of its current unit of work
    (picoseconds); 0, also when missing, for after every unit.
    """


class DeviceCache(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Write-back cache of a device."""

    bytes: U64
    """What is written and not yet on the medium."""
    latency_ps: U64
    """From the last byte of a piece to the completion of its write (picoseconds)."""


class DeviceHead(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """The head of a disk."""

    capacity_bytes: U64
    """Bytes of the whole disk."""
    seek_full_ps: U64
    """Seek over the whole disk (picoseconds)."""
    seek_track_ps: U64
    """Shortest seek (picoseconds)."""
    turn_ps: U64
    """One turn of the disk (picoseconds)."""


class DeviceLimits(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Largest pieces of requests (Linux `queue/max_sectors_kb`, `queue/max_segments`; NVMe
    MDTS).
    """

    max_sectors_bytes: U64
    """`max_sectors_kb`, in bytes."""
    max_segments: U32
    """Segments of a piece."""
    segment_bytes: U64
    """Bytes of a segment."""
    transfer_bytes: U64
    """The device's own limit; 0 for none."""


class DistributionErlang(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Sum of exponentials."""

    mean: U64
    """Mean of the sum."""
    shape: U32
    """How many."""


class DistributionExponential(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Memoryless."""

    mean: U64
    """Mean."""


class DistributionLogNormal(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Log-normal."""

    median: U64
    """Median."""
    sigma_milli: U32
    """1000 x sigma."""


class DistributionNormal(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Cut at zero."""

    deviation: U64
    """Standard deviation."""
    mean: U64
    """Mean."""


class DistributionUniform(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Between the two."""

    high: U64
    """Largest."""
    low: U64
    """Smallest."""


class Distribution(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A distribution of spans (picoseconds) or sizes (bytes). One member is there."""

    constant: U64 | None = None
    """Always this."""
    uniform: DistributionUniform | None = None
    """Between the two."""
    exponential: DistributionExponential | None = None
    """Memoryless."""
    normal: DistributionNormal | None = None
    """Cut at zero."""
    log_normal: DistributionLogNormal | None = field(name="log-normal", default=None)
    """Log-normal."""
    erlang: DistributionErlang | None = None
    """Sum of exponentials."""
    cumulative: list[tuple[U64, U32]] | None = None
    """`(value, parts per billion)`, rising to one billion."""


class Device(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A block device, as a host has it: workloads of storage name it, and each host that they
    name has one of its own.
    """

    cache: DeviceCache | None = None
    """Write-back cache."""
    head: DeviceHead | None = None
    """The head of a disk."""
    is_duplex: bool
    """Both ways are used at the same time."""
    limits: DeviceLimits
    """How the block layer splits requests."""
    name: str
    """Unique among devices."""
    queue_depth: U32
    """Pieces that the device takes at the same time; others wait in the block layer."""
    read_bps: U64
    """Most data that is read, in bits per second."""
    read_latency: Distribution
    """Time of a server to read a piece (picoseconds)."""
    sector_bytes: U32
    """Least unit of requests: 512 or 4096 bytes."""
    servers: U32
    """Pieces of requests that the medium serves at the same time."""
    write_bps: U64
    """Most data that is written, in bits per second."""
    write_latency: Distribution
    """Time of a server to write a piece (picoseconds)."""


DppReset = Literal["order-safe", "naive"]
"""When a silent flow becomes new again."""


TableFull = Literal["evict-oldest", "untracked"]
"""Treatment of a flow for which there is no free entry."""


class Dpp(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Dynamic packet prioritisation (Cisco C11-738425, page 5)."""

    age_ps: U64
    """Silence after which a flow is new again (picoseconds)."""
    classes: U8 = 255
    """Classes whose flows are prioritised, a bit each; all when missing."""
    express_queue: U8
    """Queue index of the express queue (must be strict)."""
    max_packets: U32
    """Number of first packets of a flow that are prioritised."""
    reset: DppReset
    """When a flow becomes new again."""
    table_entries: U32
    """Entries of the flow table, a power of two."""
    when_full: TableFull
    """Treatment of a flow whose set of entries is full."""


class Etrap(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Elephant trap (Nexus 9000)."""

    afd_period_ps: U64
    """Period of approximate fair drop."""
    age_ps: U64
    """An elephant must send `bandwidth_threshold_bytes` in each such period."""
    bandwidth_threshold_bytes: U64
    """Bytes that an elephant must send in each period of `age_ps`."""
    byte_count: U64
    """Bytes after which a flow is an elephant."""
    table_entries: U32
    """Entries of the table, a power of two."""


class Framing(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Link-layer sizes in bytes."""

    header_bytes: U32
    """Header that switches store: 14 for Ethernet."""
    overhead_bytes: U32
    """Wire time besides the frame: 24 for Ethernet."""


class Limit(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """When a queue is full. One member is there."""

    bytes: U64 | None = None
    """At most this many bytes."""
    alpha_milli: U32 | None = field(name="alpha-milli", default=None)
    """At most alpha times the free shared buffer (Choudhury and Hahne); alpha in thousandths."""
    frames: U32 | None = None
    """At most this many frames (the unit in which ns-3 and older switches count)."""


class Lossless(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Thresholds of a lossless group."""

    headroom_bytes: U64
    """Buffer for frames that arrive after a pause was sent."""
    xon_offset_bytes: U64
    """Distance of XON below XOFF."""


class Group(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A priority group of an ingress port."""

    limit: Limit
    """Limit in the shared buffer: `bytes` or `alpha-milli`. For a lossless group this is XOFF."""
    lossless: Lossless | None = None
    """Set for a lossless group."""
    priorities: U8
    """Its priorities, a bit each; the groups of a port cover every priority once."""
    reserved_bytes: U64
    """Guaranteed bytes."""


class Header(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What every workload of a plan has."""

    client_ports: tuple[U16, U16] | None = None
    """First and last port of its clients; ephemeral ports when missing."""
    dscp: U8 = 0
    """Code point of the IP header."""
    is_first_at_start: bool | None = None
    """The first flow, datagram or request comes, and the first user begins, at `start_ps`; a gap
    later when missing.
    """
    live: Any = None
    """Keys for live runs only, such as the choice of a program; neither checked nor used here."""
    name: str
    """Name in results."""
    port: U16
    """Port of its server; further servers have the ports after it."""
    priority: U8
    """Class, 0 to 7."""
    start_ps: U64 = 0
    """Earliest time of any of its events (picoseconds)."""
    vlan: U16 = 0
    """VLAN, 1 to 4094; 0 for none."""


class Ip(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Reassembly of datagrams (Linux `net.ipv4.ipfrag_*`)."""

    reassembly_distance: U32
    """Fragments of the same source between two of one datagram: `ipfrag_max_dist`, 64; 0 for no
    limit.
    """
    reassembly_memory_bytes: U64
    """Memory of incomplete datagrams above which fragments are refused: `ipfrag_high_thresh`, 4
    194 304.
    """
    reassembly_timeout_ps: U64
    """How long an incomplete datagram waits (picoseconds, whole seconds): `ipfrag_time`, 30 s."""


HostNeighbourKind = Literal["compute", "disk"]
"""What a neighbour does."""


class HostNeighbour(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Load beside the programs of a host."""

    cores: list[U32] | None = None
    """Cores that they may use; none for all."""
    kind: HostNeighbourKind
    """What it does."""
    name: str
    """Unique on its host."""
    nice: int
    """Nice value of each task, -20 to 19."""
    tasks: U32
    """Tasks that do it, at least one."""


class Service(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """When a queue is served. Strict queues come before all weighted ones. One member is there."""

    strict: U8 | None = None
    """Served whenever no strict queue of a lower level number has a frame (1 is first)."""
    dwrr: U32 | None = None
    """Deficit round robin with this weight (parts per thousand of the weighted bandwidth, 1 to
    1000).
    """


class NicClass(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Priorities of an interface that are served together."""

    name: str
    """Its name, for reports."""
    priorities: U8
    """Its priorities, a bit each. A priority of no class belongs to the first."""
    service: Service
    """When it is served."""


class QcnReaction(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A QCN reaction point (802.1Qau; defaults of IEEE8021-CN-MIB)."""

    active_increase_bps: U64
    """Active increase: 5 Mbit/s."""
    byte_counter: U64
    """Byte counter of rate increase: 150 000."""
    hyper_increase_bps: U64
    """Hyper-active increase: 50 Mbit/s."""
    rate_min_bps: U64
    """Lowest rate: 10 Mbit/s (assumed)."""
    timer_ps: U64
    """Timer of rate increase: 15 ms."""


class Storm(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A pause storm: the interface sends pauses continuously, as defective interfaces do."""

    from_ps: U64
    """First pause."""
    priorities: U8
    """Priorities that it pauses, a bit each."""
    until_ps: U64
    """No pause is sent from here on."""


class NicLossless(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A network interface that takes part in data-centre bridging."""

    classes: list[NicClass] | None = None
    """Traffic classes that share the line (802.1Qaz); none: the priorities take turns."""
    obeys: U8
    """Priorities whose pause (802.1Qbb) is obeyed, a bit each."""
    obeys_link_pause: bool
    """Obeys 802.3x pauses."""
    qcn: QcnReaction | None = None
    """QCN reaction point."""
    response_ps: U64
    """From the arrival of a pause to its effect."""
    storm: Storm | None = None
    """A fault: the interface pauses its switch without need."""


class Nic(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Network interface."""

    bond: BondPolicy | None = None
    """Several interfaces as one, each at a link of its own."""
    gro_bytes: U32
    """Largest aggregate passed up at once (GRO) in bytes of payload; 0 disables it."""
    lossless: NicLossless | None = None
    """Obeys pause frames and, with QCN, limits rates."""
    queue_bytes: U64
    """Transmit queue limit (qdisc and ring) in bytes; a frame that does not fit is dropped with
    cause `nic_queue`.
    """
    rx_coalesce_ps: U64
    """Interrupt moderation: from the first frame of a batch to the poll (picoseconds)."""
    rx_jitter: Distribution
    """Timing noise: extra delay of each poll (picoseconds)."""
    rx_ring_frames: U32
    """Receive ring in frames; a frame that arrives when it is full is dropped with cause
    `rx_ring`.
    """
    tso_bytes: U32
    """Largest burst passed to the interface at once (TSO/GSO) in bytes of payload; 0 disables
    it.
    """


class SocketBuffer(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A socket buffer."""

    initial_bytes: U64
    """Initial size, in payload bytes."""
    maximum_bytes: U64
    """Largest size that autotuning may reach; equal to `initial_bytes` when fixed."""


SlowStartExit = Literal["none", "hystart", "hystart-plus-plus"]
"""Early exit from slow start."""


class Tcp(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """TCP settings."""

    congestion_control: CongestionControl
    """Congestion control."""
    delayed_ack_ps: U64
    """Delayed acknowledgement timer (picoseconds); 0 acknowledges every aggregate at once."""
    ecn: bool
    """Negotiate ECN."""
    growth_by_acknowledgement: bool = False
    """An acknowledgement counts as one segment of growth, however many bytes it acknowledges."""
    initial_window_segments: U32
    """Initial window in segments (RFC 6928: 10)."""
    receive_buffer: SocketBuffer
    """Receive buffer."""
    rto_max_ps: U64
    """Largest retransmission timeout (picoseconds, not below `rto_min_ps`)."""
    rto_min_ps: U64
    """Smallest variance term of the retransmission timeout (picoseconds, above 0)."""
    sack: bool
    """Selective acknowledgement (and with it RACK and tail loss probes)."""
    send_buffer: SocketBuffer
    """Send buffer."""
    slow_start_after_idle: bool
    """Slow start after idle (RFC 2861 as in Linux)."""
    slow_start_exit: SlowStartExit
    """Early exit from slow start."""
    small_queue_by_pace: bool = False
    """Whether only the pacing rate determines that limit, and not also the rate of the line."""
    small_queue_ps: U64
    """Limit of one socket's data in the NIC (TCP small queues), as picoseconds at the socket's
    pacing rate; 0 for no limit.
    """
    tail_loss_probe: bool
    """Tail loss probe (RFC 8985)."""
    tick_ps: U64 = 4000000000
    """Clock tick, with which timers expire (picoseconds, at most 65 ms); 0 for timers that
    expire as they are set.
    """
    window_cap_bytes: U64
    """Upper limit of the congestion window in bytes; 0 for none."""
    without_autocorking: bool = False
    """A short write does not wait for the segments of its connection that are in the NIC (Linux
    with `tcp_autocorking` 0).
    """
    without_reno_friendly: bool = False
    """CUBIC may be slower than Reno (no RFC 9438 section 4.3)."""


class Host(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A host with one NIC port per link."""

    cpu: Cpu
    """Processing costs of the receive stage."""
    ip: Ip | None = None
    """How fragments of datagrams are put together; as in Linux when missing."""
    mtu_bytes: U32
    """IP MTU in bytes, 576 to 9216 (1500 for plain Ethernet, 9000 for jumbo frames)."""
    name: str
    """Unique among all nodes."""
    neighbours: list[HostNeighbour] | None = None
    """Other load on its processor, in engines with real programs."""
    nic: Nic
    """Network interface."""
    tcp: Tcp
    """TCP settings of all sockets of this host."""


class HypervisorCosts(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Costs of a hypervisor (picoseconds)."""

    context_switch_ps: U64
    """Per switch to another task."""
    copy_byte_fs: U64
    """Per byte that is copied between a machine and its host, in femtoseconds."""
    entry_ps: U64
    """Per entry into a virtual core that did not run."""
    exit_ps: U64
    """Per exit of a virtual core."""
    interrupt_ps: U64
    """Per interrupt of an uplink or a disk."""
    merge_ps: U64
    """Per further frame of a super-frame that comes from the network."""
    poll_ps: U64
    """Per round of a polling thread that finds nothing."""
    signal_ps: U64
    """Per interrupt that is sent to a machine."""
    switch_ps: U64
    """Per frame or super-frame that is switched."""
    vhost_ps: U64
    """Per frame or super-frame that a vhost thread passes on."""
    wake_up_ps: U64
    """Per task that is woken."""


class Machine(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A virtual machine."""

    cores: list[list[U32]]
    """For each core of the host's processor, the cores of the hypervisor where it may run."""
    host: str
    """The host of the plan that it is."""
    vhost_cores: list[U32]
    """Cores where its vhost thread may run."""


class Neighbour(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Others on the cores of a hypervisor."""

    cores: list[U32]
    """Cores where they may run."""
    name: str
    """Its name."""
    nice: int
    """Nice value, -20 to 19."""
    tasks: U32
    """Number of tasks."""
    wait_ps: U64 = 0
    """How long it waits (picoseconds)."""
    work_ps: U64 | None = None
    """Work until a task waits for its disk (picoseconds); missing for work without end."""


VirtualSwitching = Literal["kernel", "polling"]
"""What passes frames between virtual machines and the network."""


class Hypervisor(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Real cores behind a switch of the plan: they switch its frames, and run the hosts that are
    linked to it, its virtual machines.
    """

    backlog_frames: U32
    """Frames that wait for the soft interrupt of a core."""
    coalesce_ps: U64
    """From the first frame after a quiet time to the interrupt of an uplink (picoseconds)."""
    cores: U32
    """Number of cores, 1 to 256."""
    costs: HypervisorCosts
    """Costs."""
    guest_ring_frames: U32
    """Frames in the ring of received frames of a machine."""
    halt_poll_ps: U64
    """How long a halted virtual core is watched before its task sleeps (picoseconds)."""
    irq_cores: list[U32]
    """The core of each receive queue of an uplink."""
    machines: list[Machine]
    """Its virtual machines: the hosts that are linked to the switch."""
    merge_bytes: U32
    """Payload of a super-frame at most; 0 without offloads."""
    neighbours: list[Neighbour] = []
    """Others on its cores."""
    polling_cores: list[U32]
    """The core of each polling thread."""
    sent_frames: U32
    """Frames that a machine has sent and its host has not taken."""
    slice_ps: U64
    """How long a task runs before others of its core are looked at (picoseconds)."""
    switch: str
    """The virtual switch: a switch of the plan."""
    switching: VirtualSwitching
    """What passes frames."""
    tap_frames: U32
    """Frames that wait for a vhost thread."""
    tick_ps: U64
    """Clock tick (picoseconds)."""
    uplink_ring_frames: U32
    """Frames in each receive ring of an uplink."""


class Link(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A full-duplex link."""

    a: str
    """One end."""
    b: str
    """The other end."""
    delay_ps: U64
    """Propagation delay (picoseconds)."""
    loses_later_fragments: bool | None = None
    """Only fragments without a transport header are lost."""
    loss_ppb: U32 | None = None
    """Frames that are lost on it at random, each direction by itself, in parts per billion; 0,
    also when missing, for none.
    """
    rate_bps: U64
    """Rate of both directions."""


class Observe(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Recorded data."""

    digest: bool
    """Compute the digest of all events."""
    interfaces_ps: U64 = 0
    """The counters of all interfaces are recorded so often (picoseconds); 0 for never."""
    ports: list[tuple[str, str]]
    """Ports whose queue is recorded over time, as `[switch, neighbour]`."""
    series_bin_ps: U64
    """First bin width."""
    series_bins: U32
    """Bins of every time series; the bin width doubles when a run exceeds them. 0 for no series."""
    transactions_max: U64
    """Keep every transaction (start, latency) up to this many per workload; beyond it only the
    histogram is complete.
    """
    warm_up_ps: U64 = 0
    """Start of counters and latencies, by default zero (picoseconds); series always start at
    zero.
    """
    windows_ps: U64 = 0
    """Windows of lasting connections are recorded so often (picoseconds); 0 for never."""


class Watchdog(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A watchdog against pause storms."""

    detection_ps: U64
    """Time for which a non-empty queue must be paused to be in a storm."""
    restoration_ps: U64
    """Time without a pause after which the storm is over."""


class Pause(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """Pausing at one port."""

    obeys: U8
    """Priorities whose pause (802.1Qbb) is obeyed, a bit each."""
    obeys_link_pause: bool
    """Obeys 802.3x pauses."""
    quanta: U16
    """Quanta in the frames that this port sends, 1 to 65 535."""
    response_ps: U64
    """From the arrival of a pause to its effect (802.3 annex 31B.3.7: at most 67 quanta at 10
    Gbit/s).
    """
    sends_link_pause: bool
    """Sends 802.3x frames instead of 802.1Qbb frames."""
    watchdog: Watchdog | None = None
    """Ends pause storms."""


class Tree(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """One tree and the parameters that determine it."""

    bridge_priority: list[U16]
    """By switch: 0 to 61 440 in steps of 4096, lower is better."""
    instance: U16
    """Its number, shown in results: 0 for the first, then that of the MSTP instance, or the VLAN
    that has it alone.
    """
    path_cost: list[U32]
    """By link: 1 to 200 000 000, for both of its ends. The values of links to hosts are ignored."""
    port_priority: list[tuple[U8, U8]]
    """By link: of the ports at its ends `a` and `b`, 0 to 240 in steps of 16, lower is better."""
    vlans: list[U16]
    """VLANs of this tree; none for the first."""


class SpanningTree(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """The spanning trees of the network (IEEE 802.1Q clause 13). Without it, frames use all
    shortest paths.
    """

    disjoint: bool
    """Choose the path costs of all trees but the first such that these share as few links
    between switches as possible.
    """
    trees: list[Tree]
    """The first is for frames of no VLAN, and of every VLAN that no other tree names."""


class Rule(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A classification rule. All stated conditions must hold; the class (0 to 7) replaces the
    frame's priority.
    """

    class_: U8 = field(name="class")
    """Class of matching frames."""
    destination: str | None = None
    """Host that receives the frame."""
    destination_port: tuple[U16, U16] | None = None
    """First and last destination port."""
    dscp: list[U8] | None = None
    """One of these code points."""
    ingress: str | None = None
    """Neighbour from which the frame arrived."""
    pcp: list[U8] | None = None
    """One of these priorities."""
    protocol: U8 | None = None
    """6 or 17."""
    source: str | None = None
    """Host that sent the frame."""
    source_port: tuple[U16, U16] | None = None
    """First and last source port."""
    vlan: list[U16] | None = None
    """One of these VLANs."""


class Police(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A policer at the ingress of a port."""

    burst_bytes: U64
    """Committed burst."""
    classes: U8
    """Classes that it applies to, a bit each."""
    per_flow: bool
    """One bucket for each flow instead of one for all."""
    rate_bps: U64
    """Committed rate, of frames without wire overhead."""


class Qcn(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A QCN congestion point (802.1Qau)."""

    set_point_bytes: U64
    """Set point of the queue depth, at least 100."""
    weight: U64
    """Weight of growth, at least 1."""


class Queue(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """One output queue."""

    aqm: Aqm
    """Active queue management."""
    limit: Limit
    """When it is full."""
    name: str
    """Shown in results, e.g. `express`, `default`."""
    qcn: Qcn | None = None
    """QCN."""
    reserved_bytes: U64 = 0
    """Guaranteed bytes of this queue."""
    service: Service
    """When it is served."""
    shape_max_bps: U64 = 0
    """Largest rate in wire bits per second; 0 for none."""
    shape_min_bps: U64 = 0
    """Guaranteed rate in wire bits per second; 0 for none."""


class Policy(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """The policy of an output port."""

    dpp: Dpp | None = None
    """Dynamic packet prioritisation."""
    etrap: Etrap | None = None
    """Elephant trap, needed by queues with approximate fair drop."""
    groups: list[Group] = []
    """Ingress accounting by groups of priorities that cover all eight; empty for none. When one
    port of a switch has groups, all have.
    """
    pause: Pause | None = None
    """Pauses that this port obeys and sends."""
    police: Police | None = None
    """Policers for frames that arrive at this port."""
    queue_of_priority: list[U8]
    """Queue index for each of the eight priorities."""
    queues: list[Queue]
    """Output queues, 1 to 8."""


class PortMtu(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """The MTU of the port towards one neighbour."""

    mtu_bytes: U32
    """IP MTU of this port."""
    towards: str
    """Name of the node at the other end."""


class PortPolicy(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A policy for the port towards one neighbour."""

    policy: Policy
    """The policy of this port."""
    towards: str
    """Name of the node at the other end."""


Switching = Literal["store-and-forward", "cut-through"]
"""Switching mode."""


class Switch(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A switch."""

    buffer_bytes: U64
    """Packet memory shared by all ports, in bytes."""
    classify: list[Rule] = []
    """Classification rules; the first match applies, and the class of a frame without a match is
    its priority.
    """
    latency_ps: U64
    """Fixed pipeline delay from ingress to the output queue (picoseconds)."""
    mtu_bytes: U32 | None = None
    """IP MTU of every port that is not named in `port_mtus`; none, also when missing, for frames
    of any length.
    """
    name: str
    """Unique among all nodes."""
    policy: Policy
    """Policy of every port that is not named in `port_policies`."""
    port_mtus: list[PortMtu] | None = None
    """IP MTUs of single ports."""
    port_policies: list[PortPolicy]
    """Policies of single ports."""
    switching: Switching
    """Switching mode."""


class Workload(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A workload in the format of a plan."""

    body: dict[str, dict[str, Any]]
    """What only its kind has, under the name of the kind."""
    header: Header
    """What every kind has."""


class Plan(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """One trial of one arm."""

    clock_offset_ppb: U32
    """Each node's oscillator is off by a uniform draw in ± this (parts per billion, 0 to 1 000
    000).
    """
    devices: list[Device] | None = None
    """Block devices of hosts."""
    framing: Framing
    """Bytes of header and wire overhead per frame."""
    hosts: list[Host]
    """Hosts, in order."""
    hypervisors: list[Hypervisor] | None = None
    """Hypervisors: cores behind a switch, and the virtual machines on them."""
    lasts_to_stop: bool | None = None
    """The run lasts until then, even when all finite workloads are done before; it ends with
    them when missing.
    """
    links: list[Link]
    """Full-duplex links."""
    name: str
    """Name for messages, e.g. `cisco-dpp/fifo/trial-3`."""
    observe: Observe
    """Recorded data."""
    seed: U64
    """Seed of every random stream of this trial."""
    spanning_tree: SpanningTree | None = None
    """Spanning trees; shortest paths when missing."""
    stop_at_ps: U64
    """End of the run, even if a workload is unfinished (picoseconds)."""
    switches: list[Switch]
    """Switches, in order."""
    version: U32
    """Format of this plan: 2."""
    workloads: list[Workload]
    """Workloads."""
