"""Reading run directories: complete, partial, and broken ones."""

import json
from pathlib import Path

import pytest

from fake_run import FakeRun
from tailrace.results import Run, RunDirectoryError


def test_arms_and_workloads_keep_the_order_of_the_scenario(tmp_path: Path) -> None:
    run = Run.read(FakeRun(trials=1).write(tmp_path / "run"))
    assert run.arms == ["fifo", "dpp"]
    assert run.workloads == ["XS", "S", "M", "L1", "L2"]
    assert list(run.trials)[2:] == [f"solo:{name}" for name in run.workloads]
    assert not run.is_partial


def test_trials_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    run = Run.read(FakeRun(trials=11, with_solo=False).write(tmp_path / "run"))
    assert [trial.number for trial in run.valid("fifo")] == list(range(1, 12))


def test_only_valid_trials_count(tmp_path: Path) -> None:
    fake = FakeRun(failed={("dpp", 2)}, invalid={("fifo", 1)}, missing={("dpp", 6)})
    run = Run.read(fake.write(tmp_path / "run"))
    assert [trial.number for trial in run.valid("fifo")] == [2, 3, 4, 5, 6]
    assert [trial.number for trial in run.valid("dpp")] == [1, 3, 4, 5]
    assert run.missing("dpp") == [6]
    assert run.is_partial


def test_frames_that_are_unaccounted_for_make_a_trial_invalid(tmp_path: Path) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    file = path / "trials" / "fifo" / "1.json"
    outcome = json.loads(file.read_text())
    outcome["conservation"]["delivered"] -= 3
    file.write_text(json.dumps(outcome))
    trial = Run.read(path).trials["fifo"][0]
    assert trial.status == "invalid"
    assert trial.reason.startswith("3 of ")


def test_a_cancelled_trial_does_not_count(tmp_path: Path) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    file = path / "trials" / "fifo" / "2.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"cancelled": True}))
    run = Run.read(path)
    assert run.trials["fifo"][1].status == "cancelled"
    assert len(run.valid("fifo")) == 1


def test_a_folder_that_is_no_run_is_named_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"manifest\.json: no such file \(hint: "):
        Run.read(tmp_path)


@pytest.mark.parametrize(("text", "what"), [("{", "cannot be read"), ("[]", "not a JSON object")])
def test_a_broken_trial_is_named(tmp_path: Path, text: str, what: str) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    (path / "trials" / "fifo" / "1.json").write_text(text)
    with pytest.raises(RunDirectoryError, match=rf"fifo/1\.json: {what}.*hint"):
        Run.read(path)
