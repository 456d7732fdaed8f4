"""Frames of other sizes: for sweeps."""

from collections.abc import Sequence

from tailrace.errors import TailraceError
from tailrace.programs.internet_sum import internet_sum
from tailrace.tools.blast.line import FRAME_BYTES_MAX, FRAME_BYTES_MIN

ROUNDS_MAX = 256
IPV4, VLAN_TYPES, UDP = 0x0800, (0x8100, 0x88A8), 17
IPV4_BYTES_MIN = 20


def parse_sizes(text: str) -> list[int]:
    """`64,512,1514` or `64-1514/50`: bytes without the check sequence."""
    found: list[int] = []
    for part in text.split(","):
        found.extend(_range(part.strip().removesuffix("B"), text))
    if len(found) > ROUNDS_MAX:
        raise TailraceError(
            f"--sizes: these are {len(found)} sizes, more than {ROUNDS_MAX} (hint: a larger step)"
        )
    return found


def _range(part: str, text: str) -> Sequence[int]:
    ends, _, step = part.partition("/")
    low, dash, high = ends.partition("-")
    numbers = [low, high or low, step or "1"]
    if (
        not all(number.isdecimal() for number in numbers)
        or (dash and not step)
        or (step and not dash)
    ):
        raise TailraceError(
            f"--sizes: '{text}' cannot be read (hint: write 64,512,1514 or 64-1514/50)"
        )
    first, last, each = (int(number) for number in numbers)
    if not FRAME_BYTES_MIN <= first <= last <= FRAME_BYTES_MAX or each < 1:
        what = (
            f"sizes are {FRAME_BYTES_MIN} to {FRAME_BYTES_MAX} bytes without the check "
            "sequence, the smaller first"
        )
        raise TailraceError(
            f"--sizes: {what}, not '{part}' (hint: write 64,512,1514 or 64-1514/50)"
        )
    return range(first, last + 1, each)


def resized(frame: bytes, size: int) -> bytes:
    """The frame with so many bytes: cut, or followed by zeros. Lengths and sums of IPv4 and UDP
    follow."""
    new = bytearray(frame[:size].ljust(size, b"\0"))
    at = 12
    while int.from_bytes(new[at : at + 2], "big") in VLAN_TYPES:
        at += 4
    is_ipv4 = int.from_bytes(new[at : at + 2], "big") == IPV4
    at += 2
    if is_ipv4 and len(new) >= at + IPV4_BYTES_MIN and new[at] >> 4 == 4:
        _fit_ipv4(new, at)
    return bytes(new)


def _fit_ipv4(frame: bytearray, at: int) -> None:
    header = 4 * (frame[at] & 0xF)
    length = len(frame) - at
    if not IPV4_BYTES_MIN <= header <= length:
        return
    frame[at + 2 : at + 4] = length.to_bytes(2, "big")
    frame[at + 10 : at + 12] = b"\0\0"
    frame[at + 10 : at + 12] = internet_sum(bytes(frame[at : at + header])).to_bytes(2, "big")
    udp = at + header
    if frame[at + 9] == UDP and len(frame) >= udp + 8:
        frame[udp + 4 : udp + 6] = (length - header).to_bytes(2, "big")
        frame[udp + 6 : udp + 8] = b"\0\0"  # RFC 768: no checksum
