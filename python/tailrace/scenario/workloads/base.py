"""The interface of a kind of workload. A kind is a module in this package with one class, and a
line in `kinds.KINDS`.

Code outside these modules does not distinguish kinds. Whatever differs between kinds is an abstract
method here: a kind without it can be neither registered (mypy) nor instantiated (Python).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Protocol, Self

from pydantic import Field

from tailrace.errors import KeyPath
from tailrace.scenario.network.device import Device
from tailrace.scenario.network.spanning_tree import Vlan
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.classify import Dscp, Ports
from tailrace.scenario.text.distribution import Distribution
from tailrace.scenario.text.quantities import Name, Part
from tailrace.scenario.workloads.division import Divisor
from tailrace.scenario.workloads.facts import Ends, Facts, LiveLoad
from tailrace.scenario.workloads.ports import PORT_MAX, Serving
from tailrace.scenario.workloads.recording import Recording

PS_PER_S = 10**12
Priority = Annotated[int, Field(ge=0, le=7, strict=True)]
ServerPort = Annotated[int, Field(ge=1, le=PORT_MAX, strict=True)]
Raw = dict[str, Any]
Found = Iterator[tuple[KeyPath, str, str]]
"""Path below the workload, problem, hint."""


@dataclass(frozen=True)
class Surroundings:
    """The parts of a scenario that a workload may read."""

    graph: Graph
    duration_ps: int
    """Length of a trial."""
    devices: Mapping[str, Device] = field(default_factory=dict)
    """Block devices by name: those of the scenario, and presets."""
    mtus: Mapping[str, int] = field(default_factory=dict)
    """MTUs of the hosts that workloads name."""


def too_late(start_ps: int, around: Surroundings) -> Found:
    """A workload that starts when a trial is over sends nothing."""
    if start_ps >= around.duration_ps:
        what = "the workload starts after the end of the trial"
        yield ("start",), what, "lower start or raise experiment.duration"


def too_slow(
    at: KeyPath,
    least_ps: float,
    around: Surroundings,
    effect: str = "the server answers no request in it",
) -> Found:
    """What takes at least so long is never done in a trial."""
    if least_ps >= around.duration_ps:
        what = f"`{at[-1]}` is not shorter than the trial: {effect}"
        yield at, what, "write a shorter time, or raise experiment.duration"


@dataclass(frozen=True)
class LeastTime:
    """Lower bound on the time of a workload: links are never idle, frames have no headers and no
    losses."""

    seconds: float
    why: str
    """The reason for the bound, such as `at the line rate`."""
    key: str
    """The key with the amount of work."""


@dataclass(frozen=True)
class LongFlows:
    """Connections that carry bulk data for as long as the workload runs."""

    source: str
    destination: str
    connections: int


class ClosedLoop(Protocol):
    """A workload whose users wait for each response: calibration chooses its number of transactions
    or its gap."""

    @property
    def users(self) -> int: ...
    @property
    def transactions(self) -> int | None: ...
    @property
    def gap(self) -> Distribution: ...

    def first_transaction(self) -> Distribution:
        """Start of its users, in picoseconds."""

    def cycle_guess_ps(self) -> float:
        """Lower bound on the time of one transaction: gap and server time."""

    def with_transactions(self, count: int, gap: Distribution) -> "WorkloadKind":
        """A copy with another number of transactions of each user, and another gap."""

    def probe(self, count: int) -> "WorkloadKind":
        """A copy with this number of transactions, all of which are recorded."""


class WorkloadKind(Part, ABC):
    enabled: bool = True
    """false omits the workload, such as in an arm "without the backup": `workloads.backup.enabled:
    false`."""
    group: Name | None = None
    """Name of a group, which results also list in one row (rates over the longest time, latencies
    pooled)."""
    priority: Priority = 0
    """Priority of the frames, 0 to 7: their class unless `classify` sets another; policies map it
    to a queue."""
    dscp: Dscp = 0
    """Code point of the IP header, 0 to 63 or a name such as ef; only `classify` uses it."""
    vlan: Vlan | None = None
    """VLAN of the frames, 1 to 4094: `classify` can match it, and `network.spanning_tree` assigns
    it a tree."""
    port: ServerPort | None = None
    """Port of the server, 1 to 65535; further servers of the workload have the ports after it.
    Workloads of one service share a port of a host; those of different services only where each of
    them names it. Default: the port of its protocol, such as 5432 for `oltp`.
    """
    client_ports: Ports | None = None
    """Ports of the clients, first-last. Default: ephemeral ports, 32768-65535."""
    kind: str

    # --- facts, and what stands in plans: no instance is needed -----------------------------------

    @classmethod
    @abstractmethod
    def facts(cls) -> Facts:
        """Facts about every workload of this kind."""

    @classmethod
    @abstractmethod
    def ends_in(cls, body: Mapping[str, Any]) -> Ends:
        """Hosts of a workload of this kind in a plan."""

    @classmethod
    @abstractmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        """Total work of a workload in a plan, in units of `Facts.noun`; 0 for an endless one."""

    @classmethod
    @abstractmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        """Number of times that a transaction in a plan crosses a port of its path; None for a kind
        without transactions.
        """

    @classmethod
    def are_datagrams_in(cls, body: Mapping[str, Any]) -> bool:
        """Whether all packets of a workload in a plan are datagrams: it has no connections."""
        return cls.facts().protocol == "udp"

    @classmethod
    def servings_in(cls, body: Mapping[str, Any], port: int) -> Iterator[Serving]:
        """The servers of a workload in a plan, the first of which has this port."""
        ends = cls.ends_in(body)
        if ends.peers:
            yield Serving(
                ends.peers, "udp" if cls.are_datagrams_in(body) else "tcp", port, ends.openers
            )

    @classmethod
    def is_answered_in(cls, body: Mapping[str, Any]) -> bool:
        """Whether servers of a workload in a plan send frames to their clients, such as
        acknowledgements."""
        return not cls.are_datagrams_in(body)

    @classmethod
    def endless_connections_in(cls, body: Mapping[str, Any]) -> int | None:
        """Number of connections of a workload in a plan that carry bulk data without an end; None
        without any."""
        return None

    # --- hosts ------------------------------------------------------------------------------------

    @abstractmethod
    def named_ends(self) -> Iterator[tuple[KeyPath, str]]:
        """Every host that the workload names, with its path."""

    @abstractmethod
    def path_problems(self, graph: Graph) -> Found:
        """Problems of ends that are equal or not connected; all named hosts exist and all links
        have two ends."""

    @abstractmethod
    def senders(self, graph: Graph) -> list[str]:
        """Hosts that send payload, including requests."""

    @abstractmethod
    def bulk_receivers(self, hosts: Set[str]) -> Set[str]:
        """The hosts, among `hosts`, that receive most of the bytes."""

    @abstractmethod
    def pinned_keys(self) -> tuple[str, ...]:
        """Keys that fix a path through the network."""

    # --- ports ------------------------------------------------------------------------------------

    @abstractmethod
    def usual_port(self) -> int:
        """The port of the server of a workload without `port`."""

    def service_name(self) -> str:
        """The service of its server: workloads of one service can share a server."""
        return self.kind

    @property
    def server_port(self) -> int:
        """The port of the server, or of the first of several."""
        return self.usual_port() if self.port is None else self.port

    def servings(self, graph: Graph) -> Iterator[Serving]:
        """Its servers."""
        return self.servings_in(self.lowered(graph), self.server_port)

    # --- checks -----------------------------------------------------------------------------------

    @abstractmethod
    def problems(self, around: Surroundings) -> Found:
        """Problems of its values; all named hosts exist."""

    @abstractmethod
    def cautions(self, around: Surroundings) -> Found:
        """Warnings; the scenario has no problems."""

    @abstractmethod
    def least_time(self, graph: Graph) -> LeastTime | None:
        """Lower bound on its time; None for an endless workload."""

    @abstractmethod
    def bulk_to(self) -> tuple[str, int] | None:
        """The host that receives its bytes, and their number; None when unknown, or for an endless
        workload."""

    @abstractmethod
    def long_flows(self) -> LongFlows | None:
        """Its connections, if each carries bulk data all the time; else None."""

    @abstractmethod
    def held_ports(self) -> list[tuple[str, str, int]]:
        """The hosts that keep connections for the whole trial, or send datagrams, each with the key
        of their number, and it. Each connection has a port of that host; ports that come and go are
        not counted.
        """

    def exact_refusal(self) -> str | None:
        """The reason, if exact runs do not have it."""
        return None

    def used_devices(self) -> list[tuple[str, str]]:
        """Hosts whose block devices it uses, each with the name of the device."""
        return []

    def recordings(self) -> list[Recording]:
        """Recorded requests that it reads from files."""
        return []

    # --- plan -------------------------------------------------------------------------------------

    @abstractmethod
    def start_ps(self) -> int:
        """Earliest time of any of its events, in picoseconds."""

    def is_first_at_start(self) -> bool:
        """Whether its first event comes at `start_ps`, and not a gap later."""
        return False

    @abstractmethod
    def live_choices(self) -> Raw:
        """Keys for live runs only: plans contain them, and the simulator ignores them."""

    @abstractmethod
    def lowered(self, graph: Graph) -> Raw:
        """The body in a plan."""

    def planned(self, name: str, graph: Graph) -> Raw:
        """The workload in a plan: its header and its body."""
        # A key with a default stands in a plan only where it is used: the hash of other plans does
        # not change.
        usual = {
            "dscp": self.dscp,
            "vlan": self.vlan,
            "start_ps": self.start_ps(),
            "is_first_at_start": self.is_first_at_start(),
            "live": self.live_choices(),
            "client_ports": self.client_ports,
        }
        header = {"name": name, "priority": self.priority, "port": self.server_port}
        used = {key: value for key, value in usual.items() if value}
        return {"header": header | used, "body": {self.kind: self.lowered(graph)}}

    # --- experiments ------------------------------------------------------------------------------

    @abstractmethod
    def work(self) -> int:
        """Transactions of a user, bytes of a connection, flows or datagrams; 0 for an endless
        workload."""

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """A copy with this share of the work, at the same rates."""

    @abstractmethod
    def divided(self, name: str, rates_bps: Mapping[str, int], scale: Divisor) -> Self:
        """A copy for a network whose rates are divided; `rates_bps` are the rates of hosts before
        the division.

        Raises `RunRefusedError` with its name where its share of a link cannot be kept.
        """

    @abstractmethod
    def closed_loop(self) -> ClosedLoop | None:
        """The workload itself if its users wait for responses; else None."""


class OneWay(WorkloadKind):
    """From one host to another."""

    source: str
    """Sending host."""
    destination: str
    """Receiving host."""

    @classmethod
    def ends_in(cls, body: Mapping[str, Any]) -> Ends:
        return Ends([body["source"]], [body["destination"]], are_openers_receivers=False)

    def named_ends(self) -> Iterator[tuple[KeyPath, str]]:
        yield ("source",), self.source
        yield ("destination",), self.destination

    def path_problems(self, graph: Graph) -> Found:
        return named_problems(self.source, self.destination, graph)

    def senders(self, graph: Graph) -> list[str]:
        return [self.source]

    def bulk_receivers(self, hosts: Set[str]) -> Set[str]:
        return {self.destination}


class ClientServer(WorkloadKind):
    """A host asks one server, which sends most of the bytes."""

    client: str
    """Host that asks."""
    server: str
    """Host that answers."""

    @classmethod
    def ends_in(cls, body: Mapping[str, Any]) -> Ends:
        return Ends([body["client"]], [body["server"]], are_openers_receivers=True)

    def named_ends(self) -> Iterator[tuple[KeyPath, str]]:
        yield ("client",), self.client
        yield ("server",), self.server

    def path_problems(self, graph: Graph) -> Found:
        return named_problems(self.client, self.server, graph)

    def senders(self, graph: Graph) -> list[str]:
        return [self.client, self.server]

    def bulk_receivers(self, hosts: Set[str]) -> Set[str]:
        return {self.client}

    def pinned_keys(self) -> tuple[str, ...]:
        return ()


class Unanswered(OneWay):
    """Datagrams that one host sends and no program answers: they have a number, or end with the
    trial."""

    if TYPE_CHECKING:  # each kind has both among its keys, at their place in the reference
        count: int | None
        start: int

    @classmethod
    def unanswered_facts(
        cls,
        *,
        noun: str,
        main_metrics: tuple[str, ...],
        sweep_metrics: tuple[str, ...],
        live_load: LiveLoad,
    ) -> Facts:
        """The facts of such a kind; the parameters are its own."""
        return Facts(
            noun=noun,
            group_noun="workloads",
            protocol="udp",
            is_open_loop=True,
            is_ever_done=False,
            done_key="transactions",
            latency="one-way delay",
            metrics=frozenset(),
            main_metrics=main_metrics,
            sweep_metrics=sweep_metrics,
            load_metric=None,
            growth=None,
            has_slowdown_by_size=False,
            are_datagrams_timed=True,
            is_unasked=False,
            live_load=live_load,
            live_refusal=None,
        )

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        return 0

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        return None

    def pinned_keys(self) -> tuple[str, ...]:
        return ()

    def least_time(self, graph: Graph) -> LeastTime | None:
        return None

    def bulk_to(self) -> tuple[str, int] | None:
        return None

    def long_flows(self) -> LongFlows | None:
        return None

    def held_ports(self) -> list[tuple[str, str, int]]:
        return [(self.source, "source", 1)]

    def start_ps(self) -> int:
        return self.start

    def live_choices(self) -> Raw:
        return {}

    def work(self) -> int:
        return self.count or 0

    def scaled(self, factor: float) -> Self:
        return self.model_copy(
            update={"count": scaled_count(self.count, factor), "start": round(self.start * factor)},
        )

    def closed_loop(self) -> ClosedLoop | None:
        return None


def named_problems(first: str, second: str, graph: Graph) -> Found:
    """Problems of the path between two named hosts."""
    if first == second:
        yield (), f"both ends are host '{first}'", "name two different hosts"
    elif not graph.has_path(first, second):
        yield (
            (),
            f"no path leads from '{first}' to '{second}'",
            "join their switches in network.links",
        )


def scaled_count(count: int | None, factor: float) -> int | None:
    """A share of a count, at least 1; None is unchanged."""
    return None if count is None else max(1, round(count * factor))


def line_bps(graph: Graph, *hosts: str) -> int:
    """The lowest link rate of these hosts."""
    return min(graph.rates_bps[host] for host in hosts)
