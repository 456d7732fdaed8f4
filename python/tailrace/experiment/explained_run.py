"""Explains trials of a run directory, and keeps what was found beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tailrace.errors import RunRefusedError, closest
from tailrace.experiment.engine import SIMULATED, Simulated, engine_of
from tailrace.experiment.explain import explain_all
from tailrace.experiment.native import Outcome, unexplained, values
from tailrace.experiment.options import jobs_of
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.schedule import TrialKey
from tailrace.results import Run
from tailrace.results.causes.causes import Causes, Transaction
from tailrace.results.causes.kept import keep
from tailrace.results.directory.find_trial import trial_of
from tailrace.results.directory.run_directory import Trial
from tailrace.scenario.lowering.plan import canonical_json


@dataclass(frozen=True)
class Wanted:
    """What is asked for."""

    arms: Sequence[str] = ()
    workloads: Sequence[str] = ()
    number: int = 1
    slowest: int = 10
    jobs: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all arms and workloads are."""
        return not self.arms and not self.workloads


@dataclass(frozen=True)
class Explained:
    """The transactions of one workload in one arm that the run counts; possibly none."""

    arm: str
    workload: str
    transactions: list[Transaction]


@dataclass(frozen=True)
class ExplainedRun:
    """What was found."""

    found: list[Explained]
    changed: list[TrialKey]
    """Trials that had other events when they were run: the simulator has changed since."""


def explain_run(run: Run, wanted: Wanted, reporter: Reporter) -> ExplainedRun:
    """Explains one trial of every wanted arm. An explanation of all is kept in the run directory, for its report.

    Raises `RunRefusedError` for what is not there or cannot be explained, `KeyboardInterrupt` when interrupted.
    """
    workloads = _workloads(run, wanted.workloads)
    trials = _trials(run, wanted)
    plans = {key: trial_plan(run, trial) for key, trial in trials.items()}
    texts = {key: canonical_json(plan) for key, plan in plans.items()}
    outcomes = explain_all(texts, jobs_of(wanted.jobs, Simulated()), reporter)
    found: list[Explained] = []
    for key, outcome in outcomes.items():
        causes = Causes({name: values(columns) for name, columns in outcome.tables.items()}, plans[key])
        found += [
            Explained(key.arm, name, _counted(name, causes.by_workload.get(name, []), outcome))
            for name in causes.names_of(workloads)
        ]
    changed = [key for key, trial in trials.items() if trial.outcome.get("digest") != outcomes[key].data.get("digest")]
    if wanted.is_whole and not changed:
        digests = {key.arm: str(trial.outcome.get("digest")) for key, trial in trials.items()}
        keep(run.path, wanted.number, digests, [(one.arm, one.workload, one.transactions) for one in found])
    return ExplainedRun(found, changed)


def _workloads(run: Run, wanted: Sequence[str]) -> list[str]:
    """Names of the explained workloads: those wanted, or all that can be."""
    if (engine := engine_of(run.manifest)) != SIMULATED:
        raise RunRefusedError(
            f"{run.path}: this is a run of the engine '{engine}', and only simulated ones are explained"
            f" (hint: run its scenario without --{engine})"
        )
    why = _unexplained(run)
    for name in wanted:
        if name not in run.workloads:
            raise RunRefusedError(
                f"{run.path}: there is no workload '{name}' (hint: {closest(name, run.workloads, 'workloads')})"
            )
        if name in why:
            raise RunRefusedError(f"{run.path}: '{name}' is not explained: {why[name]}")
    if all(name in why for name in run.workloads):
        reasons = "; ".join(
            f"{', '.join(name for name in why if why[name] == reason)}: {reason}"
            for reason in sorted(set(why.values()))
        )
        raise RunRefusedError(f"{run.path}: no workload can be explained ({reasons})")
    return [name for name in run.workloads if name not in why and (not wanted or name in wanted)]


def _unexplained(run: Run) -> dict[str, str]:
    """By workload, why it is not explained. It is of the same kind in all arms, but may be missing in some."""
    plans = [plan for arm in run.arms if (plan := run.plan(arm)) is not None]
    return {name: reason for plan in plans for name, reason in unexplained(canonical_json(plan)).items()}


def _trials(run: Run, wanted: Wanted) -> dict[TrialKey, Trial]:
    arms = list(dict.fromkeys(wanted.arms)) or run.arms
    return {TrialKey(arm, wanted.number): trial_of(run, arm, wanted.number) for arm in arms}


def trial_plan(run: Run, trial: Trial) -> dict[str, Any]:
    """The plan of this trial: that of its arm with the trial's name and seed."""
    plan = run.plan(trial.arm)
    if plan is None:
        raise RunRefusedError(f"{run.path}: it has no plan of arm '{trial.arm}' (hint: run the scenario again)")
    return {**plan, "name": trial.outcome["name"], "seed": trial.outcome["seed"]}


def _counted(workload: str, of: Sequence[Transaction], outcome: Outcome) -> list[Transaction]:
    """Those that the run counts: of workloads without end, what was complete after the warm-up."""
    found = (one for one in outcome.data["workloads"] if one["name"] == workload)
    begin_ps = next((one["counted_from_ps"] for one in found), 0)
    return [one for one in of if one.end_ps > begin_ps]
