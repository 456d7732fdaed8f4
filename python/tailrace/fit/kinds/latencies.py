"""What captures show of exchanges, and what they do not."""

from collections.abc import Iterator, Sequence

from tailrace.fit.conversations import Exchange
from tailrace.fit.group import BITS, Group, percentile, rate_per_s
from tailrace.fit.paths import Path, Vantage


def exchange_seen(group: Group, exchanges: Sequence[Exchange]) -> dict[str, float]:
    """Rates and response times, as the client saw them."""
    latencies = [group.path.latency_ns(one.response_end_ns - one.request_start_ns) for one in exchanges]
    return {
        "rate_per_s": rate_per_s(len(exchanges), group.span_ns),
        "goodput_bits_per_s": BITS * rate_per_s(sum(one.response_bytes for one in exchanges), group.span_ns),
        "latency_p50_ns": percentile(latencies, 0.5),
        "latency_p99_ns": percentile(latencies, 0.99),
    }


def timing_notes(path: Path) -> Iterator[str]:
    """What the point of capture leaves open."""
    if not path.client_rtt_ns and path.vantage is not Vantage.CLIENT:
        yield "no round trip to the client was seen: the pauses contain the network between it and the point of capture"
    if not path.server_rtt_ns and path.vantage is not Vantage.SERVER:
        yield "no round trip to the server was seen: the server's times contain the network between it and the capture"
    if path.vantage is Vantage.CLIENT:
        yield "captured at the client: waiting in the network beyond its shortest round trip counts as server's time"
    if path.vantage is Vantage.SERVER:
        yield "captured at the server: waiting in the network beyond its shortest round trip counts as the users' pause"
    if path.vantage is Vantage.SWITCH:
        yield "captured between both ends: waiting in the network counts as server's time and as the users' pause"
