"""A reader of captures (pcapng, draft-ietf-opsawg-pcapng)."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SECTION_HEADER = 0x0A0D0D0A
INTERFACE = 1
ENHANCED_PACKET = 6
IF_TSRESOL = 9
EPB_FLAGS = 2


@dataclass(frozen=True)
class Captured:
    """A frame in a capture."""

    at_ns: int
    """Since 1970."""
    is_outbound: bool
    """The port has sent it; otherwise it has come in."""
    frame: bytes


def read_capture(path: Path) -> list[Captured]:
    """The frames of a capture of one port, in its order; checks that times are in nanoseconds and
    frames whole."""
    (section, _), (interface, described), *packets = _blocks(path.read_bytes())
    assert (section, interface) == (SECTION_HEADER, INTERFACE)
    link_type, _, snap_bytes = struct.unpack("<HHI", described[:8])
    assert link_type == 1  # Ethernet
    assert snap_bytes == 0 or snap_bytes >= 9014
    assert _options(described[8:])[IF_TSRESOL] == b"\x09"  # 10^-9 s
    return [_captured(kind, body) for kind, body in packets]


def _captured(kind: int, body: bytes) -> Captured:
    assert kind == ENHANCED_PACKET
    _, high, low, captured, length = struct.unpack("<IIIII", body[:20])
    assert captured == length
    flags = struct.unpack("<I", _options(body[20 + (length + 3) // 4 * 4 :])[EPB_FLAGS])[0]
    return Captured(high << 32 | low, flags & 3 == 2, body[20 : 20 + length])


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The blocks of a file: type and body (section 3.1)."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        yield kind, data[at + 8 : at + length - 4]
        at += length


def _options(body: bytes) -> dict[int, bytes]:
    """Options at the end of a block (section 3.5)."""
    found = {}
    while len(body) >= 4:
        code, length = struct.unpack("<HH", body[:4])
        found[code] = body[4 : 4 + length]
        body = body[4 + (length + 3) // 4 * 4 :]
    return found
