"""Workers that Slurm starts: what is refused in words, and a real Slurm where it is installed."""

import os
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from dask_processes import START_S, kill, start_command, wait_for_outcomes
from lab import sound
from slurm_lab import jobs, missing, slurm, told
from tailrace.errors import RunRefusedError
from tailrace.experiment.remote import slurm as subject
from tailrace.experiment.remote.slurm import Jobs, batch_script, slurm_workers
from trial_files import read_trial

NEEDED = missing()


def test_commands_of_slurm_that_are_missing_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = pytest.raises(RunRefusedError, match="the command `sbatch` is not on the PATH")
    with refused, slurm_workers(Jobs(), print):
        raise AssertionError("it was refused")


def test_the_batch_script_says_what_was_asked_for_without_slurm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    script = batch_script(Jobs("batch", "02:00:00", 3, 5))
    assert script.startswith("#!")
    assert {"#SBATCH -p batch", "#SBATCH -t 02:00:00", "#SBATCH --cpus-per-task=3"} <= set(
        script.splitlines()
    )
    assert f"--death-timeout {subject.DEATH_S}" in script
    assert "--nthreads 3" in script
    assert "--no-nanny" in script
    assert f"--preload {subject.LIFELINE}" in script


@pytest.mark.skipif(
    bool(NEEDED), reason=f"Slurm is not installed ({', '.join(NEEDED)}; scripts/many_machines.py)"
)
@pytest.mark.skipif(os.geteuid() != 0, reason="a Slurm of one's own needs root")
def test_cancelled_jobs_are_submitted_again_and_none_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    YAML().dump(sound(experiment__trials=6), tmp_path / "lab.yaml")
    with slurm(tmp_path / "slurm") as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        refused = pytest.raises(
            RunRefusedError, match=r"Slurm refuses the jobs: .*invalid partition"
        )
        with refused, slurm_workers(Jobs("nowhere"), print):
            raise AssertionError("it was refused")
        monkeypatch.setenv(
            "DASK_JOBQUEUE__SLURM__WORKER_EXTRA_ARGS", '["--preload", "fake_worker"]'
        )
        on = ("--on", "slurm", "--partition", "lab", "--time", "00:05:00", "--max-workers", "1")
        command = start_command(tmp_path, "run", "lab.yaml", "--out", "run", *on, wall_s=0.5)
        try:
            wait_for_outcomes(tmp_path / "run", 2, command)
            first = jobs(environment)
            told(environment, "scancel", *first)
            assert command.wait(START_S) == 0, (tmp_path / "command.log").read_text("utf-8")
        finally:
            if command.poll() is None:
                kill(command)
        assert jobs(environment) == []
    outcomes = [read_trial(file) for file in (tmp_path / "run").glob("trials/*/*.json")]
    assert [outcome["status"] for outcome in outcomes] == ["ok"] * 12
    assert "submitting again" in (tmp_path / "command.log").read_text("utf-8")
