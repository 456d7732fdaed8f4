"""Converts an NX-OS configuration to the switch section of a scenario."""

import re
from typing import Any

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.applied import Applied, applied_policies
from tailrace.importers.nxos.classes import classify_of
from tailrace.importers.nxos.config import NxosConfig, PolicyMap
from tailrace.importers.nxos.input_queues import read_input
from tailrace.importers.nxos.meanings import meaning_of
from tailrace.importers.nxos.mtu import read_mtus
from tailrace.importers.nxos.network_qos import NetworkQos, network_qos_of
from tailrace.importers.nxos.parse import ConfigCommand, Node
from tailrace.importers.nxos.policies import Policies, port_policies
from tailrace.importers.nxos.predefined import add_predefined
from tailrace.importers.nxos.reading import read
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section, usable_name
from tailrace.importers.vendor import is_certain

SWITCH_NAME = "switch"
"""Name of a switch whose configuration states none."""
POLICY_NAME = "nxos"
"""Name of the policy where no policy-map of type queuing names it."""
ASIDE = re.compile(
    r"(\d+ )?(hostname|switchname|speed|ip access-list|permit|deny)\b", re.IGNORECASE
)
"""Statements that many vendors have, and that say nothing about queues and MTUs."""
Yaml = dict[str, Any]


def import_nxos(text: str, host_mtus: dict[str, int] | None = None) -> tuple[Section, Remarks]:
    """The section, and a remark about every line. `host_mtus` of a scenario are compared with the
    configuration's."""
    config = read(text)
    add_predefined(config)
    applied = applied_policies(config)
    section = Section(switch_name=_switch_name(config))
    network_map, input_map = applied.policy("network-qos"), applied.policy("input")
    network = network_qos_of(config, network_map) if network_map else NetworkQos()
    if input_map:
        read_input(config, input_map, network)
    policies = Policies(config, network)
    usual = applied.policy("output")
    section.switch["policy"] = policies.add(usual)
    port_policies(config, applied, policies, section)
    section.policies = policies.finished()
    _classify(config, applied.policy("qos"), section)
    _unused(config, applied)
    read_mtus(config, host_mtus or {}, section)
    section.class_mtus = {group: mtu for group, (mtu, _) in sorted(config.class_mtus.items())}
    section.port_rates = config.port_rates
    _left_over(config)
    section.check(config.remarks)
    section.is_sound &= policies.is_sound and network.is_sound
    section.refused = _why_refused(config, text)
    return section, config.remarks


def _why_refused(config: NxosConfig, text: str) -> str:
    """Why a text says nothing about the queues of a port; empty where it does."""
    understood = [remark.text for remark in config.remarks.found if remark.verdict == "understood"]
    if not understood:
        return "expected nxos commands; no line is one"
    about_ports = [text for text in understood if not ASIDE.match(text)]
    if about_ports or is_certain(text, "nxos"):
        return ""
    return "no line is about queues, and none tells that this is NX-OS"


def _switch_name(config: NxosConfig) -> str:
    if config.switch_name is None:
        return SWITCH_NAME
    command = config.switch_name
    name = usable_name(tree.name(command.tree), SWITCH_NAME)
    config.remarks.add(command.line, command.text, "understood", f"switches.{name}")
    return name


def _unused(config: NxosConfig, applied: Applied) -> None:
    """Adds remarks about unused maps."""
    used = applied.in_force()
    for (kind, name), policy in config.policy_maps.items():
        if any(policy is one for one in used):
            config.remarks.add(
                policy.command.line, policy.command.text, "understood", f"policy '{name}'"
            )
            continue
        commands = [policy.command, *(c for e in policy.classes for c in (e.command, *e.actions))]
        for command in commands:
            words = (
                "concerns control-plane traffic only"
                if kind == "control-plane"
                else f"policy-map '{name}' is not applied"
            )
            config.remarks.add(command.line, command.text, "no-effect", words)
            if command.verb == "mtu":
                config.mtus.append(
                    (command.line, tree.number(command.tree), command.text, f"policy-map {name}")
                )


def _left_over(config: NxosConfig) -> None:
    """Adds remarks for all remaining commands: they belong to maps that no applied policy uses."""
    used = {
        tree.name(access)
        for one in config.class_maps.values()
        for m in one.matches
        if (access := _access(m))
    }
    for name, entry in config.access_lists_unread:
        verdict, words, _ = meaning_of(entry.text)
        if name not in used:
            verdict, words = "no-effect", "no class matches this access list"
        config.remarks.add(entry.line, entry.text, verdict, words)
    remarked = {(remark.line, remark.text) for remark in config.remarks.found}
    for command in config.commands:
        if (command.line, command.text) not in remarked:
            config.remarks.add(
                command.line, command.text, "no-effect", "not used by any applied policy"
            )


def _access(match: ConfigCommand) -> Node | None:
    return tree.part(match.tree, "match_access")


def _classify(config: NxosConfig, policy: PolicyMap | None, section: Section) -> None:
    if policy is None:
        words = "no policy of type qos: the priority of a workload (0 to 7) is its qos-group"
        config.remarks.add(0, "", "assumed", words)
        return
    rules, policers = classify_of(config, policy)
    section.switch["classify"] = rules
    for own in section.policies.values() if policers else ():
        own["police"] = policers[0]
    for extra in policers[1:]:
        words = (
            f"a port has only one policer in a scenario; that of {extra['rate']} for class "
            f"{extra['priorities'][0]} is omitted"
        )
        config.remarks.add(0, "", "not-modelled", words)
