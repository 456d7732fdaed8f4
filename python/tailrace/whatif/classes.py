"""Names of queues in NX-OS configurations follow from the map of classes: a queue is called after
its first class.

The page puts them in by itself (`core.named`), as no step of one class can.
"""

import re
from collections.abc import Mapping
from typing import Any

from tailrace.importers.nxos.export import groups_of
from tailrace.scenario.scenario import Scenario
from tailrace.whatif.patch import PatchStep

VENDOR = "NX-OS"
NAME = re.compile(r"c-out-8q-q(?:\d|-default)")
_POLICY = re.compile(r"policy-map type queuing (\S+)$")

QueueLocation = tuple[str, int, str, str]
"""Switch, line, policy and queue of a name."""


def queue_locations(scenario: Scenario, configuration: Mapping[str, Any]) -> list[QueueLocation]:
    """Where the configuration of an arm has names of queues."""
    found: list[QueueLocation] = []
    for switch, written in configuration[VENDOR].items():
        usual = scenario.switch(switch).policy
        policy = ""
        for at, line in enumerate(written["lines"]):
            started = _POLICY.fullmatch(line)
            policy = started[1] if started else policy
            name = NAME.search(line)
            words = line.split()
            if name is None or (
                words[:3] == ["!", "tailrace", "name"]
                and words[-1] not in _queues(scenario, usual, words)
            ):
                continue
            if words[0] == "!":
                of = usual if len(words) == 5 else words[3]
                found.append((switch, at, of, words[-1]))
            elif words[:3] == ["class", "type", "queuing"] and (
                queue := _named(scenario, policy, name[0])
            ):
                found.append((switch, at, policy, queue))
    return found


def _queues(scenario: Scenario, usual: str, words: list[str]) -> list[str]:
    policy = scenario.policy(usual if len(words) == 5 else words[3])
    return list(policy.queues) if policy is not None else []


def _named(scenario: Scenario, policy: str, name: str) -> str | None:
    found = scenario.policy(policy)
    groups = groups_of(found) if found is not None else {}
    return next((queue for queue, group in groups.items() if class_name(group) == name), None)


def is_name(step: PatchStep) -> bool:
    """Whether a step changes a line of an NX-OS configuration: of the map of classes only names are
    there."""
    return bool(step[1][:1] == [VENDOR] and "lines" in step[1])


def class_name(group: int) -> str:
    """The name of the queue with a group."""
    return f"c-out-8q-q{group}" if group else "c-out-8q-q-default"


def named(configuration: Any, locations: list[QueueLocation], maps: Mapping[str, list[str]]) -> Any:
    """A copy of a configuration in which queues are called after the classes that are mapped to
    them, by policy."""
    lines = {switch: list(written["lines"]) for switch, written in configuration[VENDOR].items()}
    for switch, at, policy, queue in locations:
        ours = [
            location[3] for location in locations if (location[0], location[2]) == (switch, policy)
        ]
        group = groups(list(dict.fromkeys(ours)), maps[policy])[queue] if policy in maps else None
        if group is not None:
            lines[switch][at] = NAME.sub(class_name(group), lines[switch][at])
    return configuration | {
        VENDOR: {
            switch: {**one, "lines": lines[switch]} for switch, one in configuration[VENDOR].items()
        }
    }


def groups(queues: list[str], queue_of: list[str]) -> dict[str, int]:
    """The group of each queue: the first class above 0 that is mapped to it; that of class 0 has
    group 0, one without a class the last free one (`importers.nxos.export.groups_of`).
    """
    found = {queue_of[0]: 0}
    for queue in queues:
        own = [priority for priority, one in enumerate(queue_of) if priority and one == queue]
        if queue not in found and own:
            found[queue] = own[0]
    free = [
        priority for priority in reversed(range(len(queue_of))) if priority not in found.values()
    ]
    for queue in queues:
        if queue not in found:
            found[queue] = free.pop(0)
    return found
