"""Workers of Slurm's jobs end by themselves when their job or their scheduler is gone."""

import os
import subprocess
import sys
import time
from pathlib import Path

from dask_processes import START_S, cluster, environment_of, kill
from tailrace.experiment.remote.lifeline import ALONE_S, Lifeline
from tailrace.experiment.remote.slurm import LIFELINE

END_S = 60
"""Time in which the worker ends, on a machine with many other processes."""


def test_a_scheduler_that_accepts_nothing_is_gone_after_a_while() -> None:
    now, is_there = [0.0], [True]
    lifeline = Lifeline(os.getppid(), lambda: is_there[0], lambda: now[0])
    now[0] = 100
    assert lifeline.broken() == ""
    is_there[0] = False
    now[0] = 100 + ALONE_S
    assert lifeline.broken() == "", "it may restart"
    now[0] += 1
    assert "the scheduler has accepted no connection for 60 s" in lifeline.broken()


def test_another_parent_is_the_end_of_the_job() -> None:
    assert (
        "the process that started this worker has ended"
        in Lifeline(os.getppid() + 1, lambda: True).broken()
    )


def test_a_worker_whose_shell_is_killed_ends(tmp_path: Path) -> None:
    with cluster(tmp_path, workers=0) as place:
        log, file = tmp_path / "worker.log", tmp_path / "pid"
        worker = [
            sys.executable,
            "-m",
            "dask",
            "worker",
            f"tcp://127.0.0.1:{place.port}",
            "--no-nanny",
        ]
        worker += [
            "--host",
            "127.0.0.1",
            "--nthreads",
            "1",
            "--no-dashboard",
            "--preload",
            LIFELINE,
        ]
        script = ["sh", "-c", f'"$@" & echo $! > {file}; wait', "sh", *worker]
        with log.open("wb") as out:
            shell = subprocess.Popen(
                script, stdout=out, stderr=out, cwd=tmp_path, env=environment_of(0.0)
            )
        place.processes.append(shell)
        until_s = time.monotonic() + START_S
        while "Registered to" not in log.read_text("utf-8"):
            assert time.monotonic() < until_s, log.read_text("utf-8")
            time.sleep(0.05)
        process = Path("/proc") / file.read_text("utf-8").strip()
        assert process.is_dir()
        kill(shell)
        until_s = time.monotonic() + END_S
        while process.is_dir():
            assert time.monotonic() < until_s, log.read_text("utf-8")
            time.sleep(0.1)
    assert "the process that started this worker has ended: ending" in log.read_text("utf-8")
