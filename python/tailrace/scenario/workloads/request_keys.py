"""The keys of a workload of requests."""

from typing import Annotated, Any, Literal

from pydantic import Field

from tailrace.scenario.programs import LOADS, choices_of, one_of
from tailrace.scenario.text.distribution import Distribution
from tailrace.scenario.text.quantities import Count, SizeDistribution, Time, TimeDistribution
from tailrace.scenario.workloads.base import WorkloadKind
from tailrace.scenario.workloads.request_parts import (
    AT_ONCE,
    CALLS_MAX,
    Call,
    Replicas,
    Spike,
    hosts_named,
)
from tailrace.scenario.workloads.request_presets import PRESETS, PresetName

RequestProgram = Annotated[
    str, one_of(LOADS, "request-response"), choices_of(LOADS, "request-response")
]
SPIKES_MAX = 100


class RequestKeys(WorkloadKind):
    """The keys of requests, and what follows from them and the preset."""

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
    """Choice of one of several servers: in turn (a user stays with its server, arrivals change), or
    at random for each request.
    """
    protocol: Literal["tcp", "udp"] | None = None
    """Transport. Default: that of the preset, or tcp."""
    connection: Literal["kept", "new"] = "kept"
    """TCP connections are kept between requests, or each request opens a new one and its latency
    includes that."""
    users: Annotated[Count, Field(ge=1, le=60_000)] | None = None
    """Closed-loop users of all clients together: each waits for its response. Alternative to
    `arrivals`."""
    gap: TimeDistribution | None = None
    """Pause of a user between a response and the next request. Default: none."""
    arrivals: TimeDistribution | None = None
    """Gap between arrivals of requests, which do not wait for responses. Alternative to `users`."""
    spikes: Annotated[list[Spike], Field(max_length=SPIKES_MAX)] = []
    """Times with more arrivals."""
    connections: Annotated[Count, Field(ge=1, le=28_000)] | None = None
    """Connections of each client to each server that arrivals share, or sockets of udp; further
    requests wait. Default: as many as are needed, or one socket.
    """
    requests: Annotated[Count, Field(ge=1)] | None = None
    """Number of requests: of each user, or of all arrivals. Default: until the end of the trial."""
    start: Time = 0
    """Time before the first gap; users then start at a random time within one mean gap."""
    first_at_start: bool = False
    """The first request, and that of every user, comes at `start`."""
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
    """Requests that each server serves at the same time; further ones wait, first come first
    served. Default: without limit.
    """
    timeout: Time | None = None
    """Time after which a query of udp counts as lost and is sent again, or after which a client of
    tcp closes the connection of a request without a whole response. Default: with udp that of the
    preset, or 1s [A]; with tcp none.
    """
    retries: Annotated[Count, Field(ge=0, le=100)] | None = None
    """Number of times that a request is sent again after `timeout` before it fails; with tcp over a
    new connection. Default: with udp that of the preset, or 0; with tcp 0.
    """
    calls: Annotated[list[Call], Field(max_length=CALLS_MAX)] = []
    """What the server asks of further servers while it serves, in order; it answers when all have
    answered."""
    replicas: Replicas | None = None
    """Servers whose acknowledgements the response waits for, after the calls."""
    load_generator: RequestProgram | None = None
    """The client program in a live run, and in an exact run where it is named; the simulator
    ignores it. Default: that of the preset, or the first one. Each has its own server.
    """

    @property
    def client_hosts(self) -> list[str]:
        """Hosts of the clients."""
        return hosts_named(self.client, self.clients)

    @property
    def server_hosts(self) -> list[str]:
        """Hosts of the servers that clients ask."""
        return hosts_named(self.server, self.servers)

    @property
    def called_hosts(self) -> list[str]:
        """Hosts that servers ask."""
        called = [host for call in self.calls for host in call.all_hosts]
        return called + (self.replicas.servers if self.replicas else [])

    def effective(self, key: str, default: Any) -> Any:
        own = getattr(self, key)
        if own is not None or self.preset is None:
            return default if own is None else own
        preset = PRESETS[self.preset]
        found = getattr(preset, "timeout_ps" if key == "timeout" else key)
        return default if found is None else found

    @property
    def is_udp(self) -> bool:
        """Whether it uses datagrams."""
        return bool(self.effective("protocol", "tcp") == "udp")

    @property
    def depth(self) -> int:
        """Requests that may be on their way over one connection."""
        depth = self.effective("pipeline", 1)
        return 1 if self.pipeline is None and self.connection == "new" else int(depth)

    @property
    def sizes(self) -> tuple[Distribution | None, Distribution | None]:
        """Of a request and of a response."""
        return self.effective("request", None), self.effective("response", None)
