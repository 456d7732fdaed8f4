"""Problems and warnings of requests."""

from itertools import pairwise

from tailrace.scenario.workloads.base import Found, Surroundings, too_slow
from tailrace.scenario.workloads.request_keys import RequestKeys
from tailrace.scenario.workloads.request_parts import one_or_several

UDP_IPV4_HEADERS_BYTES = 28
"""RFC 768 (8) and RFC 791 without options (20)."""
NUMBER_BYTES = 8
"""Least payload of a datagram, in which the number of its query stands (`Exchange` in `crates/endpoint`)."""
PORTS_MAX = 61_000 - 32_768
"""Connections that a client can have: ephemeral ports of Linux (ip_local_port_range, 32768 to 60999)."""

ARRIVAL_GAP_PS_MIN = 10_000
"""100 million requests per second: with a shorter gap a trial does not end in any useful time (assumed)."""

TIMEOUT_PS_MIN = 10**6
"""Two interfaces and two cables of a few metres take longer (assumed)."""


def problems(work: RequestKeys, around: Surroundings) -> Found:
    """Problems of its values; all named hosts exist."""
    yield from one_or_several(work.client, work.clients, "client")
    yield from one_or_several(work.server, work.servers, "server")
    yield from _loop_problems(work, around)
    yield from _size_problems(work, around)
    yield from _protocol_problems(work)
    yield from too_slow(("server_time",), work.server_time.smallest, around)
    yield from too_slow(("server_work",), work.server_work.smallest, around)
    for index, call in enumerate(work.calls):
        yield from too_slow(("calls", index, "server_time"), call.server_time.smallest, around)
        yield from ((("calls", index, *key), what, hint) for key, what, hint in call.problems(work.server_hosts))
    if work.replicas:
        yield from ((("replicas", *key), what, hint) for key, what, hint in work.replicas.problems())


def _loop_problems(work: RequestKeys, around: Surroundings) -> Found:
    if (work.users is None) == (work.arrivals is None):
        hint = "write users: 50 for a closed loop, or arrivals: exponential(100us)"
        yield (), "requests need either users or arrivals", hint
        return
    if work.arrivals is not None and work.arrivals.mean < 1:
        yield ("arrivals",), "`arrivals` must be greater than zero", "write a gap such as exponential(100us)"
    elif work.arrivals is not None and work.arrivals.mean < ARRIVAL_GAP_PS_MIN:
        what = "a mean gap below 10ns is more than 100 million requests per second"
        yield ("arrivals",), what, "write a gap such as exponential(100us)"
    only = {"gap": work.users, "spikes": work.arrivals, "connections": work.arrivals}
    for key, loop in only.items():
        if loop is None and getattr(work, key) not in (None, []):
            needed = "users" if key == "gap" else "arrivals"
            yield (key,), f"`{key}` has no effect without `{needed}`", f"omit it, or write {needed}"
    if work.users is not None and work.users < len(work.client_hosts):
        what = f"{work.users} users are fewer than the {len(work.client_hosts)} clients"
        yield ("users",), what, "write at least one user for each client"
    opened = len(work.server_hosts) if work.balance == "random" else 1
    of_client = (work.users or 0) * opened / max(1, len(work.client_hosts))
    if of_client > PORTS_MAX:
        what = f"{of_client:.0f} connections of one client are more than its {PORTS_MAX} ports"
        yield ("users",), what, "write fewer users, or more clients"
    if work.start >= around.duration_ps:
        what = "the workload starts after the end of the trial"
        yield ("start",), what, "lower start or raise experiment.duration"
    yield from _spike_problems(work, around)


def _spike_problems(work: RequestKeys, around: Surroundings) -> Found:
    for index, spike in enumerate(work.spikes):
        if spike.duration == 0:
            yield ("spikes", index, "for"), "`for` must be greater than zero", "write a time such as 1s"
        if spike.at >= around.duration_ps:
            yield (
                ("spikes", index, "at"),
                "the spike begins after the end of the trial",
                "write an earlier time, or raise experiment.duration",
            )
        if 0 < spike.at + spike.duration <= work.start:
            yield ("spikes", index), "the spike ends before the workload starts", "write a later time, or omit it"
    for index, (before, after) in enumerate(pairwise(work.spikes), 1):
        if after.at < before.at + before.duration:
            what = "the spike begins before the one above it has ended"
            yield ("spikes", index, "at"), what, "list spikes in order of time, without overlap"


def _size_problems(work: RequestKeys, around: Surroundings) -> Found:
    hosts = [host for host in (*work.client_hosts, *work.server_hosts) if host in around.graph.host_names]
    room = min((around.mtu_of(host) for host in hosts), default=0) - UDP_IPV4_HEADERS_BYTES
    for key, size in zip(("request", "response"), work.sizes, strict=True):
        if size is None:
            yield (), f"requests need `{key}`, or a preset", f"write {key}: 200B, or preset: http"
        elif size.mean < 1:
            yield (key,), f"`{key}` must be greater than zero", "write a size such as 200B"
        elif work.is_udp and size.largest < NUMBER_BYTES:
            what = f"a datagram of {size.largest:.0f} bytes has no room for the number of its query"
            yield (key,), what, f"write at least {NUMBER_BYTES}B"
        elif work.is_udp and hosts and room < size.largest < float("inf"):
            what = f"a datagram of {size.largest:.0f} bytes does not fit an MTU of {room + UDP_IPV4_HEADERS_BYTES}"
            yield (key,), f"{what} bytes", f"write at most {room}B"


def _protocol_problems(work: RequestKeys) -> Found:
    if work.is_udp and work.connection == "new":
        yield ("connection",), "datagrams have no connections", "omit it, or write protocol: tcp"
    if work.is_udp and work.pipeline is not None and work.pipeline > 1:
        yield ("pipeline",), "queries of udp do not wait for each other", "omit it, and write more users"
    if work.connection == "new" and work.depth > 1:
        yield ("pipeline",), "a new connection carries one request", "omit it, or write connection: kept"
    if not work.is_udp and work.retries and work.timeout is None:
        yield ("retries",), "a request over tcp is sent again only after a `timeout`", "write timeout: 2s, or omit it"
    if work.timeout == 0:
        yield ("timeout",), "`timeout` must be greater than zero", "write a time such as 1s"
    elif work.timeout is not None and work.timeout < TIMEOUT_PS_MIN:
        what = "a `timeout` below 1us is shorter than any round trip: no request is answered"
        yield ("timeout",), what, "write a time such as 1s"


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
        what = f"arrivals are {load:.3g} times what {work.concurrency} workers serve: the queue grows until the end"
        yield ("concurrency",), what, "write more workers, a shorter server_time, or fewer arrivals"
