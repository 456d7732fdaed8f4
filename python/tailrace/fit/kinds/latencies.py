"""What captures show of exchanges, and what they do not."""

from collections.abc import Iterator, Sequence

from tailrace.fit.conversations import Exchange
from tailrace.fit.group import BITS, Group, percentile, rate_per_s
from tailrace.fit.paths import Path, Vantage
from tailrace.fit.quantities import time_text


def exchange_seen(group: Group, exchanges: Sequence[Exchange]) -> dict[str, float]:
    """Rates and response times, as the client saw them."""
    latencies = [group.path.latency_ns(one.request_start_ns, one.response_end_ns) for one in exchanges]
    return {
        "rate_per_s": rate_per_s(len(exchanges), group.span_ns),
        "goodput_bits_per_s": BITS * rate_per_s(sum(one.response_bytes for one in exchanges), group.span_ns),
        "latency_p50_ns": percentile(latencies, 0.5),
        "latency_p99_ns": percentile(latencies, 0.99),
    }


SERVERS = "the server's time"


def timing_notes(path: Path) -> Iterator[str]:
    """What the point of capture leaves open."""
    if not path.client_rtt_ns and path.vantage is not Vantage.CLIENT:
        yield "no round trip to the client was seen: the pauses contain the network between it and the point of capture"
    if not path.server_rtt_ns and path.vantage is not Vantage.SERVER:
        yield "no round trip to the server was seen: the server's times contain the network between it and the capture"
    for side, is_there, waits, part in (
        ("server", path.vantage is Vantage.SERVER, path.to_server, SERVERS),
        ("client", path.vantage is Vantage.CLIENT, path.to_client, "the users' pause"),
    ):
        if is_there:
            continue
        if part == SERVERS and path.network is not None:
            less, share = time_text(path.network.less_ns), path.network.share
            yield f"simulated queues take a part of the times to responses: {part} is {less} less, times {share:.2f}"
        elif waits.is_loaded:
            yield f"round trips to the {side} show waiting in the network, which {part} is without"
        else:
            yield f"waiting in the network that no acknowledgement of the {side} shows counts as {part}"
