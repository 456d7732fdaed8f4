"""Names that a run directory states: they become names of files and parts of sentences, as those of
a scenario do."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from tailrace.outcome.types import Outcome
from tailrace.plan.types import Plan
from tailrace.results.directory.manifest import Manifest
from tailrace.scenario.experiment import SOLO
from tailrace.scenario.sweep import AT, LABEL_PATTERN
from tailrace.scenario.text.quantities import NAME_PATTERN

_NAME = re.compile(NAME_PATTERN)
_LABEL = re.compile(LABEL_PATTERN)
_TRIAL = re.compile(r"[1-9][0-9]{0,8}")
SHOWN_CHARACTERS_MAX = 40
"""Of a name that is refused."""


def is_name(name: object) -> bool:
    """Whether a scenario may have such a name."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def is_arm(name: str) -> bool:
    """Whether a run may have such an arm: `fifo`, `solo:shop`, `fifo@buffer=1MB`."""
    arm, at, label = name.removeprefix(SOLO).partition(AT)
    return is_name(arm) and (not at or _LABEL.fullmatch(label) is not None)


def manifest_fault(manifest: Manifest) -> str:
    """Which name of a manifest is none; empty where all are."""
    arms: dict[str, Iterable[str]] = {
        "arms": manifest.arms,
        "baseline": [] if manifest.baseline is None else [manifest.baseline],
        "overrides": manifest.overrides or {},
        "plan_hashes": manifest.plan_hashes or {},
        "sweep.arms": manifest.sweep.arms if manifest.sweep else [],
    }
    names: dict[str, Iterable[str]] = {
        "workloads": manifest.workloads,
        "workload_scale": manifest.workload_scale,
        "groups": [
            *manifest.groups,
            *(one for members in manifest.groups.values() for one in members),
        ],
    }
    orders = {"order": [one for one in manifest.order if not _is_trial(one)]}
    found = [
        *((key, one) for key, of in arms.items() for one in of if not is_arm(one)),
        *((key, one) for key, of in names.items() for one in of if not is_name(one)),
        *((key, one) for key, of in orders.items() for one in of),
    ]
    return _words(found)


def _is_trial(text: str) -> bool:
    arm, _, number = text.rpartition("/")
    return is_arm(arm) and _TRIAL.fullmatch(number) is not None


def plan_fault(plan: Plan) -> str:
    """Which name of a plan is none; empty where all are."""
    headers = [own.header for own in plan.workloads]
    return _words(_bad(hosts=plan.hosts, switches=plan.switches, workloads=headers))


def outcome_fault(outcome: Outcome) -> str:
    """Which name of an outcome is none; empty where all are."""
    named = _bad(hosts=outcome.hosts, switches=outcome.switches, workloads=outcome.workloads)
    ports = [
        ("ports", name)
        for port in outcome.ports
        for name in (port.node, port.towards)
        if not is_name(name)
    ]
    return _words([*named, *ports])


def _bad(**named: Iterable[Any]) -> Iterator[tuple[str, str]]:
    return ((key, one.name) for key, of in named.items() for one in of if not is_name(one.name))


def _words(found: Iterable[tuple[str, str]]) -> str:
    """The sentence about the first of them."""
    for key, name in found:
        return f"{name[:SHOWN_CHARACTERS_MAX]!r} is no name - at `$.{key}`"
    return ""
