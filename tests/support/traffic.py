"""Captures of known traffic, as pcap files with nanoseconds: what a tap on a link between two hosts
would see.

The generator has no queues and no losses: a frame takes half a round trip on each side of the tap.
"""

import heapq
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

MSS_BYTES = 1460
NS_PER_S = 10**9
SEGMENT_NS = 1_231
"""A whole segment at 10 Gbit/s: 1538 bytes with headers and gaps."""
FIN, SYN, ACK = 1, 2, 16
TCP, UDP = 6, 17
SNAP_BYTES = 96
"""Bytes of each frame in the file."""
MAGIC_NS = 0xA1B23C4D
"""Of pcap files with times in nanoseconds."""


@dataclass(frozen=True)
class Tap:
    """Round trips from the tap to the client and to the server, in ns."""

    client_rtt_ns: int = 2_000
    server_rtt_ns: int = 100_000


@dataclass
class Capture:
    """Frames with their times; random numbers from one seed."""

    tap: Tap = Tap()
    draws: Random = field(default_factory=lambda: Random(7))
    client_port_first: int = 40_000
    frames: list[tuple[int, int, bytes, int]] = field(default_factory=list)

    def add(self, at_ns: int, frame: bytes, payload_bytes: int) -> None:
        """A frame with its headers; its payload is zeros."""
        heapq.heappush(self.frames, (at_ns, len(self.frames), frame, payload_bytes))

    def write(self, path: Path) -> Path:
        """Writes the pcap file."""
        with path.open("wb") as file:
            file.write(struct.pack("<IHHiIII", MAGIC_NS, 2, 4, 0, 0, SNAP_BYTES, 1))
            for at_ns, _, headers, payload_bytes in sorted(self.frames):
                length = len(headers) + payload_bytes
                file.write(
                    struct.pack(
                        "<IIII",
                        at_ns // NS_PER_S,
                        at_ns % NS_PER_S,
                        min(SNAP_BYTES, length),
                        length,
                    )
                )
                file.write((headers + bytes(SNAP_BYTES))[: min(SNAP_BYTES, length)])
        return path


@dataclass
class Tcp:
    """One connection, from its opening on; times are those at the tap."""

    capture: Capture
    client: str
    server: str
    client_port: int
    server_port: int
    numbers: list[int] = field(default_factory=lambda: [1_000, 9_000])
    now_ns: int = 0

    def open(self, at_ns: int) -> None:
        """The handshake; the client sends its first byte right after it."""
        tap = self.capture.tap
        self._segment(at_ns, 0, SYN, 0)
        self._segment(at_ns + tap.server_rtt_ns, 1, SYN | ACK, 0)
        self.now_ns = at_ns + tap.server_rtt_ns + tap.client_rtt_ns
        self._segment(self.now_ns, 0, ACK, 0)

    def exchange(self, request: int, service_ns: int, response: int) -> None:
        """A request and its response, each at once."""
        self.send(0, request)
        self.now_ns += self.capture.tap.server_rtt_ns + service_ns
        self.send(1, response)

    def think(self, gap_ns: int) -> None:
        """The client waits after it has the response."""
        self.now_ns += self.capture.tap.client_rtt_ns + gap_ns

    def send(self, way: int, data: int) -> None:
        """Data from one end, as fast as a line of 10 Gbit/s takes it."""
        while data:
            size = min(MSS_BYTES, data)
            self._segment(self.now_ns, way, ACK, size)
            data -= size
            self.now_ns += SEGMENT_NS if data else 0

    def acknowledge(self, way: int, after_ns: int) -> None:
        """The other end acknowledges what it has."""
        self._segment(self.now_ns + after_ns, 1 - way, ACK, 0)

    def close(self) -> None:
        """Both ends finish."""
        self.now_ns += self.capture.tap.client_rtt_ns
        self._segment(self.now_ns, 0, FIN | ACK, 0)
        self._segment(self.now_ns + self.capture.tap.server_rtt_ns, 1, FIN | ACK, 0)

    def _segment(self, at_ns: int, way: int, flags: int, payload: int) -> None:
        ports = (self.client_port, self.server_port)
        hosts = (self.client, self.server)
        options = struct.pack(">BBH", 2, 4, MSS_BYTES) if flags & SYN else b""
        acked = self.numbers[1 - way] if flags & ACK else 0
        offset = (20 + len(options)) // 4 << 12
        header = struct.pack(
            ">HHIIHHHH",
            ports[way],
            ports[1 - way],
            self.numbers[way],
            acked,
            offset | flags,
            65_000,
            0,
            0,
        )
        self.capture.add(
            at_ns, ip(hosts[way], hosts[1 - way], TCP, header + options, payload), payload
        )
        self.numbers[way] += payload + (1 if flags & (SYN | FIN) else 0)


def ip(source: str, destination: str, protocol: int, header: bytes, payload: int) -> bytes:
    """Ethernet and IPv4 before a header."""
    addresses = bytes(map(int, f"{source}.{destination}".split(".")))
    total = 20 + len(header) + payload
    return (
        bytes(12)
        + b"\x08\x00"
        + struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0x4000, 64, protocol, 0)
        + addresses
        + header
    )


def users(
    capture: Capture,
    number: int,
    span_ns: int,
    gap: Callable[[Random], int],
    transaction: list[tuple[int, int, int]],
    port: int = 5432,
) -> None:
    """Closed-loop users: each runs transactions of `(request, service_ns, response)` with gaps
    between them."""
    for user in range(number):
        connection = Tcp(capture, "10.0.0.1", "10.0.0.2", capture.client_port_first + user, port)
        connection.open(gap(capture.draws))
        while connection.now_ns < span_ns:
            for request, service_ns, response in transaction:
                connection.exchange(request, service_ns, response)
                connection.think(0)
            connection.now_ns += gap(capture.draws)


def stream(capture: Capture, bits_per_s: int, span_ns: int, port: int = 5001) -> None:
    """One connection whose program sends at a rate."""
    connection = Tcp(capture, "10.0.0.3", "10.0.0.2", 50_000, port)
    connection.open(0)
    gap_ns = MSS_BYTES * 8 * NS_PER_S // bits_per_s
    while connection.now_ns < span_ns:
        connection.send(0, MSS_BYTES)
        connection.acknowledge(0, capture.tap.server_rtt_ns)
        connection.now_ns += gap_ns


def flows(
    capture: Capture, mean_gap_ns: int, sizes: list[int], span_ns: int, port: int = 9000
) -> None:
    """Poisson arrivals of transfers, a connection each."""
    at_ns, number = 0, 0
    while at_ns < span_ns:
        at_ns += round(capture.draws.expovariate(1 / mean_gap_ns))
        connection = Tcp(capture, "10.0.0.4", "10.0.0.2", 10_000 + number, port)
        connection.open(at_ns)
        connection.send(0, capture.draws.choice(sizes))
        connection.acknowledge(0, capture.tap.server_rtt_ns)
        connection.close()
        number += 1


def datagrams(
    capture: Capture,
    size: int,
    gap: Callable[[Random], int],
    span_ns: int,
    port: int = 4000,
    answer: tuple[int, int] | None = None,
) -> None:
    """Datagrams with gaps between them; `answer` is the size and the time of an answer to each."""
    ends = ("10.0.0.5", "10.0.0.2")
    at_ns = gap(capture.draws)
    while at_ns < span_ns:
        capture.add(
            at_ns, ip(*ends, UDP, struct.pack(">HHHH", 30_000, port, 8 + size, 0), size), size
        )
        if answer is not None:
            back, service_ns = answer
            header = struct.pack(">HHHH", port, 30_000, 8 + back, 0)
            capture.add(
                at_ns + capture.tap.server_rtt_ns + service_ns,
                ip(*ends[::-1], UDP, header, back),
                back,
            )
        at_ns += gap(capture.draws)
