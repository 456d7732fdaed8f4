"""Solo calibration: each workload alone takes the wanted time, by its count or by its gap."""

import json
from pathlib import Path
from typing import Any

import pytest

import fake_native
from lab import load
from sealing import seal
from tailrace.errors import RunRefusedError
from tailrace.experiment.options import Options
from tailrace.experiment.run import ExperimentRun
from trial_files import read_trial

pytestmark = pytest.mark.usefixtures("fake", "workplace")

SECOND = 10**12
LARGE = {
    "kind": "oltp",
    "client": "client",
    "server": "bulk",
    "users": 2,
    "transactions": 150,
    "round_trips": [{"response": "3MB"}],
    "gap": "exponential(9ms)",
}


def calibrated(
    spec: dict[str, Any], **changes: object
) -> tuple[ExperimentRun, dict[str, dict[str, Any]]]:
    loaded = load(
        workloads__large=LARGE, workloads__backup=..., experiment__calibrate=spec, **changes
    )
    experiment = ExperimentRun(loaded, Options(jobs=2))
    experiment.run()
    text = (experiment.directory.path / "calibration.json").read_text(encoding="utf-8")
    return experiment, {choice["workload"]: choice for choice in json.loads(text)["choices"]}


def solo_s(path: Path, name: str) -> float:
    outcome = read_trial(path / f"trials/solo-{name}/1.json")
    return float(outcome["workloads"][0]["completion_ps"]) / SECOND


def test_counts_are_chosen_so_that_each_workload_alone_takes_the_time() -> None:
    experiment, choices = calibrated({"to": "2s"})
    for name in ("orders", "large"):
        assert solo_s(experiment.directory.path, name) == pytest.approx(2, rel=0.01)
        assert choices[name]["gap_factor"] == 1
    assert choices["orders"]["transactions"] > choices["large"]["transactions"]


def test_what_a_probe_could_not_know_is_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    alone_ps = fake_native._transaction_ps

    def slow_when_long(raw: dict[str, Any]) -> float:
        return alone_ps(raw) + (3e9 if raw["transactions"] > 50 else 0)

    monkeypatch.setattr(fake_native, "_transaction_ps", slow_when_long)
    experiment, choices = calibrated({"to": "2s"})
    assert choices["orders"]["rounds"] > 1
    assert solo_s(experiment.directory.path, "orders") == pytest.approx(2, rel=0.01)


def test_the_wanted_time_may_be_the_whole_duration() -> None:
    _, choices = calibrated({"to": "5s"})
    assert all(abs(choice["error"]) < 0.01 for choice in choices.values())
    assert any(choice["rounds"] > 0 for choice in choices.values())


def test_every_arm_gets_the_same_choice() -> None:
    experiment, choices = calibrated({"to": "2s"})
    counts = {
        scenario.workloads["orders"].transactions  # type: ignore[attr-defined]  # it is an OLTP workload
        for scenario in experiment.scenarios.values()
    }
    assert counts == {choices["orders"]["transactions"]}


def test_gaps_are_stretched_and_counts_kept() -> None:
    experiment, choices = calibrated({"to": "2s", "method": "gap"})
    assert {name: choice["transactions"] for name, choice in choices.items()} == {
        "orders": 100,
        "large": 150,
    }
    for name in ("orders", "large"):
        assert solo_s(experiment.directory.path, name) == pytest.approx(2, rel=0.01)
    assert choices["orders"]["gap_factor"] != choices["large"]["gap_factor"]


def test_a_shared_gap_has_one_factor_that_misses_nobody_by_more_than_needed() -> None:
    _, choices = calibrated({"to": "2s", "method": "gap", "share_gap": True})
    assert choices["orders"]["gap_factor"] == choices["large"]["gap_factor"]
    errors = [choice["error"] for choice in choices.values()]
    assert min(errors) < 0 < max(errors)


def test_only_the_named_workloads_are_calibrated() -> None:
    _, choices = calibrated({"to": "2s", "workloads": ["orders"]})
    assert list(choices) == ["orders"]


def test_a_workload_that_is_too_much_for_the_time_is_refused() -> None:
    with pytest.raises(RunRefusedError, match="workload large cannot be calibrated by its gap"):
        calibrated({"to": "300ms", "method": "gap"})


def test_a_gap_without_a_count_is_refused() -> None:
    with pytest.raises(RunRefusedError, match="needs `transactions`"):
        calibrated({"to": "2s", "method": "gap"}, workloads__orders__transactions=...)


def test_results_of_other_choices_are_not_mixed_in() -> None:
    first, _ = calibrated({"to": "2s"})
    path = first.directory.path / "calibration.json"
    changed = json.loads(path.read_text(encoding="utf-8"))
    changed["choices"][0]["transactions"] += 1
    path.write_text(json.dumps(changed), encoding="utf-8")
    calibrated({"to": "2s"})  # the file is damaged: the same choices are made again
    path.write_text(json.dumps(changed), encoding="utf-8")
    seal(path)
    with pytest.raises(RunRefusedError, match="with a different plan"):
        calibrated({"to": "2s"})


def test_a_calibration_on_which_the_simulator_breaks_is_refused_with_its_words() -> None:
    with pytest.raises(
        RunRefusedError, match=r"calibration of workload .* failed: a queue forgot a frame"
    ):
        calibrated({"to": "2s"}, name="broken")


def test_a_resumed_run_takes_the_choices_that_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    first, choices = calibrated({"to": "2s"})
    from tailrace.experiment import calibrate

    def fail(*_: object) -> None:
        raise AssertionError("calibrated again")

    monkeypatch.setattr(calibrate, "_Calibration", fail)
    again, same = calibrated({"to": "2s"})
    assert again.directory.path == first.directory.path
    assert same == choices


def test_an_interrupted_calibration_continues_with_what_was_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    undisturbed, _ = calibrated({"to": "2s"})
    expected = (undisturbed.directory.path / "calibration.json").read_text(encoding="utf-8")
    plans: list[str] = []
    run_of = fake_native.Trial.run
    limit = 3

    def counted(trial: fake_native.Trial) -> object:
        if len(plans) == limit:
            raise OSError("disk full")
        plans.append(json.dumps(trial.plan, sort_keys=True))
        return run_of(trial)

    monkeypatch.setattr(fake_native.Trial, "run", counted)
    loaded = load(workloads__large=LARGE, workloads__backup=..., experiment__calibrate={"to": "2s"})
    with pytest.raises(OSError, match="disk full"):
        ExperimentRun(loaded, Options(jobs=1, out=Path("again"))).run()
    assert len(list(Path("again/calibration").iterdir())) == limit
    before, limit = list(plans), 1000
    ExperimentRun(loaded, Options(jobs=1, out=Path("again"))).run()
    assert not set(before) & set(plans[len(before) :]), "what was measured is not run again"
    assert Path("again/calibration.json").read_text(encoding="utf-8") == expected
    assert not Path("again/calibration").exists(), "the choices replace it"
