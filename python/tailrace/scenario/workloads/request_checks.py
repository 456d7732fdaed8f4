"""Problems and warnings of requests."""

from tailrace.scenario.workloads import loops
from tailrace.scenario.workloads.base import Found, Surroundings, too_slow
from tailrace.scenario.workloads.datagrams import no_datagram, too_large
from tailrace.scenario.workloads.request_keys import RequestKeys
from tailrace.scenario.workloads.request_parts import one_or_several

NUMBER_BYTES = 8
"""Least payload of a datagram, in which the number of its query stands (`Exchange` in
`crates/programs`)."""

TIMEOUT_PS_MIN = 10**6
"""Two interfaces and two cables of a few metres take longer (assumed)."""


def problems(work: RequestKeys, around: Surroundings) -> Found:
    """Problems of its values; all named hosts exist."""
    yield from one_or_several(work.client, work.clients, "client")
    yield from one_or_several(work.server, work.servers, "server")
    yield from _loop_problems(work, around)
    yield from _size_problems(work)
    yield from _protocol_problems(work)
    yield from too_slow(("server_time",), work.server_time.smallest, around)
    yield from too_slow(("server_work",), work.server_work.smallest, around)
    for index, call in enumerate(work.calls):
        yield from too_slow(("calls", index, "server_time"), call.server_time.smallest, around)
        yield from (
            (("calls", index, *key), what, hint)
            for key, what, hint in call.problems(work.server_hosts)
        )
    if work.replicas:
        yield from (
            (("replicas", *key), what, hint) for key, what, hint in work.replicas.problems()
        )


def _loop_problems(work: RequestKeys, around: Surroundings) -> Found:
    opened = len(work.server_hosts) if work.balance == "random" else 1
    yield from loops.problems(work, around, "requests", opened)
    if work.users is not None and work.arrivals is None and work.connections is not None:
        yield (
            ("connections",),
            "`connections` has no effect without `arrivals`",
            "omit it, or write arrivals",
        )


def _size_problems(work: RequestKeys) -> Found:
    for key, size in zip(("request", "response"), work.sizes, strict=True):
        if size is None:
            yield (), f"requests need `{key}`, or a preset", f"write {key}: 200B, or preset: http"
        elif size.mean < 1:
            yield (key,), f"`{key}` must be greater than zero", "write a size such as 200B"
        elif work.is_udp and size.largest < NUMBER_BYTES:
            what = f"a datagram of {size.largest:.0f} bytes has no room for the number of its query"
            yield (key,), what, f"write at least {NUMBER_BYTES}B"
        elif work.is_udp and too_large(size):
            yield (key,), *no_datagram(size)


def _protocol_problems(work: RequestKeys) -> Found:
    if work.is_udp and work.connection == "new":
        yield ("connection",), "datagrams have no connections", "omit it, or write protocol: tcp"
    if work.is_udp and work.pipeline is not None and work.pipeline > 1:
        yield (
            ("pipeline",),
            "queries of udp do not wait for each other",
            "omit it, and write more users",
        )
    if work.connection == "new" and work.depth > 1:
        yield (
            ("pipeline",),
            "a new connection carries one request",
            "omit it, or write connection: kept",
        )
    if not work.is_udp and work.retries and work.timeout is None:
        yield (
            ("retries",),
            "a request over tcp is sent again only after a `timeout`",
            "write timeout: 2s, or omit it",
        )
    yield from timeout_problems(work.timeout, "1s")


def timeout_problems(timeout_ps: int | None, example: str) -> Found:
    """Problems of a timeout without which nothing, or with which everything, is given up."""
    if timeout_ps == 0:
        yield ("timeout",), "`timeout` must be greater than zero", f"write a time such as {example}"
    elif timeout_ps is not None and timeout_ps < TIMEOUT_PS_MIN:
        what = "a `timeout` below 1us is shorter than any round trip: no request is answered"
        yield ("timeout",), what, f"write a time such as {example}"


def cautions(work: RequestKeys) -> Found:
    """Warnings; the scenario has no problems."""
    mean_ps = work.server_time.mean + work.server_work.mean
    if work.timeout is not None and mean_ps >= work.timeout:
        what = "the server takes longer than `timeout` on average: most requests are given up"
        yield ("timeout",), what, "write a longer timeout, or a shorter server_time"
    if work.arrivals is None or work.concurrency is None or work.calls or work.replicas:
        return
    load = mean_ps / work.arrivals.mean / (work.concurrency * len(work.server_hosts))
    if load > 1:
        what = (
            f"arrivals are {load:.3g} times what {work.concurrency} workers serve: the queue "
            "grows until the end"
        )
        yield ("concurrency",), what, "write more workers, a shorter server_time, or fewer arrivals"
