"""The qos-group (0 to 7) of a class of a queuing or network-qos policy."""

import re

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import NxosConfig, PolicyClass

DEFAULT_CLASSES = frozenset(
    (
        "class-default",
        "c-out-8q-q-default",
        "c-out-q-default",
        "c-in-q-default",
        "c-in-8q-q-default",
        "c-8q-nq-default",
        "c-nq-default",
    )
)
"""Predefined classes of qos-group 0."""
NUMBERED_CLASS = re.compile(r"^c-(?:(?:out|in)-(?:8q-)?q|8q-nq|nq|4q-nq)([1-7])$")
"""Predefined classes of the other groups: c-out-8q-q7, c-in-q3, c-8q-nq3, c-nq1 [S partly, K]."""
INPUT_CLASS = re.compile(r"^c-in-")
"""Predefined classes of input queues."""
FOUR_QUEUES = re.compile(r"^c-(?:out-q|nq|4q-nq)[1-3]$")
"""Predefined classes of switches with four queues, of which the third is the strict one [K]."""
FCOE_CLASS, FCOE_GROUP = "class-fcoe", 1
"""Predefined class of a Nexus 5000 and its qos-group [K]."""
MULTICAST_CLASSES = frozenset(("class-all-flood", "class-ip-multicast"))
"""Predefined classes of a Nexus 5000 for multicast frames."""
GROUP_MAX = 7


def group_of(config: NxosConfig, entry: PolicyClass) -> int | None:
    """The qos-group of a class; None, with a remark, for a class without one."""
    numbered = NUMBERED_CLASS.fullmatch(entry.name)
    if numbered:
        return int(numbered[1])
    class_map = config.class_maps.get((entry.kind, entry.name))
    groups = _groups(config, entry)
    if entry.name in DEFAULT_CLASSES and not groups:
        return 0
    if entry.name == FCOE_CLASS and (class_map is None or class_map.is_empty):
        return FCOE_GROUP
    if entry.name in MULTICAST_CLASSES:
        words = "a class of multicast frames"
        config.remarks.add(entry.command.line, entry.command.text, "not-modelled", words)
        return None
    if len(groups) == 1 and max(groups) <= GROUP_MAX:
        _understand_matches(config, entry)
        return groups.pop()
    command = entry.command
    words = (
        f"class '{entry.name}' is not predefined, and no class-map of type {entry.kind} has "
        "one 'match qos-group'"
    )
    config.remarks.add(command.line, command.text, "not-understood", words)
    return None


def _groups(config: NxosConfig, entry: PolicyClass) -> set[int]:
    """The qos-groups that a class-map matches; a network-qos class may match priorities instead."""
    class_map = config.class_maps.get((entry.kind, entry.name))
    matches = class_map.matches if class_map else []
    groups = {
        tree.number(wanted)
        for match in matches
        if (wanted := tree.part(match.tree, "match_group")) is not None
    }
    if groups or entry.kind != "network-qos":
        return groups
    for match in matches:
        wanted = tree.part(match.tree, "match_cos")
        priorities = (
            []
            if wanted is None
            else tree.numbers(tree.listed(tree.parts(wanted, "ranges")[0])) or []
        )
        if len(priorities) == 1 and priorities[0] <= GROUP_MAX:
            words = f"priority {priorities[0]} is in qos-group {priorities[0]}"
            config.remarks.add(match.line, match.text, "assumed", words)
            groups |= set(priorities)
    return groups or _paused(config, entry)


def _paused(config: NxosConfig, entry: PolicyClass) -> set[int]:
    """The priority that a network-qos class without conditions pauses."""
    for action in (action for action in entry.actions if action.verb == "pause"):
        for part in tree.parts(action.tree, "pause_cos"):
            priorities = tree.numbers(tree.listed(tree.parts(part, "ranges")[0])) or []
            if len(priorities) == 1 and priorities[0] <= GROUP_MAX:
                words = (
                    f"no class-map of type {entry.kind} is called '{entry.name}': this line says "
                    f"that it is priority {priorities[0]}"
                )
                config.remarks.add(action.line, action.text, "assumed", words)
                return set(priorities)
    return set()


def _understand_matches(config: NxosConfig, entry: PolicyClass) -> None:
    class_map = config.class_maps.get((entry.kind, entry.name))
    for match in class_map.matches if class_map else []:
        if tree.part(match.tree, "match_group") is not None:
            config.remarks.add(match.line, match.text, "understood", f"class '{entry.name}'")
        elif entry.kind != "network-qos" or tree.part(match.tree, "match_cos") is None:
            words = (
                f"a class of type {entry.kind} selects a qos-group; its "
                "other conditions are omitted"
            )
            config.remarks.add(match.line, match.text, "not-modelled", words)
