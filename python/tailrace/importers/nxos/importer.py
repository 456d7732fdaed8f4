"""From an NX-OS configuration to the switch section of a scenario."""

from typing import Any

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.classes import classify_of
from tailrace.importers.nxos.config import NxosConfig, PolicyMap, read
from tailrace.importers.nxos.hardware import Hardware, hardware_of, pausing_of
from tailrace.importers.nxos.network_qos import NetworkQos, network_qos_of
from tailrace.importers.nxos.parse import Command
from tailrace.importers.nxos.queuing import default_queues, queues_of
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import PRIORITIES, Section, usable_name

SWITCH_NAME = "switch"
"""Name where a configuration states none."""
POLICY_NAME = "nxos"
"""Name of the policy where no policy-map of type queuing names it."""
PREDEFINED = {
    "queuing": ("default-out-policy", "default-8q-out-policy"),
    "network-qos": ("default-nq-policy", "default-8q-nq-policy"),
}
"""Policies that every switch has [K]: what is taken here where no other is in force."""

Yaml = dict[str, Any]


def import_nxos(text: str, host_mtus: dict[str, int] | None = None) -> tuple[Section, Remarks]:
    """The section, and a remark about every line. `host_mtus` of a scenario are compared with the configuration's."""
    config = read(text)
    applied = _applied(config)
    section = Section(switch_name=_switch_name(config))
    queuing = applied.get("queuing")
    policy_name = usable_name(queuing.name, POLICY_NAME) if queuing else POLICY_NAME
    groups = queues_of(config, queuing) if queuing else _without_queuing(config)
    network = network_qos_of(config, applied["network-qos"]) if "network-qos" in applied else NetworkQos()
    hardware = hardware_of(config)
    section.policies[policy_name] = _policy(config, groups, network, hardware)
    section.switch["policy"] = policy_name
    _classify(config, applied.get("qos"), section, policy_name)
    _unused(config, applied)
    section.mtu_bytes = _mtu(config, host_mtus or {})
    _left_over(config)
    section.check(config.remarks)
    return section, config.remarks


def _switch_name(config: NxosConfig) -> str:
    if config.switch_name is None:
        return SWITCH_NAME
    command = config.switch_name
    name = usable_name(tree.name(command.tree), SWITCH_NAME)
    config.remarks.add(command.line, command.text, "understood", f"switches.{name}")
    return name


def _applied(config: NxosConfig) -> dict[str, PolicyMap]:
    """The policy-map of each type that is in force: named below `system qos` or an interface, or else the last one."""
    applied: dict[str, tuple[PolicyMap, Command]] = {}
    predefined: set[str] = set()
    for place in (config.system, *config.interfaces):
        for command in (c for c in place.commands if c.verb == "service_policy"):
            _apply(config, command, applied, predefined)
    for (kind, _), policy in config.policy_maps.items():
        candidates = [name for of, name in config.policy_maps if of == kind]
        if kind == "control-plane" or kind in applied or kind in predefined:
            continue
        if policy.name == candidates[-1]:
            others = f"; '{', '.join(candidates[:-1])}' is not used" if len(candidates) > 1 else ""
            words = f"no service-policy applies a policy of type {kind}: '{policy.name}' (the last) is taken{others}"
            config.remarks.add(policy.command.line, policy.command.text, "assumed", words)
            applied[kind] = (policy, policy.command)
    return {kind: policy for kind, (policy, _) in applied.items()}


def _apply(
    config: NxosConfig, command: Command, applied: dict[str, tuple[PolicyMap, Command]], predefined: set[str]
) -> None:
    kind, name = tree.map_type(command.tree), tree.name(command.tree)
    direction = (tree.word(command.tree, "DIRECTION") or "").lower()
    policy = config.policy_maps.get((kind, name))
    if kind == "queuing" and direction == "input":
        config.remarks.add(command.line, command.text, "not-modelled", "input queues: this model queues at the output")
    elif policy is None and name in PREDEFINED.get(kind, ()):
        predefined.add(kind)
        config.remarks.add(command.line, command.text, "understood", "the switch's own policy")
    elif policy is None:
        config.remarks.add(
            command.line, command.text, "contradiction", f"there is no policy-map '{name}' of type {kind}"
        )
    elif kind in applied and applied[kind][0] is not policy:
        first = applied[kind][1]
        words = f"line {first.line} applies '{applied[kind][0].name}'; one policy for all ports is imported, that one"
        config.remarks.add(command.line, command.text, "not-modelled", words)
    else:
        applied.setdefault(kind, (policy, command))
        config.remarks.add(command.line, command.text, "understood", f"'{name}' is in force")


def _unused(config: NxosConfig, applied: dict[str, PolicyMap]) -> None:
    """Maps that nothing uses."""
    for (kind, name), policy in config.policy_maps.items():
        if policy is applied.get(kind):
            config.remarks.add(policy.command.line, policy.command.text, "understood", f"policy '{name}'")
            continue
        commands = [policy.command, *(c for e in policy.classes for c in (e.command, *e.actions))]
        for command in commands:
            words = (
                "traffic to the switch itself" if kind == "control-plane" else f"policy-map '{name}' is not in force"
            )
            config.remarks.add(command.line, command.text, "no-effect", words)
            if command.verb == "mtu":
                config.mtus.append((command.line, tree.number(command.tree), command.text, f"policy-map {name}"))


def _left_over(config: NxosConfig) -> None:
    """Whatever has no remark yet belongs to a map that nothing in force uses."""
    told = {(remark.line, remark.text) for remark in config.remarks.found}
    for command in config.commands:
        if (command.line, command.text) not in told:
            config.remarks.add(command.line, command.text, "no-effect", "nothing that is in force uses it")


def _without_queuing(config: NxosConfig) -> dict[int, Yaml]:
    words = (
        "no policy-map of type queuing: the switch's own is taken, queue 7 strict and the default queue for the rest"
    )
    config.remarks.add(0, "", "assumed", words)
    return default_queues()


def _policy(config: NxosConfig, groups: dict[int, Yaml], network: NetworkQos, hardware: Hardware) -> Yaml:
    _default_group(config, groups)
    if network.express_group is not None:
        _express(config, groups, *network.express_group)
    for group, queue in list(groups.items()):
        if queue.get("share") == "0%":
            words = f"queue {group} has no share: its frames are served with the default queue's"
            config.remarks.add(0, "", "assumed", words)
            groups.pop(group)
    _default_group(config, groups)
    names = {group: _queue_name(config, group) for group in groups}
    policy: Yaml = {
        "queues": {names[group]: queue for group, queue in groups.items()},
        "priorities": {p: names.get(p, names[0]) for p in PRIORITIES},
    }
    if network.express_group is not None:
        classes = sorted(set(network.dpp_groups))
        which = {} if classes == list(PRIORITIES) else {"priorities": classes}
        policy["dpp"] = hardware.dpp | {"express": names[network.express_group[0]]} | which
    has_afd = any(queue.get("aqm", {}).get("kind") == "afd" for queue in groups.values())
    hardware.used(config, has_dpp=network.express_group is not None, has_afd=has_afd)
    if has_afd and hardware.etrap:
        policy["etrap"] = hardware.etrap
    return policy | pausing_of(config, network)


def _default_group(config: NxosConfig, groups: dict[int, Yaml]) -> None:
    if 0 not in groups:
        config.remarks.add(
            0, "", "assumed", "the policy does not speak of the default queue: it has what the others leave"
        )
        groups[0] = default_queues()[0]


def _express(config: NxosConfig, groups: dict[int, Yaml], group: int, command: Command) -> None:
    queue = groups.get(group)
    if queue is None:
        config.remarks.add(0, "", "assumed", f"the policy does not speak of queue {group}: strict priority, for dpp")
        groups[group] = {"strict": 1, **default_queues()[0]}
    elif "strict" not in queue:
        words = f"dpp needs a priority queue, and the queue of qos-group {group} is none (add: priority level 1)"
        config.remarks.add(command.line, command.text, "contradiction", words)


def _queue_name(config: NxosConfig, group: int) -> str:
    usual = f"q{group}" if group else "q-default"
    return usable_name(config.names.get(f"c-out-8q-{usual}", usual), usual)


def _classify(config: NxosConfig, policy: PolicyMap | None, section: Section, policy_name: str) -> None:
    if policy is None:
        words = "no policy of type qos: the priority of a workload (0 to 7) is its qos-group"
        config.remarks.add(0, "", "assumed", words)
        return
    rules, policers = classify_of(config, policy)
    section.switch["classify"] = rules
    if policers:
        section.policies[policy_name]["police"] = policers[0]
    for extra in policers[1:]:
        words = f"a port has one policer here; that of {extra['rate']} for class {extra['priorities'][0]} is left out"
        config.remarks.add(0, "", "not-modelled", words)


def _mtu(config: NxosConfig, host_mtus: dict[str, int]) -> int | None:
    """The MTU of the default class, after every other number that the configuration gives has been compared with it."""
    for interface in config.interfaces:
        for command in (c for c in interface.commands if c.verb == "mtu"):
            config.remarks.add(command.line, command.text, "understood", "MTU of a port: hosts.NAME.mtu")
            config.mtus.append((command.line, tree.number(command.tree), command.text, interface.name))
    for command in (c for c in config.everywhere if c.verb == "jumbo"):
        config.remarks.add(command.line, command.text, "understood", "the largest MTU that ports may have")
        largest = tree.number(command.tree)
        for line, mtu, text, _ in config.mtus:
            if mtu > largest:
                config.remarks.add(line, text, "contradiction", f"line {command.line} allows at most {largest}")
    claims = sorted({claim for claim in config.mtus if not _is_other_class(claim[3])})
    stated = next((mtu for _, mtu, _, where in claims if where.startswith("class ")), claims[0][1] if claims else None)
    lines = {mtu: line for line, mtu, _, _ in reversed(claims)}
    for line, mtu, text, _ in claims:
        other = next((m for m in sorted(lines) if m != mtu), None)
        if other is not None:
            config.remarks.add(line, text, "contradiction", f"an MTU of {mtu} here, of {other} on line {lines[other]}")
    for host, mtu in host_mtus.items():
        if stated is not None and mtu > stated:
            words = f"hosts.{host} of the scenario sends packets of {mtu} bytes, the switch is configured for {stated}"
            config.remarks.add(lines[stated], f"mtu {stated}", "contradiction", words)
    return stated


def _is_other_class(where: str) -> bool:
    """Lossless classes may have an MTU of their own (FCoE: 2158)."""
    return where.startswith("class ") and not where.endswith(("default", "class-default"))
