"""`policy-map type network-qos`: MTU, dynamic packet prioritisation and lossless classes."""

from dataclasses import dataclass, field
from typing import Any

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import NxosConfig, PolicyClass, PolicyMap
from tailrace.importers.nxos.groups import GROUP_MAX, MULTICAST_CLASSES, group_of
from tailrace.importers.nxos.parse import ConfigCommand, Node
from tailrace.importers.section import size

Yaml = dict[str, Any]


@dataclass
class NetworkQos:
    """The settings of the network-qos policy."""

    express_group: tuple[int, ConfigCommand] | None = None
    dpp_groups: list[int] = field(default_factory=list)
    """Classes whose flows are prioritised."""
    lossless: dict[int, Yaml] = field(default_factory=dict)
    """Thresholds by qos-group; empty for a class without any."""
    obeys_only: bool = False
    is_sound: bool = True
    """Whether the qos-group of every lossless class is known."""


def network_qos_of(config: NxosConfig, policy: PolicyMap) -> NetworkQos:
    """The classes of the policy."""
    found = NetworkQos()
    for entry in policy.classes:
        group = group_of(config, entry)
        if group is None:
            for action in entry.actions:
                words = f"the command belongs to class '{entry.name}', which is not imported"
                config.remarks.add(action.line, action.text, "not-modelled", words)
                if action.verb == "pause" and entry.name not in MULTICAST_CLASSES:
                    words = (
                        f"class '{entry.name}' is lossless, but no line says which qos-group it is"
                    )
                    config.remarks.add(action.line, action.text, "contradiction", words)
                    found.is_sound = False
            continue
        config.remarks.add(
            entry.command.line, entry.command.text, "understood", f"qos-group {group}"
        )
        for action in entry.actions:
            if action.verb == "mtu":
                _mtu(config, entry, group, action)
            elif action.verb == "dpp":
                _dpp(config, found, group, action)
            else:
                _pause(config, found, group, action)
    return found


def _mtu(config: NxosConfig, entry: PolicyClass, group: int, action: ConfigCommand) -> None:
    """The remark about it is added after all classes have been read, because they may differ."""
    mtu = tree.number(action.tree)
    config.mtus.append((action.line, mtu, action.text, f"class {entry.name}"))
    config.class_mtus[group] = (mtu, action)


def _dpp(config: NxosConfig, found: NetworkQos, group: int, action: ConfigCommand) -> None:
    express = tree.number(action.tree)
    if express > GROUP_MAX:
        config.remarks.add(
            action.line, action.text, "not-understood", f"a qos-group must be 0 to {GROUP_MAX}"
        )
        return
    if found.express_group is not None and found.express_group[0] != express:
        words = (
            f"line {found.express_group[1].line} names qos-group {found.express_group[0]}; "
            "this later line takes precedence"
        )
        config.remarks.add(action.line, action.text, "contradiction", words)
    found.express_group = (express, action)
    found.dpp_groups.append(group)
    words = f"dpp.express: the queue of qos-group {express}; dpp.priorities: {group}"
    config.remarks.add(action.line, action.text, "understood", words)


def _pause(config: NxosConfig, found: NetworkQos, group: int, action: ConfigCommand) -> None:
    thresholds = found.lossless.setdefault(group, {})
    for part in tree.parts(action.tree, "pause_cos", "pause_buffer"):
        if part.data == "pause_cos":
            (ranges,) = tree.parts(part, "ranges")
            if tree.numbers(tree.listed(ranges)) != [group]:
                words = (
                    f"a pause of another priority than the class: qos-group {group} pauses "
                    f"priority {group}"
                )
                config.remarks.add(action.line, action.text, "not-modelled", words)
            found.obeys_only |= bool(tree.words(part, "RECEIVE"))
        else:
            thresholds |= thresholds_of(config, action, part)
    config.remarks.add(action.line, action.text, "understood", f"pfc: priority {group} is lossless")


def thresholds_of(config: NxosConfig, action: ConfigCommand, part: Node) -> Yaml:
    """`xoff`, `headroom` and `xon_offset`; empty, with a remark, where the numbers are not in
    ascending order."""
    buffer, xoff, xon = (int(value) for value in tree.words(part, "INT"))
    if not xon <= xoff < buffer:
        words = "resume-threshold <= pause-threshold < buffer-size must hold"
        config.remarks.add(action.line, action.text, "contradiction", words)
        return {}
    return {"xoff": size(xoff), "headroom": size(buffer - xoff), "xon_offset": size(xoff - xon)}
