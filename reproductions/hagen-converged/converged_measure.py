"""Goodputs of the classes in each mix of a scenario, with some of its values changed."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tailrace.experiment.native import make_trial, run_trial
from tailrace.outcome.types import Outcome
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower

HERE = Path(__file__).resolve().parent
CLASSES = ("tcp", "udp", "read", "write")
ONE_WAY = ("tcp", "udp", "write")
"""Classes whose data leaves the source; that of `read` comes back."""

Goodputs = dict[str, float]
Mixes = dict[str, Goodputs]


def goodputs(outcome: Outcome) -> Goodputs:
    """Gbit/s of each class of a trial."""
    return {
        one.name: one.goodput_bytes * 8000 / (outcome.end_ps - one.counted_from_ps)
        for one in outcome.workloads
    }


def measured(
    file: str, changes: Mapping[str, Any], arms: list[str] | None = None, seed: int = 1
) -> Mixes:
    """One trial of each arm, or of these."""
    scenarios = load_scenario(HERE / file, changes).arms
    chosen = arms or list(scenarios)
    with ThreadPoolExecutor(2) as pool:
        outcomes = pool.map(
            lambda arm: (
                run_trial(make_trial(canonical_json(lower(scenarios[arm], arm, seed)))).outcome
            ),
            chosen,
        )
        return dict(zip(chosen, map(goodputs, outcomes), strict=True))


def share(mix: Goodputs, name: str) -> float:
    """Of the goodput of all classes of a mix, in percent."""
    return 100 * mix[name] / sum(mix.values())


def kept(mixes: Mixes, arm: str, name: str) -> float:
    """What a class has in a mix, in percent of what it has alone."""
    return 100 * mixes[arm][name] / mixes[name][name]
