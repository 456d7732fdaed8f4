"""`policy-map type qos`: classification rules and policers."""

import re
from typing import Any

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import ClassMap, NxosConfig, PolicyClass, PolicyMap
from tailrace.importers.nxos.groups import FCOE_CLASS, GROUP_MAX
from tailrace.importers.nxos.parse import ConfigCommand, Node
from tailrace.importers.section import rate, size
from tailrace.scenario.policies.classify import DSCP_NAMES, PROTOCOLS

Yaml = dict[str, Any]

CODE_POINT_MAX = 63
FCOE_PRIORITY = 3
"""Priority of FCoE frames (FC-BB-5), for which a Nexus 5000 has a class."""
RANGES = re.compile(r"[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*")
VLAN_MAX = 4094

BITS_PER_BYTE = 8
PS_PER_S = 10**12


def classify_of(config: NxosConfig, policy: PolicyMap) -> tuple[list[Yaml], list[Yaml]]:
    """Rules of classification in order, and policers."""
    rules: list[Yaml] = []
    policers: list[Yaml] = []
    members: dict[int, list[tuple[ConfigCommand, ConfigCommand | None]]] = {}
    otherwise = 0
    for entry in policy.classes:
        config.remarks.add(
            entry.command.line, entry.command.text, "understood", "a class of frames"
        )
        group = _group(config, entry)
        if entry.name == "class-default":
            otherwise = group or 0
        else:
            rules += [rule | {"class": group or 0} for rule in _conditions(config, entry)]
        police = [
            (action, made)
            for action in entry.actions
            if action.verb == "police" and (made := _police(config, action, group))
        ]
        policers += [made for _, made in police]
        members.setdefault(group or 0, []).append((entry.command, police[0][0] if police else None))
    _shared_groups(config, members)
    # Every frame that matches no class is in qos-group 0, whatever its priority.
    return [*rules, {"pcp": list(range(8)), "class": otherwise}], policers


def _shared_groups(
    config: NxosConfig, members: dict[int, list[tuple[ConfigCommand, ConfigCommand | None]]]
) -> None:
    """In a scenario a policer belongs to a qos-group; in NX-OS to a class, of which a group may
    have several."""
    for group, classes in members.items():
        for index, (command, police) in enumerate(classes):
            if police is None:
                continue
            for other, others in (pair for n, pair in enumerate(classes) if n != index):
                own = (
                    "has no policer"
                    if others is None
                    else f"has its own policer (line {others.line})"
                )
                words = (
                    f"in the scenario the policer of '{tree.name(command.tree)}' (line "
                    f"{command.line}) applies to all of qos-group {group}, which also contains "
                    f"'{tree.name(other.tree)}' (line {other.line}); that class {own}"
                )
                config.remarks.add(police.line, police.text, "not-modelled", words)


def _group(config: NxosConfig, entry: PolicyClass) -> int | None:
    group: int | None = None
    for action in (action for action in entry.actions if action.verb == "set"):
        wanted = tree.part(action.tree, "set_group")
        if wanted is None:
            config.remarks.add(
                action.line,
                action.text,
                "not-modelled",
                "marking of frames: workloads set priority and dscp themselves",
            )
        elif tree.number(wanted) > GROUP_MAX:
            config.remarks.add(
                action.line, action.text, "not-understood", f"a qos-group must be 0 to {GROUP_MAX}"
            )
        else:
            if group not in (None, tree.number(wanted)):
                words = f"the class already has qos-group {group}; this later line takes precedence"
                config.remarks.add(action.line, action.text, "contradiction", words)
            group = tree.number(wanted)
            config.remarks.add(action.line, action.text, "understood", f"class: {group}")
    return group


def _conditions(config: NxosConfig, entry: PolicyClass) -> list[Yaml]:
    class_map = config.class_maps.get(("qos", entry.name))
    if entry.name == FCOE_CLASS and (class_map is None or class_map.is_empty):
        words = f"the switch's predefined class: priority {FCOE_PRIORITY}"
        config.remarks.add(entry.command.line, entry.command.text, "assumed", words)
        return [{"pcp": [FCOE_PRIORITY]}]
    if class_map is None:
        command, words = entry.command, f"there is no class-map '{entry.name}' of type qos"
        config.remarks.add(command.line, command.text, "contradiction", words)
        return []
    if class_map.is_empty:
        words = f"class-map '{entry.name}' has no condition: no frame is in this class"
        config.remarks.add(entry.command.line, entry.command.text, "assumed", words)
    alternatives = [_condition(config, match) for match in class_map.matches]
    if class_map.unread and not class_map.is_any:
        command = entry.command
        words = (
            f"all conditions must match and line {class_map.unread[0]} is not supported: the "
            "class is omitted"
        )
        config.remarks.add(command.line, command.text, "not-modelled", words)
        return []
    return _either(alternatives) if class_map.is_any else _all_of(config, class_map, alternatives)


def _either(alternatives: list[list[Yaml]]) -> list[Yaml]:
    return [rule for rules in alternatives for rule in rules]


def _all_of(config: NxosConfig, class_map: ClassMap, alternatives: list[list[Yaml]]) -> list[Yaml]:
    """Conditions that must hold together; one with several rules (an access list) multiplies
    them."""
    together: list[Yaml] = [{}]
    for index, (match, rules) in enumerate(zip(class_map.matches, alternatives, strict=True)):
        if not rules:
            return []
        if rules in alternatives[:index]:
            continue  # Written twice, the condition is the same.
        if any(set(rule) & set(have) for rule in rules for have in together):
            words = "the class already has a condition of this kind, and both must hold"
            config.remarks.add(match.line, match.text, "not-modelled", words)
            return []
        together = [have | rule for have in together for rule in rules]
    return [rule for rule in together if rule]


def _condition(config: NxosConfig, match: ConfigCommand) -> list[Yaml]:
    """The conditions of one `match`; empty, with a remark, when a scenario cannot express it."""
    (part,) = tree.parts(
        match.tree,
        *(
            f"match_{kind}"
            for kind in ("cos", "dscp", "precedence", "vlan", "group", "access", "protocol")
        ),
    )
    rules = _rules(config, part)
    if rules:
        config.remarks.add(match.line, match.text, "understood", f"classify: {', '.join(rules[0])}")
    else:
        config.remarks.add(
            match.line,
            match.text,
            "not-modelled",
            "such frames get the class of the rules that follow",
        )
    return rules


def _rules(config: NxosConfig, part: Node) -> list[Yaml]:
    kind = str(part.data).removeprefix("match_")
    if kind == "access":
        return _access(config, tree.name(part))
    if kind not in ("cos", "dscp", "precedence", "vlan"):
        return []
    (values,) = tree.parts(part, "ranges", "code_points")
    found = _numbers(values)
    if kind == "cos":
        return [{"pcp": found}] if found and max(found) <= GROUP_MAX else []
    if kind == "vlan":
        return [{"vlan": found}] if found and min(found) >= 1 and max(found) <= VLAN_MAX else []
    if kind == "precedence":
        found = [8 * value + low for value in found for low in range(8)]
    return [{"dscp": found}] if found and max(found) <= CODE_POINT_MAX else []


def _numbers(values: Node) -> list[int]:
    """The values of `8-15,ef` or `46 af41`; none if a piece is neither a number, a range nor a name
    of a code point."""
    pieces = tree.listed(values).lower().split(",")
    text = ",".join(str(DSCP_NAMES.get(piece, piece)) for piece in pieces)
    return (tree.numbers(text) or []) if RANGES.fullmatch(text) else []


def _access(config: NxosConfig, name: str) -> list[Yaml]:
    rules: list[Yaml] = []
    access_list = config.access_lists.get(name)
    for permit in access_list.commands if access_list else []:
        rule = _permit(permit.tree)
        if rule:
            rules.append(rule)
            config.remarks.add(
                permit.line, permit.text, "understood", f"classify: {', '.join(rule)}"
            )
        else:
            words = "a rule by address: write source and destination as names of hosts"
            config.remarks.add(permit.line, permit.text, "not-modelled", words)
    return rules


def _permit(permit: Node) -> Yaml | None:
    protocol = tree.name(permit).lower()
    addresses = tree.parts(permit, "address")
    if protocol not in PROTOCOLS or any(not tree.words(address, "ANY") for address in addresses):
        return None
    rule: Yaml = {"protocol": protocol}
    side = "source_port"
    for child in tree.parts(permit, "address", "ports")[1:]:
        if child.data == "address":
            side = "destination_port"
            continue
        (bounds,) = tree.parts(child, "eq", "range")
        first, last = (int(value) for value in (tree.words(bounds, "INT") * 2)[:2])
        if not first <= last <= 65_535:
            return None
        rule[side] = first if first == last else f"{first}-{last}"
    return rule


def _police(config: NxosConfig, action: ConfigCommand, group: int | None) -> Yaml | None:
    amounts = tree.parts(action.tree, "amount")
    rate_bps = tree.amount(amounts[0], tree.RATE_UNITS, "bps")
    burst = _burst_bytes(amounts[1], rate_bps) if len(amounts) > 1 else None
    marks = [
        name
        for part in tree.parts(action.tree, "conform", "exceed", "violate")
        for name in tree.words(part, "NAME")
    ]
    if not rate_bps or (len(amounts) > 1 and not burst) or set(marks) - {"transmit", "drop"}:
        config.remarks.add(
            action.line,
            action.text,
            "not-modelled",
            "unsupported form: write police: {rate, burst} with a rate and a size",
        )
        return None
    config.remarks.add(action.line, action.text, "understood", "police")
    made: Yaml = {"rate": rate(rate_bps), "priorities": [group or 0]}
    return made | ({"burst": size(burst)} if burst else {})


def _burst_bytes(amount: Node, rate_bps: int | None) -> int | None:
    """A burst in bytes; a burst given as a time (`bc 200 ms`) is the bytes that the rate carries in
    it."""
    stated_ps = tree.amount(amount, tree.TIME_UNITS_PS, "")
    if stated_ps is None:
        return tree.amount(amount, tree.SIZE_UNITS, "bytes")
    return (rate_bps or 0) * stated_ps // (BITS_PER_BYTE * PS_PER_S)
