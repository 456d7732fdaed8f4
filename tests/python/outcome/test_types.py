"""Outcomes are read as types, and what does not fit is named with its key."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from scenario_files import EXAMPLES
from tailrace.experiment import native
from tailrace.experiment.plans import Plans
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import TrialKey
from tailrace.outcome.types import Outcome
from tailrace.scenario.loading import load_scenario

DECODER = msgspec.json.Decoder(Outcome)
SCALE = 0.02
NAMES = [path.stem for path in EXAMPLES]


def outcome_of(name: str) -> dict[str, Any]:
    """That of the last arm of an example, as JSON."""
    loaded = load_scenario(next(path for path in EXAMPLES if path.stem == name))
    arm, scenario = list(loaded.arms.items())[-1]
    trial = native.make_trial(Plans({arm: scaled(scenario, SCALE)}).json(TrialKey(arm, 1)))
    pieces, _, _ = trial.run()
    found: dict[str, Any] = json.loads("".join(pieces))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_the_simulator_writes_is_an_outcome(name: str) -> None:
    written = outcome_of(name)
    read = DECODER.decode(json.dumps(written))
    assert [port.node for port in read.ports] == [port["node"] for port in written["ports"]]
    assert read.end_ps == written["end_ps"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda row: row | {"latencyy": 1},
            "Object contains unknown field `latencyy` - at `$.workloads[0]`",
        ),
        (
            lambda row: row | {"goodput_bytes": "x"},
            "Expected `int`, got `str` - at `$.workloads[0].goodput_bytes`",
        ),
        (
            lambda row: {key: row[key] for key in row if key != "cut_off"},
            "Object missing required field `cut_off` - at `$.workloads[0]`",
        ),
    ],
)
def test_what_is_none_is_refused_with_its_key(
    change: Callable[[dict[str, Any]], dict[str, Any]], told: str
) -> None:
    written = outcome_of("dpp")
    written["workloads"][0] = change(written["workloads"][0])
    with pytest.raises(msgspec.ValidationError) as refused:
        DECODER.decode(json.dumps(written))
    assert str(refused.value) == told
