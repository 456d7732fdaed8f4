"""A run explains one trial of each arm without being asked, as far as that costs a third of it."""

from pathlib import Path

import pytest

import tailrace
from tailrace.experiment import explain
from tailrace.experiment.reporter import Silent
from tailrace.results import Run
from tailrace.results.causes.record import path_of

LATE_S = 0.2
SCENARIO = {
    "tailrace": 1,
    "name": "itself",
    "network": {
        "topology": {"kind": "star", "switch": "leaf", "hosts": ["web", "db", "bak"]},
        "link": {"rate": "1Gbit/s"},
    },
    "workloads": {
        "shop": {
            "kind": "oltp",
            "client": "web",
            "server": "db",
            "users": 4,
            "gap": "exponential(2ms)",
            "round_trips": [{"request": "200B", "response": "8kB"}],
        },
        "backup": {"kind": "stream", "source": "bak", "destination": "web", "start": f"{LATE_S}s"},
    },
    "experiment": {"duration": "400ms", "trials": 2},
}


def records(path: Path) -> list[Path]:
    """Of explained trials."""
    return sorted(path.glob("trials/*/*.causes.json"))


def test_a_short_run_is_explained_whole_and_nothing_else_changes(tmp_path: Path) -> None:
    found = tailrace.run(SCENARIO, out=tmp_path / "run")
    plain = tailrace.run(SCENARIO, out=tmp_path / "plain", explain=False)
    assert [file.name for file in records(found.path)] == ["1.causes.json"]
    assert records(plain.path) == []
    own, other = (of.summary.arms["base"] for of in (found, plain))
    assert own.digests == other.digests
    causes = own.workloads["shop"].causes
    assert causes
    assert (causes.where, other.workloads["shop"].causes) == ("trial 1", None)


def test_of_a_long_run_the_beginning_is_explained_with_what_starts_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explain, "UNASKED_EVENTS", 0)
    found = tailrace.run(SCENARIO, out=tmp_path / "run")
    causes = found.summary.arms["base"].workloads["shop"].causes
    assert causes
    assert causes.until_s
    run = Run.read(found.path)
    share = explain.unasked_share(run, run.with_outcome("base")[:1])
    assert 0.1 < share < 2 / 3 / explain.COST, "transactions cost something, too"
    assert causes.until_s == pytest.approx(LATE_S + (0.4 - LATE_S) * share, rel=1e-3)
    assert causes.where == f"the first {causes.until_s:.3g} s of trial 1"
    assert {name for band in causes.bands for name in band.behind} == {"shop", "backup"}
    whole = (
        tailrace.run(SCENARIO, out=tmp_path / "whole", explain=True)
        .summary.arms["base"]
        .workloads["shop"]
        .causes
    )
    assert whole
    assert whole.until_s is None
    assert whole.transactions > causes.transactions > 0


def test_a_run_of_which_nothing_can_be_explained_has_no_warning(tmp_path: Path) -> None:
    streams = {**SCENARIO, "workloads": {"backup": SCENARIO["workloads"]["backup"]}}  # type: ignore[index]
    found = tailrace.run(streams, out=tmp_path / "run")
    assert found.passed
    assert records(found.path) == []
    assert not explain.explain_finished(found.path, 1, Silent(), is_asked=True)


def test_more_transactions_than_are_explained_unasked_make_the_beginning_shorter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tailrace.run(SCENARIO, out=tmp_path / "run", explain=False)
    run = Run.read(found.path)
    trial = run.with_outcome("base")[0]
    assert explain.unasked_share(run, [trial]) == 1
    monkeypatch.setattr(explain, "UNASKED_MAX", trial.workloads["shop"].transactions // 2)
    assert explain.unasked_share(run, [trial]) == pytest.approx(0.5, rel=0.01)
    assert not path_of(trial).exists()
