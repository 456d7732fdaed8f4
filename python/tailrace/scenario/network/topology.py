"""Expands a network section to nodes and links with predictable names."""

from collections import deque
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from tailrace.errors import KeyPath
from tailrace.scenario.network.hypervisor import MACHINE_LINK_BPS
from tailrace.scenario.network.network import (
    Dumbbell,
    FatTree,
    LeafSpine,
    Network,
    Star,
    host_count,
    host_names,
    numbered,
)

NODES_MAX = 20_000
"""Nodes of one network: beyond this a packet simulation on one machine is impractical."""


@dataclass(frozen=True)
class Joined:
    """One link of the expanded network."""

    a: str
    b: str
    rate_bps: int
    delay_ps: int
    path: KeyPath
    """Path of the link in the scenario."""
    loss_ppb: int = 0
    """Lost frames in parts per billion."""
    loses_later_fragments: bool = False
    """Whether it loses only fragments without a transport header."""
    path_cost: int | None = None
    """Its cost in spanning trees, where the scenario states one."""
    port_priority: Mapping[str, int] = field(default_factory=dict)
    """Port priorities in spanning trees, where the scenario states them."""


@dataclass
class Graph:
    """Every host, switch and link of a scenario."""

    hosts: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    links: list[Joined] = field(default_factory=list)

    @property
    def nodes(self) -> list[str]:
        """Hosts, then switches."""
        return self.hosts + self.switches

    @cached_property
    def host_names(self) -> frozenset[str]:
        """The hosts as a set."""
        return frozenset(self.hosts)

    @cached_property
    def switch_names(self) -> frozenset[str]:
        """The switches as a set."""
        return frozenset(self.switches)

    def are_joined(self, a: str, b: str) -> bool:
        """Whether a link joins two nodes."""
        return (a, b) in self.link_of

    @cached_property
    def joined(self) -> dict[str, list[str]]:
        """Neighbours of every node, in the order of the links."""
        joined: dict[str, list[str]] = {}
        for link in self.links:
            joined.setdefault(link.a, []).append(link.b)
            joined.setdefault(link.b, []).append(link.a)
        return joined

    @cached_property
    def links_at(self) -> dict[str, list[Joined]]:
        """Links of every node that has some, in their order."""
        found: dict[str, list[Joined]] = {}
        for link in self.links:
            for end in dict.fromkeys((link.a, link.b)):
                found.setdefault(end, []).append(link)
        return found

    @cached_property
    def islands(self) -> dict[str, int]:
        """A number for every node; nodes with equal numbers are connected.

        Paths never cross a host: one with several links is on the island of the first.
        """
        island: dict[str, int] = {}
        for start in [*self.switches, *self.hosts]:
            waiting = deque([start])
            while waiting:
                node = waiting.popleft()
                if node not in island:
                    island[node] = len(island) if node == start else island[start]
                    if node not in self.host_names:
                        waiting += self.joined.get(node, [])
        return island

    def neighbours(self, name: str) -> list[str]:
        """Nodes joined to `name`, in the order of the links."""
        return self.joined.get(name, [])

    def has_path(self, a: str, b: str) -> bool:
        """Whether frames of `a` can reach `b`."""
        return self.islands[a] == self.islands[b]

    @cached_property
    def link_of(self) -> dict[tuple[str, str], Joined]:
        """The link from a node to its neighbour, by both directions; the first where there are
        several."""
        found: dict[tuple[str, str], Joined] = {}
        for link in self.links:
            found.setdefault((link.a, link.b), link)
            found.setdefault((link.b, link.a), link)
        return found

    @cached_property
    def rates_bps(self) -> dict[str, int]:
        """Sum of the link rates of every node, in bit/s."""
        rates: dict[str, int] = {}
        for link in self.links:
            for end in (link.a, link.b):
                rates[end] = rates.get(end, 0) + link.rate_bps
        return rates


class _Builder:
    def __init__(self, network: Network) -> None:
        self.network = network
        self.graph = Graph()

    def join(
        self, a: str, b: str, path: KeyPath, rate: int | None = None, delay: int | None = None
    ) -> None:
        defaults = self.network.link
        rate_bps = defaults.rate if rate is None else rate
        delay_ps = defaults.delay if delay is None else delay
        self.graph.links.append(Joined(a, b, rate_bps, delay_ps, path))

    def star(self, star: Star) -> None:
        self.graph.switches.append(star.switch)
        for host in numbered(star.hosts, "h"):
            self.graph.hosts.append(host)
            self.join(host, star.switch, ("network", "topology"))

    def dumbbell(self, dumbbell: Dumbbell) -> None:
        self.graph.switches += ["left", "right"]
        self.join(
            "left",
            "right",
            ("network", "topology"),
            dumbbell.bottleneck_rate,
            dumbbell.bottleneck_delay,
        )
        for side, hosts in (("left", dumbbell.left), ("right", dumbbell.right)):
            for host in numbered(hosts, side):
                self.graph.hosts.append(host)
                self.join(host, side, ("network", "topology"))

    def leaf_spine(self, shape: LeafSpine) -> None:
        spines = [f"spine{number}" for number in range(1, shape.spines + 1)]
        leaves = [f"leaf{number}" for number in range(1, shape.leaves + 1)]
        self.graph.switches += leaves + spines
        names, room = host_names(shape), shape.at_each_leaf
        for index, leaf in enumerate(leaves):
            for host in names[index * room : (index + 1) * room]:
                self.graph.hosts.append(host)
                self.join(host, leaf, ("network", "topology"))
            for spine in spines:
                self.join(
                    leaf, spine, ("network", "topology"), shape.uplink_rate, shape.uplink_delay
                )

    def fat_tree(self, tree: FatTree) -> None:
        half = tree.k // 2
        at: KeyPath = ("network", "topology")
        cores = [f"core{number}" for number in range(1, half * half + 1)]
        names = iter(host_names(tree))
        for pod in range(1, tree.k + 1):
            edges = [f"edge{pod}_{number}" for number in range(1, half + 1)]
            aggregations = [f"agg{pod}_{number}" for number in range(1, half + 1)]
            self.graph.switches += edges + aggregations
            for edge in edges:
                for host in islice(names, half):
                    self.graph.hosts.append(host)
                    self.join(host, edge, at)
                for aggregation in aggregations:
                    self.join(edge, aggregation, at)
            for index, aggregation in enumerate(aggregations):
                for core in cores[index * half : (index + 1) * half]:
                    self.join(aggregation, core, at)
        self.graph.switches += cores

    def machine_links(self, hypervisors: Container[str]) -> None:
        hosts = self.graph.host_names
        for index, link in enumerate(self.graph.links):
            if (link.a in hypervisors and link.b in hosts) or (
                link.b in hypervisors and link.a in hosts
            ):
                self.graph.links[index] = replace(link, rate_bps=MACHINE_LINK_BPS, delay_ps=0)

    def own_links(self) -> None:
        index_of = {
            frozenset((link.a, link.b)): index for index, link in enumerate(self.graph.links)
        }
        generated = len(self.graph.links)
        for index, link in enumerate(self.network.links):
            a, b = link.between
            path: KeyPath = ("network", "links", index)
            known = index_of.get(frozenset((a, b)))
            if known is None or known >= generated:
                self.join(a, b, path, link.rate, link.delay)
                known = -1
            old = self.graph.links[known]
            self.graph.links[known] = replace(
                old,
                rate_bps=old.rate_bps if link.rate is None else link.rate,
                delay_ps=old.delay_ps if link.delay is None else link.delay,
                path=path,
                loss_ppb=link.loss,
                loses_later_fragments=link.loss > 0 and link.loss_of == "later-fragments",
                path_cost=link.path_cost,
                port_priority=link.port_priority,
            )


def node_count(network: Network) -> int:
    """Number of nodes of a network, computed before any is created."""
    own = len(network.hosts) + len(network.switches)
    match network.topology:
        case Star(hosts=hosts):
            return own + 1 + host_count(hosts)
        case Dumbbell(left=left, right=right):
            return own + 2 + host_count(left) + host_count(right)
        case LeafSpine() as shape:
            return own + shape.host_total + shape.leaves + shape.spines
        case FatTree(k=k) as tree:
            return own + tree.host_total + 5 * k * k // 4
        case None:
            return own


def expand(network: Network, hypervisors: Container[str] = ()) -> Graph:
    """Nodes and links; `node_count` must be at most `NODES_MAX`. Links of virtual machines are not
    wires."""
    builder = _Builder(network)
    match network.topology:
        case Star() as star:
            builder.star(star)
        case Dumbbell() as dumbbell:
            builder.dumbbell(dumbbell)
        case LeafSpine() as shape:
            builder.leaf_spine(shape)
        case FatTree() as tree:
            builder.fat_tree(tree)
        case None:
            pass
    builder.graph.hosts += network.hosts
    builder.graph.switches += network.switches
    builder.own_links()
    builder.machine_links(hypervisors)
    return builder.graph
