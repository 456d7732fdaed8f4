"""Frames of a workload of kind `frames`: UDP, with room for the marks that the sender writes."""

from dataclasses import dataclass
from ipaddress import IPv4Address

from tailrace.programs.internet_sum import internet_sum

SOURCE_PORT = 49_184
"""By which the receiver knows frames with marks (`crates/fabric/src/generator/frame.rs`)."""
ETHERNET_BYTES, IP_BYTES, UDP_BYTES = 14, 20, 8
HEADER_BYTES = ETHERNET_BYTES + IP_BYTES + UDP_BYTES
IPV4, UDP = 0x0800, 17
VERSION_AND_WORDS = 0x45
DO_NOT_FRAGMENT = 0x4000
TIME_TO_LIVE = 64


@dataclass(frozen=True)
class End:
    """A host of a lab: its index in the plan, and its address in the VLAN."""

    index: int
    address: str

    @property
    def mac(self) -> bytes:
        """By the rule of every lab (`crates/network/src/address.rs`)."""
        return b"\x02\0\0\0" + (self.index + 1).to_bytes(2, "big")


def marked_frame(source: End, destination: End, port: int, size: int, dscp: int = 0) -> bytes:
    """A frame of `size` bytes without its check sequence, at least 60, to a UDP port."""
    ip_bytes = size - ETHERNET_BYTES
    head = bytes([VERSION_AND_WORDS, dscp << 2]) + ip_bytes.to_bytes(2, "big")
    head += b"\0\0" + DO_NOT_FRAGMENT.to_bytes(2, "big") + bytes([TIME_TO_LIVE, UDP])
    addresses = IPv4Address(source.address).packed + IPv4Address(destination.address).packed
    ip = head + internet_sum(head + b"\0\0" + addresses).to_bytes(2, "big") + addresses
    udp = b"".join(
        part.to_bytes(2, "big") for part in (SOURCE_PORT, port, ip_bytes - IP_BYTES, 0)
    )  # RFC 768: no sum
    return (destination.mac + source.mac + IPV4.to_bytes(2, "big") + ip + udp).ljust(size, b"\0")
