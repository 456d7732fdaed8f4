"""Captures for tests: frames of Ethernet in files of the classic format."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
CLIENT, SERVER = ("10.0.0.1", 40_000), ("10.0.1.9", 5432)
START_NS = 1_700_000_000_000_000_000
MAGIC_NS = 0xA1B23C4D
MACS = bytes.fromhex("020000000002020000000001")


@dataclass
class Connection:
    """A connection whose segments are written one by one; times are in microseconds after the
    start."""

    frames: list[tuple[int, bytes]] = field(default_factory=list)
    client: tuple[str, int] = CLIENT
    server: tuple[str, int] = SERVER

    def segment(
        self,
        at_us: int,
        *,
        is_client: bool,
        seq: int,
        ack: int,
        payload: int = 0,
        flags: int = ACK,
        window: int = 1000,
    ) -> None:
        """A segment of one of the two."""
        source, target = (self.client, self.server) if is_client else (self.server, self.client)
        header = struct.pack(
            ">HHIIBBHHH", source[1], target[1], seq, ack, 0x50, flags, window, 0, 0
        )
        packet = ipv4(source[0], target[0], 6, header + bytes(payload))
        self.frames.append((at_us * 1000, MACS + b"\x08\x00" + packet))

    def opened(self) -> "Connection":
        """With its handshake of 1 ms; the first data have the numbers 1000 and 5000."""
        self.segment(0, is_client=True, seq=999, ack=0, flags=SYN)
        self.segment(600, is_client=False, seq=4999, ack=1000, flags=SYN | ACK)
        self.segment(1000, is_client=True, seq=1000, ack=5000)
        return self

    def exchange(self, at_us: int, seq: int, ack: int) -> None:
        """A request of 100 bytes and, 2 ms later, a response of 700."""
        self.segment(at_us, is_client=True, seq=seq, ack=ack, payload=100, flags=ACK | PSH)
        self.segment(
            at_us + 2000, is_client=False, seq=ack, ack=seq + 100, payload=700, flags=ACK | PSH
        )
        self.segment(at_us + 2100, is_client=True, seq=seq + 100, ack=ack + 700)


def ipv4(
    source: str, target: str, protocol: int, carried: bytes, *, place: int = 0, service: int = 0
) -> bytes:
    """A packet; `place` has the flags and the place of a fragment, `service` is the traffic
    class."""
    ends = IPv4Address(source).packed + IPv4Address(target).packed
    return (
        struct.pack(">BBHHHBBH", 0x45, service, 20 + len(carried), 7, place, 64, protocol, 0)
        + ends
        + carried
    )


def udp(source: int, target: int, payload: int) -> bytes:
    """A datagram."""
    return struct.pack(">HHHH", source, target, 8 + payload, 0) + bytes(payload)


def write_pcap(
    path: Path, frames: Iterable[tuple[int, bytes]], *, snap_bytes: int = 65_535
) -> Path:
    """Writes frames, each with its time in nanoseconds after the start; gives the path."""
    parts = [struct.pack("<IHHiIII", MAGIC_NS, 2, 4, 0, 0, snap_bytes, 1)]
    for at_ns, frame in frames:
        time_ns, kept = START_NS + at_ns, frame[:snap_bytes]
        parts.append(
            struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, len(kept), len(frame)) + kept
        )
    path.write_bytes(b"".join(parts))
    return path
