"""Which qos-group (0 to 7) a class of a queuing or network-qos policy is."""

import re

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import NxosConfig, PolicyClass

DEFAULT_CLASSES = frozenset(
    ("class-default", "c-out-8q-q-default", "c-out-q-default", "c-8q-nq-default", "c-nq-default")
)
"""Predefined classes of qos-group 0."""
NUMBERED_CLASS = re.compile(r"^c-(?:out-(?:8q-)?q|8q-nq|nq|4q-nq)([1-7])$")
"""Predefined classes of the other groups: c-out-8q-q7, c-8q-nq3, c-nq1 [S partly, K]."""
GROUP_MAX = 7


def group_of(config: NxosConfig, entry: PolicyClass) -> int | None:
    """The qos-group of a class; None, with a remark, when it has none."""
    numbered = NUMBERED_CLASS.match(entry.name)
    if numbered:
        return int(numbered[1])
    class_map = config.class_maps.get((entry.kind, entry.name))
    groups = {
        tree.number(wanted)
        for match in (class_map.matches if class_map else [])
        if (wanted := tree.part(match.tree, "match_group")) is not None
    }
    if entry.name in DEFAULT_CLASSES and not groups:
        return 0
    if len(groups) == 1 and max(groups) <= GROUP_MAX:
        _understand_matches(config, entry)
        return groups.pop()
    command = entry.command
    words = f"class '{entry.name}' is not predefined, and no class-map of type {entry.kind} has one 'match qos-group'"
    config.remarks.add(command.line, command.text, "not-understood", words)
    return None


def _understand_matches(config: NxosConfig, entry: PolicyClass) -> None:
    for match in config.class_maps[entry.kind, entry.name].matches:
        if tree.part(match.tree, "match_group") is not None:
            config.remarks.add(match.line, match.text, "understood", f"class '{entry.name}'")
        else:
            words = f"a class of type {entry.kind} is a qos-group; what else it matches is left out"
            config.remarks.add(match.line, match.text, "not-modelled", words)
