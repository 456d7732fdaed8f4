"""A run from scenario to run directory: resumed, never overwritten, honest about what failed."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab import load, sound
from sealing import seal
from tailrace.errors import RunRefusedError
from tailrace.experiment.engine import Simulated
from tailrace.experiment.options import Options
from tailrace.experiment.reporter import Plain, Silent
from tailrace.experiment.run import ExperimentRun, Finished
from tailrace.experiment.schedule import TrialKey
from tailrace.folder import IrregularFileError
from tailrace.scenario.loading import load_scenario
from trial_files import read_trial

pytestmark = pytest.mark.usefixtures("fake", "workplace")


def run(out: Path | None = None, /, *only: str, **changes: object) -> Finished:
    return ExperimentRun(load(**changes), Options(only, 2, 1.0, out, ["tailrace", "run"])).run()


def manifest(finished: Finished) -> dict[str, Any]:
    return dict(json.loads((finished.path / "manifest.json").read_text(encoding="utf-8")))


def outcomes(finished: Finished) -> dict[str, dict[str, Any]]:
    files = sorted(finished.path.glob("trials/*/*.json"))
    return {f"{file.parent.name}/{file.stem}": read_trial(file) for file in files}


def test_every_trial_of_every_arm_leaves_an_outcome_and_its_tables() -> None:
    finished = run()
    assert sorted(outcomes(finished)) == ["dpp/1", "dpp/2", "fifo/1", "fifo/2"]
    assert finished.is_valid
    assert not finished.is_interrupted
    tables = {file.name for file in finished.path.glob("trials/dpp/*.parquet")}
    assert {"1.transactions.parquet", "2.queue_depth.parquet"} <= tables
    assert list(finished.path.rglob("*.part")) == []


def test_the_plan_of_every_arm_is_kept_beside_its_results() -> None:
    from tailrace.scenario.lowering.plan import plan_hash

    finished = run(experiment__solo=True)
    kept = {
        file.stem: json.loads(file.read_text(encoding="utf-8"))
        for file in finished.path.glob("plans/*.json")
    }
    assert set(kept) == {"fifo", "dpp", "solo-orders"}
    assert plan_hash(kept["dpp"]) == manifest(finished)["plan_hashes"]["dpp"]


def test_a_plan_that_was_removed_is_kept_again() -> None:
    file = run().path / "plans" / "dpp.json"
    before = file.read_text(encoding="utf-8")
    file.unlink()
    run()
    assert file.read_text(encoding="utf-8") == before


def test_tables_hold_what_the_simulator_said() -> None:
    from arro3.io import read_parquet

    table = read_parquet(str(run().path / "trials/dpp/1.port_series.parquet")).read_all()
    assert table.column_names[:3] == ["port", "bin", "start_ps"]
    assert table["queue_mean_bytes"].to_pylist() == [10.5]
    assert str(table["queue_max_bytes"].type).strip() == "arro3.core.DataType<UInt64>"


def test_the_manifest_says_what_was_run() -> None:
    finished = run()
    said = manifest(finished)
    assert said["state"] == "finished"
    assert (said["arms"], said["baseline"], said["workloads"]) == (
        ["fifo", "dpp"],
        "fifo",
        ["orders", "backup"],
    )
    assert sorted(said["order"]) == ["dpp/1", "dpp/2", "fifo/1", "fifo/2"]
    assert {"cpu", "cores", "kernel", "python"} <= set(said["machine"])
    assert said["plan_hashes"]["fifo"] != said["plan_hashes"]["dpp"]
    assert {outcome["plan_hash"] for outcome in outcomes(finished).values()} == {
        said["plan_hashes"]["fifo"],
        said["plan_hashes"]["dpp"],
    }


def test_a_complete_run_keeps_the_time_at_which_it_finished() -> None:
    first = run()
    long_ago = "2001-02-03T04:05:06+00:00"
    (first.path / "manifest.json").write_text(
        json.dumps(manifest(first) | {"finished": long_ago}), encoding="utf-8"
    )
    seal(first.path / "manifest.json")
    assert manifest(run())["finished"] == long_ago
    (first.path / "trials/dpp/2.json").unlink()
    assert manifest(run())["finished"] != long_ago


def test_a_rerun_resumes_and_runs_only_what_is_missing() -> None:
    first = run()
    before = {
        name: (first.path / f"trials/{name}.json").stat().st_mtime_ns for name in outcomes(first)
    }
    (first.path / "trials/dpp/2.json").unlink()
    again = run()
    assert again.path == first.path
    after = {
        name: (first.path / f"trials/{name}.json").stat().st_mtime_ns for name in outcomes(again)
    }
    assert {name for name in after if after[name] != before[name]} == {"dpp/2"}
    assert again.statuses.keys() == {TrialKey(arm, n) for arm in ("fifo", "dpp") for n in (1, 2)}


def test_more_trials_go_into_the_same_run() -> None:
    first = run()
    more = run(experiment__trials=3)
    assert more.path == first.path
    assert len(outcomes(more)) == 6
    kept = manifest(run())
    assert (kept["trials"], len(kept["order"])) == (3, 6)


def test_an_arm_alone_goes_into_the_same_run() -> None:
    one = run(None, "dpp")
    assert sorted(outcomes(one)) == ["dpp/1", "dpp/2"]
    both = run()
    assert both.path == one.path
    assert len(outcomes(both)) == 4


@pytest.mark.parametrize(
    "changes",
    [
        {"experiment__seed": 2},
        {"workloads__orders__users": 5},
        {"arms": {"fifo": {}, "dpp": {"switches.leaf.buffer": "5MB"}}},
        {"experiment__invalid_if": []},
    ],
)
def test_another_plan_or_seed_is_another_run(changes: dict[str, object]) -> None:
    assert run(**changes).path != run().path


def test_words_and_expectations_do_not_make_another_run() -> None:
    assert (
        run(description="x", expect=[{"metric": "drops_frames", "at_most": 10}]).path == run().path
    )


def test_a_result_is_never_overwritten(tmp_path: Path) -> None:
    run(tmp_path / "mine")
    with pytest.raises(RunRefusedError, match="holds another run"):
        run(tmp_path / "mine", experiment__seed=2)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(RunRefusedError, match="is not empty and is not a run directory"):
        run(tmp_path / "other")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(RunRefusedError, match="is not empty"):
        run(tmp_path / "file")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "x"
    with pytest.raises(RunRefusedError, match="cannot create it"):
        run(tmp_path / "file" / "below")


def test_two_processes_do_not_write_to_one_run(tmp_path: Path) -> None:
    run(tmp_path / "mine")
    experiment = ExperimentRun(load(), Options(out=tmp_path / "mine"))
    with experiment.directory.locked(), pytest.raises(RunRefusedError, match="another process"):
        run(tmp_path / "mine")


def test_a_run_that_was_killed_before_its_manifest_starts_again(tmp_path: Path) -> None:
    (tmp_path / "run/trials").mkdir(parents=True)
    (tmp_path / "run/run.lock").touch()
    (tmp_path / "run/.manifest.json.123.part").touch()
    assert run(tmp_path / "run").is_valid


def test_what_a_killed_process_left_half_written_goes_away(tmp_path: Path) -> None:
    run(tmp_path / "run")
    (tmp_path / "run/trials/dpp/.1.json.123.part").touch()
    run(tmp_path / "run")
    assert list(tmp_path.rglob("*.part")) == []


def test_a_folder_with_other_things_is_no_run_that_was_killed(tmp_path: Path) -> None:
    (tmp_path / "run/trials").mkdir(parents=True)
    (tmp_path / "run/run.lock").touch()
    (tmp_path / "run/notes.txt").touch()
    with pytest.raises(RunRefusedError, match="is not a run directory"):
        run(tmp_path / "run")


def test_a_trial_on_which_the_simulator_breaks_has_failed_and_is_tried_again() -> None:
    finished = run(name="broken")
    assert set(finished.statuses.values()) == {"failed"}
    assert outcomes(finished)["dpp/1"]["reason"] == "a queue forgot a frame"
    assert not finished.is_valid
    experiment = ExperimentRun(load(name="broken"), Options())
    assert len(experiment.missing_keys()) == 4


def test_an_unfinished_workload_makes_a_trial_invalid_unless_that_is_allowed() -> None:
    late = run(experiment__duration="100ms")
    assert set(late.statuses.values()) == {"invalid"}
    assert "workload orders did not finish" in outcomes(late)["fifo/1"]["reason"]
    assert run(experiment__duration="100ms", experiment__invalid_if=[]).is_valid


def test_host_drops_make_a_trial_invalid_where_they_are_refused() -> None:
    small_ring: dict[str, object] = {"hosts": {"client": {"nic": {"rx_ring": "1 frame"}}}}
    assert run(**small_ring).is_valid
    refused = run(**small_ring, experiment__invalid_if=["host-drops"])
    assert "host client dropped 7 frames" in outcomes(refused)["dpp/2"]["reason"]


def test_workloads_with_an_end_also_run_alone() -> None:
    finished = run(experiment__solo=True, experiment__trials=4)
    assert sorted(name for name in outcomes(finished) if "solo" in name) == [
        f"solo-orders/{n}" for n in (1, 2, 3)
    ]
    alone = outcomes(finished)["solo-orders/1"]
    assert [workload["name"] for workload in alone["workloads"]] == ["orders"]
    # Alone in the baseline arm: one queue and no express queue.
    assert len(alone["ports"][0]["queues"]) == 1


def test_unknown_arms_are_refused_before_anything_runs(workplace: Path) -> None:
    with pytest.raises(RunRefusedError, match="did you mean 'dpp'"):
        run(None, "dp")
    assert list(workplace.iterdir()) == []


def test_published_figures_that_cannot_be_read_are_refused_before_anything_runs(
    tmp_path: Path,
) -> None:
    from tailrace.errors import TailraceError

    (tmp_path / "bands.yaml").write_text("- {metric: completion_s}\n", encoding="utf-8")
    with pytest.raises(TailraceError, match="needs value and tolerance"):
        ExperimentRun(load_scenario(sound(published=str(tmp_path / "bands.yaml"))), Options())


@pytest.mark.parametrize(
    ("figure", "what"),
    [
        ("arm: ddp, workload: orders", "there is no arm 'ddp' (hint: did you mean 'dpp'?)"),
        (
            "arm: dpp, workload: order",
            "there is no workload 'order' (hint: did you mean 'orders'?)",
        ),
        ("arm: dpp, workload: shop", "there is no workload 'shop'"),
    ],
)
def test_published_figures_of_what_is_not_there_are_refused(
    tmp_path: Path, figure: str, what: str
) -> None:
    path = tmp_path / "published.yaml"
    path.write_text(
        f"- {{metric: completion_s, {figure}, value: 1, tolerance: 5%}}\n", encoding="utf-8"
    )
    with pytest.raises(RunRefusedError, match=re.escape(f"figures.0: {what}")):
        run(published=str(path))


def test_a_full_disk_stops_the_run_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from tailrace.experiment import storage

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    experiment = ExperimentRun(load(), Options(jobs=2), Silent())
    monkeypatch.setattr(storage, "parquet", fail)
    with pytest.raises(OSError, match="No space left"):
        experiment.run()
    assert (
        json.loads((experiment.directory.path / "manifest.json").read_text())["state"]
        == "interrupted"
    )


def test_the_number_of_jobs_changes_no_outcome() -> None:
    one = ExperimentRun(load(), Options(jobs=1, out=Path("one"))).run()
    two = ExperimentRun(load(), Options(jobs=2, out=Path("two"))).run()
    assert outcomes(one) == outcomes(two)


DAMAGE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "torn": (
        "1.json: Input data was truncated",
        lambda file: file.write_text(file.read_text()[:2000]),
    ),
    "empty": ("1.json: Input data was truncated", lambda file: file.write_text("")),
    "wrong type": ("at `$.outcome.end_ps`", lambda file: _edit(file, '"end_ps": ', '"end_ps": 0.')),
    "unknown key": ("unknown field", lambda file: _edit(file, '"digest"', '"digset"')),
    "another trial": (
        "it is of trial dpp/2",
        lambda file: file.write_bytes(file.with_name("2.json").read_bytes()),
    ),
    "another run": (
        "1.json: it is of a run of another seed",
        lambda file: _change(file, lambda outcome: outcome | {"seed": 3}),
    ),
    "no workloads": (
        "1.json: its workloads are none, and planned are orders (oltp), backup (stream)",
        lambda file: _change(file, lambda outcome: outcome | {"workloads": []}),
    ),
    "another kind": (
        "1.json: its workloads are orders (zz), backup",
        lambda file: _edit(file, '"oltp"', '"zz"'),
    ),
    "negative": (
        "at `$.outcome.workloads[0].transactions",
        lambda file: _edit(file, '"transactions": ', '"transactions": -'),
    ),
    "no time": (
        "1.json: it ends at 0 ps",
        lambda file: _change(file, lambda outcome: outcome | {"end_ps": 0}),
    ),
    "empty table": (
        "1.port_series.parquet: it is no whole",
        lambda file: _table(file).write_bytes(b""),
    ),
    "another table": (
        "1.port_series.parquet: it has no column start_ps",
        lambda file: _table(file).write_bytes(file.with_name("1.queue_depth.parquet").read_bytes()),
    ),
    "foreign table": (
        "1.port_series.parquet: it is no whole",
        lambda file: _table(file).write_text("a,b\n1,2\n"),
    ),
}
"""What is done to the files of dpp/1, and what is said of it."""


def _edit(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new, 1))


def _change(file: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    held = json.loads(file.read_text())
    file.write_text(json.dumps(held | {"outcome": change(held["outcome"])}))


def _table(file: Path) -> Path:
    return file.with_name("1.port_series.parquet")


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_trial_whose_files_are_unusable_runs_again_and_that_is_said(
    damage: str, capsys: Any
) -> None:
    first = run()
    said, harm = DAMAGE[damage]
    before = outcomes(first)
    harm(first.path / "trials" / "dpp" / "1.json")
    seal(first.path / "trials" / "dpp" / "1.json")
    ExperimentRun(
        load(), Options((), 2, 1.0, None, ["tailrace", "run"]), reporter=Plain(sys.stdout)
    ).run()
    told = capsys.readouterr().out
    assert said in told
    assert "; trial dpp/1 runs again" in told
    assert told.count("runs again") == 1
    assert outcomes(first) == before


@pytest.mark.parametrize("name", ["1.json", "1.port_series.parquet"])
def test_a_trial_that_is_not_what_the_run_has_written_runs_again(name: str, capsys: Any) -> None:
    first = run()
    before, file = outcomes(first), first.path / "trials" / "dpp" / name
    others = {"1.json": "2.json", "1.port_series.parquet": "1.queue_depth.parquet"}
    file.write_bytes(file.with_name(others[name]).read_bytes())
    ExperimentRun(
        load(), Options((), 2, 1.0, None, ["tailrace", "run"]), reporter=Plain(sys.stdout)
    ).run()
    told = capsys.readouterr().out
    assert (
        f"{name}: it is not what the run has written: journal.jsonl has "
        "another SHA-256; trial dpp/1 runs" in told
    )
    assert outcomes(first) == before


def test_a_table_that_is_lost_has_its_trial_run_again(capsys: Any) -> None:
    first = run()
    file = first.path / "trials" / "dpp" / "1.port_series.parquet"
    content = file.read_bytes()
    file.unlink()
    ExperimentRun(
        load(), Options((), 2, 1.0, None, ["tailrace", "run"]), reporter=Plain(sys.stdout)
    ).run()
    assert (
        "1.port_series.parquet: no such file, and the run has written one"
        in capsys.readouterr().out
    )
    assert file.read_bytes() == content


@pytest.mark.parametrize("name", ["1.json", "1.port_series.parquet"])
def test_a_folder_in_the_place_of_a_file_is_to_be_removed(name: str) -> None:
    file = run().path / "trials" / "dpp" / name
    file.unlink()
    file.mkdir()
    with pytest.raises(
        IrregularFileError, match=rf"dpp/{re.escape(name)}: it is a folder, .* \(hint: remove it\)"
    ):
        run()


@pytest.mark.parametrize(
    ("edited", "said"),
    [
        ({"trials": 2000}, r"Expected `int` <= 1000 - at `\$\.trials`"),
        ({"scale": 0}, r"Expected `float` > 0\.0 - at `\$\.scale`"),
    ],
)
def test_a_damaged_manifest_is_refused_before_its_numbers_are_used(
    edited: dict[str, Any], said: str
) -> None:
    first = run()
    (first.path / "manifest.json").write_text(
        json.dumps(manifest(first) | edited), encoding="utf-8"
    )
    with pytest.raises(
        RunRefusedError,
        match=rf"manifest\.json: cannot be read: {said} \(hint: choose another --out\)",
    ):
        run()


def test_a_manifest_without_state_and_trials_is_that_of_a_run_that_was_interrupted() -> None:
    first = run()
    held = manifest(first)
    del held["state"], held["finished"]
    (first.path / "manifest.json").write_text(json.dumps(held | {"trials": None}), encoding="utf-8")
    seal(first.path / "manifest.json")
    assert manifest(run())["state"] == "finished"


class Refusing(Simulated):
    """An engine that cannot work in the directory that it is given."""

    def open(self, folder: Path) -> None:
        raise RunRefusedError(f"{folder}: no directory for this engine")


def test_a_directory_that_the_engine_refuses_has_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunRefusedError, match="no directory for this engine"):
        ExperimentRun(load(), Options(None, 2, 1.0, tmp_path / "out", []), engine=Refusing()).run()
    assert not list(tmp_path.glob("out/*.json"))
