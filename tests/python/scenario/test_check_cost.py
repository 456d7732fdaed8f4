"""What a check costs in large networks: visits of links are counted, and no time is measured."""

from collections.abc import Iterator
from typing import Any

import pytest

from lab import sound
from tailrace.scenario import scenario as scenario_module
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.network.topology import Graph, Joined, expand

VISITS_OF_A_LINK_MAX = 60
"""Rules that look at all links, with room for more; a rule that did so for each host would make it
some hundreds."""


class Counted(list[Joined]):
    """Links that count how often one of them is visited."""

    visits = 0

    def __iter__(self) -> Iterator[Joined]:
        for link in super().__iter__():
            Counted.visits += 1
            yield link


@pytest.mark.parametrize("hosts", [100, 400])
def test_each_link_is_visited_as_often_in_a_large_network_as_in_a_small_one(
    hosts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counting(*arguments: Any) -> Graph:
        graph = expand(*arguments)
        graph.links = Counted(graph.links)
        return graph

    monkeypatch.setattr(scenario_module, "expand", counting)
    monkeypatch.setattr(Counted, "visits", 0)
    workloads = {
        f"w{number}": {"kind": "stream", "source": f"h{number}", "destination": f"h{number + 1}"}
        for number in range(1, hosts)
    }
    network = {"topology": {"kind": "star", "switch": "leaf", "hosts": hosts}}
    data = sound(network=network, workloads=workloads)
    load_scenario(
        {key: data[key] for key in ("tailrace", "name", "network", "workloads", "experiment")}
    )
    assert hosts < Counted.visits < VISITS_OF_A_LINK_MAX * hosts
