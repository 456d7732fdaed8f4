"""What a vendor's configuration cannot say: found by reading back what was written."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section, normal
from tailrace.scenario.switch import Policy, Switch

SWITCH_KEYS = ("policy", "classify")
"""What of a switch a configuration of queues is about; the rest is hardware."""
SHOWN_MAX = 60
"""Characters of a value that a remark shows."""


def compare(policy_name: str, policy: Policy, switch: Switch, read_back: Section, remarks: Remarks) -> None:
    """Says of everything that did not survive the way out and back."""
    policies, switch_back = read_back.models()
    back = policies.get(policy_name)
    if back is None:
        remarks.add(0, policy_name, "not-modelled", f"the policy came back under the name {', '.join(policies)}")
        return
    for path, was, became in _differences(normal(policy), normal(back), f"policies.{policy_name}"):
        remarks.add(0, path, "not-modelled", f"{_shown(was)} cannot be said; the configuration means {_shown(became)}")
    for key in SWITCH_KEYS:
        for path, was, became in _differences(getattr(switch, key), getattr(switch_back, key), f"switches.{key}"):
            remarks.add(
                0, path, "not-modelled", f"{_shown(was)} cannot be said; the configuration means {_shown(became)}"
            )
    for towards, other in switch.ports.items():
        if other != switch.policy:
            remarks.add(0, f"switches.ports.{towards}", "not-modelled", f"policy '{other}' of this port is not written")


def _differences(was: Any, became: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if was == became:
        return
    if isinstance(was, BaseModel) and type(was) is type(became) and not hasattr(was, "unit"):
        for name in type(was).model_fields:
            yield from _differences(getattr(was, name), getattr(became, name), f"{path}.{name}")
    elif isinstance(was, dict) and isinstance(became, dict):
        for key in [*was, *(key for key in became if key not in was)]:
            yield from _differences(was.get(key), became.get(key), f"{path}.{key}")
    elif isinstance(was, list) and isinstance(became, list) and any(isinstance(one, BaseModel) for one in was):
        lost = [(index, one) for index, one in enumerate(was) if one not in became]
        yield from ((f"{path}.{index}", one, None) for index, one in lost)
        if not lost:
            yield path, "the rules alone", f"{len(became)} rules"
    else:
        yield path, was, became


def _shown(value: object) -> str:
    if (kind := getattr(value, "kind", None)) is not None:
        return str(kind)
    if isinstance(value, BaseModel):
        value = {name: part for name in type(value).model_fields if (part := getattr(value, name)) is not None}
    text = "nothing" if value is None or value == [] else str(value)
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 3] + "..."
