"""Kind `frames` over a live fabric: every frame that was sent has arrived or was dropped by the
switch."""

from pathlib import Path
from typing import Any

import pytest

import machine
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("frames.yaml")
RUN_LIMIT_S = 150
DURATION_S, STARTED_S = 3, 0.5
FLOOD = ("rate=null", "start=300ms", "count=1000")
"""Frames one behind the other: their sender needs a core for milliseconds, and they wait in its
host."""
SINK_LINK = "network.links=[{between: [leaf, sink], rate: 10Mbit/s}]"
"""Half of the rate at which the frames of a host come: of eight that follow each other, four wait,
6 kB."""
AWAY = "threads were away"
"""What a sender tells that left out frames."""


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run without a warm-up, and with a flood that ends before it, so that switch and ends count
    the same frames."""
    out, before = tmp_path_factory.mktemp("frames") / "run", machine.picture()
    flood = (f"workloads.flood.{change}" for change in FLOOD)
    times = (f"experiment.duration={DURATION_S}s", "experiment.warm_up=0s")
    changed = (*times, SINK_LINK, "policies.split.queues.normal.limit=6kB", *flood)
    options = [word for change in changed for word in ("--set", change)]
    done = machine.tailrace(
        "run", "--live", str(SCENARIO), *options, "--out", str(out), limit_s=RUN_LIMIT_S
    )
    machine.assert_ended(done)
    assert machine.wait_until_gone(str(out)) == []
    assert machine.picture() == before
    found: dict[str, Any] = read_trial(out / "trials" / "base" / "1.json")
    return found


def counts_of(trial: dict[str, Any], name: str) -> dict[str, int]:
    found: dict[str, int] = next(
        one["datagrams"] for one in trial["workloads"] if one["name"] == name
    )
    return found


def test_frames_are_conserved(trial: dict[str, Any]) -> None:
    workloads = [one["name"] for one in trial["workloads"]]
    sent, delivered = (
        sum(counts_of(trial, name)[key] for name in workloads) for key in ("sent", "delivered")
    )
    dropped = sum(row["frames"] for switch in trial["switches"] for row in switch["losses"])
    assert sent == delivered + dropped
    assert dropped > 0, "the flood overfills a queue of 6 kB, whenever its sender has a core"


def test_a_count_is_sent_whole_and_arrives(trial: dict[str, Any]) -> None:
    assert counts_of(trial, "counted") == {"sent": 302, "delivered": 302, "refused": 0}


def test_a_rate_is_kept_by_its_threads(trial: dict[str, Any]) -> None:
    sent = counts_of(trial, "marked")["sent"]
    # On a busy machine the threads hear later of the end, and leave out what is due while they have
    # no core.
    assert sent <= 1.2 * 400 * (trial["end_ps"] / 1e12 - STARTED_S)
    assert (
        sent >= 0.8 * 400 * (DURATION_S - STARTED_S)
        or AWAY in trial["live"]["programs"]["reports"]["marked"]
    )
