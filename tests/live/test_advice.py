"""Changes that `tailrace advise` predicts, live: two of which live runs once made nothing."""

from pathlib import Path
from typing import Any

import pytest

import machine
from trial_files import read_trial

pytestmark = pytest.mark.slow  # three trials of four seconds, of which two are about times
CASES = Path(__file__).parents[2] / "scripts" / "advice_live"


def live(name: str, out: Path, *changes: str) -> dict[str, Any]:
    """One trial with a change of the scenario."""
    words = ("--set", "experiment.trials=1", "--set", "experiment.duration=4s", *changes)
    done = machine.tailrace("run", "--live", str(CASES / f"{name}.yaml"), "--out", str(out), *words)
    # A busy machine may make the trial invalid (3): what happened can be seen nevertheless.
    assert done.returncode in (0, 3), done.stdout + done.stderr
    outcome: dict[str, Any] = read_trial(out / "trials" / "base" / "1.json")
    return outcome


def test_responses_have_the_class_of_their_workload(tmp_path: Path) -> None:
    outcome = live("weights", tmp_path / "run", "--set", "experiment.warm_up=0s")
    [port] = [port for port in outcome["ports"] if port["towards"] == "client"]
    sent = {queue["name"]: queue["tx_bytes"] for queue in port["queues"]}
    [orders] = [workload for workload in outcome["workloads"] if workload["name"] == "orders"]
    assert orders["transactions"] > 0
    assert sent["orders"] > orders["goodput_bytes"]


def test_a_smaller_timeout_is_a_shorter_wait(tmp_path: Path) -> None:
    usual = live("timer", tmp_path / "usual")
    small = live("timer", tmp_path / "small", "--set", "hosts.defaults.tcp.rto_min=10ms")
    assert "rto_min lock 10ms" in small["live"]["settings"]["database"]["route"]
    waits = [outcome["workloads"][0]["latency"]["p50_ps"] / 1e9 for outcome in (usual, small)]
    assert waits[0] == pytest.approx(215, rel=0.1)
    assert waits[1] < waits[0] / 2
