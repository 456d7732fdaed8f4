"""The JSON Schema accepts what the program accepts, and refuses bare numbers and unknown keys as it
does."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab import sound
from mini_schema import faults
from scenario_files import SCENARIOS
from tailrace.scenario.schema import scenario_schema
from tailrace.scenario.starter import STARTER
from tailrace.scenario.text.document import parse_document
from tailrace.scenario.text.including import read_scenario

pytestmark = pytest.mark.smoke

SCHEMA = scenario_schema()


def test_the_schema_is_json_and_describes_every_key() -> None:
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    for name, part in {"top": SCHEMA, **SCHEMA["$defs"]}.items():
        for key, spec in part["properties"].items():
            assert key == "kind" or spec.get("description"), f"{name}.{key}"


def test_defaults_are_written_as_people_write_them() -> None:
    tcp = SCHEMA["$defs"]["Tcp"]["properties"]
    assert tcp["rto_min"]["default"] == "200ms"
    assert SCHEMA["$defs"]["Switch"]["properties"]["buffer"]["default"] == "12MB"
    assert SCHEMA["$defs"]["Queue"]["properties"]["limit"]["default"] == "dynamic(8)"
    assert SCHEMA["$defs"]["Nic"]["properties"]["rx_jitter"]["default"] == "exponential(2us)"


def test_every_default_matches_its_own_pattern() -> None:
    for part in SCHEMA["$defs"].values():
        for key, spec in part["properties"].items():
            if isinstance(spec.get("default"), str):
                assert faults(spec["default"], spec, SCHEMA, key) == []


@pytest.mark.parametrize(
    "path", SCENARIOS, ids=lambda path: path.stem if path.stem != "scenario" else path.parent.name
)
def test_shipped_scenarios_are_valid(path: Path) -> None:
    assert faults(read_scenario([path]).data, SCHEMA, SCHEMA) == []


def test_the_starter_is_valid() -> None:
    assert faults(parse_document(STARTER, "starter").data, SCHEMA, SCHEMA) == []


@pytest.mark.parametrize(
    "change",
    [
        {"workloads__orders__gap": 7},
        {"workloads__orders__userz": 3},
        {"workloads__orders__users": -1},
        {"network__link__rate": "10Gbit"},
        {"switches__leaf__buffer": "4KB"},
        {"policies__dpp__queues__normal": {"limit": "dynamic"}},
        {"network__topology__kind": "ring"},
        {"hosts__a__tcp__congestion_control": "vegas"},
    ],
)
def test_what_the_program_refuses_the_schema_refuses(change: dict[str, Any]) -> None:
    assert faults(sound(), SCHEMA, SCHEMA) == []
    assert faults(sound(**change), SCHEMA, SCHEMA) != []
