"""Parts of a workload of requests: spikes of its arrivals, calls of its servers, replicas."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field

from tailrace.scenario.text.distribution import parse_distribution
from tailrace.scenario.text.quantities import Count, Part, SizeDistribution, Time, TimeDistribution
from tailrace.scenario.text.units import SIZE, TIME
from tailrace.scenario.workloads.base import Found, Raw

AT_ONCE = parse_distribution("0s", TIME)
FACTOR_MIN, FACTOR_MAX = 0.001, 1000
"""A plan has factors in thousandths."""
MILLI = 1000
CALLS_MAX = 16
TIERS_MAX = 8
"""Tiers behind the servers that clients ask, as in the engine (`crates/plan`)."""
ACK = parse_distribution("64B", SIZE)
"""Acknowledgement of a replica: a short message with its headers [A]; range 20 B to 200 B."""


class Spike(Part):
    """A time with more arrivals, such as after breaking news."""

    factor: Annotated[float, Field(ge=FACTOR_MIN, le=FACTOR_MAX)]
    """Rate of the arrivals during the spike, as a multiple of the usual rate; below 1 for fewer."""
    at: Time
    """Begin of the spike."""
    duration: Annotated[Time, Field(alias="for")]
    """Length of the spike."""

    def scaled(self, factor: float) -> Self:
        """The same spike of a trial whose times have this factor; a spike never vanishes."""
        return self.model_copy(
            update={
                "at": round(self.at * factor),
                "duration": max(1, round(self.duration * factor)),
            }
        )

    def lowered(self) -> Raw:
        """The spike in a plan."""
        return {
            "factor_milli": round(self.factor * MILLI),
            "at_ps": self.at,
            "for_ps": self.duration,
        }


class Call(Part):
    """What a server asks of further servers while it serves a request."""

    server: str | None = None
    """The server that is asked. Alternative to `servers`."""
    servers: list[str] | None = None
    """Several servers, each of which is asked."""
    request: SizeDistribution
    """Payload of the request to each of them."""
    response: SizeDistribution
    """Payload of the response."""
    server_time: TimeDistribution = AT_ONCE
    """Time that the asked server takes for a request, without a processor."""
    server_work: TimeDistribution = AT_ONCE
    """Time that a core of the asked server works on a request."""
    concurrency: Annotated[Count, Field(ge=1, le=100_000)] | None = None
    """Requests that each asked server serves at the same time. Default: without limit."""
    count: Annotated[Count, Field(ge=1, le=1000)] = 1
    """Requests to each of them."""
    parallel: bool = True
    """All requests of this call are sent at once; false sends each after the response to the one
    before."""
    calls: "Annotated[list[Call], Field(max_length=CALLS_MAX)]" = []
    """What each asked server asks of further servers in turn, after its own work; it answers when
    all have answered."""

    @property
    def hosts(self) -> list[str]:
        """The asked servers."""
        return hosts_named(self.server, self.servers)

    @property
    def all_hosts(self) -> list[str]:
        """The asked servers, and those that they ask in turn."""
        return [*self.hosts, *(host for call in self.calls for host in call.all_hosts)]

    def problems(self, above: Sequence[str] = (), tier: int = 1) -> Found:
        """Problems of its values; `above` are the servers on the way to these."""
        yield from one_or_several(self.server, self.servers, "server")
        yield from sizes_above_zero(self, "request", "response")
        for name in self.hosts:
            if name in above and tier > 1:  # a server that asks itself directly has no path to it
                key = "server" if self.server is not None else "servers"
                what = f"'{name}' is asked while it serves the same request: the calls form a cycle"
                yield (key,), what, "name another host"
        if self.calls and tier == TIERS_MAX:
            yield ("calls",), f"calls are nested more than {TIERS_MAX} deep", "omit the inner ones"
            return
        for index, call in enumerate(self.calls):
            found = call.problems((*above, *self.hosts), tier + 1)
            yield from ((("calls", index, *key), what, hint) for key, what, hint in found)

    def lowered(self) -> Raw:
        """The call in a plan."""
        return {
            "servers": self.hosts,
            "request": self.request.raw,
            "response": self.response.raw,
            "service": service(self.server_time.raw, self.server_work.raw, self.concurrency),
            "count": self.count,
            "is_parallel": self.parallel,
            "awaited": 0,
            "stages": [call.lowered() for call in self.calls],
        }


class Replicas(Part):
    """Servers that receive a copy of what a request has written, before it is answered."""

    servers: list[str]
    """The hosts of the replicas."""
    bytes: SizeDistribution
    """Payload that each replica receives."""
    acks: Annotated[Count, Field(ge=1)] | Literal["all"] = "all"
    """Acknowledgements for which the response waits: all of them, or the first so many."""
    ack: SizeDistribution = ACK
    """Payload of an acknowledgement [A]: a short message with its headers."""
    server_time: TimeDistribution = AT_ONCE
    """Time that a replica takes, such as for a write to its disk."""

    def problems(self) -> Found:
        """Problems of its values."""
        if not self.servers:
            yield ("servers",), "the list of replicas is empty", "name hosts, or omit `replicas`"
        elif len(set(self.servers)) < len(self.servers):
            yield ("servers",), "a host is named twice", "name each host once"
        elif self.acks != "all" and self.acks > len(self.servers):
            what = f"{self.acks} acknowledgements are more than the {len(self.servers)} replicas"
            yield ("acks",), what, f"write at most {len(self.servers)}, or all"
        yield from sizes_above_zero(self, "bytes", "ack")

    def lowered(self) -> Raw:
        """The replicas in a plan, as a call that waits for some of its responses."""
        return {
            "servers": self.servers,
            "request": self.bytes.raw,
            "response": self.ack.raw,
            "service": service(self.server_time.raw, AT_ONCE.raw, None),
            "count": 1,
            "is_parallel": True,
            "awaited": 0 if self.acks == "all" else self.acks,
        }


def service(time: Raw, work: Raw, concurrency: int | None) -> Raw:
    """What a server does with a request, in a plan."""
    return {"time": time, "work": work, "concurrency": concurrency or 0}


def hosts_named(one: str | None, several: list[str] | None) -> list[str]:
    """The hosts of a key such as `server` and its plural, one of which is given."""
    return several or ([one] if one is not None else [])


def one_or_several(one: str | None, several: list[str] | None, key: str) -> Found:
    """Problems of a key that names one host or, in the plural, several."""
    if (one is None) == (several is None):
        what = (
            f"name either `{key}` or `{key}s`"
            if one is None
            else f"`{key}` and `{key}s` exclude each other"
        )
        yield (), what, f"write {key}: name, or {key}s: [first, second]"
    elif several is not None and not several:
        yield (f"{key}s",), "the list of hosts is empty", "name at least one host"
    elif several is not None and len(set(several)) < len(several):
        yield (f"{key}s",), "a host is named twice", "name each host once"


def sizes_above_zero(part: Part, *keys: str) -> Found:
    """Problems of sizes that are always zero."""
    for key in keys:
        if getattr(part, key).mean < 1:
            yield (key,), f"`{key}` must be greater than zero", "write a size such as 200B"
