"""Settings of hosts: MTU, network interface, TCP. Defaults: a current Linux server with a 10G
NIC."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from tailrace.scenario.network.cpu import Cpu
from tailrace.scenario.network.ip import Ip
from tailrace.scenario.network.neighbour import HostNeighbour
from tailrace.scenario.policies.pause import AutoTime, Priorities
from tailrace.scenario.text.distribution import parse_distribution
from tailrace.scenario.text.quantities import (
    Count,
    Memory,
    Name,
    Part,
    Rate,
    Share,
    Size,
    SmallFrames,
    SmallSize,
    Time,
    TimeDistribution,
)
from tailrace.scenario.text.units import SIZE, TIME, QuantityError, parse

RX_JITTER_DEFAULT = parse_distribution("exponential(2us)", TIME)
"""Timing noise of a receive poll [K]: a few microseconds of scheduling and cache misses on a busy
Linux host."""


class NicPfc(Part):
    """The NIC obeys priority flow control (802.1Qbb)."""

    priorities: Priorities
    """Priorities whose pauses are obeyed."""


class NicClass(Part):
    """A traffic class of the NIC (802.1Qaz): strict, or with a share of what strict classes
    leave."""

    priorities: Annotated[Priorities, Field(min_length=1)]
    """Its priorities, which take turns. A priority that no class lists belongs to the first
    class."""
    share: Share | None = None
    """Share of the line. Default: an equal part of what the stated shares leave."""
    strict: Annotated[Count, Field(ge=1, le=8)] | None = None
    """Strict priority: level 1 is served first."""


class NicQcn(Part):
    """QCN reaction point (802.1Qau): a rate limiter for each flow; the defaults are those of
    IEEE8021-CN-MIB."""

    timer: Time = 15 * 10**9
    """Timer of rate increase."""
    byte_counter: Size = 150_000
    """Byte counter of rate increase."""
    active_increase: Rate = 5_000_000
    """Step of active increase."""
    hyper_increase: Rate = 50_000_000
    """Step of hyper-active increase."""
    rate_min: Rate = 10_000_000
    """Lowest rate [K]: the MIB does not state it, simulators use 10 Mbit/s."""


class Storm(Part):
    """A fault: the interface pauses its switch continuously, as a defective interface does."""

    priorities: Priorities
    """Priorities that it pauses."""
    start: Time = 0
    """First pause."""
    end: Time
    """End of the pauses."""


class Nic(Part):
    """Network interface."""

    queue: Size = 16_000_000
    """Transmit queue (qdisc and ring) [K]: 1000 frames of pfifo_fast hold at most 16 MB of TSO
    bursts."""
    tso: SmallSize = 64_000
    """Largest burst passed to the NIC at once (TSO); 0B disables it. Linux: 64 KB."""
    gro: SmallSize = 64_000
    """Largest aggregate passed up at once (GRO); 0B disables it. Linux: 64 KB."""
    rx_coalesce: Time = 8_000_000
    """Interrupt moderation: from the first frame of a batch to the poll [K]: common 10G drivers
    settle at 8 us."""
    rx_jitter: TimeDistribution = RX_JITTER_DEFAULT
    """Timing noise: extra delay of each poll, a distribution."""
    rx_ring: SmallFrames = 4096
    """Receive ring; a frame that arrives when it is full is dropped [K]: usual maximum of 10G
    NICs."""
    bond: Literal["layer3+4", "layer2+3"] | None = None
    """Several interfaces as one, each at a link of the host in `network.links`; a hash of addresses
    and ports, or of addresses, chooses the interface of a frame (Linux: `xmit_hash_policy`).
    Default: one interface and one link.
    """
    pfc: NicPfc | None = None
    """Obeys pauses of priorities. Default: none."""
    link_pause: bool = False
    """Obeys 802.3x pauses."""
    pause_response: AutoTime = "auto"
    """From the arrival of a pause to its effect. auto: the limit of 802.3 annex 31B for the link's
    rate."""
    qcn: NicQcn | None = None
    """Limits rates on notifications from switches with `qcn`; `{}` uses the standard's values.
    Default: off."""

    ets: Annotated[dict[Name, NicClass], Field(max_length=8)] = {}
    """Traffic classes by name, which share the line on sending. Default: none; frames are sent in
    order, or the priorities take turns where the NIC obeys `pfc`.
    """
    storm: Storm | None = None
    """A pause storm, to test a watchdog. Default: none."""

    @property
    def is_lossless(self) -> bool:
        """Whether the interface takes part in pauses, QCN or ETS."""
        return (
            self.link_pause
            or bool(self.ets)
            or any(part is not None for part in (self.pfc, self.qcn, self.storm))
        )


class SocketBuffer(Part):
    """A socket buffer, in payload bytes: a single size is fixed; `initial` and `maximum` enable
    autotuning."""

    initial: Size | None = None
    """Initial size. Default: for sending, two initial windows; for receiving, 64 KiB (Linux)."""
    maximum: Size
    """Largest size that autotuning may reach."""


def _buffer(value: object) -> object:
    if isinstance(value, dict | SocketBuffer):
        return value
    try:
        fixed = parse(value, SIZE)
    except QuantityError as error:
        raise PydanticCustomError(
            "scenario", "{what}", {"what": error.what, "hint": error.hint}
        ) from None
    return SocketBuffer.model_construct(initial=fixed, maximum=fixed)


_BUFFER_SCHEMA = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "pattern": SIZE.pattern},
            {
                "type": "object",
                "properties": {
                    name: {"type": "string", "pattern": SIZE.pattern}
                    for name in ("initial", "maximum")
                },
                "required": ["maximum"],
                "additionalProperties": False,
            },
        ]
    }
)
Buffer = Annotated[SocketBuffer, BeforeValidator(_buffer), _BUFFER_SCHEMA]


class Tcp(Part):
    """TCP of all sockets of a host; the defaults are Linux sysctls (tcp_wmem, tcp_rmem,
    include/net/tcp.h)."""

    congestion_control: Literal["cubic", "new-reno", "dctcp", "bbr"] = "cubic"
    """RFC 9438, RFC 6582, RFC 8257, or BBR version 1 with pacing, as in Linux 6.1."""
    slow_start_exit: Literal["auto", "none", "hystart", "hystart-plus-plus"] = "auto"
    """Early exit from slow start, before a loss. auto: hystart with cubic, none otherwise, as in
    Linux."""
    growth: Literal["segments", "acknowledgements"] = "segments"
    """Growth of the window: by the number of segments that an acknowledgement covers (Linux), or by
    one for each acknowledgement (ns-3).
    """
    reno_friendly: bool = True
    """CUBIC grows at least as fast as Reno (RFC 9438 section 4.3); on in Linux, absent in ns-3."""
    initial_window: Annotated[Count, Field(ge=1, le=1000)] = 10
    """Initial window in segments (RFC 6928)."""
    window_cap: Size = 0
    """Upper limit of the congestion window; 0B for none."""
    ecn: bool = False
    """Negotiate ECN (always on with dctcp)."""
    sack: bool = True
    """Selective acknowledgement, and with it RACK."""
    tail_loss_probe: bool = True
    """Tail loss probe (RFC 8985)."""
    rto_min: Time = 200 * 10**9
    """Smallest retransmission timeout; Linux 200ms."""
    rto_max: Time = 120 * 10**12
    """Largest retransmission timeout; Linux 120s."""
    delayed_ack: Time = 40 * 10**9
    """Delayed acknowledgement; 0s acknowledges every aggregate at once; Linux 40ms."""
    slow_start_after_idle: bool = True
    """Slow start after an idle period; on in Linux."""
    tick: Annotated[Time, Field(le=10 * 10**9)] = 4 * 10**9
    """Clock tick, with which timers expire and CUBIC is evaluated; 4ms in kernels with HZ = 250,
    1ms with 1000; 0s for timers that expire as they are set, and CUBIC as with 4ms.
    """
    autocorking: bool = True
    """A write shorter than a burst waits while an earlier segment of its connection is in the NIC;
    on in Linux."""
    small_queue: Time = 10**9
    """Limit of one socket's data in the NIC (TCP small queues), as time at the socket's pacing
    rate; 0s for no limit.
    """
    small_queue_bound: Literal["line", "pace"] = "pace"
    """Rate for that limit: the pacing rate alone, as in Linux, or at most the rate of the line."""
    send_buffer: Buffer = SocketBuffer(maximum="4MiB")  # type: ignore[arg-type]  # parsed text
    """Send buffer; Linux: at most tcp_wmem's 4 MiB."""
    receive_buffer: Buffer = SocketBuffer(maximum="6MiB")  # type: ignore[arg-type]  # parsed text
    """Receive buffer; Linux: at most tcp_rmem's 6 MiB."""

    @property
    def effective_exit(self) -> str:
        """The early end of slow start with `auto` resolved. In Linux only net/ipv4/tcp_cubic.c has
        HyStart."""
        if self.slow_start_exit != "auto":
            return self.slow_start_exit
        return "hystart" if self.congestion_control == "cubic" else "none"


IP_TCP_HEADERS_BYTES = 52
"""IPv4 20, TCP 20, timestamps 12."""
SEND_BUFFER_BYTES_MIN = 16 * 1024
"""tcp_wmem[1]."""
SEGMENT_HEADERS_BYTES = 640
SEGMENT_RECORD_BYTES = 256
"""Linux, on 64-bit machines: headers of a segment and skb_shared_info; sk_buff."""
RECEIVE_WINDOW_BYTES_FIRST = 64 * 1024
"""The first window is at most 65 535 bytes, regardless of tcp_rmem."""


class Host(Part):
    """A host; omitted keys are taken from `hosts.defaults`."""

    mtu: Size = 1500
    """IP MTU, 576B to 9216B."""
    nic: Nic = Nic()
    """Network interface."""
    cpu: Cpu = Cpu()
    """Costs and cores."""
    tcp: Tcp = Tcp()
    """TCP of all sockets."""
    ip: Ip = Ip()
    """Reassembly of datagrams."""
    neighbours: dict[Name, HostNeighbour] = {}
    """Other load on the same processor, by name; live runs only."""
    memory: Memory | None = None
    """Memory for the programs of its control groups, which must fit together; nothing else depends
    on it. Default: not counted.
    """

    def send_buffer(self) -> SocketBuffer:
        """The send buffer with its initial size: memory for the segments of two initial windows
        (tcp_sndbuf_expand), and of three with BBR.
        """
        headers = self.mtu - IP_TCP_HEADERS_BYTES + SEGMENT_HEADERS_BYTES
        segment = (1 << (headers - 1).bit_length()) + SEGMENT_RECORD_BYTES
        windows = 3 if self.tcp.congestion_control == "bbr" else 2
        return _started(
            self.tcp.send_buffer,
            max(SEND_BUFFER_BYTES_MIN, windows * self.tcp.initial_window * segment),
        )

    def receive_buffer(self) -> SocketBuffer:
        """The receive buffer with its initial size."""
        return _started(self.tcp.receive_buffer, RECEIVE_WINDOW_BYTES_FIRST)


def _started(buffer: SocketBuffer, initial: int) -> SocketBuffer:
    if buffer.initial is not None:
        return buffer
    return buffer.model_copy(update={"initial": min(initial, buffer.maximum)})
