"""The values that are edited in the drawing of a page: of every policy that its arms use, numbers,
shares and the queue of each class, and the classes of the rules by which switches classify.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tailrace.scenario.policies.pause import PRIORITIES
from tailrace.scenario.policies.switch import Policy
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.sweep import text_of
from tailrace.whatif.knobs import Knob, around, label_of, leaves, value_at

DRAWN_MAX = 96
"""Values of one drawing, at most."""
RULES_MAX = 16
"""Rules of classification of one switch whose classes can be edited."""
PPB_PER_MILLE = 10**6
"""Shares are stated in thousandths, which are the weights of a plan."""
NUMBERS = (
    "limit",
    "reserved",
    "threshold",
    "minimum",
    "maximum",
    "probability",
    "desired",
    "target",
    "interval",
    "ce_threshold",
    "set_point",
    "min",
    "max",
    "rate",
    "burst",
    "max_packets",
    "age",
    "xoff",
    "xon_offset",
    "headroom",
    "byte_count",
    "bandwidth_threshold",
)
"""Keys of a policy whose numbers are edited in the drawing."""
FOLD = 2
"""Every second of the multiples of a number are enough to know whether plans follow it."""
DEFAULT_LIMIT = "dynamic(8)"


def drawn_of(
    data: Mapping[str, Any], scenarios: Mapping[str, Scenario], taken: Sequence[str]
) -> list[Knob]:
    """The knobs of the drawing of these arms, without those that have a slider."""
    made = [
        knob
        for name, policy in _used(scenarios).items()
        for knob in _of_policy(data, name, policy, taken)
    ]
    return [knob for knob in (*made, *_rules(data)) if knob.path not in taken][:DRAWN_MAX]


def shares_group(name: str) -> str:
    """The group of the shares of a policy."""
    return f"shares of {name}"


def _used(scenarios: Mapping[str, Scenario]) -> dict[str, Policy]:
    """The policies that are written in the file and have a port, in its order."""
    names = {name for scenario in scenarios.values() for name in used_policies(scenario)}
    first = next(iter(scenarios.values()))
    return {name: policy for name, policy in first.policies.items() if name in names}


def used_policies(scenario: Scenario) -> set[str]:
    """Names of the policies of its switches' ports."""
    switches = map(scenario.switch, scenario.graph.switches)
    return {name for switch in switches for name in (switch.policy, *switch.ports.values())}


def _of_policy(
    data: Mapping[str, Any], name: str, policy: Policy, taken: Sequence[str]
) -> Iterator[Knob]:
    at = f"policies.{name}"
    written = value_at(data, at)
    numbers = [
        (path, value) for path, value in leaves(written, at) if path.rsplit(".", 1)[-1] in NUMBERS
    ]
    limits = [f"{at}.queues.{queue}.limit" for queue in policy.queues]
    unstated = [(path, DEFAULT_LIMIT) for path in limits if value_at(data, path) is None]
    for path, value in [*unstated, *numbers]:
        values = _some(value)
        if len(values) > 1:
            texts = [text_of(one) for one in values]
            yield _knob(
                data, path, values, texts.index(text_of(value)) if text_of(value) in texts else 0
            )
    if not any(path.startswith(f"{at}.queues.") and path.endswith(".share") for path in taken):
        yield from _shares(data, name, policy)
    if len(policy.queues) > 1:
        yield from _map(data, name, policy)


def _some(value: Any) -> list[Any]:
    """Some multiples of a number; shares of whole thousandths, at most all."""
    values = around(value)
    if values and str(value).endswith("%"):
        numbers = dict.fromkeys(round(float(str(one)[:-1]), 1) for one in values)
        return [
            *dict.fromkeys(
                [*(f"{one:g}%" for one in numbers if 0 < one <= 100), str(value).replace(" ", "")]
            )
        ]
    return [one for one in values if one in values[::FOLD] or text_of(one) == text_of(value)]


def _shares(data: Mapping[str, Any], name: str, policy: Policy) -> Iterator[Knob]:
    """A share for each weighted queue, in thousandths."""
    shares = policy.shares()
    for queue, share in shares.items() if len(shares) > 1 else ():
        milli = max(1, min(1000, round(share / PPB_PER_MILLE)))
        text = f"{milli / 10:g}%"
        path = f"policies.{name}.queues.{queue}.share"
        yield _knob(data, path, [text], 0, shares_group(name))


def _map(data: Mapping[str, Any], name: str, policy: Policy) -> Iterator[Knob]:
    """The queue of each class. With pauses the queue of unlisted ones depends on the others: all
    are stated then."""
    queues = list(policy.queues)
    for priority in range(PRIORITIES):
        start = queues.index(policy.queue_of(priority))
        group = f"classes of {name}" if policy.pfc is not None else ""
        yield _knob(data, f"policies.{name}.priorities.{priority}", queues, start, group)


def _rules(data: Mapping[str, Any]) -> Iterator[Knob]:
    """The class that each rule gives."""
    for switch, written in (data.get("switches") or {}).items():
        rules = written.get("classify") if isinstance(written, Mapping) else None
        for index, rule in enumerate(rules[:RULES_MAX] if isinstance(rules, list) else ()):
            own = rule.get("class") if isinstance(rule, Mapping) else None
            if isinstance(own, int) and 0 <= own < PRIORITIES:
                yield _knob(
                    data, f"switches.{switch}.classify.{index}.class", list(range(PRIORITIES)), own
                )


def _knob(
    data: Mapping[str, Any], path: str, values: Sequence[Any], start: int, group: str = ""
) -> Knob:
    return Knob(path, tuple(values), start, label_of(data, path), is_drawn=True, group=group)
