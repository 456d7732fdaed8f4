"""A scenario as one value: the content of a file, with every key known and every unit parsed."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeVar

from tailrace.scenario.experiment import (
    Assumption,
    Expectation,
    Experiment,
    Headline,
    Observe,
    OrName,
)
from tailrace.scenario.network.device import Device
from tailrace.scenario.network.host import Host
from tailrace.scenario.network.hypervisor import Hypervisor
from tailrace.scenario.network.network import Network
from tailrace.scenario.network.topology import Graph, expand
from tailrace.scenario.policies.switch import FIFO, Policy, Switch
from tailrace.scenario.sweep import Sweep
from tailrace.scenario.text.quantities import Name, Part, merged
from tailrace.scenario.whatif import WhatIf
from tailrace.scenario.workloads.kinds import Workload

P = TypeVar("P", bound=Part)

BASE_ARM = "base"
"""Name of the only arm of a scenario that declares none."""
DEFAULTS = "defaults"
"""The entry of `hosts` and `switches` that applies to all."""
TAG_BYTES = 4
"""IEEE 802.1Q clause 9.4: the length of a tag in a frame."""
WORKED_OUT = {
    "_merged_hosts": {"hosts"},
    "_merged_switches": {"switches"},
    "graph": {"network", "hypervisors"},
    "frame_bytes": {"hosts", "network", "workloads"},
}
"""Cached properties of a scenario, and the sections that determine each."""


class Scenario(Part):
    """Hosts, switches, workloads that share them, and the arms to compare."""

    tailrace: Literal[1]
    """Format of this file: 1."""
    include: str | list[str] = []
    """Files that are merged under this one, in order, relative to it: mappings key by key; later
    values take precedence.
    """
    name: Name
    """Name of the scenario; run directories are named after it."""
    description: str = ""
    """The question that the scenario answers."""
    network: Network
    """Hosts, switches and links."""
    hosts: dict[str, Host] = {}
    """Settings by host name; `defaults` applies to all hosts."""
    switches: dict[str, Switch] = {}
    """Settings by switch name; `defaults` applies to all switches."""
    hypervisors: dict[str, Hypervisor] = {}
    """Real cores by the name of their virtual switch; hosts that are linked to it are their virtual
    machines."""
    devices: dict[Name, Device] = {}
    """Block devices by name; workloads of storage name them, and each host that they name has one
    of its own."""
    policies: dict[Name, Policy] = {}
    """Queueing policies by name; switches refer to them."""
    workloads: dict[Name, Workload]
    """Traffic on the network, by name."""
    arms: dict[Name, dict[str, Any]] = {}
    """The variants to compare: dotted paths and values, such as `switches.leaf1.policy: dpp`; the
    first one is the baseline, unless `experiment.baseline` names another.
    """
    sweep: Sweep | None = None
    """Values for which the whole experiment is repeated."""
    whatif: WhatIf = WhatIf()
    """The page of `tailrace whatif`."""
    experiment: Experiment
    """Trials, seed, duration, calibration."""
    headline: list[Annotated[Headline, OrName()]] = []
    """Metrics that summarise results: names of workloads and groups, or `{workload: shop, metric:
    latency_p99_ms}`."""
    observe: Observe = Observe()
    """Recorded data."""
    assumptions: list[Assumption] = []
    """Values that the report lists as assumptions."""
    expect: list[Annotated[Expectation, OrName()]] = []
    """Figures with which the results are compared: goals such as `shop.p99 < 5ms`, or metrics with
    their bounds."""
    published: str | None = None
    """File with published figures, relative to this one; they are compared like `expect`."""

    @property
    def arm_names(self) -> list[str]:
        """The arms in order."""
        return list(self.arms) or [BASE_ARM]

    @property
    def baseline(self) -> str:
        """The arm with which the others are compared."""
        return self.experiment.baseline or self.arm_names[0]

    def baseline_among(self, arms: Sequence[str]) -> str:
        """The baseline if it is one of these arms, and the first of them otherwise."""
        return self.baseline if self.baseline in arms else arms[0]

    @property
    def running(self) -> dict[str, Workload]:
        """The workloads that are enabled, by name."""
        return {name: workload for name, workload in self.workloads.items() if workload.enabled}

    @property
    def groups(self) -> dict[str, list[str]]:
        """Workloads by the name of their group, in the order of the file."""
        found: dict[str, list[str]] = {}
        for name, workload in self.workloads.items():
            if workload.group is not None:
                found.setdefault(workload.group, []).append(name)
        return found

    def members(self, subject: str) -> list[str]:
        """The enabled workloads of a workload or group."""
        running = self.running
        return [name for name in self.groups.get(subject, [subject]) if name in running]

    @property
    def calibrated(self) -> list[str]:
        """The workloads whose size follows from a calibration."""
        spec = self.experiment.calibrate
        if spec is None:
            return []
        return spec.workloads or [
            name for name, workload in self.workloads.items() if workload.closed_loop()
        ]

    def has_end(self, workload: str) -> bool:
        """Whether a workload is done at some time; the others last as long as their trial."""
        return bool(self.workloads[workload].work()) or workload in self.calibrated

    def has_metric(self, workload: str, metric: str) -> bool:
        """Whether results of a workload have a metric of the headline."""
        return self.workloads[workload].facts().has_metric(metric) and (
            metric != "completion_s" or self.has_end(workload)
        )

    def host(self, name: str) -> Host:
        """Settings of one host, with the defaults under its own."""
        return self._merged_hosts.get(name, self._merged_hosts[DEFAULTS])

    def switch(self, name: str) -> Switch:
        """Settings of one switch, with the defaults under its own."""
        return self._merged_switches.get(name, self._merged_switches[DEFAULTS])

    @cached_property
    def _merged_hosts(self) -> dict[str, Host]:
        """Settings of the hosts with an entry of their own, few even in a network of thousands."""
        return with_defaults(self.hosts, Host())

    @cached_property
    def _merged_switches(self) -> dict[str, Switch]:
        return with_defaults(self.switches, Switch())

    @cached_property
    def graph(self) -> Graph:
        """Nodes and links of the network, which must have at most `topology.NODES_MAX` nodes."""
        return expand(self.network, self.hypervisors)

    @cached_property
    def frame_bytes(self) -> int:
        """The largest frame of any host, as switches store it."""
        mtus = [
            host.mtu for name, host in self._merged_hosts.items() if name in self.graph.host_names
        ]
        if len(mtus) < len(self.graph.hosts):
            mtus.append(self._merged_hosts[DEFAULTS].mtu)
        is_tagged = any(workload.vlan for workload in self.running.values())
        return (
            max(mtus, default=Host().mtu)
            + self.network.framing.header
            + (TAG_BYTES if is_tagged else 0)
        )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy without the cached properties that depend on a section in `update`."""
        copied = super().model_copy(update=update, deep=deep)
        for name, parts in WORKED_OUT.items():
            if not parts.isdisjoint(update or ()):
                copied.__dict__.pop(name, None)
        return copied

    def policy(self, name: str) -> Policy | None:
        """A policy by name; `fifo` is predefined."""
        return self.policies.get(name, FIFO if name == "fifo" else None)


def with_defaults(own: Mapping[str, P], usual: P) -> dict[str, P]:
    """Settings by name, each merged with the defaults; those of all other names are under
    `defaults`."""
    below = own.get(DEFAULTS, usual)
    return {DEFAULTS: below} | {
        name: merged(below, above) for name, above in own.items() if name != DEFAULTS
    }
