"""Policies of a scenario: one for each queuing policy in force, with the settings of network-qos
and hardware."""

from typing import Any

from tailrace.importers.nxos.applied import Applied
from tailrace.importers.nxos.config import NxosConfig, PolicyMap
from tailrace.importers.nxos.groups import FOUR_QUEUES
from tailrace.importers.nxos.hardware import hardware_of, pausing_of
from tailrace.importers.nxos.neighbour import neighbour_of
from tailrace.importers.nxos.network_qos import NetworkQos
from tailrace.importers.nxos.parse import ConfigCommand
from tailrace.importers.nxos.queuing import (
    LIMIT_DEFAULT,
    STRICT_OF_EIGHT,
    STRICT_OF_FOUR,
    default_queues,
    queues_of,
)
from tailrace.importers.nxos.shares import resolve
from tailrace.importers.section import PRIORITIES, Section, usable_name
from tailrace.importers.step import steps_of_lossless_queues

POLICY_NAME = "nxos"
"""Name of the policy where no policy-map of type queuing names it."""

Yaml = dict[str, Any]


class Policies:
    """The policies under construction."""

    def __init__(self, config: NxosConfig, network: NetworkQos) -> None:
        self.config, self.network = config, network
        self.hardware = hardware_of(config)
        self.pausing = pausing_of(config, network)
        self.made: dict[str, Yaml] = {}
        self.has_afd = False
        self.is_sound = True
        """Whether the queues of every policy are known."""

    def add(self, queuing: PolicyMap | None) -> str:
        """Adds the policy of a queuing policy-map, None for the switch's default, and returns its
        name."""
        name = usable_name(queuing.name, POLICY_NAME) if queuing else POLICY_NAME
        if name not in self.made:
            groups = queues_of(self.config, queuing) if queuing else self._own_queues()
            if queuing and not groups:
                command, words = (
                    queuing.command,
                    f"policy-map '{name}' has no class that is understood: its queues are unknown",
                )
                self.config.remarks.add(command.line, command.text, "contradiction", words)
                self.is_sound = False
            self.made[name] = self._policy(name, groups)
        return name

    def finished(self) -> dict[str, Yaml]:
        """All policies."""
        self.hardware.used(
            self.config, has_dpp=self.network.express_group is not None, has_afd=self.has_afd
        )
        return self.made

    def _own_queues(self) -> dict[int, Yaml]:
        is_four = has_four_queues(self.config)
        strict = STRICT_OF_FOUR if is_four else STRICT_OF_EIGHT
        words = (
            f"no policy-map of type queuing: the switch's default is used, with queue {strict} "
            "strict and the default queue for all other frames"
        )
        self.config.remarks.add(0, "", "assumed", words)
        return default_queues(strict)

    def _policy(self, name: str, groups: dict[int, Yaml]) -> Yaml:
        config, network = self.config, self.network
        self._default_group(groups)
        if network.express_group is not None:
            _express(config, groups, *network.express_group)
        lossless = set(network.lossless) if "pfc" in self.pausing else set()
        absent = lossless - set(groups)
        groups |= {group: {"limit": LIMIT_DEFAULT} for group in sorted(absent)}
        resolve(config, groups, lossless | {0}, absent)
        steps_of_lossless_queues(groups, lossless)
        names = {group: self._queue_name(name, group) for group in groups}
        policy: Yaml = {
            "queues": {names[group]: queue for group, queue in groups.items()},
            "priorities": {p: names.get(p, names[0]) for p in PRIORITIES},
        }
        if network.express_group is not None:
            classes = sorted(set(network.dpp_groups))
            which = {} if classes == list(PRIORITIES) else {"priorities": classes}
            policy["dpp"] = self.hardware.dpp | {"express": names[network.express_group[0]]} | which
        has_afd = any(queue.get("aqm", {}).get("kind") == "afd" for queue in groups.values())
        self.has_afd |= has_afd
        if has_afd and self.hardware.etrap:
            policy["etrap"] = dict(self.hardware.etrap)
        return policy | self.pausing

    def _default_group(self, groups: dict[int, Yaml]) -> None:
        if 0 not in groups:
            words = (
                "the policy does not configure the default queue: it gets the remaining bandwidth"
            )
            self.config.remarks.add(0, "", "assumed", words)
            groups[0] = {"limit": LIMIT_DEFAULT}

    def _queue_name(self, policy: str, group: int) -> str:
        usual = f"q{group}" if group else "q-default"
        names, of = self.config.names, f"c-out-8q-{usual}"
        return usable_name(names.get((policy, of), names.get(("", of), usual)), usual)


def has_four_queues(config: NxosConfig) -> bool:
    """Whether the names of its classes are those of a switch with four queues."""
    names = [entry.name for policy in config.policy_maps.values() for entry in policy.classes]
    return any(map(FOUR_QUEUES.match, names)) and not any("8q" in name for name in names)


def port_policies(
    config: NxosConfig, applied: Applied, policies: Policies, section: Section
) -> None:
    """Policies of single ports; a port of a scenario is named by its neighbour, which a description
    may name."""
    for interface, (policy, command) in applied.of_ports.items():
        name = policies.add(policy)
        found = next(one for one in config.interfaces if one.name == f"interface {interface}")
        neighbour = neighbour_of(config, found)
        if neighbour is not None:
            section.switch.setdefault("ports", {})[neighbour] = name
            words = f"ports: {{{neighbour}: {name}}}"
            config.remarks.add(command.line, command.text, "understood", words)
        else:
            words = (
                f"'{name}' is the policy of {interface} only, and its description names no "
                f"neighbour: write switches.{section.switch_name}.ports: {{NEIGHBOUR: {name}}}"
            )
            config.remarks.add(command.line, command.text, "not-modelled", words)


def _express(
    config: NxosConfig, groups: dict[int, Yaml], group: int, command: ConfigCommand
) -> None:
    queue = groups.get(group)
    if queue is None:
        config.remarks.add(
            0,
            "",
            "assumed",
            f"the policy does not configure queue {group}: strict priority, for dpp",
        )
        groups[group] = {"strict": 1, "limit": LIMIT_DEFAULT}
    elif "strict" not in queue:
        words = (
            f"dpp needs a strict-priority queue, but that of qos-group {group} is not one "
            "(add: priority level 1)"
        )
        config.remarks.add(command.line, command.text, "contradiction", words)
