"""A Dask scheduler and workers on loopback as processes of their own; all of them end with the
block."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

START_S = 120
"""Time in which a process has to start, on a machine with many others."""
SUPPORT = Path(__file__).resolve().parent


class Cluster:
    """The processes."""

    def __init__(
        self,
        folder: Path,
        wall_s: float,
        killer: str = "",
        *,
        is_real: bool = False,
        tls: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.wall_s = wall_s
        """Wall time of a trial of the stand-in."""
        self.is_real = is_real
        self.tls = tls
        """Options with certificates; nothing without encryption."""
        self.killer = killer
        """Part of the names of trials that kill their worker."""
        self.port = 0
        self.processes: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        """As `--on` takes it."""
        return f"{'tls' if self.tls else 'dask'}://127.0.0.1:{self.port}"

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        """A scheduler, at the same port as the one before it."""
        process, log = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port))
        self.port = int(_found(log, process, r"Scheduler at:\s+t(?:cp|ls)://127\.0\.0\.1:(\d+)"))
        return process

    def start_worker(
        self, version: str = "", preload: str = "fake_worker"
    ) -> subprocess.Popen[bytes]:
        """A worker with the stand-in for the simulator, or with the real one; returns when it has
        registered."""
        address = f"{'tls' if self.tls else 'tcp'}://127.0.0.1:{self.port}"
        arguments = (address, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")
        loaded = () if self.is_real else ("--preload", preload)
        process, log = self._start("worker", *arguments, *loaded, version=version)
        _found(log, process, r"(Registered to)")
        return process

    def stop(self) -> None:
        """Ends every process that was started here."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait(START_S)

    def _start(self, *arguments: str, version: str = "") -> tuple[subprocess.Popen[bytes], Path]:
        log = self.folder / f"{arguments[0]}-{len(self.processes)}.log"
        environment = environment_of(self.wall_s) | {
            "FAKE_VERSION": version,
            "FAKE_KILLER": self.killer,
        }
        command = [sys.executable, "-m", "dask", *arguments, *self.tls, "--no-dashboard"]
        with log.open("wb") as out:
            process = subprocess.Popen(
                command, stdout=out, stderr=out, cwd=self.folder, env=environment
            )
        self.processes.append(process)
        return process, log


@contextmanager
def cluster(
    folder: Path,
    workers: int = 2,
    wall_s: float = 0.2,
    killer: str = "",
    *,
    real: bool = False,
    tls: Sequence[str] = (),
) -> Iterator[Cluster]:
    """A scheduler and workers."""
    made = Cluster(folder, wall_s, killer, is_real=real, tls=tls)
    try:
        made.start_scheduler()
        for _ in range(workers):
            made.start_worker()
        yield made
    finally:
        made.stop()


def start_command(folder: Path, *arguments: str, wall_s: float = 0.0) -> subprocess.Popen[bytes]:
    """`tailrace` with the stand-in for the simulator, its messages in `command.log`."""
    command = [sys.executable, str(SUPPORT / "fake_native.py"), *arguments]
    with (folder / "command.log").open("ab") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, cwd=folder, env=environment_of(wall_s)
        )


def environment_of(wall_s: float) -> dict[str, str]:
    """Where the stand-in is, and how long its trials take."""
    python = os.pathsep.join([str(SUPPORT.parents[1] / "python"), str(SUPPORT)])
    return {**os.environ, "PYTHONPATH": python, "FAKE_TRIAL_WALL_S": str(wall_s)}


def wait_for_outcomes(run: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    """Returns when a run has so many outcomes."""
    until_s = time.monotonic() + START_S
    while len(list(run.glob("trials/*/*.json"))) < count:
        assert process.poll() is None, "the command ended before"
        assert time.monotonic() < until_s, "too few outcomes"
        time.sleep(0.02)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kills a process without a chance to end in order."""
    process.send_signal(signal.SIGKILL)
    process.wait(START_S)


def _found(log: Path, process: subprocess.Popen[bytes], pattern: str) -> str:
    until_s = time.monotonic() + START_S
    while (found := re.search(pattern, text := log.read_text(encoding="utf-8"))) is None:
        assert process.poll() is None, text
        assert time.monotonic() < until_s, text
        time.sleep(0.05)
    return found[1]
