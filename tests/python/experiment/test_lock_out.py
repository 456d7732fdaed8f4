"""The reproduction `lock-out`, simulated for a short time: the finding holds, and a run that is
locked out says so."""

from pathlib import Path
from typing import Any

import pytest

import tailrace
from scenario_files import ROOT
from tailrace import results
from tailrace.results.summary.summary import Summary

FOLDER = ROOT / "reproductions" / "lock-out"
SHORT = {"experiment.duration": "2s"}
LOCKED = ["one-400k", "one-1M", "one-4M"]
HEALED = ["step-ecn", "red", "codel", "afd", "dpp", "own-queue", "sender-990"]


def run(path: Path, arms: list[str], out: Path, **changes: Any) -> Summary:
    return tailrace.run(path, arms=arms, trials=1, out=out, set={**SHORT, **changes}).summary


def locked_out(summary: Summary, arm: str) -> list[list[str]]:
    return [found.workloads for found in summary.arms[arm].lock_outs]


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return run(
        FOLDER / "scenario.yaml", [*LOCKED, *HEALED], tmp_path_factory.mktemp("lock-out") / "run"
    )


def test_what_the_reproduction_expects_holds(summary: Summary) -> None:
    judged = [verdict for verdict in summary.expectations if verdict.arm in [*LOCKED, *HEALED]]
    assert len(judged) >= len([*LOCKED, *HEALED])
    assert [verdict for verdict in judged if verdict.passed is not True] == []


@pytest.mark.parametrize("arm", LOCKED)
def test_a_port_in_lock_out_is_warned_of(summary: Summary, arm: str) -> None:
    (found,) = summary.arms[arm].lock_outs
    assert (found.workloads, found.port, found.queue) == (["small"], "leaf>client", "all")
    assert found.lost_share >= 10 * found.others_lost_share


@pytest.mark.parametrize("arm", HEALED)
def test_a_healthy_port_is_not(summary: Summary, arm: str) -> None:
    assert locked_out(summary, arm) == []


def test_the_warning_stands_in_the_terminal_and_in_the_report(workplace: Path) -> None:
    summary = run(FOLDER / "scenario.yaml", ["one-4M", "dpp"], workplace / "run")
    text = results.format_table(summary)
    page = (workplace / "run" / "report.html").read_text(encoding="utf-8")
    assert "warning: Lock-out with one-4M (1 of 1 trial): in queue 'all' of leaf>client" in text
    assert "Lock-out with dpp" not in text
    assert "Lock-out with one-4M" in page
    assert "Lock-out with dpp" not in page


def test_a_queue_of_its_own_is_not_of_equal_rank(workplace: Path) -> None:
    """A queue that is far too small loses what it loses, and is not locked out by the frames of
    another queue."""
    tiny = {"policies.classes.queues.small.limit": "10kB"}
    summary = run(FOLDER / "scenario.yaml", ["own-queue"], workplace / "run", **tiny)
    small = next(w for w in summary.arms["own-queue"].ports[0].queues if w.name == "small")
    assert small.drops_frames > 100
    assert locked_out(summary, "own-queue") == []


def test_the_file_for_both_engines_locks_out_too(workplace: Path) -> None:
    summary = run(FOLDER / "live.yaml", ["one-400k"], workplace / "run")
    assert locked_out(summary, "one-400k") == [["small"]]
