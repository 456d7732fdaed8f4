"""Cores of a host in exact runs: programs wait for them as simulated ones do."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine import TAILRACE
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("cores.yaml")
LIMIT_S = 100


def median_ms(out: Path, *options: str) -> float:
    """Of the latency of one run."""
    command = [*TAILRACE, "run", str(SCENARIO), "--out", str(out), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert "ignored" not in done.stderr
    found: dict[str, Any] = read_trial(next(out.glob("trials/*/1.json")))
    return float(found["workloads"][0]["latency"]["p50_ps"]) / 1e9


def test_users_wait_for_a_core_as_simulated(tmp_path: Path) -> None:
    simulated, exact = median_ms(tmp_path / "simulated"), median_ms(tmp_path / "exact", "--exact")
    many = median_ms(tmp_path / "many", "--exact", "--set", "hosts.client.cpu.program_cores=4")
    assert exact == pytest.approx(simulated, rel=0.05)
    assert exact > 1.5 * many
