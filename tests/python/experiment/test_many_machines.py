"""Trials on workers of a real Dask scheduler: whatever dies, nothing is lost and nothing finished
runs again.

Those marked `slow` start four processes and more; `test_remote.py` has their rules without
processes.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from dask_processes import START_S, Cluster, cluster, kill, start_command, wait_for_outcomes
from lab import sound
from trial_files import read_trial

TRIALS = 8
"""Of each of two arms."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a scenario."""
    YAML().dump(sound(experiment__trials=TRIALS), tmp_path / "lab.yaml")
    return tmp_path


def digests(run: Path) -> dict[str, str]:
    files = run.glob("trials/*/*.json")
    return {f"{file.parent.name}/{file.stem}": read_trial(file)["digest"] for file in files}


def local_digests(folder: Path) -> dict[str, str]:
    assert start_command(folder, "run", "lab.yaml", "--out", "local").wait(START_S) == 0
    return digests(folder / "local")


def run_on(place: Cluster, folder: Path) -> tuple[int, str]:
    """Runs the scenario to its end: the exit code and what it said."""
    code = start_command(folder, "run", "lab.yaml", "--out", "run", "--on", place.address).wait(
        START_S
    )
    return code, (folder / "command.log").read_text("utf-8")


def test_a_worker_that_is_killed_in_mid_task_loses_nothing(folder: Path) -> None:
    with cluster(folder) as place:
        command = start_command(folder, "run", "lab.yaml", "--out", "run", "--on", place.address)
        wait_for_outcomes(folder / "run", 3, command)
        kill(place.processes[1])
        assert command.wait(START_S) == 0, (folder / "command.log").read_text("utf-8")
    assert digests(folder / "run") == local_digests(folder)
    assert len(digests(folder / "run")) == 2 * TRIALS
    assert list((folder / "run").glob("trials/*/*.attempt-*")) == [], "no trial was stored twice"
    manifest = json.loads((folder / "run" / "manifest.json").read_text("utf-8"))
    assert (manifest["state"], manifest["on"]) == ("finished", place.address)


@pytest.mark.slow
def test_an_interrupted_command_continues_where_it_was(folder: Path) -> None:
    with cluster(folder) as place:
        for number, how in ((3, signal.SIGINT), (6, signal.SIGKILL)):
            command = start_command(
                folder, "run", "lab.yaml", "--out", "run", "--on", place.address
            )
            wait_for_outcomes(folder / "run", number, command)
            command.send_signal(how)
            assert command.wait(START_S) == (130 if how == signal.SIGINT else -signal.SIGKILL)
        held = {file: file.stat().st_mtime_ns for file in (folder / "run").glob("trials/*/*.json")}
        assert 6 <= len(held) < 2 * TRIALS
        code, _said = run_on(place, folder)
    assert code == 0
    assert {file: file.stat().st_mtime_ns for file in held} == held, (
        "a finished trial is not run again"
    )
    assert digests(folder / "run") == local_digests(folder)


@pytest.mark.slow
def test_a_scheduler_that_restarts_loses_nothing(folder: Path) -> None:
    with cluster(folder) as place:
        command = start_command(folder, "run", "lab.yaml", "--out", "run", "--on", place.address)
        wait_for_outcomes(folder / "run", 3, command)
        for process in place.processes[:3]:
            kill(process)
        place.start_scheduler()
        place.start_worker()
        assert command.wait(START_S) == 0, (folder / "command.log").read_text("utf-8")
    assert digests(folder / "run") == local_digests(folder)


@pytest.mark.slow
def test_a_trial_that_kills_its_workers_has_failed_and_the_others_have_not(folder: Path) -> None:
    with cluster(folder, workers=4, wall_s=0.05, killer="dpp/trial-3") as place:
        code, said = run_on(place, folder)
        died = [process.poll() for process in place.processes[1:]].count(-signal.SIGKILL)
    assert (code, died) in [(3, 3), (3, 4)], said
    outcomes = {file: read_trial(file) for file in (folder / "run").glob("trials/*/*.json")}
    failed = {
        f"{file.parent.name}/{file.stem}": one["reason"]
        for file, one in outcomes.items()
        if one["status"] != "ok"
    }
    assert list(failed) == ["dpp/3"]
    assert failed["dpp/3"].startswith("killed at least 3 workers (hint: ")
    assert [one["status"] for one in outcomes.values()].count("ok") == 2 * TRIALS - 1


def test_a_worker_of_another_version_is_refused(folder: Path) -> None:
    with cluster(folder, workers=0) as place:
        place.start_worker(version="9.9.9-other")
        code, said = run_on(place, folder)
    assert code == 2
    assert "simulator 9.9.9-other, and this command has tailrace" in said
    assert "install the same wheel everywhere" in said
    assert digests(folder / "run") == {}


@pytest.mark.slow
def test_a_worker_of_another_version_that_comes_later_is_refused(folder: Path) -> None:
    with cluster(folder, workers=1, wall_s=1.0) as place:
        command = start_command(folder, "run", "lab.yaml", "--out", "run", "--on", place.address)
        wait_for_outcomes(folder / "run", 1, command)
        place.start_worker(version="9.9.9-other")
        assert command.wait(START_S) == 2
        assert "refuses trials: it has tailrace" in (folder / "command.log").read_text("utf-8")
        place.stop()
    assert 0 < len(digests(folder / "run")) < 2 * TRIALS, "what had finished is kept"


def test_a_scheduler_that_is_not_there_is_named(folder: Path) -> None:
    aims = (
        "--vary",
        "workloads.orders.users=1,2",
        "--goal",
        "orders.p50 < 5ms",
        "--maximise",
        "users",
    )
    for words in (("run",), ("search", *aims), ("sensitivity", "--assumptions")):
        (folder / "command.log").unlink(missing_ok=True)
        command = start_command(
            folder, words[0], "lab.yaml", *words[1:], "--out", "run", "--on", "dask://127.0.0.1:9"
        )
        code, said = command.wait(START_S), (folder / "command.log").read_text("utf-8")
        assert (code, "Traceback" in said) == (2, False)
        assert "--on dask://127.0.0.1:9: no Dask scheduler answers: Connection refused" in said
        assert not (folder / "run").exists()


def test_an_absent_scheduler_is_told_before_anything_large_is_imported() -> None:
    # The time is that of the start: a limit in seconds would fail on a machine that is busy.
    words = ["run", "none.yaml", "--on", "dask://127.0.0.1:9"]
    told = "import sys; from tailrace.cli import main\ntry: main()\nfinally: print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", told, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=START_S,
    )
    assert (done.returncode, "no Dask scheduler answers" in done.stderr) == (2, True)
    assert not {"distributed", "dask", "numpy", "tailrace.scenario.loading"} & set(
        done.stdout.split()
    )
