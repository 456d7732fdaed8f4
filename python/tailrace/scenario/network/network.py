"""The network of a scenario: a topology generator, single links, and framing."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from tailrace.scenario.network.spanning_tree import PathCost, PortPriority, SpanningTree
from tailrace.scenario.text.quantities import (
    NAME_PATTERN,
    Count,
    Name,
    Part,
    Rate,
    Share,
    Size,
    SmallSize,
    Time,
    refuse,
    refuse_unless,
    within,
)
from tailrace.scenario.text.units import SIZE, shown

EVERY_PPB = 10**9
"""All of something, as a share."""
Loss = Annotated[
    Share,
    refuse_unless(
        lambda ppb: ppb <= EVERY_PPB, "a link loses at most every frame", "write at most 100%"
    ),
]


def _hosts(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise refuse(
                f"{value} is not a number of hosts",
                "write a number of at least 1, or a list of names",
            )
        return value
    if not isinstance(value, list) or not value:
        raise refuse(
            f"{shown(value)} is not a list of hosts",
            "write a list of names, or the number of hosts",
        )
    for name in value:
        if not isinstance(name, str) or not re.fullmatch(NAME_PATTERN, name):
            raise refuse(f"'{name}' is not a name", "use letters, digits, - and _")
    return value


Hosts = Annotated[
    Any,
    BeforeValidator(_hosts),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "array", "items": {"type": "string"}},
            ]
        }
    ),
]
"""A list of host names, or the number of hosts (which then have numbered names)."""


def host_count(hosts: int | list[str] | None) -> int:
    """Number of hosts of a `Hosts` value; 0 where it is omitted."""
    return 0 if hosts is None else hosts if isinstance(hosts, int) else len(hosts)


def numbered(hosts: int | list[str], prefix: str) -> list[str]:
    """The names of a `Hosts` value: as listed, or numbered from 1."""
    return (
        [f"{prefix}{number}" for number in range(1, hosts + 1)]
        if isinstance(hosts, int)
        else list(hosts)
    )


class LinkDefaults(Part):
    """Defaults of links."""

    rate: Rate = 10 * 10**9
    """Rate of both directions."""
    delay: Time = 500_000
    """Propagation delay; 500ns is 100 m of fibre."""


class Link(Part):
    """One full-duplex link. Between two nodes that the topology has already joined, it changes that
    link."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    """The two nodes."""
    rate: Rate | None = None
    """Rate of both directions. Default: `network.link.rate`."""
    delay: Time | None = None
    """Propagation delay. Default: `network.link.delay`."""
    loss: Loss = 0
    """Share of frames that the link loses at random, in each direction by itself; one end must be a
    switch, which counts them.
    """
    loss_of: Literal["frames", "later-fragments"] = "frames"
    """What is lost: any frame, or only fragments of datagrams without a transport header (`iptables
    -f`)."""
    path_cost: PathCost | None = None
    """Path cost in spanning trees, of both ports. Default: 20 Tbit/s over the rate (IEEE
    802.1Q-2018 table 13-4)."""
    port_priority: dict[str, PortPriority] = {}
    """Port priority in spanning trees by end, such as {spine1: 64}. Default: 128."""


class Star(Part):
    """Hosts around one switch."""

    kind: Literal["star"]
    switch: Name = "switch"
    """Name of the switch."""
    hosts: Hosts
    """Names of the hosts, or their number (h1, h2, ...)."""


class Dumbbell(Part):
    """Two switches joined by one link, hosts at both."""

    kind: Literal["dumbbell"]
    left: Hosts
    """Hosts at switch `left`, or their number (left1, left2, ...)."""
    right: Hosts
    """Hosts at switch `right`, or their number (right1, right2, ...)."""
    bottleneck_rate: Rate | None = None
    """Rate of the link between the switches."""
    bottleneck_delay: Time | None = None
    """Propagation delay of the link between the switches."""


class LeafSpine(Part):
    """Every leaf is joined to every spine; hosts at the leaves in order: leaf1, spine1, h1 (at
    leaf1), ..."""

    kind: Literal["leaf-spine"]
    leaves: Count
    """Number of leaf switches."""
    spines: Count
    """Number of spine switches."""
    hosts: Hosts | None = None
    """Names of the hosts in the order of the leaves, or their number (h1, h2, ...).

    Default: `hosts_per_leaf` at each leaf.
    """
    hosts_per_leaf: Count | None = None
    """Number of hosts at each leaf. Default: `hosts` spread evenly; the last leaves may have
    fewer."""
    uplink_rate: Rate | None = None
    """Rate of a link between leaf and spine."""
    uplink_delay: Time | None = None
    """Propagation delay of a link between leaf and spine."""

    @property
    def host_total(self) -> int:
        """Number of hosts at all leaves together."""
        return self.leaves * self.at_each_leaf if self.hosts is None else host_count(self.hosts)

    @property
    def at_each_leaf(self) -> int:
        """Hosts of every leaf except perhaps the last ones; 0 where the topology states no
        hosts."""
        if self.hosts_per_leaf is not None:
            return self.hosts_per_leaf
        return -(-host_count(self.hosts) // self.leaves) if self.leaves else 0


class FatTree(Part):
    """The fat tree of Al-Fares et al. (SIGCOMM 2008): k pods, hosts h1, ..., switches edge1_1,
    agg1_1, core1, ..."""

    kind: Literal["fat-tree"]
    k: Count
    """Ports of every switch, an even number."""
    hosts: Hosts | None = None
    """Names of the hosts in the order of the pods, or their number (h1, h2, ...). Default: as many
    as fit, k^3/4."""

    @property
    def capacity(self) -> int:
        """Number of hosts for which the tree has room."""
        return self.k**3 // 4

    @property
    def host_total(self) -> int:
        """Number of hosts."""
        return self.capacity if self.hosts is None else host_count(self.hosts)


def host_names(shape: LeafSpine | FatTree) -> list[str]:
    """Names of its hosts, in order; h1, h2, ... where the scenario only counts them."""
    return numbered(shape.host_total if shape.hosts is None else shape.hosts, "h")


Topology = Annotated[Star | Dumbbell | LeafSpine | FatTree, Field(discriminator="kind")]


FRAME_HEADER_BYTES_MAX = 32_768
"""With the largest MTU a frame has less than 65 536 bytes."""


class Framing(Part):
    """Sizes of the link layer; the defaults are those of Ethernet."""

    header: Annotated[Size, within(SIZE, most=FRAME_HEADER_BYTES_MAX)] = 14
    """Header of every frame, which switches store; at most 32768B."""
    overhead: SmallSize = 24
    """Overhead on the wire besides the frame: preamble 8, FCS 4, gap 12."""


class Network(Part):
    """Hosts, switches and links: a topology, individual nodes and links, or both."""

    link: LinkDefaults = LinkDefaults()
    """Defaults of every link."""
    topology: Topology | None = None
    """A generator of nodes and links with predictable names."""
    hosts: list[Name] = []
    """Hosts besides those of the topology."""
    switches: list[Name] = []
    """Switches besides those of the topology."""
    links: list[Link] = []
    """Links besides those of the topology, or changes to these."""
    framing: Framing = Framing()
    """Sizes of the link layer."""
    spanning_tree: SpanningTree | None = None
    """Spanning trees. Default: none; frames use all shortest paths, even in a topology with
    loops."""
