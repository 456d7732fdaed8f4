"""Request programs on real kernels in virtual time. What is not installed is named in the line that
skips the test."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine import TAILRACE
from tailrace.exact.registry import loads
from tailrace.programs.needed import path_of
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("requests.yaml")
LIMIT_S = 200
NAMES = ("wrk", "redis-benchmark", "dnsperf")
LINE_BPS = 100e6


def run(folder: Path) -> dict[str, Any]:
    """The outcome of a run."""
    command = [*TAILRACE, "run", str(SCENARIO), "--exact", "--trials", "1", "--out", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = read_trial(folder / "trials" / "base" / "1.json")
    return found


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of one run."""
    needed = {each for name in NAMES for each in loads()["request-response", name].needs}
    missing = [each.program for each in needed if path_of(each) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    return run(tmp_path_factory.mktemp("one") / "run")


def test_every_request_is_answered_by_the_real_server(outcome: dict[str, Any]) -> None:
    pages, values, transfers = outcome["workloads"]
    assert [each["transactions"] for each in (pages, values, transfers)] == [90, 200, 80]
    assert [each["latency"]["count"] for each in (pages, values, transfers)] == [90, 200, 80]
    assert transfers["goodput_bytes"] == 80 * 4000
    assert None not in pages["user_completion_ps"]
    # A response of 4 kB leaves in three frames: what the line needs, and the way there and back.
    least_ps = (4000 + 3 * 90) * 8 / LINE_BPS * 1e12 + 4 * 10e6
    assert least_ps < pages["latency"]["min_ps"] < 2 * least_ps


def test_what_was_run_is_recorded(outcome: dict[str, Any]) -> None:
    record = outcome["exact"]["programs"]
    assert all(record["versions"].values())
    assert record["commands"]["client/wrk-pages"][0] == "wrk"
    assert set(record["configurations"]) == {"nginx-web", "redis-server-cache", "knot-names"}
    assert set(record["reports"]) == {"pages", "values", "transfers"}


@pytest.mark.slow
def test_the_same_scenario_gives_the_same_trial(outcome: dict[str, Any], tmp_path: Path) -> None:
    one, other = outcome, run(tmp_path / "other")
    assert one["digest"] == other["digest"]
    assert [each["latency"] for each in one["workloads"]] == [
        each["latency"] for each in other["workloads"]
    ]
