"""What trials on many machines cost, and what survives, with real Dask and Slurm processes on
loopback.

`.venv/bin/python scripts/many_machines.py scale` measures the cost of a trial beyond Dask's own,
and two workers beside one; `memory` runs a sweep of 100 000 points, here or (`--remote`) on two
workers, and tells the command's memory; `slurm` cancels jobs in mid-run and interrupts the command,
and looks for jobs that are left.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from dask_processes import cluster, wait_for_outcomes  # noqa: E402  after the path
from slurm_lab import jobs, missing, slurm, told  # noqa: E402  after the path

LIMIT_S = 600
SCENARIO = """
tailrace: 1
name: many
network: {topology: {kind: star, switch: leaf, hosts: [client, db, bulk]}}
workloads:
  orders:
    {kind: oltp, client: client, server: db, users: 4, transactions: 100, round_trips: [{response: 18kB}], gap: 7ms}
  backup: {kind: stream, source: bulk, destination: client}
experiment: {duration: 5s, trials: 40}
"""  # noqa: E501
TINY = """
tailrace: 1
name: tiny
network: {topology: {kind: star, switch: leaf, hosts: [client, db]}}
workloads:
  orders:
    {kind: oltp, client: client, server: db, users: 1, transactions: 2, round_trips: [{response: 1kB}], gap: 1us}
experiment: {duration: 100ms, trials: 1}
"""  # noqa: E501


class Kept:
    """Counts outcomes and keeps none."""

    def __init__(self) -> None:
        self.count = 0

    def tick(self, running: object) -> None:
        """Nothing."""

    def finished(self, key: object, outcome: object, wall_s: float) -> None:
        """One more."""
        self.count += 1


def scale(trials: int, wall_s: float) -> None:
    """Trials of a fixed time on one worker and on two, and empty trials beside empty tasks of
    Dask."""
    import fake_native

    fake_native.install()
    from lab import load
    from tailrace.experiment.plans import Plans
    from tailrace.experiment.remote.executors import opened
    from tailrace.experiment.remote.slurm import Jobs
    from tailrace.experiment.schedule import TrialKey

    plans = Plans(load().arms)
    keys = [TrialKey("dpp", number) for number in range(1, trials + 1)]
    took: dict[tuple[float, int], float] = {}
    for length_s, workers in ((wall_s, 1), (wall_s, 2), (0.0, 1)):
        with (
            tempfile.TemporaryDirectory() as folder,
            cluster(Path(folder), workers, length_s) as place,
        ):
            with opened(place.address, Jobs(), print) as executor:
                assert executor is not None
                kept = Kept()
                began_s = time.monotonic()
                executor.run_all(keys, plans.json, kept)
                took[length_s, workers] = time.monotonic() - began_s
                assert kept.count == trials
            if not length_s:
                own_s = dask_own(place.port, trials)
    one, two, empty = (took[key] for key in ((wall_s, 1), (wall_s, 2), (0.0, 1)))
    print(
        f"{trials} trials of {wall_s * 1000:g} ms: one worker {one:.1f} s,"
        f" two workers {two:.1f} s: {one / two:.2f} times"
    )
    print(
        f"{trials} empty trials: {empty / trials * 1000:.2f} ms each;"
        f" {trials} empty tasks of Dask: {own_s / trials * 1000:.2f} ms each"
    )


def dask_own(port: int, tasks: int) -> float:
    """Seconds for empty tasks of Dask, all submitted at once."""
    from distributed import Client

    with Client(f"tcp://127.0.0.1:{port}", set_as_default=False) as client:
        began_s = time.monotonic()
        client.gather(client.map(abs, range(tasks), pure=False))
        return time.monotonic() - began_s


def memory(points: int, *, is_remote: bool) -> None:
    """Memory of the command during a sweep of very many points with tiny trials, here or on two
    workers."""
    first = round(points**0.5)
    axes = [f"switches.leaf.buffer=linear(1MB..{first}MB, {first})"]
    axes += [f"workloads.orders.gap=linear(1us..{points // first}us, {points // first})"]
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        (folder / "tiny.yaml").write_text(TINY)
        command = [str(ROOT / ".venv" / "bin" / "tailrace"), "run", "tiny.yaml", "--out", "run"]
        command += [word for axis in axes for word in ("--sweep", axis)]
        if is_remote:
            place = stack.enter_context(cluster(folder, 2, real=True))
            command += ["--on", place.address]
        began_s = time.monotonic()
        with (folder / "log").open("wb") as log:
            run = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        told = 0
        while run.poll() is None:
            time.sleep(1)
            done = sum(
                file.read_bytes().count(b"\n")
                for file in (folder / "run" / "trials").glob("*.jsonl")
            )
            if done >= told * points / 10:
                took_s = time.monotonic() - began_s
                print(
                    f"{done} of {first * (points // first)} points: {rss_mib(run.pid)}, "
                    f"{took_s:.0f} s",
                    flush=True,
                )
                told = int(10 * done / points) + 1
        took_s = time.monotonic() - began_s
        print(
            f"exit code {run.returncode}, {took_s:.0f} s with the report; "
            "last lines of the command:"
        )
        print("\n".join((folder / "log").read_text("utf-8").splitlines()[-3:]))


def rss_mib(process: int) -> str:
    """Memory of a process now, and the most so far."""
    try:
        text = Path(f"/proc/{process}/status").read_text("utf-8")
    except OSError:
        return "ended"
    found = {
        line.split(":")[0]: int(line.split()[1]) / 1024
        for line in text.splitlines()
        if line.startswith("Vm")
    }
    return f"{found.get('VmRSS', 0):.0f} MiB (peak {found.get('VmHWM', 0):.0f})"


def digests(run: Path) -> dict[str, str]:
    """The digest of every trial."""
    return {
        str(file.relative_to(run)): json.loads(file.read_text())["outcome"]["digest"]
        for file in run.glob("trials/*/*.json")
    }


def with_slurm() -> None:
    """A run whose jobs are cancelled, and one that is interrupted; both leave no job."""
    if absent := missing():
        print(
            f"skipped: {', '.join(absent)} not installed (Debian: slurmctld slurmd "
            "slurm-client munge)"
        )
        return
    program = str(ROOT / ".venv" / "bin" / "tailrace")
    with tempfile.TemporaryDirectory() as name, slurm(Path(name) / "slurm") as environment:
        folder = Path(name)
        (folder / "lab.yaml").write_text(SCENARIO)
        base = [program, "run", "lab.yaml", "--out", "run"]
        on = [
            *base,
            "--on",
            "slurm",
            "--partition",
            "lab",
            "--time",
            "00:10:00",
            "--max-workers",
            "2",
        ]
        with (folder / "log").open("wb") as log:
            run = subprocess.Popen(on, cwd=folder, env=environment, stdout=log, stderr=log)
            wait_for_outcomes(folder / "run", 3, run)
            cancelled = jobs(environment)
            told(environment, "scancel", *cancelled)
            wait_for_outcomes(folder / "run", 12, run)
            run.send_signal(signal.SIGINT)
            code = run.wait(LIMIT_S)
            held = len(digests(folder / "run"))
            print(
                f"cancelled jobs {', '.join(cancelled)}; interrupted with "
                f"{held} trials, exit code {code}"
            )
            print(f"jobs left: {len(jobs(environment))}")
            again = subprocess.run(
                on,
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=log,
                check=False,
                timeout=LIMIT_S,
            )
            print(f"rerun: exit code {again.returncode}, jobs left: {len(jobs(environment))}")
            local = [program, "run", "lab.yaml", "--out", "local"]
            subprocess.run(
                local,
                cwd=folder,
                env=os.environ,
                stdout=log,
                stderr=log,
                check=True,
                timeout=LIMIT_S,
            )
        is_same = digests(folder / "run") == digests(folder / "local")
        print(
            f"{len(digests(folder / 'run'))} trials, digests "
            f"{'equal' if is_same else 'DIFFER from'} a local run's"
        )


def main() -> None:
    """Reads the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("scale", "memory", "slurm"))
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--wall", type=float, default=0.05, help="seconds of a trial")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument(
        "--remote", action="store_true", help="memory: on two workers of a Dask cluster"
    )
    options = parser.parse_args()
    if options.what == "scale":
        scale(options.trials, options.wall)
    elif options.what == "memory":
        memory(options.points, is_remote=options.remote)
    else:
        with_slurm()


if __name__ == "__main__":
    main()
