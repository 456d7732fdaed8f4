"""BBR: real kernels and the model share a port in the same way."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine import TAILRACE
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("bbr.yaml")
LIMIT_S = 200
BAND = 0.10


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A simulated and an exact run."""
    folder = tmp_path_factory.mktemp("bbr")
    runs = [(folder / "simulated", []), (folder / "exact", ["--exact"])]
    for out, options in runs:
        command = [*TAILRACE, "run", str(SCENARIO), "--out", str(out), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done.stderr
    return [out for out, _ in runs]


def goodput_mbps(outcome: dict[str, Any]) -> dict[str, float]:
    """Of each workload."""
    return {
        each["name"]: 8e6 * each["goodput_bytes"] / outcome["end_ps"]
        for each in outcome["workloads"]
    }


@pytest.mark.parametrize("arm", ["shallow", "deep"])
def test_streams_have_the_goodput_that_is_simulated(engines: list[Path], arm: str) -> None:
    simulated, exact = (read_trial(out / "trials" / arm / "1.json") for out in engines)
    rates = goodput_mbps(exact)
    assert sum(rates.values()) > 150
    assert goodput_mbps(simulated) == pytest.approx(rates, rel=BAND)


def test_bbr_overruns_a_shallow_queue_in_both(engines: list[Path]) -> None:
    outcomes = [read_trial(out / "trials" / "shallow" / "1.json") for out in engines]
    simulated, exact = (each["workloads"][0]["tcp"]["retransmits"] for each in outcomes)
    assert exact > 30
    assert simulated == pytest.approx(exact, rel=0.5)
