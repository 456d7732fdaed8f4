"""Reading run directories: complete, partial, and broken ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from arro3.core import DataType

from fake_run import FakeRun
from tailrace.results import Run, RunDirectoryError
from tailrace.results.directory.tables import read_table, read_trial_table, table_of_rows


@pytest.mark.parametrize(
    ("file", "edited", "said"),
    [
        ("manifest.json", {"trials": 10**12}, r"Expected `int` <= 1000 - at `\$\.trials`"),
        ("manifest.json", {"seed": "one"}, r"Expected `int`, got `str` - at `\$\.seed`"),
        ("manifest.json", {"scale": 0}, r"Expected `float` > 0\.0 - at `\$\.scale`"),
        ("manifest.json", {"scale": float("nan")}, r"Expected `float` > 0\.0 - at `\$\.scale`"),
        ("manifest.json", {"scale": float("inf")}, r"Expected `float` <= 1\.79.* - at `\$\.scale`"),
        ("manifest.json", {"live_scale": 0}, r"Expected `int` >= 1 - at `\$\.live_scale`"),
        (
            "manifest.json",
            {"workload_scale": {"XS": 0}},
            r"Expected `float` > 0\.0 - at `\$\.workload_scale\[\.\.\.\]`",
        ),
        (
            "manifest.json",
            {"headline": [{"workload": "XS", "metric": "foo"}]},
            r"Invalid enum value 'foo' - at `\$\.head",
        ),
        (
            "manifest.json",
            {"calibration": {"choices": 3}},
            r"Expected `array`, got `int` - at `\$\.calibration\.choices`",
        ),
        (
            "manifest.json",
            {"assumptions": [{"x": 1}]},
            r"Object missing required field `name` - at `\$\.assumptions\[0\]`",
        ),
        (
            "manifest.json",
            {"machine": {"cpu": []}},
            r"Expected `str \| null`, got `array` - at `\$\.machine\.cpu`",
        ),
        ("plans/fifo.json", {"links": 3}, r"Expected `array`, got `int` - at `\$\.links`"),
        ("plans/fifo.json", {"vlan": 3}, r"Object contains unknown field `vlan`"),
    ],
)
def test_a_file_that_does_not_fit_is_told_with_the_key(
    tmp_path: Path, file: str, edited: dict[str, Any], said: str
) -> None:
    path = FakeRun(trials=1).write(tmp_path / "run")
    held = json.loads((path / file).read_text(encoding="utf-8"))
    (path / file).write_text(json.dumps(held | edited), encoding="utf-8")
    with pytest.raises(RunDirectoryError, match=rf"{file}: cannot be read: {said}.*\(hint: "):
        Run.read(path).plan("fifo")


@pytest.mark.parametrize(
    ("edited", "said"),
    [
        (
            {"baseline": "dp"},
            r"there is no arm 'dp' - at `\$\.baseline` \(hint: did you mean 'dpp'\?\)",
        ),
        (
            {"sweep": {"axes": [], "combine": "grid", "points": [], "arms": []}},
            r"it has no axes, points or arms",
        ),
        (
            {"headline": [{"workload": "X"}]},
            r"there is no workload or group 'X' - at `\$\.headline\[0\]\.workload`",
        ),
    ],
)
def test_a_manifest_that_names_what_is_not_there_is_refused(
    tmp_path: Path, edited: dict[str, Any], said: str
) -> None:
    path = FakeRun(trials=1).write(tmp_path / "run")
    changed(path / "manifest.json", edited)
    with pytest.raises(RunDirectoryError, match=rf"manifest\.json: {said}"):
        Run.read(path)


def test_a_run_without_its_baseline_goes_by_its_first_arm(tmp_path: Path) -> None:
    path = FakeRun(trials=1).write(tmp_path / "run")
    changed(path / "manifest.json", {"arms": ["dpp"]})
    assert Run.read(path).baseline == "dpp"


def test_the_plan_of_another_arm_is_refused(tmp_path: Path) -> None:
    path = FakeRun(trials=1).write(tmp_path / "run")
    (path / "plans" / "fifo.json").write_bytes((path / "plans" / "dpp.json").read_bytes())
    with pytest.raises(
        RunDirectoryError,
        match=r"plans/fifo\.json: it is another plan than .* of arm 'fifo' \(hint: rem",
    ):
        Run.read(path)


def test_a_kind_of_workload_that_does_not_exist_is_told_without_a_plan(tmp_path: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    (path / "plans" / "fifo.json").unlink()
    changed(path / "trials" / "fifo" / "1.json", {"outcome.workloads.0.kind": "zz"})
    with pytest.raises(
        RunDirectoryError, match=r"fifo/1\.json: there is no kind of workload 'zz' \(hint: remove"
    ):
        Run.read(path)


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
    held = json.loads(file.read_text())
    held["outcome"]["conservation"]["delivered"] -= 3
    file.write_text(json.dumps(held))
    trial = Run.read(path).trials["fifo"][0]
    assert (trial.status, trial.has_outcome) == ("invalid", False)
    assert trial.reason.startswith("3 of ")


def test_a_folder_that_is_no_run_is_named_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"manifest\.json: no such file \(hint: "):
        Run.read(tmp_path)


CHANGES: list[tuple[object, str]] = [
    ("{", "cannot be read: .*truncated"),
    ("[]", "cannot be read: Expected `object`, got `array`"),
    ('{"status": ' + 100_000 * "[", "cannot be read: "),
    ('{"format": 3, "reason": "", "unfinished": ' + 100_000 * "[", "cannot be read: "),
    ("", "cannot be read: .*truncated"),
    (
        {"outcome.workloads.0.latency.p99_ps": "long"},
        r"Expected `int`, got `str` - at `\$\.outcome\.workloads\[0\]\.latency",
    ),
    (
        {"outcome.hosts.0.name": ...},
        r"missing required field `name` - at `\$\.outcome\.hosts\[0\]`",
    ),
    ({"outcome.ports.0.colour": 1}, r"unknown field `colour` - at `\$\.outcome\.ports\[0\]`"),
    ({"status": "good"}, r"Invalid enum value 'good' - at `\$\.status`"),
    ({"format": 4}, "it has format 4, and this version of tailrace reads format 3"),
    ({"format": ...}, "it has format 1, and this version of tailrace reads format 3"),
    ({"arm": "dpp"}, r"it is of trial dpp/1, in the place of fifo/1"),
    (
        {"outcome.seed": 3},
        r"it is of a run of another seed: this trial has \d+, not 3 - at `\$\.outcome\.seed`",
    ),
    (
        {"outcome.workloads": []},
        r"its workloads are none, and planned are XS \(oltp\), .* - at `\$\.outcome\.workloads`",
    ),
    (
        {"outcome.workloads.1.name": "XS"},
        r"its workloads are XS \(oltp\), XS \(oltp\), .* - at `\$\.outcome\.workloads`",
    ),
    (
        {"outcome.workloads.0.kind": "zz"},
        r"its workloads are XS \(zz\), .* - at `\$\.outcome\.workloads`",
    ),
    (
        {"outcome.end_ps": 0},
        r"it ends at 0 ps, before anything was counted - at `\$\.outcome\.end_ps`",
    ),
    (
        {"outcome.workloads.0.counted_from_ps": 10**17},
        r"it ends at \d+ ps, before anything was counted",
    ),
    (
        {"outcome.finished": False, "outcome.counted_from_ps": 10**17},
        r"it ends at \d+ ps, before anything was counted",
    ),
    (
        {"outcome.workloads.0.transactions": -1},
        r"Expected `int` >= 0 - at `\$\.outcome\.workloads\[0\]\.transactions`",
    ),
    (
        {"outcome.workloads.0.transactions": 10**30},
        r"Expected `int` <= \d+ - at `\$\.outcome\.workloads\[0\]\.transact",
    ),
    (
        {"outcome.workloads.0.goodput_bytes": -1},
        r"Expected `int` >= 0 - at `\$\.outcome\.workloads\[0\]\.goodput",
    ),
    ({"trial": 7}, r"it is of trial fifo/7, in the place of fifo/1"),
    ({"plan_hash": "0" * 16}, "it is of another plan of arm 'fifo' than this run"),
]
"""What is done to the file of a trial, and what is said of it."""


def changed(file: Path, change: object) -> None:
    """Writes other text, or changes keys by their path; `...` removes one."""
    if isinstance(change, str):
        file.write_text(change)
        return
    assert isinstance(change, dict)
    held = json.loads(file.read_text())
    for path, value in change.items():
        *above, key = path.split(".")
        of = held
        for name in above:
            of = of[int(name)] if name.isdigit() else of[name]
        if value is ...:
            del of[key]
        else:
            of[key] = value
    file.write_text(json.dumps(held))


@pytest.mark.parametrize(("change", "what"), CHANGES)
def test_a_trial_that_is_none_is_named_with_the_key_and_a_hint(
    tmp_path: Path, change: object, what: str
) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    changed(path / "trials" / "fifo" / "1.json", change)
    with pytest.raises(
        RunDirectoryError, match=rf"fifo/1\.json: .*{what}.*\(hint: remove the file"
    ):
        Run.read(path)


def test_a_run_directory_of_another_version_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    changed(path / "manifest.json", {"manifest_version": 2})
    with pytest.raises(
        RunDirectoryError, match="run: it has format 2, and this version of tailrace reads format 3"
    ):
        Run.read(path)


def test_a_folder_with_the_name_of_a_trial_is_none(tmp_path: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    (path / "trials" / "fifo" / "2.json").mkdir()
    assert [trial.number for trial in Run.read(path).trials["fifo"]] == [1]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"x": [1]}, "it has no column workload, as every table transactions has"),
        (
            {"workload": [0], "start_ps": [0], "latency_ps": ["long"]},
            "its column latency_ps has no numbers",
        ),
        (
            {"workload": [99], "start_ps": [0], "latency_ps": [0]},
            "its workload 99 is not in the outcome of the trial",
        ),
        (
            {"workload": [-1], "start_ps": [0], "latency_ps": [0]},
            "its workload -1 is not in the outcome of the trial",
        ),
    ],
)
def test_a_table_of_another_program_is_refused_with_its_name(
    tmp_path: Path, columns: dict[str, list[Any]], said: str
) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    file = path / "trials" / "fifo" / "1.transactions.parquet"
    kinds = {
        name: DataType.utf8() if isinstance(of[0], str) else DataType.int64()
        for name, of in columns.items()
    }
    table_of_rows([{name: of[0] for name, of in columns.items()}], kinds).to_parquet(file)
    with pytest.raises(
        RunDirectoryError, match=rf"1\.transactions\.parquet: cannot be read: {said} \(hint: remove"
    ):
        read_trial_table(Run.read(path).trials["fifo"][0], "transactions")


def test_tables_of_other_columns_are_not_joined(tmp_path: Path) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    names = ("workload", "start_ps", "latency_ps", "more")
    made = table_of_rows([dict.fromkeys(names, 1)], dict.fromkeys(names, DataType.int64()))
    made.to_parquet(path / "trials" / "fifo" / "2.transactions.parquet")
    with pytest.raises(RunDirectoryError, match="its columns are not those of"):
        read_table(Run.read(path), "transactions", recorded=True)


@pytest.mark.parametrize("lacking", ["1", "2"])
def test_a_table_that_one_trial_lacks_is_told(tmp_path: Path, lacking: str) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    file = path / "trials" / "fifo" / f"{lacking}.transactions.parquet"
    file.unlink()
    with pytest.raises(
        RunDirectoryError,
        match=rf"fifo/{lacking}\.transactions\.parquet: cannot be read: no such file",
    ):
        read_table(Run.read(path), "transactions")
    for other in file.parent.glob("*.transactions.parquet"):
        other.unlink()
    with pytest.raises(
        RunDirectoryError, match=r"1\.transactions\.parquet: cannot be read: no such file"
    ):
        read_table(Run.read(path), "transactions")


def test_arms_of_real_machines_may_have_other_tables(tmp_path: Path) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    changed(path / "manifest.json", {"engine": "live"})
    for file in path.glob("trials/fifo/*.transactions.parquet"):
        file.unlink()
    assert set(read_table(Run.read(path), "transactions").column("arm")) == {"dpp"}
