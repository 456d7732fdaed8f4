"""The first bytes of a frame as they would stand on the wire: Ethernet, IPv4 (RFC 791) and TCP (RFC
9293).

The model has no payload, no initial sequence number and no clock for timestamps: streams begin at 0
(the SYN), and the timestamp is the time of sending in milliseconds, with nothing echoed.
"""

import struct

from tailrace.timeline.labels import ACK, CWR, ECE, FIN, PSH, RST, SYN
from tailrace.timeline.log import Frame, Socket

ETHERNET_BYTES = 14
IP_BYTES = 20
TCP_BYTES = 20
FIRST_ADDRESS = 0x0A00_0001
"""Hosts are numbered from 10.0.0.1 on, as `tailrace_wire::address_of` does."""
MAC_PREFIX = 0x0200_0000_0000
"""Locally administered addresses (IEEE 802)."""
WINDOW_MAX = 2**16 - 1
SHIFT_MAX = 14
"""Largest window scale (RFC 7323)."""
PS_PER_MS = 10**9
_ETHERTYPE_IPV4 = 0x0800
_ETHERTYPE_VLAN = 0x8100
_DONT_FRAGMENT = 0x4000
_TTL = 64
_PROTOCOL_TCP = 6
_WIRE_FLAGS = ((FIN, 1), (SYN, 2), (RST, 4), (PSH, 8), (ACK, 16), (ECE, 64), (CWR, 128))
"""Bits of the model, and those of RFC 9293 and RFC 3168."""
_TIMESTAMP_OPTION_BYTES = 10


def shift_of(window_bytes_max: int) -> int:
    """The smallest window scale by which such a window fits its field."""
    return min(SHIFT_MAX, max(0, (window_bytes_max >> 16).bit_length()))


def headers(frame: Frame, sender: Socket, receiver: Socket, shift: int) -> bytes:
    """All headers of a frame."""
    ethernet = (MAC_PREFIX + receiver.address).to_bytes(6, "big") + (
        MAC_PREFIX + sender.address
    ).to_bytes(6, "big")
    if frame.tag_bytes:
        ethernet += struct.pack(">HH", _ETHERTYPE_VLAN, frame.priority << 13 | frame.vlan)
    ethernet += struct.pack(">H", _ETHERTYPE_IPV4)
    ip_bytes = frame.frame_bytes - ETHERNET_BYTES - frame.tag_bytes
    addresses = struct.pack(">II", FIRST_ADDRESS + sender.address, FIRST_ADDRESS + receiver.address)
    tos = frame.dscp << 2 | frame.ecn
    ip = struct.pack(
        ">BBHHHBBH", 0x45, tos, ip_bytes, frame.id & 0xFFFF, _DONT_FRAGMENT, _TTL, _PROTOCOL_TCP, 0
    )
    ip = ip[:10] + struct.pack(">H", checksum(ip + addresses)) + addresses
    tcp_bytes = ip_bytes - IP_BYTES - frame.payload_bytes
    tcp = _tcp(frame, (sender.port, receiver.port), tcp_bytes, shift)
    # The payload is zero and changes no sum.
    pseudo = addresses + struct.pack(">BBH", 0, _PROTOCOL_TCP, ip_bytes - IP_BYTES)
    tcp = tcp[:16] + struct.pack(">H", checksum(pseudo + tcp)) + tcp[18:]
    return ethernet + ip + tcp


def checksum(content: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    padded = content + b"\0" * (len(content) % 2)
    total: int = sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _tcp(frame: Frame, ports: tuple[int, int], header_bytes: int, shift: int) -> bytes:
    is_syn = frame.flags & SYN
    window = min(WINDOW_MAX, frame.window_bytes if is_syn else frame.window_bytes >> shift)
    flags = sum(bit for own, bit in _WIRE_FLAGS if frame.flags & own)
    offset = header_bytes // 4 << 4
    ack = frame.ack if frame.flags & ACK else 0
    fixed = struct.pack(
        ">HHIIBBHHH",
        *ports,
        frame.seq & 0xFFFF_FFFF,
        ack & 0xFFFF_FFFF,
        offset,
        flags,
        window,
        0,
        0,
    )
    return fixed + _options(frame, header_bytes - TCP_BYTES, shift)


def _options(frame: Frame, room: int, shift: int) -> bytes:
    """The options that fit the length of the header: timestamps, and the options of a SYN or
    selective acknowledgement."""
    stamp = struct.pack(
        ">BBII", 8, _TIMESTAMP_OPTION_BYTES, frame.handed_ps // PS_PER_MS & 0xFFFF_FFFF, 0
    )
    if frame.flags & SYN:
        options = b"\x04\x02" + stamp + struct.pack(">BBBB", 1, 3, 3, shift)
    else:
        blocks = frame.sack[: max(0, (room - 2 - _TIMESTAMP_OPTION_BYTES - 4) // 8)]
        options = b"\x01\x01" + stamp
        if blocks:
            edges = b"".join(
                struct.pack(">II", left & 0xFFFF_FFFF, right & 0xFFFF_FFFF)
                for left, right in blocks
            )
            options += struct.pack(">BBBB", 1, 1, 5, 2 + len(edges)) + edges
    # Bytes that the model counts and does not specify end the options (RFC 9293 section 3.2).
    return options[:room].ljust(room, b"\0")
