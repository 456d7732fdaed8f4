"""What the rounds of kills look at: parts to kill, changes of the machine, trials that should be as
they were."""

import json
import os
import random
from pathlib import Path

import pytest

import machine_picture
from kill_directory import Directory
from kill_parts import choose, roles, stage
from kill_rounds import Ours
from machine_picture import Process, differences

LAB = ("tailrace-fabric", "lab", "--plan", "run/live/fifo/plan.json")


def process(pid: int, parent: int, *words: str, depth: int = 0) -> Process:
    """One of a tree."""
    return Process(pid, parent, pid, depth, words, frozenset())


TREE = [
    process(1, 0, "python", "-c", "main()", "run", "--live"),
    process(2, 1, *LAB),
    process(3, 2, *LAB),
    process(4, 2, *LAB, depth=1),
    process(5, 4, "/usr/bin/postgres", "-D", "data", depth=1),
    process(6, 5, "postgres: checkpointer", depth=1),
]


def test_every_part_of_a_run_can_be_killed() -> None:
    found = {
        kind: [(name, [p.pid for p in who]) for name, who in parts]
        for kind, parts in roles(TREE, 1).items()
    }
    assert found == {
        "command": [("command", [1])],
        "fabric": [("guardian", [2])],
        "undertaker": [("undertaker", [3])],
        "lab": [("lab", [4])],
        "program": [("postgres", [5])],
        "worker": [("postgres", [6])],
        "both": [("guardian and undertaker", [2, 3])],
        "all": [("command and guardian and undertaker", [1, 2, 3])],
    }


def test_the_same_seed_kills_the_same_part() -> None:
    chosen = [choose(TREE, 1, random.Random(seed)) for seed in (1, 1, 2, 3, 4, 5, 6, 7)]
    assert chosen[0] == chosen[1]
    assert len({kill.who for kill in chosen if kill}) > 3
    assert choose([], 1, random.Random(1)) is None


def test_a_stage_is_told_by_the_processes() -> None:
    assert stage(TREE[:1]) == "python alone"
    assert stage(TREE) == "trial"
    assert stage([*TREE[:1], process(2, 1, "tailrace-fabric", "doctor"), TREE[3]]) == "examination"
    assert (
        stage([process(2, 1, "tailrace-fabric", "lab", "--dir", "run/live/templates/1/lab")])
        == "template"
    )


def test_a_difference_of_the_machine_is_named() -> None:
    before = {"interface": frozenset({"lo", "eth0"}), "mount": frozenset({"/"})}
    after = {"interface": frozenset({"lo", "tap0"}), "mount": frozenset({"/"})}
    assert differences(before, after) == ["new interface: tap0", "lost interface: eth0"]
    assert differences(before, before) == []


def test_a_picture_sees_what_a_lab_could_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_picture, "PLACES", [str(tmp_path)])
    before = machine_picture.picture()
    (tmp_path / ".s.PGSQL.5432").touch()
    (tmp_path / "tailrace-doctor-17").mkdir()
    (tmp_path / "notes").touch()
    [doctor] = [line for line in differences(before, machine_picture.picture()) if "doctor" in line]
    assert doctor == f"new file: {tmp_path}/tailrace-doctor-17"
    ours = Ours()
    assert ours.is_foreign(doctor)
    ours.seen.add((17, 1))
    assert not ours.is_foreign(doctor)
    assert f"new file: {tmp_path}/.s.PGSQL.5432" in differences(before, machine_picture.picture())
    assert not any("notes" in line for line in differences(before, machine_picture.picture()))


def test_the_tree_of_this_process_has_its_number_and_start() -> None:
    [own, *_] = machine_picture.tree(os.getpid())
    assert own.pid == os.getpid()
    assert machine_picture.is_alive(own.pid, own.start_ticks)
    assert not machine_picture.is_alive(own.pid, own.start_ticks + 1)
    assert own.start_ticks <= machine_picture.now_ticks()


def test_a_finished_trial_that_changes_is_told(tmp_path: Path) -> None:
    trial = tmp_path / "trials" / "fifo" / "1.json"
    trial.parent.mkdir(parents=True)
    trial.write_text(json.dumps({"status": "ok", "outcome": {"digest": "1f"}}), encoding="utf-8")
    causes = trial.with_name("1.causes.json")
    causes.write_text(json.dumps({"digest": "1f"}), encoding="utf-8")
    directory = Directory(tmp_path)
    assert directory.problems() == []
    assert directory.trials_left == pytest.approx(2 / 3), "an explanation is no trial"
    causes.unlink()
    directory.kept.pop("trials/fifo/1.causes.json")
    trial.write_text(json.dumps({"status": "ok", "outcome": {"digest": "2f"}}), encoding="utf-8")
    assert directory.problems() == ["trials/fifo/1.json is changed"]
    trial.unlink()
    assert directory.problems() == ["trials/fifo/1.json is gone"]
    trial.write_text("{", encoding="utf-8")
    assert directory.problems() == ["trials/fifo/1.json cannot be read or has no digest"]
    # One that failed is tried again: it is no result.
    trial.with_name("2.json").write_text(json.dumps({"status": "failed"}), encoding="utf-8")
    assert len(directory.kept) == 1
