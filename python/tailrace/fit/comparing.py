"""The same statistics of a simulated run of the fitted scenario, beside those of the capture."""

from dataclasses import asdict, dataclass
from typing import Any

from tailrace.experiment.engine import SimulatedTrial
from tailrace.experiment.explain import outcomes_of
from tailrace.experiment.plans import Plans
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.schedule import TrialKey
from tailrace.fit.scenario import Fit
from tailrace.fit.workloads import Seen
from tailrace.results.metrics.latency import latency_figure
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.scenario import BASE_ARM

PS_PER_S = 10**12
BITS = 8
TRIALS = 3
FIGURES = ("rate_per_s", "goodput_bps", "response_p50_ms", "response_p99_ms")


@dataclass(frozen=True)
class Compared:
    """One workload: of the capture and simulated."""

    name: str
    seen: Seen
    simulated: Seen

    def differences(self) -> dict[str, float]:
        """Percent by which each figure is larger simulated."""
        pairs = {key: (getattr(self.seen, key), getattr(self.simulated, key)) for key in FIGURES}
        return {key: 100 * (b / a - 1) for key, (a, b) in pairs.items() if a and b is not None}


def compare(found: Fit, jobs: int, reporter: Reporter) -> list[Compared]:
    """Simulates the scenario a few times; raises `ScenarioError` when it is unsound, `KeyboardInterrupt` on Ctrl-C."""
    loaded = load_scenario(found.data())
    plans = Plans(loaded.arms)
    keys = [TrialKey(BASE_ARM, number + 1) for number in range(TRIALS)]
    outcomes = outcomes_of({key: plans.json(key) for key in keys}, jobs, SimulatedTrial, reporter, "simulating the fit")
    own = [outcome.data for outcome in outcomes.values() if "workloads" in outcome.data]
    return [Compared(one.name, one.seen, _simulated(one.name, own)) for one in found.found]


def _simulated(name: str, outcomes: list[dict[str, Any]]) -> Seen:
    """Means over trials."""
    rows = [
        (workload, data["end_ps"]) for data in outcomes for workload in data["workloads"] if workload["name"] == name
    ]
    rates = [workload["transactions"] * PS_PER_S / end for workload, end in rows if workload.get("transactions")]
    goodputs = [BITS * workload["goodput_bytes"] * PS_PER_S / end for workload, end in rows]
    return Seen(
        _mean(rates),
        _mean(goodputs) or 0.0,
        _mean([figure.ms for workload, _ in rows if (figure := latency_figure(workload, "p50"))]),
        _mean([figure.ms for workload, _ in rows if (figure := latency_figure(workload, "p99"))]),
    )


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def compared_data(one: Compared) -> dict[str, Any]:
    """For programs."""
    return {
        "workload": one.name,
        "capture": asdict(one.seen),
        "simulated": asdict(one.simulated),
        "difference_percent": one.differences(),
    }
