"""Headroom: the bytes that may arrive after a pause was sent, and the time in which a pause must be
obeyed."""

CABLE_METRES_PER_S = 198_000_000
"""Speed of light in copper and glass (SONiC buffer_headroom_mellanox.lua)."""
QUANTUM_BITS = 512
"""IEEE 802.3 annex 31B: pauses are counted in this many bit times."""
RESPONSE_QUANTA: tuple[tuple[int, int], ...] = (
    (100_000_000, 1),
    (1_000_000_000, 2),
    (10_000_000_000, 67),
    (25_000_000_000, 80),
    (40_000_000_000, 118),
    (50_000_000_000, 147),
    (100_000_000_000, 394),
    (200_000_000_000, 453),
    (800_000_000_000, 905),
)
"""Latest response to a pause by rate in bit/s (802.3 annex 31B.3.7, as listed in
buffer_headroom_mellanox.lua)."""
PS_PER_S = 10**12


def response_quanta(rate_bps: int) -> int:
    """Quanta within which a station of this rate obeys; a rate that is not listed has those of the
    next faster one."""
    return next(
        (quanta for rate, quanta in RESPONSE_QUANTA if rate_bps <= rate), RESPONSE_QUANTA[-1][1]
    )


def response_ps(rate_bps: int) -> int:
    """The same in picoseconds, rounded up."""
    return _ceil(response_quanta(rate_bps) * QUANTUM_BITS * PS_PER_S, rate_bps)


def delay_ps(cable_mm: int) -> int:
    """Propagation delay of a cable."""
    return _ceil(cable_mm * PS_PER_S, 1000 * CABLE_METRES_PER_S)


def headroom_bytes(
    rate_bps: int, frame_bytes: int, *, round_trip_ps: int, peer_response_ps: int
) -> int:
    """Headroom of a lossless group.

    The pause waits for a frame whose transmission has begun; the peer finishes a frame and, within
    its response time, may begin another; the cable and the pipelines hold bytes in both directions
    (`round_trip_ps`). The terms are those of SONiC's computation without its rounding to cells.
    """
    on_the_way = _ceil(rate_bps * (round_trip_ps + peer_response_ps), 8 * PS_PER_S)
    return 3 * frame_bytes + on_the_way


def _ceil(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
