"""Requests that a real program sends at a rate, whatever its server does."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine import TAILRACE
from tailrace.exact.registry import loads
from tailrace.programs.needed import path_of
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("arrivals.yaml")
LIMIT_S = 200


def workloads(out: Path, *engine: str) -> dict[str, Any]:
    command = [*TAILRACE, "run", str(SCENARIO), *engine, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    outcome = read_trial(out / "trials" / "base" / "1.json")
    return {one["name"]: one for one in outcome["workloads"]}


def test_dnsperf_keeps_the_rate_and_its_latencies_are_the_simulated_ones(tmp_path: Path) -> None:
    missing = [
        each.program
        for each in loads()["request-response", "dnsperf"].needs
        if path_of(each) is None
    ]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    real, simulated = workloads(tmp_path / "exact", "--exact"), workloads(tmp_path / "simulated")
    for name, count in (("queries", 500), ("transfers", 300)):
        # A query in each gap, from the begin of the trial to its end or to the last one.
        assert real[name]["transactions"] == pytest.approx(simulated[name]["transactions"], abs=2)
        assert real[name]["transactions"] >= count
        assert real[name]["request_counts"]["failed"] == 0
        assert real[name]["latency"]["p50_ps"] == pytest.approx(
            simulated[name]["latency"]["p50_ps"], rel=0.1
        )
    assert real["transfers"]["completion_ps"] == pytest.approx(
        simulated["transfers"]["completion_ps"], rel=0.01
    )
