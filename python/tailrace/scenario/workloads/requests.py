"""Requests and responses: of closed-loop users, or that arrive by themselves."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from tailrace.errors import KeyPath, RunRefusedError
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.text.distribution import Distribution
from tailrace.scenario.text.quantities import Count, SizeDistribution, Time, TimeDistribution
from tailrace.scenario.workloads import division, request_checks
from tailrace.scenario.workloads.base import (
    PS_PER_S,
    ClosedLoop,
    Found,
    LeastTime,
    LongFlows,
    Raw,
    Surroundings,
    WorkloadKind,
    named_problems,
    scaled_count,
)
from tailrace.scenario.workloads.facts import Ends, Facts
from tailrace.scenario.workloads.request_parts import (
    AT_ONCE,
    Call,
    Replicas,
    Spike,
    service,
)
from tailrace.scenario.workloads.request_presets import PRESETS, PresetName

SPIKES_MAX = 100
CALLS_MAX = 16
TIMEOUT_PS = PS_PER_S
"""Time after which a query is sent again, where neither the workload nor its preset states one [A]; 0.1 s to 5 s."""


class Requests(WorkloadKind):
    """Requests and responses: of closed-loop users (`users`), or that arrive by themselves (`arrivals`)."""

    kind: Literal["requests"]
    preset: PresetName | None = None
    """Sizes, protocol and pipelining of a common service; keys of the workload override it."""
    client: str | None = None
    """Host of the clients. Alternative to `clients`."""
    clients: list[str] | None = None
    """Several hosts of clients: users are spread over them in turn, and so are arrivals."""
    server: str | None = None
    """Host of the server. Alternative to `servers`."""
    servers: list[str] | None = None
    """Several servers, chosen by `balance`."""
    balance: Literal["round-robin", "random"] = "round-robin"
    """Choice of one of several servers: in turn (a user stays with its server, arrivals change), or at random for each
    request.
    """
    protocol: Literal["tcp", "udp"] | None = None
    """Transport. Default: that of the preset, or tcp."""
    connection: Literal["kept", "new"] = "kept"
    """TCP connections are kept between requests, or each request opens a new one and its latency includes that."""
    users: Annotated[Count, Field(ge=1, le=60_000)] | None = None
    """Closed-loop users of all clients together: each waits for its response. Alternative to `arrivals`."""
    gap: TimeDistribution | None = None
    """Pause of a user between a response and the next request. Default: none."""
    arrivals: TimeDistribution | None = None
    """Gap between arrivals of requests, which do not wait for responses. Alternative to `users`."""
    spikes: Annotated[list[Spike], Field(max_length=SPIKES_MAX)] = []
    """Times with more arrivals."""
    connections: Annotated[Count, Field(ge=1, le=28_000)] | None = None
    """Connections of each client to each server that arrivals share, or sockets of udp; further requests wait.
    Default: as many as are needed, or one socket.
    """
    requests: Annotated[Count, Field(ge=1)] | None = None
    """Number of requests: of each user, or of all arrivals. Default: until the end of the trial."""
    start: Time = 0
    """Time before the first request; users then start at a random time within one mean gap."""
    request: SizeDistribution | None = None
    """Payload of a request. Default: that of the preset."""
    response: SizeDistribution | None = None
    """Payload of a response. Default: that of the preset."""
    pipeline: Annotated[Count, Field(ge=1, le=1000)] | None = None
    """Requests that may be on their way over one connection. Default: that of the preset, or 1."""
    server_time: TimeDistribution = AT_ONCE
    """Time that the server takes for a request, without a processor."""
    server_work: TimeDistribution = AT_ONCE
    """Time that a core of the server works on a request; `cpu.program_cores` limits its cores."""
    concurrency: Annotated[Count, Field(ge=1, le=100_000)] | None = None
    """Requests that each server serves at the same time; further ones wait, first come first served. Default: without
    limit.
    """
    timeout: Time | None = None
    """Time after which a query of udp counts as lost and is sent again. Default: that of the preset, or 1s [A]."""
    retries: Annotated[Count, Field(ge=0, le=100)] | None = None
    """Number of times that a query of udp is sent again before its request fails. Default: that of the preset, or 0."""
    calls: Annotated[list[Call], Field(max_length=CALLS_MAX)] = []
    """What the server asks of further servers while it serves, in order; it answers when all have answered."""
    replicas: Replicas | None = None
    """Servers whose acknowledgements the response waits for, after the calls."""

    # --- facts -------------------------------------------------------------------------------------------------------

    @classmethod
    def facts(cls) -> Facts:
        return Facts(
            noun="requests",
            group_noun="services",
            protocol="tcp",
            is_open_loop=True,
            is_ever_done=True,
            done_key="transactions",
            latency="request latency",
            metrics=frozenset(
                {"completion_s", "rate_per_s", "failed_percent", "lost_queries", "connections_opened"},
            ),
            main_metrics=("latency_p99_ms", "rate_per_s", "goodput_gbps"),
            sweep_metrics=("rate_per_s", "latency_p50_ms", "latency_p99_ms", "failed_percent"),
            load_metric=("rate_per_s", "requests per second"),
            has_slowdown_by_size=False,
            live_load=None,
            live_refusal="no live program generates requests",
        )

    @classmethod
    def ends_in(cls, body: Mapping[str, Any]) -> Ends:
        return Ends(body["clients"], body["servers"], are_openers_receivers=True)

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        return int(body.get("requests", 0) * (body.get("users", 0) or 1))

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        return 2 if body.get("is_kept") is False else 1

    # --- hosts -------------------------------------------------------------------------------------------------------

    @property
    def client_hosts(self) -> list[str]:
        """Hosts of the clients."""
        return self.clients or ([self.client] if self.client is not None else [])

    @property
    def server_hosts(self) -> list[str]:
        """Hosts of the servers that clients ask."""
        return self.servers or ([self.server] if self.server is not None else [])

    @property
    def called_hosts(self) -> list[str]:
        """Hosts that servers ask."""
        called = [host for call in self.calls for host in call.hosts]
        return called + (self.replicas.servers if self.replicas else [])

    def named_ends(self) -> Iterator[tuple[KeyPath, str]]:
        for key in ("client", "server"):
            yield from _named((), self, key)
        for index, call in enumerate(self.calls):
            yield from _named(("calls", index), call, "server")
        if self.replicas:
            yield from ((("replicas", "servers", index), name) for index, name in enumerate(self.replicas.servers))

    def path_problems(self, graph: Graph) -> Found:
        pairs = [(client, server) for client in self.client_hosts for server in self.server_hosts]
        pairs += [(server, called) for server in self.server_hosts for called in self.called_hosts]
        for first, second in dict.fromkeys(pairs):
            found = list(named_problems(first, second, graph))
            if found:
                yield from found
                return

    def senders(self, graph: Graph) -> list[str]:
        return list(dict.fromkeys([*self.client_hosts, *self.server_hosts, *self.called_hosts]))

    def bulk_receivers(self, hosts: Set[str]) -> Set[str]:
        return set(self.client_hosts)

    def pinned_keys(self) -> tuple[str, ...]:
        return ()

    # --- what the preset sets ----------------------------------------------------------------------------------------

    def _effective(self, key: str, default: Any) -> Any:
        own = getattr(self, key)
        if own is not None or self.preset is None:
            return default if own is None else own
        preset = PRESETS[self.preset]
        found = getattr(preset, "timeout_ps" if key == "timeout" else key)
        return default if found is None else found

    @property
    def is_udp(self) -> bool:
        """Whether it uses datagrams."""
        return bool(self._effective("protocol", "tcp") == "udp")

    @property
    def depth(self) -> int:
        """Requests that may be on their way over one connection."""
        depth = self._effective("pipeline", 1)
        return 1 if self.pipeline is None and self.connection == "new" else int(depth)

    @property
    def sizes(self) -> tuple[Distribution | None, Distribution | None]:
        """Of a request and of a response."""
        return self._effective("request", None), self._effective("response", None)

    # --- checks ------------------------------------------------------------------------------------------------------

    def problems(self, around: Surroundings) -> Found:
        yield from request_checks.problems(self, around)

    def cautions(self, around: Surroundings) -> Found:
        yield from request_checks.cautions(self)

    def least_time(self, graph: Graph) -> LeastTime | None:
        if not self.requests:
            return None
        if self.arrivals is not None:
            fastest = max([1.0, *(spike.factor for spike in self.spikes)])
            needed_s = (self.start + self.requests * self.arrivals.mean / fastest) / PS_PER_S
            return LeastTime(needed_s, "at the pace of its arrivals", "requests")
        gap_ps = self.gap.mean if self.gap else 0.0
        cycle_ps = (gap_ps + self.server_time.mean + self.server_work.mean) / self.depth
        return LeastTime((self.start + (self.requests - 1) * cycle_ps) / PS_PER_S, "at its users' own pace", "requests")

    def bulk_to(self) -> tuple[str, int] | None:
        return None

    def long_flows(self) -> LongFlows | None:
        return None

    # --- plan --------------------------------------------------------------------------------------------------------

    def start_ps(self) -> int:
        return self.start

    def live_choices(self) -> Raw:
        return {} if self.preset is None else {"preset": self.preset}

    def lowered(self, graph: Graph) -> Raw:
        request, response = self.sizes
        assert request is not None, "checks reject requests without sizes"
        assert response is not None, "checks reject responses without sizes"
        stages = [call.lowered() for call in self.calls]
        if self.replicas:
            stages.append(self.replicas.lowered())
        return {
            "clients": self.client_hosts,
            "servers": self.server_hosts,
            "is_random": self.balance == "random",
            "is_udp": self.is_udp,
            "is_kept": self.connection == "kept",
            "users": self.users or 0,
            "gap": (self.gap or AT_ONCE).raw,
            "arrivals": None if self.arrivals is None else self.arrivals.raw,
            "spikes": [spike.lowered() for spike in self.spikes],
            "connections": self.connections or (1 if self.is_udp else 0),
            "pipeline": 1 if self.is_udp else self.depth,
            "requests": self.requests or 0,
            "request": request.raw,
            "response": response.raw,
            "service": service(self.server_time.raw, self.server_work.raw, self.concurrency),
            "timeout_ps": self._effective("timeout", TIMEOUT_PS) if self.is_udp else 0,
            "retries": self._effective("retries", 0) if self.is_udp else 0,
            "stages": stages,
        }

    # --- experiments -------------------------------------------------------------------------------------------------

    def work(self) -> int:
        return self.requests or 0

    def scaled(self, factor: float) -> Self:
        return self.model_copy(
            update={"requests": scaled_count(self.requests, factor), "start": round(self.start * factor)},
        )

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        """Fewer users with the same pauses, or fewer arrivals."""
        if self.users is None:
            slower = None if self.arrivals is None else self.arrivals.scaled(scale.divisor)
            requests = division.divided_count(self.requests, scale.divisor)
            return self.model_copy(update={"arrivals": slower, "requests": requests})
        users = round(self.users / scale.of_sizes)
        if users < len(self.client_hosts):
            raise RunRefusedError(
                f"--live-scale {scale.divisor}: workload '{name}' has {self.users} users, too few to divide"
                " (hint: a smaller number)"
            )
        return self.model_copy(update={"users": users})

    def closed_loop(self) -> ClosedLoop | None:
        return None


def _named(at: KeyPath, part: Any, key: str) -> Iterator[tuple[KeyPath, str]]:
    """The hosts that a part names under a key or its plural."""
    one: str | None = getattr(part, key)
    several: Sequence[str] | None = getattr(part, f"{key}s")
    if one is not None:
        yield (*at, key), one
    yield from (((*at, f"{key}s", index), name) for index, name in enumerate(several or ()))
