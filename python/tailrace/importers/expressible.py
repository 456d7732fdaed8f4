"""Settings that a vendor's configuration cannot express: found by reading the written configuration
back."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section, normal
from tailrace.importers.wording import words_of
from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.policies.limit import Limit
from tailrace.scenario.policies.switch import Policy, Switch

HARDWARE_KEYS = ("buffer", "switching", "latency")
"""Keys of a switch that are properties of its hardware; no queueing configuration sets them."""
SHOWN_MAX = 60
"""Characters of a value that a remark shows."""

Found = Iterator[tuple[str, Any, Any, FieldInfo | None]]


def compare(
    exported: dict[str, Policy], switch: Switch, read_back: Section, remarks: Remarks
) -> None:
    """Adds a remark for every setting of the policies and the switch that differs after export and
    import."""
    policies, switch_back = read_back.models()
    for name, policy in exported.items():
        back = policies.get(name)
        if back is None:
            remarks.add(
                0,
                name,
                "not-modelled",
                f"the policy was read back under the name {', '.join(policies)}",
            )
            continue
        for path, was, became, field in _differences(
            normal(policy), normal(back), f"policies.{name}"
        ):
            _remark(path, was, became, field, remarks)
    _rules(switch.classify, switch_back.classify, remarks)
    for key in HARDWARE_KEYS:
        field = Switch.model_fields[key]
        value = getattr(switch, key)
        is_written = key in switch_back.model_fields_set and value == getattr(switch_back, key)
        if key in switch.model_fields_set and not is_written:
            words = (
                f"{_shown(value, field)} is a property of the switch hardware; no command sets it"
            )
            remarks.add(0, f"switches.{key}", "not-modelled", words)
    if switch.bridge_priority != switch_back.bridge_priority:
        words = f"{switch.bridge_priority} is not written: the configuration covers queueing only"
        remarks.add(0, "switches.bridge_priority", "not-modelled", words)
    if switch.mtu is not None and read_back.mtu_bytes != switch.mtu:
        remarks.add(0, "switches.mtu", "not-modelled", f"{switch.mtu} bytes are not written")
    for towards, mtu in switch.port_mtu.items():
        if mtu != switch.mtu and switch_back.port_mtu.get(towards) != mtu:
            remarks.add(
                0,
                f"switches.port_mtu.{towards}",
                "not-modelled",
                "the MTU of this port is not written",
            )
    for towards, other in switch.ports.items():
        if other != switch.policy and switch_back.ports.get(towards) != other:
            remarks.add(
                0,
                f"switches.ports.{towards}",
                "not-modelled",
                f"policy '{other}' of this port is not written",
            )


def _rules(were: list[Rule], became: list[Rule], remarks: Remarks) -> None:
    """Remarks about lost rules, rules that the vendor adds, and a different order."""
    lost = [(index, rule) for index, rule in enumerate(were) if rule not in became]
    for index, rule in lost:
        words = f"{_shown(rule)} cannot be expressed, or is expressed differently"
        remarks.add(0, f"switches.classify.{index}", "not-modelled", words)
    added = [rule for rule in became if rule not in were]
    if added:
        words = "the configuration also has the rules " + ", ".join(_shown(rule) for rule in added)
        remarks.add(0, "switches.classify", "not-modelled", words)
    if not lost and not added and were != became:
        remarks.add(
            0, "switches.classify", "not-modelled", "the rules were read back in a different order"
        )


def _remark(path: str, was: Any, became: Any, field: FieldInfo | None, remarks: Remarks) -> None:
    means = "does not set it" if became is None else f"means {_shown(became, field)}"
    if was is None:
        words = f"the configuration means {_shown(became, field)}, which the scenario does not set"
    else:
        words = f"{_shown(was, field)} cannot be expressed; the configuration {means}"
    remarks.add(0, path, "not-modelled", words)


def _differences(was: Any, became: Any, path: str, field: FieldInfo | None = None) -> Found:
    if was == became:
        return
    if isinstance(was, BaseModel) and type(was) is type(became) and not isinstance(was, Limit):
        for name, inner in type(was).model_fields.items():
            yield from _differences(
                getattr(was, name), getattr(became, name), f"{path}.{name}", inner
            )
    elif isinstance(was, dict) and isinstance(became, dict):
        for key in [*was, *(key for key in became if key not in was)]:
            yield from _differences(was.get(key), became.get(key), f"{path}.{key}", field)
    else:
        yield path, was, became, field


def _shown(value: object, field: FieldInfo | None = None) -> str:
    text = words_of(value, field)
    return text if len(text) <= SHOWN_MAX else text[: SHOWN_MAX - 3] + "..."
