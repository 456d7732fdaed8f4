"""Hosts with several links: what is refused, and what stands in the plan."""

from typing import Any

import pytest

from tailrace.errors import ScenarioError
from tailrace.live.refuse import refuse
from tailrace.scenario.loading import Loaded, load_scenario
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.text.yaml import load_yaml

SCENARIO = """
tailrace: 1
name: bonds
network:
  hosts: [server, client]
  switches: [a, b]
  links: {links}
hosts: {hosts}
workloads:
  copy: {{kind: stream, source: server, destination: client, connections: 8}}
arms: {{base: {{}}}}
experiment: {{duration: 20ms, trials: 1}}
"""
LINKS = (
    "[{between: [server, a]}, {between: [server, b]}, {between: [client, a]}, {between: [a, b]}]"
)
BONDED = "{server: {nic: {bond: layer3+4}}}"


def loaded(links: str = LINKS, hosts: str = BONDED) -> Loaded:
    return load_scenario(load_yaml(SCENARIO.format(links=links, hosts=hosts), is_marked=False))


def planned(hosts: str) -> list[Any]:
    return [
        host["nic"].get("bond") for host in lower(loaded(hosts=hosts).scenario, "base", 1)["hosts"]
    ]


def test_a_policy_stands_in_the_plan_of_its_host() -> None:
    assert planned(BONDED) == ["flow", None]
    assert planned("{server: {nic: {bond: layer2+3}}}") == ["hosts", None]


ONE = "[{between: [server, a]}, {between: [client, a]}, {between: [a, b]}]"
NINE = (
    f"[{', '.join(['{between: [server, a]}'] * 9)}, {{between: [client, a]}}, {{between: [a, b]}}]"
)
UNEQUAL = LINKS.replace("{between: [server, b]}", "{between: [server, b], rate: 1Gbit/s}")
DIRECT = LINKS.replace("[server, b]", "[server, client]").replace("{between: [client, a]}, ", "")


@pytest.mark.parametrize(
    ("links", "hosts", "what"),
    [
        (
            LINKS,
            "{}",
            "network.links: host 'server' has 2 links (hint: keep exactly one, or write "
            "hosts.server.nic.bond",
        ),
        (ONE, BONDED, "hosts.server.nic.bond: host 'server' has 1 link, and a bond has 2 to 8"),
        (NINE, BONDED, "hosts.server.nic.bond: host 'server' has 9 links, and a bond has 2 to 8"),
        (UNEQUAL, BONDED, "hosts.server.nic.bond: the links of host 'server' have different rates"),
        (DIRECT, BONDED, "hosts.server.nic.bond: a link of host 'server' leads to a host"),
        (
            LINKS,
            "{defaults: {nic: {bond: layer3+4}}}",
            "hosts.defaults.nic.bond: host 'client' has 1 link",
        ),
        (LINKS, "{server: {nic: {bond: round-robin}}}", "hosts.server.nic.bond: "),
        (
            LINKS,
            "{server: {nic: {bond: layer3+4, link_pause: true}}}",
            "take part in pauses, QCN or ETS",
        ),
        (
            LINKS,
            "{server: {nic: {bond: layer3+4}, cpu: {per_packet: 1us}}}",
            "not modelled for several interfaces",
        ),
        (
            LINKS,
            "{server: {nic: {bond: layer3+4}, cpu: {cores: 2}}}",
            "not modelled for several interfaces",
        ),
    ],
)
def test_a_bond_without_meaning_is_refused_with_its_key(links: str, hosts: str, what: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        loaded(links, hosts)
    assert what in str(refused.value)


def test_a_virtual_machine_has_one_interface() -> None:
    text = SCENARIO.format(links=LINKS, hosts=BONDED) + "hypervisors: {a: {cores: 4}}\n"
    with pytest.raises(
        ScenarioError, match="host 'server' is a virtual machine, which has one interface"
    ):
        load_scenario(load_yaml(text, is_marked=False))


def test_hosts_of_live_runs_have_one_interface() -> None:
    found = loaded()
    with pytest.raises(
        ScenarioError, match=r"hosts\.server\.nic\.bond: hosts of live runs have one interface"
    ):
        refuse(found, {"base": found.scenario})
