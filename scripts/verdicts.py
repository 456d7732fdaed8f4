"""Compare the simulated TCP with real kernels: scenarios drawn at random, run by both engines with
the same arrivals.

`verdicts.py --count 200 --out runs/verdicts` draws the scenarios of seed 1, runs each by the
simulator and on real kernels in virtual time, and prints how many figures agree: medians and
goodput within 5 %, 99th percentiles and drops within 15 %. With three trials and more it also
prints of how many figures that is certain: the 95 % interval of the change lies within the band,
outside, or is in both. A scenario that was run already is not run again, so that a command that was
interrupted goes on. Each scenario is a file in its folder, for `tailrace run`.

`--control` runs real kernels a second time, with links that are one per cent longer: how far two
runs differ that nobody would tell apart. A scenario with losses is chaotic, and no model can agree
with a kernel better than that kernel with itself.

`--minutes 20` is for `make nightly`: it goes on with the scenario after the last one of the same
build and kernel, with one trial each, and ends with exit code 1 when certainly fewer figures of a
metric are within their band than `AGREEING` says, or a scenario fails, and 2 where there is no
kernel.
"""

import argparse
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import tailrace
from tailrace.errors import TailraceError
from tailrace.exact.program import build, required_kernel
from tailrace.experiment.native import simulator_build
from tailrace.files import make_folder, read_json, write_json
from tailrace.outcome.types import Outcome
from tailrace.results.directory.run_directory import Run
from tailrace.statistics import mean_log_interval
from tailrace.statistics.interval import VALUES_MIN

RATES_GBPS = (1, 10, 25)
DURATIONS_S = {1: 1.2, 10: 0.4, 25: 0.25}
"""By rate: about as many frames each."""
MTUS = (1500, 9000)
DELAYS_US = (1, 10, 50)
CONTROLS = ("cubic", "new-reno", "dctcp")
BUFFER_MS = (0.1, 40.0)
FRAMES_MIN = 12
"""Of full size, in the smallest queue: fewer than an initial window and a half measure nothing but
slow start."""
LOAD_MAX = 0.3
"""Of the line, for the transactions alone."""
BANDS = {
    "latency_p50_ms": 0.05,
    "goodput_gbps": 0.05,
    "latency_p99_ms": 0.15,
    "drops": 0.15,
    "retransmits": 0.15,
}
AGREEING = {
    "latency_p50_ms": 156 / 200,
    "goodput_gbps": 322 / 400,
    "latency_p99_ms": 137 / 173,
    "drops": 156 / 200,
    "retransmits": 321 / 400,
}
"""Share of the figures within their band in 200 scenarios: docs/validation.md."""
DEVIATIONS = 3
"""Standard deviations of a share that is certainly below another."""
STATE = Path(__file__).resolve().parent.parent / "target" / "nightly"
FEW = 30
"""Counts below this differ by more than their band from one seed to the next."""
EVENTS_MIN = 100
"""Transactions of a workload, for a 99th percentile."""


@dataclass(frozen=True)
class Figure:
    """One figure of both engines, a value for each trial."""

    scenario: str
    name: str
    simulated: list[float]
    exact: list[float]

    @property
    def metric(self) -> str:
        return self.name.split()[-1]

    @property
    def is_rare(self) -> bool:
        """Whether there is too little of it to compare."""
        return (
            self.metric in ("drops", "retransmits")
            and max(fmean(self.simulated), fmean(self.exact)) < FEW
        )

    @property
    def is_within(self) -> bool:
        """Whether the engines agree within the band of the metric."""
        simulated, exact = fmean(self.simulated), fmean(self.exact)
        return self.is_rare or abs(simulated - exact) <= BANDS[self.metric] * exact

    @property
    def certainty(self) -> str:
        """`within` or `outside` its band with all of the interval, or `undecided`."""
        if self.is_rare:
            return "within"
        low, high = 1 - BANDS[self.metric], 1 + BANDS[self.metric]
        if not fmean(self.exact):
            return "undecided"
        interval = mean_log_interval(self.simulated, below=[self.exact])
        if interval is None:
            return "undecided"
        if low <= interval.low and interval.high <= high:
            return "within"
        return "outside" if interval.low > high or interval.high < low else "undecided"


def draw(number: int, seed: int) -> dict[str, Any]:
    """A scenario: transactions and bulk streams that share a port."""
    dice = random.Random(f"{seed}/{number}")
    rate_gbps, mtu, control = dice.choice(RATES_GBPS), dice.choice(MTUS), dice.choice(CONTROLS)
    buffer_ms = math.exp(dice.uniform(*map(math.log, BUFFER_MS)))
    queue_bytes = max(round(buffer_ms * rate_gbps * 125_000), FRAMES_MIN * mtu)
    response = round(math.exp(dice.uniform(math.log(1_000), math.log(200_000))))
    users = dice.randint(2, 16)
    gap_s = max(
        users * response * 8 / (rate_gbps * 1e9 * LOAD_MAX * dice.uniform(0.2, 1.0)), 0.5e-3
    )
    queue: dict[str, Any] = {"limit": f"{queue_bytes}B"}
    if control == "dctcp":
        threshold = max(queue_bytes // dice.choice((3, 6)), 4 * mtu)
        queue["aqm"] = {"kind": "step", "threshold": f"{threshold}B"}
    return {
        "tailrace": 1,
        "name": f"verdict-{number}",
        "network": {
            "link": {"rate": f"{rate_gbps}Gbit/s", "delay": f"{dice.choice(DELAYS_US)}us"},
            "topology": {"kind": "star", "switch": "leaf", "hosts": ["client", "db", "bulk"]},
        },
        "hosts": {"defaults": {"mtu": f"{mtu}B", "tcp": {"congestion_control": control}}},
        "switches": {"leaf": {"buffer": f"{max(4_000_000, 4 * queue_bytes)}B", "policy": "fifo"}},
        "policies": {"fifo": {"queues": {"all": queue}}},
        "workloads": {
            "orders": {
                "kind": "oltp",
                "client": "client",
                "server": "db",
                "users": users,
                "gap": f"exponential({gap_s:.6f}s)",
                "start": "uniform(0s, 20ms)",
                "round_trips": [{"request": "200B", "response": f"{response}B"}],
            },
            "copy": {
                "kind": "stream",
                "source": "bulk",
                "destination": "client",
                "connections": dice.choice((1, 2, 4, 8)),
            },
        },
        "observe": {"ports": ["leaf>client"]},
        "arms": {"fifo": {}},
        "experiment": {"trials": 3, "duration": f"{DURATIONS_S[rate_gbps]}s"},
    }


def run_all(scenario: dict[str, Any], folder: Path, options: argparse.Namespace) -> list[Path]:
    """Run directories: simulated, exact, and the control; what is there already is not run
    again."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scenario.json").write_text(json.dumps(scenario, indent=2), encoding="utf-8")
    few, many = options.trials, options.simulated_trials or options.trials
    runs = [("simulated", scenario, many), ("exact", scenario, few)]
    runs += [("control", nudged(scenario), few)] * options.control
    for name, one, trials in runs:
        tailrace.run(one, out=folder / name, exact=name != "simulated", trials=trials)
    return [folder / name for name, *_ in runs]


def nudged(scenario: dict[str, Any]) -> dict[str, Any]:
    """The scenario with links that are one per cent longer."""
    copy: dict[str, Any] = json.loads(json.dumps(scenario))
    link = copy["network"]["link"]
    link["delay"] = f"{int(link['delay'].removesuffix('us')) * 1010}ns"
    return copy


def control_figures(own: list[Figure], paths: list[Path]) -> Iterator[Figure]:
    """The figures of an exact run, and those of its control in place of simulated ones."""
    again = {figure.name: figure.exact for figure in figures("", (paths[0], paths[2]))}
    for figure in own:
        if figure.name in again:
            yield replace(figure, simulated=again[figure.name])


def figures(name: str, paths: tuple[Path, Path]) -> Iterator[Figure]:
    """What is compared: figures that all trials of both runs have."""
    simulated, exact = (
        [values(trial.outcome) for trial in Run.read(path).valid("fifo")] for path in paths
    )
    if simulated and exact:
        for key in exact[0]:
            samples = [
                [trial[key] for trial in trials if key in trial] for trials in (simulated, exact)
            ]
            if len(samples[0]) == len(simulated) and len(samples[1]) == len(exact):
                yield Figure(name, key, *samples)


def values(outcome: Outcome) -> dict[str, float]:
    """The figures of a trial."""
    assert outcome.conservation is not None, "both engines count frames"
    found: dict[str, float] = {"port drops": outcome.conservation.dropped}
    for own in outcome.workloads:
        found[f"{own.name} goodput_gbps"] = 8e3 * own.goodput_bytes / outcome.end_ps
        found[f"{own.name} retransmits"] = (own.tcp.retransmits if own.tcp else 0) or 0
        if own.latency is not None:
            for percent, ps, least in (
                ("p50", own.latency.p50_ps, 1),
                ("p99", own.latency.p99_ps, EVENTS_MIN),
            ):
                if own.transactions >= least:
                    found[f"{own.name} latency_{percent}_ms"] = ps / 1e9
    return found


def describe(scenario: dict[str, Any]) -> str:
    """`10Gbit/s 1500B dctcp 120000B`."""
    defaults, queue = scenario["hosts"]["defaults"], scenario["policies"]["fifo"]["queues"]["all"]
    link = scenario["network"]["link"]
    control = defaults["tcp"]["congestion_control"]
    return f"{link['rate']} {link['delay']} {defaults['mtu']} {control} {queue['limit']}"


def main() -> int:
    """Runs, and prints a line for each figure outside its band and the shares within."""
    parser = argparse.ArgumentParser(prog="verdicts", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="scenarios")
    parser.add_argument("--first", type=int, default=1, help="number of the first one")
    parser.add_argument("--numbers", type=int, nargs="+", help="these scenarios, and no others")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=3, help="of each scenario, by each engine")
    parser.add_argument(
        "--simulated-trials", type=int, help="of each scenario, by the simulator, if more"
    )
    parser.add_argument("--out", type=Path, default=Path("runs/verdicts"))
    parser.add_argument(
        "--control", action="store_true", help="real kernels twice, the links one per cent longer"
    )
    parser.add_argument(
        "--minutes", type=float, help="go on with the scenarios after the last one, for this long"
    )
    parser.add_argument(
        "--state", type=Path, default=STATE, metavar="FOLDER", help="with --minutes"
    )
    options = parser.parse_args()
    if options.minutes is not None:
        options.trials, options.control = 1, False
        return accumulate(options)
    found: list[Figure] = []
    control: list[Figure] = []
    for number in options.numbers or range(options.first, options.first + options.count):
        scenario = draw(number, options.seed)
        name = f"{number:3d} {describe(scenario)}"
        try:
            paths = run_all(scenario, options.out / str(number), options)
            own = list(figures(name, (paths[0], paths[1])))
            control += control_figures(own, paths) if options.control else []
        except TailraceError as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            continue
        found += own
        outside = [figure for figure in own if not figure.is_within]
        words = "; ".join(
            f"{one.name} {fmean(one.simulated):.4g} / {fmean(one.exact):.4g}" for one in outside
        )
        print(
            f"{name}: {len(own) - len(outside)} of {len(own)} "
            f"within{': ' + words if words else ''}",
            flush=True,
        )
    summarise("simulated against exact", found)
    if options.control:
        summarise("exact against exact with links one per cent longer", control)
    return 0


def accumulate(options: argparse.Namespace) -> int:
    """Runs further scenarios until the time is over; the figures of all are in the folder of this
    build and kernel."""
    try:
        required_kernel()
    except TailraceError as error:
        print(f"verdicts: NOT RUN: {error}")
        return 2
    folder = options.state / "verdicts" / f"{simulator_build()}-{build()[:8]}-{options.seed}"
    make_folder(folder)
    file = folder / "figures.json"
    held: dict[str, Any] = (
        read_json(file) if file.exists() else {"next": 1, "figures": [], "failed": {}}
    )
    begun, end_s = held["next"], time.monotonic() + 60 * options.minutes
    while time.monotonic() < end_s:
        number = held["next"]
        scenario = draw(number, options.seed)
        name = f"{number:3d} {describe(scenario)}"
        try:
            paths = run_all(scenario, folder / str(number), options)
            held["figures"] += [asdict(figure) for figure in figures(name, (paths[0], paths[1]))]
        except TailraceError as error:
            held["failed"][str(number)] = str(error)
        held["next"] += 1
        write_json(file, held)
    found = [Figure(**one) for one in held["figures"]]
    summarise("simulated against exact", found)
    faults = list(disagreements(found))
    faults += [f"scenario {number} failed: {error}" for number, error in held["failed"].items()]
    for fault in faults:
        print(
            f"{fault}\n    scripts/verdicts.py --count {held['next'] - 1} --trials 1 --seed "
            f"{options.seed}"
        )
    print(
        f"verdicts: {held['next'] - begun} scenarios, {held['next'] - 1} "
        f"in all, {len(faults)} findings"
    )
    return 1 if faults else 0


def disagreements(found: list[Figure]) -> Iterator[str]:
    """Metrics of which certainly fewer figures than usual are within their band."""
    for metric, usual in AGREEING.items():
        of_metric = [figure for figure in found if figure.metric == metric]
        within = sum(figure.is_within for figure in of_metric)
        margin = DEVIATIONS * math.sqrt(usual * (1 - usual) * len(of_metric))
        if within < usual * len(of_metric) - margin:
            yield (
                f"{metric}: {within} of {len(of_metric)} within {BANDS[metric] * 100:g} %, "
                f"usually {usual:.0%}"
            )


def summarise(title: str, found: list[Figure]) -> None:
    """How many figures are within, by metric, by congestion control, and by scenario."""
    print(f"\n{title}")
    for metric in BANDS:
        of_metric = [figure for figure in found if figure.metric == metric]
        within = sum(figure.is_within for figure in of_metric)
        line = f"{metric:16s} {within} of {len(of_metric)} within {BANDS[metric] * 100:g} %"
        if any(len(figure.exact) >= VALUES_MIN for figure in of_metric):
            certain = Counter(figure.certainty for figure in of_metric)
            line += "; certainly " + ", ".join(
                f"{certain[word]} {word}" for word in ("within", "outside", "undecided")
            )
        print(line)
    scenarios = {figure.scenario for figure in found}
    outside = {figure.scenario for figure in found if not figure.is_within}
    certainly = {figure.scenario for figure in found if figure.certainty == "outside"}
    for word in ("", *CONTROLS):
        all_of = {name for name in scenarios if word in name}
        print(
            f"{word or 'all'}: {len(all_of - outside)} of {len(all_of)} scenarios have all figures "
            f"within, {len(all_of & certainly)} one that is certainly outside"
        )


if __name__ == "__main__":
    sys.exit(main())
