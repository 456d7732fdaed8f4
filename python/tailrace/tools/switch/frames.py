"""Sizes of frames, and what a line carries of each."""

from tailrace.errors import RunRefusedError

SIZES = (64, 128, 256, 512, 1024, 1280, 1518, 9018)
"""RFC 2544 section 9.1 with the check sequence, and the frame of an MTU of 9000."""
SIZE_MIN, SIZE_MAX = 64, 9234
"""The smallest frame of Ethernet, and that of the largest MTU of a plan, 9216."""
CHECK_BYTES = 4
HEADER_BYTES = 14
PREAMBLE_AND_GAP_BYTES = 20
"""IEEE 802.3: 7 + 1 bytes before a frame, 12 after it."""
PS_PER_S = 10**12


def interval_ps(size: int, rate_bps: int) -> int:
    """Picoseconds from frame to frame on a full line, rounded up: a frame never leaves early."""
    return -(-(size + PREAMBLE_AND_GAP_BYTES) * 8 * PS_PER_S // rate_bps)


def theoretical_fps(size: int, rate_bps: int) -> float:
    """Frames per second of a full line."""
    return rate_bps / ((size + PREAMBLE_AND_GAP_BYTES) * 8)


def mtu_of(size: int) -> int:
    """MTU that a frame of this size needs."""
    return size - HEADER_BYTES - CHECK_BYTES


def parse_sizes(text: str) -> tuple[int, ...]:
    """Sizes as given to `--sizes`: `64,1518`."""
    sizes = []
    for word in text.split(","):
        digits = word.strip().removesuffix("B")
        if not digits.isdigit() or not SIZE_MIN <= int(digits) <= SIZE_MAX:
            raise RunRefusedError(
                f"--sizes: '{word.strip()}' is no size of a frame (hint: whole bytes with the "
                f"check sequence, {SIZE_MIN} to {SIZE_MAX}, such as --sizes 64,512,1518)"
            )
        sizes.append(int(digits))
    return tuple(dict.fromkeys(sizes))
