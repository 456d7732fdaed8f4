"""Rate, delay and MTU of the links, stated or estimated."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailrace.fit.groups import TCP_HEADERS, Connection
from tailrace.profile.capture import Profile

RATES_BPS = tuple(
    rate * 10**6 for rate in (10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000)
)
"""Rates of Ethernet (IEEE 802.3)."""
SWITCH_NS = 1_000
"""Latency of a switch, as scenarios have it by default."""
LINKS_OF_A_ROUND_TRIP = 4
INTERVAL_NS = 1_000_000
ROOM = 1.02
"""A frame counts whole in the millisecond in which it ends: at most 12 us of it at 1 Gbit/s are of the one before."""
DELAY_NS_MIN, DELAY_NS_USUAL = 100, 1_000
MTU_USUAL, MTU_MIN, MTU_MAX = 1_500, 576, 9_216


@dataclass(frozen=True)
class Links:
    """Links of a star, all alike, each value with where it is from."""

    rate_bps: int
    delay_ns: int
    mtu: int
    words: dict[str, str]


def links_of(profile: Profile, connections: Sequence[Connection], rate_bps: int | None, delay_ns: int | None) -> Links:
    """The links; `rate_bps` and `delay_ns` are what the user states."""
    words = {"rate": "stated", "delay": "stated"}
    if rate_bps is None:
        rate_bps, words["rate"] = _rate(profile)
    if delay_ns is None:
        delay_ns, words["delay"] = _delay(connections)
    stated = [one.mss + TCP_HEADERS for one in connections if one.mss]
    mtu = max(stated, default=MTU_USUAL)
    is_usual = not MTU_MIN <= mtu <= MTU_MAX
    words["mtu"] = "the largest MSS with its headers" if stated and not is_usual else "assumed: no MSS in the capture"
    return Links(rate_bps, delay_ns, MTU_USUAL if is_usual else mtu, words)


def _rate(profile: Profile) -> tuple[int, str]:
    """The line that the capture names, or the standard rate above the largest load of a millisecond."""
    line = profile.data["capture"]["line_bps"]
    if line:
        return int(line), "named by the capture"
    largest = largest_bps(profile)
    rate = next((rate for rate in RATES_BPS if ROOM * rate >= largest), RATES_BPS[-1])
    return rate, f"estimated: the standard rate above the {largest / 1e6:.4g} Mbit/s of the busiest millisecond"


def largest_bps(profile: Profile) -> float:
    """The largest load of any millisecond in one direction, bit/s; of both where they are not told apart."""
    rates = profile.data["rates"]
    ways = [rates[way] for way in ("inbound", "outbound") if rates.get(way)] or [rates["all"]]
    found = [one["max_bps"] for way in ways for one in way["intervals"] if one["width_ns"] == INTERVAL_NS]
    return float(max(found, default=0.0))


def _delay(connections: Sequence[Connection]) -> tuple[int, str]:
    trips = [one.rtt for one in connections if one.has_syn and one.rtt]
    if not trips:
        return DELAY_NS_USUAL, "assumed: the capture has no handshake"
    least = min(trips)
    delay = (least - 2 * SWITCH_NS) // LINKS_OF_A_ROUND_TRIP
    words = f"estimated: a quarter of the smallest round trip, {least / 1000:.4g} us, without the switch"
    return max(DELAY_NS_MIN, delay), words
