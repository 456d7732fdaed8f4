"""What limits connections of real kernels: a scenario for each cause, beside the simulator's
verdict."""

import subprocess
from pathlib import Path

import pytest

from machine import TAILRACE
from tailrace.results import summarise

SCENARIO = Path(__file__).with_name("limits.yaml")
LIMIT_S = 300
EXPECTED = {
    "line": "interface",
    "receive-window": "receive_window",
    "send-buffer": "send_buffer",
    "bottleneck": "congestion",
    "cap": "rate_cap",
    "application": "application",
    "late-reader": "receiver_processor",
}


def verdicts(out: Path, *options: str) -> dict[str, str]:
    """Of the first workload of each arm."""
    command = [*TAILRACE, "run", str(SCENARIO), "--out", str(out), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    arms = summarise(out).arms
    first = {arm: "report" if arm == "late-reader" else "copy" for arm in arms}
    found = {arm: found for arm, own in arms.items() if (found := own.workloads[first[arm]].limits)}
    for arm, limits in found.items():
        shares = {cause: sample.mean or 0.0 for cause, sample in limits.shares_percent.items()}
        assert sum(shares.values()) == pytest.approx(100), (arm, shares)
    return {arm: limits.limited_by for arm, limits in found.items()}


@pytest.mark.parametrize(
    "options", [(), pytest.param(("--exact",), marks=pytest.mark.slow)], ids=["simulated", "exact"]
)
def test_the_verdict_names_the_cause(options: tuple[str, ...], tmp_path: Path) -> None:
    assert verdicts(tmp_path / "run", *options) == EXPECTED


@pytest.mark.parametrize("arm", ["application", "cap"])
def test_real_kernels_name_a_cause(arm: str, tmp_path: Path) -> None:
    assert verdicts(tmp_path / "run", "--exact", "--arm", arm) == {arm: EXPECTED[arm]}
