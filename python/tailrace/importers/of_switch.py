"""The configuration of one switch of a scenario, as a vendor writes it."""

from collections.abc import Callable, Mapping

from tailrace.importers.remarks import Remarks
from tailrace.scenario.network.host import Host
from tailrace.scenario.policies.switch import Policy, Switch
from tailrace.scenario.scenario import Scenario

Export = Callable[[str, Switch, Policy, int, Mapping[str, Policy]], tuple[str, Remarks]]
"""Writes a switch: its name, settings and policy, the largest MTU of the hosts, and policies of its
ports by name."""


def export_switch(export: Export, scenario: Scenario, name: str) -> tuple[str, Remarks]:
    """The configuration of a switch of the network, and remarks about settings that the vendor
    cannot express."""
    switch = scenario.switch(name)
    policy = scenario.policy(switch.policy)
    assert policy is not None, "a loaded scenario contains the policies that it uses"
    mtu_bytes = max((scenario.host(host).mtu for host in scenario.graph.hosts), default=Host().mtu)
    others = {
        own: one
        for own in sorted(set(switch.ports.values()))
        if (one := scenario.policy(own)) and own != switch.policy
    }
    return export(name, switch, policy, mtu_bytes, others)
