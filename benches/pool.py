"""Trials on one thread beside several, by turns: `benches/pool.py [--jobs 2] [--rounds 3] [--trials
100]`.

What is timed is an ordinary run's list of trials, from the start of the first to the file of the
last: the simulation, judging and writing. Reading the scenario, statistics and the report have one
core, and are not part of it. The cores in use are seconds of the processor in a second by the
clock; where other programs use the machine both figures fall short.
"""

import argparse
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tailrace.experiment.engine import Simulated
from tailrace.experiment.executor import Local, PlanOf
from tailrace.experiment.options import Options
from tailrace.experiment.pool import Watcher
from tailrace.experiment.run import ExperimentRun
from tailrace.experiment.schedule import Keys
from tailrace.scenario.loading import load_scenario

SCENARIO = """
tailrace: 1
name: pool
network: {topology: {kind: star, switch: leaf, hosts: [client, db, bulk]}}
workloads:
  orders:
    {kind: oltp, client: client, server: db, users: 4, transactions: TRANSACTIONS, round_trips: [{response: 18kB}],
     gap: 7ms}
  backup: {kind: stream, source: bulk, destination: client}
experiment: {duration: 60s, trials: TRIALS}
"""  # noqa: E501
TRANSACTIONS = (50, 200)
"""Of a trial."""


class Timed(Local):
    """The ordinary pool; notes what its list of trials took."""

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs, Simulated())
        self.wall_s = self.cpu_s = 0.0

    def run_all(self, keys: Keys, plan_of: PlanOf, watcher: Watcher) -> bool:
        """All trials."""
        wall_s, cpu_s = time.monotonic(), time.process_time()
        is_interrupted = super().run_all(keys, plan_of, watcher)
        self.wall_s, self.cpu_s = time.monotonic() - wall_s, time.process_time() - cpu_s
        return is_interrupted


@dataclass(frozen=True)
class Took:
    """A list of trials, in seconds."""

    wall_s: float
    cpu_s: float


def main() -> int:
    """Prints seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=100)
    options = parser.parse_args()
    for transactions in TRANSACTIONS:
        ratios = []
        for _ in range(options.rounds):
            one, several = (took(jobs, transactions, options.trials) for jobs in (1, options.jobs))
            ratios.append(one.wall_s / several.wall_s)
            print(
                f"{options.trials} trials of {1000 * one.wall_s / options.trials:.0f} ms: "
                f"{one.wall_s:.2f} and {several.wall_s:.2f} s by the clock, {one.cpu_s:.2f} and "
                f"{several.cpu_s:.2f} s of the processor; {several.cpu_s / several.wall_s:.2f} "
                f"cores in use; {ratios[-1]:.2f} times as fast",
                flush=True,
            )
        print(
            f"median {statistics.median(ratios):.2f} times ({min(ratios):.2f} to {max(ratios):.2f})"
        )
    return 0


def took(jobs: int, transactions: int, trials: int) -> Took:
    """One run into a folder of its own."""
    text = SCENARIO.replace("TRANSACTIONS", str(transactions)).replace("TRIALS", str(trials))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pool.yaml"
        file.write_text(text, encoding="utf-8")
        executor = Timed(jobs)
        finished = ExperimentRun(
            load_scenario(file), Options(jobs=jobs, out=Path(folder) / "run"), executor=executor
        ).run()
        assert finished.is_valid
        return Took(executor.wall_s, executor.cpu_s)


if __name__ == "__main__":
    raise SystemExit(main())
