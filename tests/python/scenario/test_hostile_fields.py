"""Hostile texts in fields of scenarios: refused, or no part of a plan. Programs are started by the
plan alone."""

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML

from hostile import hostile
from lab import load, problems, sound
from tailrace.errors import ScenarioError
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.text.quantities import Name

ROOT = Path(__file__).resolve().parents[3]
SCENARIOS = sorted(
    file
    for folder in ("examples", "tests/live", "tests/exact")
    for file in (ROOT / folder).glob("*.yaml")
)
BYTES_MAX = 6000
"""Of a file that is read again and again."""
NAMED = {
    "arms",
    "devices",
    "ets",
    "groups",
    "hosts",
    "hypervisors",
    "neighbours",
    "policies",
    "queues",
    "switches",
    "workloads",
}
"""Keys of mappings whose own keys are names."""
Where = tuple[str | int, ...]


@pytest.mark.parametrize("text", hostile("a"))
def test_a_name_is_refused_with_anything_else(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Name).validate_python(text)
    assert TypeAdapter(Name).validate_python("a") == "a"
    hosts = problems(sound(network__topology__hosts=["client", "db", "bulk", text]))
    assert any("is not a name" in problem for problem in hosts)


def test_a_host_whose_name_ends_with_a_line_break_is_refused() -> None:
    data = sound()
    text = json.dumps(data).replace('"bulk"', '"bulk\\n"')
    assert [
        one
        for one in problems(json.loads(text))
        if "network.topology.hosts: 'bulk\\n' is not a name" in one
    ]


def leaves(node: object, at: Where = ()) -> Iterator[tuple[Where, bool]]:
    """Places of texts, and of keys."""
    for key, below in (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    ):
        if isinstance(key, str):
            yield (*at, key), True
        yield from leaves(below, (*at, key))
    if isinstance(node, str):
        yield at, False


def pattern(data: dict[str, Any], at: Where) -> Where:
    """The place without names and numbers: one of each is tried. Kinds of workloads have keys of
    their own."""
    workload = data["workloads"].get(at[1]) if at[0] == "workloads" and len(at) > 1 else None
    kind = str(workload.get("kind")) if isinstance(workload, dict) else ""
    names = [
        "*" if isinstance(key, int) or (n and at[n - 1] in NAMED) else key
        for n, key in enumerate(at)
    ]
    return (kind, *names)


def changed(
    data: dict[str, Any], at: Where, *, is_key: bool, number: int
) -> tuple[dict[str, Any], str]:
    """The scenario with a hostile text in this place, and the text."""
    made = copy.deepcopy(data)
    place: Any = made
    for key in at[:-1]:
        place = place[key]
    old = str(at[-1]) if is_key else place[at[-1]]
    forms = hostile(old)
    text = forms[number % len(forms)]
    if not is_key:
        place[at[-1]] = text
        return made, text
    entries = [(text if key == old else key, value) for key, value in place.items()]
    place.clear()
    place.update(entries)
    return made, text


@cache
def cases() -> list[tuple[str, dict[str, Any], Where, bool]]:
    """Every place of every scenario, once for its pattern."""
    found: dict[tuple[Where, bool], tuple[str, dict[str, Any], Where, bool]] = {}
    for file in SCENARIOS:
        data = YAML(typ="safe").load(file.read_text(encoding="utf-8"))
        if (
            file.stat().st_size <= BYTES_MAX
            and "include" not in data
            and "file:" not in file.read_text(encoding="utf-8")
        ):
            for at, is_key in leaves(data):
                found.setdefault((pattern(data, at), is_key), (file.name, data, at, is_key))
    return list(found.values())


def test_no_hostile_text_of_a_scenario_reaches_a_plan() -> None:
    assert len(cases()) > 500
    refused, reaching = 0, []
    for number, (file, data, at, is_key) in enumerate(cases()):
        for form in (0, number):  # a line break at the end, and one of the others
            made, text = changed(data, at, is_key=is_key, number=form)
            try:
                plans = [
                    canonical_json(lower(arm, name, 1))
                    for name, arm in load_scenario(made).arms.items()
                ]
            except ScenarioError:
                refused += 1
                continue
            written = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
            if any(one in plan for one in written for plan in plans):
                reaching.append((file, at, text))
    assert reaching == []
    assert refused > len(cases()), "most are refused"


@pytest.mark.parametrize("text", hostile("client"))
def test_what_set_writes_is_checked_as_the_file(text: str) -> None:
    with pytest.raises(ScenarioError):
        load_scenario(sound(), {"workloads.orders.client": text})
    with pytest.raises(ScenarioError):
        load_scenario(sound(), {f"policies.{text}": {"queues": {"q": {}}}})
    assert load().scenario.name == "sound"
