"""A run says where fair drop had no elephants to act on, and which age would have kept them."""

from pathlib import Path
from typing import Any

import pytest

from fake_run import FakeRun, change_plan
from tailrace.results import format_table, summarise
from tailrace.results.ports.fair_drop import KEPT
from trial_files import read_trial, write_trial

AGE_PS = 50 * 10**6
SILENCES = [4, 0, 95, 1, *[0] * 12]


def run_with(
    folder: Path, *, elephant_bytes: int = 20, full: int = 900, depth_bytes: float = 2e6
) -> Path:
    """A run whose arm `dpp` has fair drop at leaf1>client; two trials that counted this."""
    path = FakeRun(trials=2).write(folder / "run")
    for file in (path / "trials" / "dpp").glob("*.json"):
        outcome = read_trial(file)
        port = outcome["ports"][0]
        trap = {
            "found": 12,
            "evictions": 0,
            "bytes": 1000,
            "elephant_bytes": elephant_bytes,
            "silences": SILENCES,
        }
        port["elephants"] = trap
        queue = port["queues"][-1]
        queue["drops"] = {"tail-drop": {"frames": full, "bytes": 1500 * full}} if full else {}
        queue["depth_mean_bytes"] = depth_bytes
        write_trial(file, outcome)
    aqm: dict[str, Any] = {"afd": {"desired_bytes": 150_000, "ecn": False}}
    policy = {"queues": [{"name": queue["name"], "aqm": aqm}], "etrap": {"age_ps": AGE_PS}}
    change_plan(path, "dpp", switches=[{"name": port["node"], "policy": policy}])
    return path


def test_fair_drop_without_elephants_is_told_with_the_age_that_had_kept_them(
    tmp_path: Path,
) -> None:
    summary = summarise(run_with(tmp_path))
    [idle] = summary.arms["dpp"].idle_fair_drop
    assert (idle.port, idle.elephant_share, idle.full_frames) == ("leaf1>client", 0.02, 900)
    # 4 of 100 silences are below 2 periods, 99 below 8.
    assert KEPT == 0.9
    assert idle.age_needed_ps == 8 * AGE_PS
    told = " ".join(format_table(summary).split())
    assert (
        "With dpp, fair drop at leaf1>client applied to only 2 % of the bytes, and 900 frames "
        "per trial arrived at" in told
    )
    # One age to write is proposed, by `check`; the run says what was seen, in doublings of the age.
    assert (
        "90 % of their pauses were shorter than 400 µs, so `etrap.age` must be at least that"
        in told
    )
    assert "etrap: {age" not in told


def test_a_queue_that_is_too_deep_is_told_although_nothing_was_lost(tmp_path: Path) -> None:
    assert summarise(run_with(tmp_path, full=0)).arms["dpp"].idle_fair_drop != []


@pytest.mark.parametrize("counted", [{"elephant_bytes": 600}, {"full": 0, "depth_bytes": 1e5}])
def test_fair_drop_that_works_or_has_no_work_is_not_told(
    tmp_path: Path, counted: dict[str, Any]
) -> None:
    assert summarise(run_with(tmp_path, **counted)).arms["dpp"].idle_fair_drop == []
