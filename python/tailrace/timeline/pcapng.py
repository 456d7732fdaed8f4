"""Writer of pcapng files (draft-ietf-opsawg-pcapng): section, interfaces and packets with
comments."""

import struct
from dataclasses import dataclass, field

_SECTION = 0x0A0D0D0A
_INTERFACE = 1
_ENHANCED_PACKET = 6
_BYTE_ORDER = 0x1A2B3C4D
_UNKNOWN_LENGTH = -1
LINKTYPE_ETHERNET = 1
_END = 0
_COMMENT = 1
_USER_APPLICATION = 4
_IF_NAME = 2
_IF_DESCRIPTION = 3
_IF_SPEED = 8
_IF_TSRESOL = 9
NANOSECONDS = 9
"""`if_tsresol`: units of 10^-9 s, the finest that readers agree on."""
COMMENT_BYTES_MAX = 2**16 - 1


@dataclass
class PcapngWriter:
    """A file of one section that grows."""

    application: str
    comment: str
    _blocks: list[bytes] = field(default_factory=list)
    _interfaces: int = 0

    def interface(self, name: str, description: str, speed_bps: int, snap_bytes: int) -> int:
        """An interface; returns its number."""
        options = _option(_IF_NAME, name.encode()) + _option(_IF_DESCRIPTION, description.encode())
        options += _option(_IF_SPEED, struct.pack("<Q", speed_bps)) + _option(
            _IF_TSRESOL, bytes([NANOSECONDS])
        )
        body = struct.pack("<HHI", LINKTYPE_ETHERNET, 0, snap_bytes) + options + _option(_END)
        self._blocks.append(_block(_INTERFACE, body))
        self._interfaces += 1
        return self._interfaces - 1

    def packet(
        self, interface: int, at_ns: int, captured: bytes, length: int, comment: str
    ) -> None:
        """A packet of which only the first bytes are kept."""
        body = struct.pack(
            "<IIIII", interface, at_ns >> 32, at_ns & 0xFFFF_FFFF, len(captured), length
        )
        body += _padded(captured)
        if comment:
            body += _option(_COMMENT, _cut(comment)) + _option(_END)
        self._blocks.append(_block(_ENHANCED_PACKET, body))

    def content(self) -> bytes:
        """The whole file."""
        options = _option(_COMMENT, _cut(self.comment)) + _option(
            _USER_APPLICATION, self.application.encode()
        )
        head = struct.pack("<IHHq", _BYTE_ORDER, 1, 0, _UNKNOWN_LENGTH) + options + _option(_END)
        return b"".join([_block(_SECTION, head), *self._blocks])


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def _option(code: int, value: bytes = b"") -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)


def _cut(comment: str) -> bytes:
    return comment.encode()[:COMMENT_BYTES_MAX].decode(errors="ignore").encode()
