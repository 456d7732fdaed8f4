"""Semantic checks of hosts with several links, whose interfaces are bonded."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.network.cpu import COSTS
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import DEFAULTS, Scenario

LINKS_MAX = 8
"""Interfaces of a bond, as in the engine (`crates/plan`); 802.3ad has eight active ones."""

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario, graph: Graph, name: str) -> Found:
    """Problems of the links of a host that has some."""
    links = graph.links_at[name]
    host = scenario.host(name)
    if host.nic.bond is None:
        if len(links) > 1:
            what = f"host '{name}' has {len(links)} links"
            yield (
                ("network", "links"),
                what,
                f"keep exactly one, or write hosts.{name}.nic.bond: layer3+4",
            )
        return
    own = scenario.hosts.get(name)
    at: KeyPath = (
        "hosts",
        name if own and "bond" in own.nic.model_fields_set else DEFAULTS,
        "nic",
        "bond",
    )
    if not 1 < len(links) <= LINKS_MAX:
        what = (
            f"host '{name}' has {len(links)} link{'s' * (len(links) != 1)}, and a bond has 2 "
            f"to {LINKS_MAX}"
        )
        yield at, what, "add or remove links in network.links, or omit the bond"
    elif len({link.rate_bps for link in links}) > 1:
        yield (
            at,
            f"the links of host '{name}' have different rates",
            "give all links of a bond the same rate",
        )
    elif any(graph.host_names >= {link.a, link.b} for link in links):
        yield at, f"a link of host '{name}' leads to a host", "join the links of a bond to switches"
    if any(end in scenario.hypervisors for link in links for end in (link.a, link.b)):
        yield (
            at,
            f"host '{name}' is a virtual machine, which has one interface",
            "omit the bond and its further links",
        )
    if host.nic.is_lossless:
        yield (
            at,
            f"the interfaces of host '{name}' take part in pauses, QCN or "
            "ETS, and those of a bond cannot",
            "omit one",
        )
    if host.cpu.cores or any(host.cpu.cost(name) for name in COSTS):
        what = (
            f"receiving costs time of a core at host '{name}', which is not modelled for "
            "several interfaces"
        )
        yield at, what, "omit the costs and cores of its cpu, or the bond"
