"""`tailrace explain`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tailrace.cli.console import emit_json, emit_table, note
from tailrace.cli.showing import trial_of
from tailrace.errors import RunRefusedError, closest
from tailrace.experiment.engine import SIMULATED, Simulated, engine_of
from tailrace.experiment.explain import explain_all
from tailrace.experiment.native import Outcome, values
from tailrace.experiment.options import jobs_of
from tailrace.experiment.schedule import TrialKey
from tailrace.results import Run
from tailrace.results.causes.bands import bands
from tailrace.results.causes.causes import Causes, Transaction
from tailrace.results.causes.sentence import sentence
from tailrace.results.directory.run_directory import Trial
from tailrace.results.text.causes import causes_text, slowest_of
from tailrace.scenario.lowering.plan import canonical_json

EXPLAINED = "oltp"
"""The kind of workloads whose transactions are explained."""


@dataclass(frozen=True)
class Wanted:
    """What is asked for."""

    arms: Sequence[str]
    workloads: Sequence[str]
    number: int
    slowest: int
    jobs: int | None


def explain_run(path: Path, wanted: Wanted, *, json_: bool) -> None:
    """Prints where the time went, by arm and workload."""
    run = Run.read(path)
    workloads = workloads_of(run, wanted.workloads)
    trials = _trials(run, wanted)
    plans = {key: plan_of(run, trial) for key, trial in trials.items()}
    outcomes = explain_all(
        {key: canonical_json(plan) for key, plan in plans.items()}, jobs_of(wanted.jobs, Simulated())
    )
    told: list[dict[str, Any]] = []
    for key, outcome in outcomes.items():
        if trials[key].outcome.get("digest") != outcome.data.get("digest"):
            note(
                f"warning: {key} had other events when it was run: the simulator has changed since (hint: run it again)"
            )
        causes = Causes({name: values(columns) for name, columns in outcome.tables.items()}, plans[key])
        for workload in causes.names_of(workloads):
            counted = _counted(causes.by_workload.get(workload, []), outcome)
            if counted and json_:
                told.append(_json(key.arm, workload, counted, wanted.slowest))
            elif counted:
                emit_table(partial(_text, key.arm, workload, counted, wanted.slowest))
            elif not json_:
                note(f"{workload} {key.arm}: no transaction was complete after the warm-up")
    if json_:
        emit_json({"run": str(run.path), "trial": wanted.number, "explained": told})


def workloads_of(run: Run, wanted: Sequence[str]) -> list[str]:
    """Names of the explained workloads: those wanted, or all that can be."""
    if (engine := engine_of(run.manifest)) != SIMULATED:
        raise RunRefusedError(
            f"{run.path}: this is a run of the engine '{engine}', and only simulated ones are explained"
            f" (hint: run its scenario without --{engine})"
        )
    able = [name for name in run.workloads if run.kind_of(name) == EXPLAINED]
    for name in wanted:
        if name not in run.workloads:
            raise RunRefusedError(
                f"{run.path}: there is no workload '{name}' (hint: {closest(name, run.workloads, 'workloads')})"
            )
        if name not in able:
            raise RunRefusedError(
                f"{run.path}: '{name}' is of kind {run.kind_of(name)}, and only {EXPLAINED} is explained"
            )
    if not able:
        raise RunRefusedError(f"{run.path}: no workload is of kind {EXPLAINED}, the only one that is explained")
    return [name for name in able if not wanted or name in wanted]


def _trials(run: Run, wanted: Wanted) -> dict[TrialKey, Trial]:
    arms = list(dict.fromkeys(wanted.arms)) or run.arms
    return {TrialKey(arm, wanted.number): trial_of(run, arm, wanted.number) for arm in arms}


def plan_of(run: Run, trial: Trial) -> dict[str, Any]:
    """The plan of this trial: that of its arm with the trial's name and seed."""
    plan = run.plan(trial.arm)
    if plan is None:
        raise RunRefusedError(f"{run.path}: it has no plan of arm '{trial.arm}' (hint: run the scenario again)")
    return {**plan, "name": trial.outcome["name"], "seed": trial.outcome["seed"]}


def _counted(of: Sequence[Transaction], outcome: Outcome) -> list[Transaction]:
    """Those that were complete after the warm-up, as in every figure of a run."""
    begin_ps = outcome.data.get("counted_from_ps", 0)
    return [one for one in of if one.end_ps > begin_ps]


def _text(arm: str, workload: str, of: Sequence[Transaction], slowest: int) -> str:
    return causes_text(arm, workload, of, slowest) + "\n"


def _json(arm: str, workload: str, of: Sequence[Transaction], slowest: int) -> dict[str, Any]:
    return {
        "arm": arm,
        "workload": workload,
        "transactions": len(of),
        "bands": [asdict(band) for band in bands(of)],
        "slowest": [{**asdict(one), "sentence": sentence(one)} for one in slowest_of(of, slowest)],
    }
