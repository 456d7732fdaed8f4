"""Properties of exchanges that captures show, and properties that they do not show."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from tailrace.fit.conversations import Exchange
from tailrace.fit.group import Group, Window, percentile
from tailrace.fit.paths import Path, Vantage
from tailrace.fit.quantities import time_text
from tailrace.fit.workload import Active, Answers, active_of, counted

Transaction = Sequence[Exchange]
TAIL_LEAST = 100


def exchanges_active(transactions: Sequence[Transaction], window: Window) -> Active:
    """From the first request to the end of the last response."""
    begin_ns = min(one[0].request_start_ns for one in transactions)
    return active_of(begin_ns, max(one[-1].response_end_ns for one in transactions), window)


def exchange_seen(
    group: Group, transactions: Sequence[Transaction], active: Active
) -> dict[str, float]:
    """Rates and response times, as the client saw them."""
    return {
        **counted(len(transactions), response_bytes(transactions), active),
        **latencies_seen(_latencies(group, transactions)),
    }


def answers_of(group: Group, transactions: Sequence[Transaction]) -> Answers:
    """Latencies and the server's part of them."""
    latencies = _latencies(group, transactions)
    exchanges = [one for transaction in transactions for one in transaction]
    served = (group.path.served_ns(one.request_end_ns, one.response_start_ns) for one in exchanges)
    per_transaction = len(exchanges) / len(transactions)
    return Answers(fmean(latencies), percentile(latencies, 0.9), per_transaction, tuple(served))


def _latencies(group: Group, transactions: Sequence[Transaction]) -> list[int]:
    return [
        group.path.latency_ns(one[0].request_start_ns, one[-1].response_end_ns)
        for one in transactions
    ]


def latencies_seen(latencies_ns: Sequence[int]) -> dict[str, float]:
    """Percentiles; the 99th of fewer than 100 values is the longest of them, which chance
    decides."""
    found = {"latency_p50_ns": percentile(latencies_ns, 0.5)}
    if len(latencies_ns) >= TAIL_LEAST:
        found["latency_p99_ns"] = percentile(latencies_ns, 0.99)
    return found


def response_bytes(transactions: Sequence[Transaction]) -> int:
    """Payload of all responses."""
    return sum(one.response_bytes for transaction in transactions for one in transaction)


SERVERS = "the server's time"


def timing_notes(path: Path) -> Iterator[str]:
    """Notes on quantities that the point of capture leaves unknown."""
    if not path.client_rtt_ns and path.vantage is not Vantage.CLIENT:
        yield (
            "no round trip to the client was seen: the pauses contain the network between it "
            "and the point of capture"
        )
    if not path.server_rtt_ns and path.vantage is not Vantage.SERVER:
        yield (
            "no round trip to the server was seen: the server's times contain the network "
            "between it and the capture"
        )
    if path.farther_ns:
        rest = f"{SERVERS} contains the rest"
        yield (
            f"the round trip is {time_text(path.farther_ns)} longer than that of the links: {rest}"
        )
    for side, is_there, waits, part in (
        ("server", path.vantage is Vantage.SERVER, path.to_server, SERVERS),
        ("client", path.vantage is Vantage.CLIENT, path.to_client, "the users' pause"),
    ):
        if is_there:
            continue
        if part == SERVERS and path.network is not None:
            less, within = time_text(path.network.less_ns), time_text(path.network.within_ns)
            yield (
                f"simulated queues take a part of the times to responses: {part} is {less} less, "
                f"times {path.network.share:.2f}; its mean is known to {within}"
            )
        elif waits.is_loaded:
            yield f"round trips to the {side} show waiting in the network, which {part} is without"
        else:
            yield (
                "waiting in the network that no acknowledgement of the "
                f"{side} shows counts as {part}"
            )
