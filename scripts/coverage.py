"""How often the intervals of few simulated trials cover the truth, and how often identical arms are
told apart.

    scripts/coverage.py --minutes 30             more experiments, added to those of the calls before
    scripts/coverage.py --table docs/validation.md    writes the table of what is held into the page

An experiment is ten trials of a case with seeds of its own: its first three and six, and all of
them, have the figures and intervals that `tailrace run` prints. The truth is that of theory, or of
300 other trials of the same length together. Experiments with identical arms (A/A) compare six
trials with six others, as `tailrace run` does, or as many as `trials: auto` takes, and count where
any workload is told to be better or worse. Seeds are those of `--seeds`: what is developed with one
is reported with another.

Exit code 1 when an interval covers certainly outside 85 to 96 %, when one is missing that must be
printed, or when identical arms are certainly told apart in more than 5 %.
"""  # noqa: E501

import argparse
import copy
import hashlib
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coverage_cases import CASES, Case, Scenario, many_shops
from tailrace.experiment.engine import Simulated, outcome_of
from tailrace.files import make_folder, read_json, write_json
from tailrace.outcome.run_files import TRIALS as FOLDER
from tailrace.outcome.run_files import RunFiles, TrialFiles
from tailrace.results.compare.effects import compare_arms
from tailrace.results.compare.looks import standings
from tailrace.results.compare.tone import direction
from tailrace.results.directory.manifest import Manifest
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.metrics.figure import figure_of
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.statistics.looks import looks_until

STATE = Path(__file__).resolve().parent.parent / "target" / "nightly"
NOWHERE = TrialFiles(RunFiles(Path()), FOLDER, "1")
"""Files of trials that are not kept."""
SEEDS = 38
"""Of what is reported; what was developed took others."""
TRIALS = (3, 6, 10)
FIGURES = {
    "p50": "latency_p50_ms",
    "p99": "latency_p99_ms",
    "rate": "rate_per_s",
    "goodput": "goodput_gbps",
}
ALWAYS = ("p50", "rate", "goodput")
"""Figures that have an interval from three trials on, whatever the number of transactions."""
RESOLUTION = 1e-4
"""Figures that differ by less than this share are the same: three digits are printed. Trials that
all count the same 14 484 transactions would else miss a truth of 14 484.1.
"""
LEAST, MOST = 0.85, 0.96
AA_TRIALS = 6
AA_WORKLOADS = (3, 6, 12)
AUTO = "-auto"
AA = (*(f"aa{count}" for count in AA_WORKLOADS), f"aa3{AUTO}")
LOOKS_MAX, PRECISION = 24, 0.05
"""Of `trials: auto` where a scenario says nothing else."""
AA_MOST = 0.05
LONG = 300
"""Trials of the run that the truth comes from, where theory does not say it."""
DEVIATIONS = 3
"""Standard deviations of a share that is certainly beyond another."""
START, END = "<!-- coverage: scripts/coverage.py --table -->", "<!-- /coverage -->"
State = dict[str, Any]


@dataclass(frozen=True)
class Counted:
    """Experiments of one figure at one number of trials."""

    experiments: int
    printed: int
    covered: int
    exact: int
    """Intervals that are narrower than what is printed shows: they cover always."""

    @property
    def fault(self) -> str:
        """What is certainly wrong with the coverage; empty for nothing."""
        if not self.printed:
            return ""
        share = self.covered / self.printed
        if share < LEAST - margin(LEAST, self.printed):
            return f"cover the truth in {share:.1%} of {self.printed} experiments"
        if share > MOST + margin(MOST, self.printed) and 2 * self.exact < self.printed:
            return (
                f"cover the truth in {share:.1%} of {self.printed} experiments, more than they say"
            )
        return ""


def margin(share: float, count: int) -> float:
    """By how much a share of so many experiments may differ from the true one by chance."""
    return DEVIATIONS * math.sqrt(share * (1 - share) / count)


def trial_of(
    scenario: Scenario, seeds: int, number: int, arm: str = "base", shown: int | None = None
) -> Trial:
    """A simulated trial of the only arm of a scenario; as one of another arm and number where these
    are given."""
    stated = copy.deepcopy(scenario)
    stated["experiment"]["seed"] = seeds
    loaded = load_scenario(stated)
    [(name, own)] = loaded.arms.items()
    outcome = outcome_of(Simulated().trial(canonical_json(lower(own, name, number))))
    return Trial(arm, shown or number, "ok", "", outcome, NOWHERE)


def truth_of(case: Case, seeds: int) -> dict[str, float]:
    """Each figure by theory, or of one very long run: many trials of the same length with seeds of
    their own.

    What the beginning and the end of a trial do, such as windows that grow, is a part of what it
    measures.
    """
    trials = [trial_of(case.scenario, seeds + 1, number) for number in range(1, LONG + 1)]
    found = {key: figure_of(trials, [case.workload], metric) for key, metric in FIGURES.items()}
    return {key: figure.value for key, figure in found.items() if figure.value is not None} | dict(
        case.truth
    )


def experiment(
    case: Case, truth: dict[str, float], seeds: int, number: int
) -> Iterator[tuple[str, bool, bool, bool]]:
    """For each number of trials and figure whether an interval is printed, whether it covers, and
    whether it is exact.
    """
    trials = [
        trial_of(case.scenario, seeds, number * max(TRIALS) + at)
        for at in range(1, max(TRIALS) + 1)
    ]
    for count in TRIALS:
        for key in truth:
            figure = figure_of(trials[:count], [case.workload], FIGURES[key])
            interval = figure.interval
            is_covered = interval is not None and (
                interval.low * (1 - RESOLUTION) <= truth[key] <= interval.high * (1 + RESOLUTION)
            )
            is_exact = (
                interval is not None and interval.high - interval.low <= RESOLUTION * truth[key]
            )
            yield f"{count} {key}", interval is not None, is_covered, is_exact


def is_told_apart(scenario: Scenario, seeds: int, number: int) -> bool:
    """Whether any comparison of two arms that differ in their seeds says better or worse."""
    return any(
        direction(effect)
        for effect in compare_arms(alike_arms(scenario, seeds, number, AA_TRIALS), None)
    )


def is_told_apart_at_a_look(scenario: Scenario, seeds: int, number: int) -> bool:
    """The same of `trials: auto`: whether a comparison is decided as a difference, at whatever look
    the run ends."""
    run = alike_arms(scenario, seeds, number, LOOKS_MAX)
    for trials in looks_until(LOOKS_MAX):
        found = standings(run.until(trials), PRECISION)
        if all(standing.is_decided for standing in found):
            break
    return any(standing.state == "different" for standing in found)


def alike_arms(scenario: Scenario, seeds: int, number: int, trials: int) -> Run:
    """Two arms of a scenario with seeds of their own, so many trials of each."""
    numbers = range(2 * trials * number + 1, 2 * trials * (number + 1) + 1)
    arms: dict[str, list[Trial]] = {"a": [], "b": []}
    for at, seed in enumerate(numbers):
        arms["ab"[at % 2]].append(trial_of(scenario, seeds, seed, "ab"[at % 2], at // 2 + 1))
    manifest = Manifest(
        name="aa", seed=seeds, arms=list(arms), workloads=list(scenario["workloads"])
    )
    return Run(RunFiles(Path()), manifest, arms)


def accumulate(minutes: float, folder: Path, seeds: int, only: Sequence[str]) -> int:
    """Adds experiments, of what has fewest first, until the time is over; prints what is held."""
    make_folder(folder)
    file = folder / f"coverage-{seeds}.json"
    held: State = read_json(file) if file.exists() else {"cases": {}, "aa": {}}
    wanted = [name for name in (*CASES, *AA) if not only or name in only]
    end_s = time.monotonic() + 60 * minutes
    made = 0
    while not made or time.monotonic() < end_s:
        name = min(wanted, key=lambda name: _of(held, name)["experiments"])
        _add(held, name, seeds)
        write_json(file, held)
        made += 1
    print(table(held))
    faults = list(faults_of(held))
    print("".join(f"{fault}\n    scripts/coverage.py --minutes 30\n" for fault in faults), end="")
    print(f"coverage: {made} experiments more, {len(faults)} findings")
    return 1 if faults else 0


def _of(held: State, name: str) -> State:
    """What is held of a case; nothing where its scenario was another one."""
    is_aa = name.startswith("aa")
    group = held["aa" if is_aa else "cases"]
    scenario = many_shops(count_of(name)) if is_aa else CASES[name].scenario
    digest = hashlib.sha256(json.dumps(scenario).encode()).hexdigest()
    if group.get(name, {}).get("scenario") != digest:
        group[name] = {"experiments": 0, "scenario": digest}
    found: State = group[name]
    return found


def _add(held: State, name: str, seeds: int) -> None:
    """One experiment more."""
    own = _of(held, name)
    if name.startswith("aa"):
        tell = is_told_apart_at_a_look if name.endswith(AUTO) else is_told_apart
        own["told"] = own.get("told", 0) + tell(
            many_shops(count_of(name)), seeds, own["experiments"]
        )
    else:
        case = CASES[name]
        own.setdefault("truth", None)
        own["truth"] = own["truth"] or truth_of(case, seeds)
        counts = own.setdefault("counts", {})
        for key, is_printed, is_covered, is_exact in experiment(
            case, own["truth"], seeds, own["experiments"]
        ):
            printed, covered, exact = counts.get(key, (0, 0, 0))
            counts[key] = [printed + is_printed, covered + is_covered, exact + is_exact]
    own["experiments"] += 1


def count_of(name: str) -> int:
    """The closed loops of an experiment with identical arms."""
    return int(name.removeprefix("aa").removesuffix(AUTO))


def counted(own: State, trials: int, key: str) -> Counted:
    """What is held of a figure of a case."""
    printed, covered, exact = own.get("counts", {}).get(f"{trials} {key}", (0, 0, 0))
    return Counted(own["experiments"], printed, covered, exact)


def faults_of(held: State) -> Iterator[str]:
    """What is certainly wrong."""
    for name, own in held["cases"].items():
        for key in own.get("truth") or {}:
            for trials in TRIALS:
                found = counted(own, trials, key)
                if found.fault:
                    yield f"{CASES[name].title}: {key} of {trials} trials: intervals {found.fault}"
                if key in ALWAYS and found.printed < found.experiments:
                    yield f"{CASES[name].title}: {key} of {trials} trials: an interval is missing"
    for name, own in held["aa"].items():
        experiments, told = own["experiments"], own.get("told", 0)
        if experiments and told / experiments > AA_MOST + margin(AA_MOST, experiments):
            yield f"{name}: identical arms are told apart in {told} of {experiments} experiments"


def table(held: State) -> str:
    """Coverage by case and number of trials in percent, with its standard deviation, and the arms
    told apart."""
    heads = ["Interval of", "experiments", *(f"{count} trials" for count in TRIALS)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, case in CASES.items():
        own = held["cases"].get(name, {})
        for key in own.get("truth") or {}:
            cells = [cell(counted(own, count, key)) for count in TRIALS]
            lines.append(f"| {key}, {case.title} | {own['experiments']} | {' | '.join(cells)} |")
    lines += ["", "| Identical arms | experiments | told better or worse |", "|---|---|---|"]
    for name, own in held["aa"].items():
        how = ", `trials: auto`" if name.endswith(AUTO) else ""
        lines.append(
            f"| {count_of(name)} closed loops beside flows{how} | {own['experiments']} | "
            f"{own.get('told', 0)} |"
        )
    return "\n".join(lines)


def cell(found: Counted) -> str:
    """`91.5 ± 2.0 %`; with the share that had an interval where not all had."""
    if not found.printed:
        return "none yet"
    share = found.covered / found.printed
    deviation = math.sqrt(share * (1 - share) / found.printed)
    some = (
        ""
        if found.printed == found.experiments
        else f" of {found.printed / found.experiments:.0%} printed"
    )
    exact = ", exact" if 2 * found.exact >= found.printed else ""
    return f"{share:.1%} ± {deviation:.1%}{some}{exact}".replace("%", " %")


def write_table(page: Path, held: State) -> None:
    """Replaces what stands between the marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{START}\n\n{table(held)}\n\n{END}{after}", encoding="utf-8")


def main() -> int:
    """Adds experiments, or writes the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5, help="how long experiments are added")
    parser.add_argument("--state", type=Path, default=STATE, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seed of the experiments")
    parser.add_argument("--only", action="append", default=[], metavar="CASE", help="repeatable")
    parser.add_argument(
        "--table", type=Path, metavar="PAGE", help="write the table of what is held, and end"
    )
    options = parser.parse_args()
    if options.table is not None:
        write_table(options.table, read_json(options.state / f"coverage-{options.seeds}.json"))
        return 0
    return accumulate(options.minutes, options.state, options.seeds, options.only)


if __name__ == "__main__":
    sys.exit(main())
