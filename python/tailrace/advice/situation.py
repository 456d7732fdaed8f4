"""The scenario for which advice is requested, in the form that candidates use."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tailrace.scenario.policies.switch import Policy
from tailrace.scenario.scenario import DEFAULTS, Scenario
from tailrace.scenario.text.document import Document
from tailrace.scenario.workloads.base import WorkloadKind

HOSTS_NAMED_MAX = 8
WORKLOADS_NAMED_MAX = 3
PolicyEdit = Callable[[dict[str, Any], Policy], bool]
"""Changes the text of a policy, which is also passed in parsed form; false where there is nothing
to change."""


@dataclass(frozen=True)
class Situation:
    """One arm of a scenario, and the workloads whose figure is to improve."""

    document: Document
    scenario: Scenario
    targets: tuple[str, ...]
    """Names of the workloads of the goal."""
    metric: str

    @cached_property
    def switches(self) -> list[str]:
        """Switches of the network."""
        return list(self.scenario.graph.switches)

    @cached_property
    def policies(self) -> dict[str, Policy]:
        """The policies that ports of switches use."""
        names: dict[str, None] = {}
        for name in self.switches:
            switch = self.scenario.switch(name)
            names.update(dict.fromkeys([switch.policy, *switch.ports.values()]))
        return {
            name: policy for name in names if (policy := self.scenario.policy(name)) is not None
        }

    def with_policies(self, edit: PolicyEdit) -> dict[str, Any]:
        """Changes that replace every used policy that `edit` changes."""
        changes: dict[str, Any] = {}
        for name, policy in self.policies.items():
            written = self.document.data.get("policies")
            text = (
                copy.deepcopy(written[name])
                if isinstance(written, dict) and name in written
                else {"queues": {"default": {}}}
            )
            if edit(text, policy):
                changes[f"policies.{name}"] = text
        return changes

    def of_switches(self, key: str, value: Any) -> dict[str, Any]:
        """Changes that set a key of every switch."""
        own = self.document.data.get("switches")
        stated = [
            name
            for name, switch in (own or {}).items()
            if isinstance(switch, dict) and key in switch
        ]
        return {
            f"switches.{name}.{key}": copy.deepcopy(value)
            for name in dict.fromkeys([DEFAULTS, *stated])
        }

    def of_hosts(self, key: str, value: Any) -> dict[str, Any]:
        """Changes that set a key, such as `tcp.ecn`, of every host."""
        own = self.document.data.get("hosts")
        names = [
            name
            for name, host in (own or {}).items()
            if isinstance(host, dict) and key.split(".")[0] in host
        ]
        return {
            f"hosts.{name}.{key}": copy.deepcopy(value)
            for name in dict.fromkeys([DEFAULTS, *names])
        }

    @cached_property
    def of_goal(self) -> dict[str, WorkloadKind]:
        """The workloads of the goal."""
        return {
            name: self.scenario.running[name]
            for name in self.targets
            if name in self.scenario.running
        }

    @property
    def goal_names(self) -> str:
        """The workloads of the goal as text: their names, where there are few."""
        if len(self.targets) > WORKLOADS_NAMED_MAX:
            return f"the {len(self.targets)} workloads of the goal"
        *first, last = self.targets
        return f"{', '.join(first)} and {last}" if first else last

    @cached_property
    def others(self) -> dict[str, WorkloadKind]:
        """The other workloads."""
        return {
            name: workload
            for name, workload in self.scenario.running.items()
            if name not in self.targets
        }

    @cached_property
    def hosts(self) -> list[str]:
        """Hosts of all workloads, in the order of the network."""
        return self._hosts_of(self.scenario.running)

    @cached_property
    def goal_hosts(self) -> list[str]:
        """Hosts of the goal's workloads."""
        return self._hosts_of(self.of_goal)

    def _hosts_of(self, workloads: Mapping[str, WorkloadKind]) -> list[str]:
        """Hosts that these workloads name; all hosts where one of them names none."""
        ends = [{host for _, host in workload.named_ends()} for workload in workloads.values()]
        named = set().union(*ends) if all(ends) else set()
        return [name for name in self.scenario.graph.hosts if not named or name in named]

    @staticmethod
    def hosts_text(hosts: Sequence[str]) -> str:
        """Hosts as text: their names, where there are few."""
        return (
            f"hosts {', '.join(hosts)}"
            if len(hosts) <= HOSTS_NAMED_MAX
            else f"all {len(hosts)} hosts"
        )

    @cached_property
    def line_bps(self) -> int:
        """The lowest rate of a host's link, bit/s."""
        return min(self.scenario.graph.rates_bps[name] for name in self.hosts)

    @property
    def uses_tcp(self) -> bool:
        """Whether a workload of the goal uses TCP."""
        return any(workload.facts().protocol == "tcp" for workload in self.of_goal.values())

    @property
    def has_tcp(self) -> bool:
        """Whether any workload uses TCP."""
        return any(
            workload.facts().protocol == "tcp" for workload in self.scenario.running.values()
        )


def unused(name: str, names: object) -> str:
    """A name that these names do not contain."""
    taken = set(names) if isinstance(names, dict | list | set) else set()
    return next(
        one for one in (name, *(f"{name}-{number}" for number in range(2, 100))) if one not in taken
    )


def size(number: float) -> str:
    """Bytes as a scenario writes them."""
    return f"{max(1, round(number))}B"
