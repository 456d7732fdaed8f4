"""Workloads with priorities in exact runs: every frame of theirs has it, at both ends."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine import TAILRACE
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("priorities.yaml")
LIMIT_S = 200
AGREE = 0.03


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """Simulated and exact."""
    found = []
    for engine in ("", "--exact"):
        out = tmp_path_factory.mktemp("run")
        command = [
            *TAILRACE,
            "run",
            str(SCENARIO),
            "--out",
            str(out),
            *([engine] if engine else []),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done.stderr
        found.append(read_trial(next(out.glob("trials/*/1.json"))))
    return found[0], found[1]


def queues(outcome: dict[str, Any]) -> dict[tuple[str, str], int]:
    """Frames by neighbour of the switch and queue."""
    return {
        (port["towards"], queue["name"]): queue["tx_frames"]
        for port in outcome["ports"]
        for queue in port["queues"]
    }


def test_what_is_served_first_is_as_fast_as_simulated(
    outcomes: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    simulated, exact = (
        {each["name"]: each for each in outcome["workloads"]} for outcome in outcomes
    )
    assert exact["orders"]["transactions"] == pytest.approx(
        simulated["orders"]["transactions"], rel=AGREE
    )
    assert exact["copy"]["goodput_bytes"] == pytest.approx(
        simulated["copy"]["goodput_bytes"], rel=AGREE
    )


def test_requests_answers_and_acknowledgements_have_the_priority(
    outcomes: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    simulated, exact = map(queues, outcomes)
    assert {place: frames == 0 for place, frames in exact.items()} == {
        place: frames == 0 for place, frames in simulated.items()
    }
    for place in (("app", "first"), ("app", "rest"), ("db", "first")):
        assert exact[place] == pytest.approx(simulated[place], rel=0.1)
