"""Request programs on real kernels in virtual time. What is not installed is named in the line that skips the test."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine import TAILRACE
from tailrace.exact import program
from tailrace.exact.registry import loads
from tailrace.programs.needed import path_of

SCENARIO = Path(__file__).with_name("requests.yaml")
LIMIT_S = 200
NAMES = ("wrk", "redis-benchmark", "dnsperf")
LINE_BPS = 100e6

pytestmark = pytest.mark.skipif(program.kernel() is None, reason="there is no kernel of exact runs (make exact-deps)")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Of two runs of the same scenario."""
    needed = {each for name in NAMES for each in loads()["request-response", name].needs}
    missing = [each.program for each in needed if path_of(each) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    found = []
    for attempt in ("one", "other"):
        out = tmp_path_factory.mktemp(attempt) / "run"
        command = [*TAILRACE, "run", str(SCENARIO), "--exact", "--trials", "1", "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done.stderr
        found.append(json.loads((out / "trials" / "base" / "1.json").read_text(encoding="utf-8")))
    return found


def test_every_request_is_answered_by_the_real_server(outcomes: list[dict[str, Any]]) -> None:
    pages, values, transfers = outcomes[0]["workloads"]
    assert [each["transactions"] for each in (pages, values, transfers)] == [90, 200, 80]
    assert [each["latency"]["count"] for each in (pages, values, transfers)] == [90, 200, 80]
    assert transfers["goodput_bytes"] == 80 * 4000
    assert None not in pages["user_completion_ps"]
    # A response of 4 kB leaves in three frames: what the line needs, and the way there and back.
    least_ps = (4000 + 3 * 90) * 8 / LINE_BPS * 1e12 + 4 * 10e6
    assert least_ps < pages["latency"]["min_ps"] < 2 * least_ps


def test_what_was_run_is_recorded(outcomes: list[dict[str, Any]]) -> None:
    record = outcomes[0]["exact"]["programs"]
    assert all(record["versions"].values())
    assert record["commands"]["client/wrk-pages"][0] == "wrk"
    assert set(record["configurations"]) == {"nginx-web", "redis-server-cache", "knot-names"}
    assert set(record["reports"]) == {"pages", "values", "transfers"}


def test_the_same_scenario_gives_the_same_trial(outcomes: list[dict[str, Any]]) -> None:
    one, other = outcomes
    assert one["digest"] == other["digest"]
    assert [each["latency"] for each in one["workloads"]] == [each["latency"] for each in other["workloads"]]
