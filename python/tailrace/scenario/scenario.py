"""A scenario as one value: what a file says, with every key known and every unit parsed."""

from typing import Any, Literal, TypeVar

from tailrace.scenario.experiment import Assumption, Expectation, Experiment, Observe
from tailrace.scenario.host import Host
from tailrace.scenario.network import Name, Network
from tailrace.scenario.quantities import Part
from tailrace.scenario.sweep import Sweep
from tailrace.scenario.switch import FIFO, Policy, Switch
from tailrace.scenario.workload import Workload

P = TypeVar("P", bound=Part)

BASE_ARM = "base"
"""Name of the only arm of a scenario that declares none."""
DEFAULTS = "defaults"
"""The entry of `hosts` and `switches` that holds for all."""


class Scenario(Part):
    """Hosts, switches, workloads that share them, and the arms to compare."""

    tailrace: Literal[1]
    """Format of this file: 1."""
    include: str | list[str] = []
    """Files that are merged under this one, in order, relative to it: mappings key by key, later values win."""
    name: Name
    """Name of the scenario; run directories are named after it."""
    description: str = ""
    """What question it answers."""
    network: Network
    """Hosts, switches and links."""
    hosts: dict[str, Host] = {}
    """Settings by host name; `defaults` holds for all hosts."""
    switches: dict[str, Switch] = {}
    """Settings by switch name; `defaults` holds for all switches."""
    policies: dict[Name, Policy] = {}
    """Queueing policies by name; switches name the one they use."""
    workloads: dict[Name, Workload]
    """What uses the network, by name."""
    arms: dict[Name, dict[str, Any]] = {}
    """The variants to compare, baseline first: dotted path and value, such as `switches.leaf1.policy: dpp`."""
    sweep: Sweep | None = None
    """Values over which the whole experiment is repeated."""
    experiment: Experiment
    """Trials, seed, end, calibration."""
    observe: Observe = Observe()
    """What is recorded."""
    assumptions: list[Assumption] = []
    """Values that the reader of a report should know about."""
    expect: list[Expectation] = []
    """Figures that the results are compared with."""
    published: str | None = None
    """File with published figures, relative to this one; they are compared like `expect`."""

    @property
    def arm_names(self) -> list[str]:
        """The arms in order, baseline first."""
        return list(self.arms) or [BASE_ARM]

    @property
    def running(self) -> dict[str, Workload]:
        """The workloads that are enabled, by name."""
        return {name: workload for name, workload in self.workloads.items() if workload.enabled}

    def host(self, name: str) -> Host:
        """Settings of one host, with the defaults under its own."""
        return merged(self.hosts.get(DEFAULTS, Host()), self.hosts.get(name, Host()))

    def switch(self, name: str) -> Switch:
        """Settings of one switch, with the defaults under its own."""
        return merged(self.switches.get(DEFAULTS, Switch()), self.switches.get(name, Switch()))

    def policy(self, name: str) -> Policy | None:
        """A policy by name; `fifo` exists without being declared."""
        return self.policies.get(name, FIFO if name == "fifo" else None)


def merged(below: P, above: P) -> P:
    """`below` with every value that `above` states itself, part by part."""
    update: dict[str, Any] = {}
    for name in above.model_fields_set:
        low, high = getattr(below, name), getattr(above, name)
        update[name] = merged(low, high) if isinstance(high, Part) and type(low) is type(high) else high
    return below.model_copy(update=update)
