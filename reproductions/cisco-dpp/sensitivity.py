"""What each parameter does to each of the ten completion times and five speed-ups: one variation at
a time.

    .venv/bin/python reproductions/cisco-dpp/sensitivity.py [--scale 0.05] [--trials 2] [--only
    TEXT]

Writes `variations.md` beside this file, or prints it where `--only` selects some of the variations.
"""

import argparse
import statistics
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.experiment.native import make_trial, run_trial
from tailrace.experiment.plans import Plans
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import TrialKey
from tailrace.outcome.types import Outcome, Workload
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.oltp import Oltp
from variations import VARIATIONS, Variation

HERE = Path(__file__).resolve().parent
ARMS = ("fifo", "dpp")
BASE_TRIALS_FACTOR = 2
"""The base is what all are compared with: it gets more trials."""
NOISE_SPREADS = 2.0
"""A change within this many standard errors of the difference is shown as nothing."""
PUBLISHED = {
    "fifo": {"XS": 572, "S": 585, "M": 672, "L1": 646, "L2": 651},
    "dpp": {"XS": 390, "S": 396, "M": 479, "L1": 641, "L2": 642},
}
"""C11-738425, table 2, p. 7."""


@dataclass(frozen=True)
class Cells:
    """Completion times of one variation in seconds at full scale: arm, workload, one value per
    trial."""

    times: dict[tuple[str, str], list[float]]

    def mean(self, arm: str, workload: str) -> float:
        return statistics.fmean(self.times[arm, workload])

    def speed_ups(self, workload: str) -> list[float]:
        """Percent, trial by trial: trial n has the same seed in both arms."""
        pairs = zip(self.times["fifo", workload], self.times["dpp", workload], strict=True)
        return [100 * (1 - dpp / fifo) for fifo, dpp in pairs]

    @property
    def workloads(self) -> list[str]:
        return [workload for arm, workload in self.times if arm == ARMS[0]]


def main() -> None:
    """Runs the base and every variation, then writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--scale", type=float, default=0.05, help="part of the published transaction counts"
    )
    parser.add_argument(
        "--trials", type=int, default=2, help="trials of each variation; the base has twice as many"
    )
    parser.add_argument("--jobs", type=int, default=2, help="trials at the same time")
    parser.add_argument(
        "--only", default="", help="only variations whose name contains this; prints the page"
    )
    options = parser.parse_args()
    base = measure({}, options.scale, BASE_TRIALS_FACTOR * options.trials, options.jobs)
    rows: list[tuple[Variation, Cells]] = []
    chosen = [
        variation
        for variation in VARIATIONS
        if options.only in variation.name and differs(variation)
    ]
    for number, variation in enumerate(chosen, 1):
        sys.stderr.write(f"{number}/{len(chosen)} {variation.name}\n")
        rows.append(
            (variation, measure(variation.changes, options.scale, options.trials, options.jobs))
        )
    page = written(base, rows, options.scale, options.trials)
    if options.only:
        sys.stdout.write(page)
    else:
        (HERE / "variations.md").write_text(page, encoding="utf-8")


def differs(variation: Variation) -> bool:
    """Whether a variation changes anything: some are values that the scenario may have."""
    plans = [
        Plans(load_scenario(HERE / "scenario.yaml", changes).arms)
        for changes in ({}, variation.changes)
    ]
    return plans[0].hashes != plans[1].hashes


def measure(changes: Mapping[str, Any], scale: float, trials: int, jobs: int) -> Cells:
    """Every trial of both arms of the scenario with these changes."""
    loaded = load_scenario(HERE / "scenario.yaml", changes)
    arms = {name: scaled(loaded.arms[name], scale) for name in ARMS}
    plans = Plans(arms)
    counts = transactions(loaded.arms[ARMS[0]])
    factors = {name: count / counts[name] for name, count in transactions(arms[ARMS[0]]).items()}
    keys = [TrialKey(arm, number) for number in range(1, trials + 1) for arm in ARMS]
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(lambda key: run_trial(make_trial(plans.json(key))).outcome, keys))
    times: dict[tuple[str, str], list[float]] = {(arm, name): [] for arm in ARMS for name in counts}
    for key, outcome in zip(keys, outcomes, strict=True):
        for workload in outcome.workloads:
            times[key.arm, workload.name].append(
                completion_s(workload, outcome) / factors[workload.name]
            )
    return Cells(times)


def transactions(scenario: Scenario) -> dict[str, int]:
    """Transactions of each user, by workload."""
    oltp = {
        name: workload
        for name, workload in scenario.workloads.items()
        if isinstance(workload, Oltp)
    }
    return {name: workload.transactions or 0 for name, workload in oltp.items()}


def completion_s(workload: Workload, outcome: Outcome) -> float:
    """When the last user finished; a workload that did not finish counts as finished when the trial
    ended."""
    return (workload.completion_ps or outcome.end_ps) / 1e12


def written(base: Cells, rows: Sequence[tuple[Variation, Cells]], scale: float, trials: int) -> str:
    """The page."""
    names = base.workloads
    head = [f"{name} {arm}" for arm in ARMS for name in names] + [
        f"{name} faster" for name in names
    ]
    lines = [
        "# What each parameter does",
        "",
        f"Written by `.venv/bin/python reproductions/cisco-dpp/sensitivity.py --scale {scale:g} "
        f"--trials {trials}`: one change at a time to [scenario.yaml](scenario.yaml).",
        f"The base is the mean of {BASE_TRIALS_FACTOR * trials} trials, a variation of {trials}.",
        "Completion times are in seconds at full scale, speed-ups in percent.",
        "",
        "| | " + " | ".join(head) + " |",
        "|---" * (len(head) + 1) + "|",
        table_row("published", published_cells(names)),
        table_row("base", base_cells(base)),
        table_row("± of one trial", spread_cells(base)),
        "",
        "Changes against the base: completion times in percent, speed-ups in points. An empty "
        "cell is a change of",
        f"less than {NOISE_SPREADS:g} standard errors of the difference of the means (by the "
        "base's spread).",
    ]
    group = ""
    for variation, cells in rows:
        if variation.group != group:
            group = variation.group
            lines += [
                "",
                f"## {group}",
                "",
                "| | " + " | ".join(head) + " |",
                "|---" * (len(head) + 1) + "|",
            ]
        lines.append(table_row(variation.name, change_cells(base, cells)))
    return "\n".join([*lines, ""])


def table_row(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | " + " | ".join(cells) + " |"


def published_cells(names: Sequence[str]) -> list[str]:
    times = [f"{PUBLISHED[arm][name]}" for arm in ARMS for name in names]
    return times + [
        f"{100 * (1 - PUBLISHED['dpp'][name] / PUBLISHED['fifo'][name]):.1f}" for name in names
    ]


def base_cells(base: Cells) -> list[str]:
    times = [f"{base.mean(arm, name):.0f}" for arm in ARMS for name in base.workloads]
    return times + [f"{statistics.fmean(base.speed_ups(name)):.1f}" for name in base.workloads]


def spread_cells(base: Cells) -> list[str]:
    times = [
        f"{statistics.stdev(base.times[arm, name]):.1f}" for arm in ARMS for name in base.workloads
    ]
    return times + [f"{statistics.stdev(base.speed_ups(name)):.1f}" for name in base.workloads]


def change_cells(base: Cells, cells: Cells) -> list[str]:
    shown = []
    for arm in ARMS:
        for name in base.workloads:
            per_cent = 100 / base.mean(arm, name)
            shown.append(change(base.times[arm, name], cells.times[arm, name], per_cent))
    return shown + [
        change(base.speed_ups(name), cells.speed_ups(name), 1.0) for name in base.workloads
    ]


def change(before: Sequence[float], after: Sequence[float], unit: float) -> str:
    """The difference of the means times `unit`, or nothing where it may be noise."""
    difference = statistics.fmean(after) - statistics.fmean(before)
    error = statistics.stdev(before) * (1 / len(before) + 1 / len(after)) ** 0.5
    return "" if abs(difference) < NOISE_SPREADS * error else f"{difference * unit:+.1f}"


if __name__ == "__main__":
    main()
