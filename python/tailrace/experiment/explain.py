"""Explains trials of a run by simulating them once more; the run directory keeps the results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.json import encode
from msgspec.structs import replace

from tailrace.errors import RunRefusedError, TailraceError, closest
from tailrace.experiment.engine import SIMULATED, SimulatedTrial
from tailrace.experiment.estimate import TimeEstimate
from tailrace.experiment.executor import Local
from tailrace.experiment.judge import Verdict
from tailrace.experiment.native import (
    Cancelled,
    Failed,
    Ran,
    dropped_by,
    explain_trial,
    run_or_cancel,
    unexplained,
    values,
)
from tailrace.experiment.pool import LEAVE_S, Pool, Running
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.run import ExperimentRun
from tailrace.experiment.schedule import TrialKey
from tailrace.outcome.types import Outcome
from tailrace.results import Run
from tailrace.results.causes.causes import Causes, Transaction
from tailrace.results.causes.counted import counted_from_ps
from tailrace.results.causes.grouped import lost_with_groups, with_groups
from tailrace.results.causes.record import has_record, write_record
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.subjects import Subject, subjects_of
from tailrace.results.summary.causes import LostDatagrams
from tailrace.scenario.lowering.plan import canonical_json

EXPLAINED_MAX = 1_000_000
"""Transactions of an explained trial, whose causes are kept one by one: with 1.8 kB each
(`docs/limits.md`), 2 GB."""
UNASKED_MAX = 100_000
"""The same, for explanations that were not requested."""
NOT_KEPT = ", and the explanation is not kept"
COST = 3.5
"""Times the run of a trial that its explained run takes: 1.5 to 2.2 in examples
(`docs/models/causes.md`), 3.4 in the README's.
"""
TRANSACTION_EVENTS = 100
"""Events that take as long as it takes to read and sum one explained transaction: 50 µs of half a
microsecond each."""
UNASKED_SHARE = 1 / 3
"""Maximum share of the time of all trials for explanations that were not requested."""
UNASKED_MIN = 0.02
"""Minimum explained share of the counted part of a trial, regardless of its cost: a verdict needs
some transactions."""
UNASKED_EVENTS = 1_000_000
"""Events of short runs that are explained whole all the same: less than a second."""


class ExplainedTrial(SimulatedTrial):
    """A trial of a plan, explained while it runs."""

    def run(self) -> Ran | Cancelled:
        """Runs to the end; raises `TailraceError` for trials that cannot be explained."""
        return explain_trial(self._native)


class ExplainedIfPossible(ExplainedTrial):
    """A trial of a plan, explained where that is possible."""

    def run(self) -> Ran | Cancelled:
        """Runs to the end; the outcome has tables of causes, or, where the plan is refused, those
        of any run."""
        try:
            return super().run()
        except TailraceError:
            return run_or_cancel(self._native)


@dataclass(frozen=True)
class Explanation:
    """One explained trial."""

    trial: Trial
    is_same: bool
    """Whether it had the same events as when it was run, as far as it was explained; only then it
    is kept."""
    until_ps: int | None
    """End of the explained interval, where only the beginning was explained."""
    workloads: dict[str, list[Transaction]]
    """Explained workloads and groups of its arm, a group before its members: the transactions that
    were complete after the warm-up, as in every figure of a run.
    """
    lost: dict[str, list[LostDatagrams]]
    """By workload and group, datagrams that were lost and are not explained therefore."""

    @property
    def key(self) -> TrialKey:
        """Its arm and number."""
        return TrialKey(self.trial.arm, self.trial.number)


class _Kept:
    """Keeps the outcomes of a pool and reports its progress."""

    def __init__(self, keys: Sequence[TrialKey], jobs: int, reporter: Reporter) -> None:
        self.ended: dict[TrialKey, Ran | Failed] = {}
        self.estimate = TimeEstimate(keys, jobs)
        self._reporter = reporter

    def tick(self, running: Sequence[Running]) -> None:
        """From the pool."""
        self._reporter.tick(running)

    def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
        """Keeps how a trial ended."""
        self.ended[key] = ended
        self.estimate.finished(key, wall_s)
        if isinstance(ended, Failed):
            self._reporter.finished(key, Verdict("failed", ended.reason), None, wall_s)
        else:
            self._reporter.finished(key, Verdict("ok"), ended.outcome.digest, wall_s)


def explainable(run: Run) -> list[str]:
    """The workloads of a run that can be explained; raises `RunRefusedError` where there are
    none."""
    why = _unexplained(run)
    planned = {
        own.header.name for arm in run.arms if (plan := run.plan(arm)) for own in plan.workloads
    }
    if not planned:
        raise RunRefusedError(
            f"{run.path}: it has no plans, by which it would be simulated once more (hint: run "
            "the scenario again)"
        )
    found = [name for name in run.workloads if name in planned and name not in why]
    if not found:
        reasons = "; ".join(
            f"{', '.join(name for name in why if why[name] == reason)}: {reason}"
            for reason in sorted(set(why.values()))
        )
        raise RunRefusedError(f"{run.path}: no workload can be explained ({reasons})")
    return found


def chosen_workloads(run: Run, wanted: Sequence[str]) -> list[str]:
    """The workloads that can be explained: those of `wanted` and of the groups in it, or all;
    raises as `chosen_subjects`.
    """
    names = {
        member for name in chosen_subjects(run, wanted) for member in run.groups.get(name, [name])
    }
    return [name for name in explainable(run) if name in names]


def chosen_subjects(run: Run, wanted: Sequence[str]) -> list[str]:
    """The workloads and groups of `wanted`, or all explainable ones; raises `RunRefusedError` for
    one that cannot be explained."""
    why = _unexplained(run)
    for name in wanted:
        known = [*run.groups, *run.workloads]
        if name not in known:
            hint = closest(name, known, "workloads and groups")
            raise RunRefusedError(
                f"{run.path}: there is no workload or group '{name}' (hint: {hint})"
            )
        reasons = [why.get(member) for member in run.groups.get(name, [name])]
        if all(reasons):
            raise RunRefusedError(f"{run.path}: '{name}' is not explained: {reasons[0]}")
    explained = {*explainable(run)}
    found = [
        subject.name for subject in subjects_of(run) if explained.intersection(subject.members)
    ]
    return [name for name in found if not wanted or name in wanted]


def _unexplained(run: Run) -> dict[str, str]:
    """By workload, why it is not explained. It is of the same kind in all arms, but may be missing
    in some."""
    if (engine := run.manifest.engine) != SIMULATED:
        raise RunRefusedError(
            f"{run.path}: this is a run of the engine '{engine}', and only "
            "simulated ones are explained"
            f" (hint: run its scenario without --{engine})"
        )
    plans = [plan for arm in run.arms if (plan := run.plan(arm)) is not None]
    return {
        name: reason
        for plan in plans
        for name, reason in unexplained(encode(plan).decode()).items()
    }


def first_trials(run: Run) -> list[Trial]:
    """The first trial with figures of every arm, without trials that have a record."""
    return [
        trial for arm in run.arms for trial in run.with_outcome(arm)[:1] if not has_record(trial)
    ]


def explain_run(experiment: ExperimentRun, *, is_asked: bool | None) -> bool:
    """Explains a run that has ended: on request, or without one (None) if it is simulated on this
    machine and its report shows explanations. Returns whether it was interrupted."""
    is_wanted = is_asked
    if is_wanted is None:
        is_wanted = (
            experiment.executor.name == Local.name and experiment.loaded.scenario.sweep is None
        )
    if not is_wanted or experiment.engine.name != SIMULATED:
        return False
    path, jobs, reporter = experiment.directory.path, experiment.jobs, experiment.reporter
    return explain_finished(path, jobs, reporter, is_asked=bool(is_asked))


def explain_finished(path: Path, jobs: int, reporter: Reporter, *, is_asked: bool) -> bool:
    """Explains the first trial of every arm of a run that has ended; returns whether it was
    interrupted.

    An explanation that fails is a warning where it was requested: the run itself has its results.
    Without a request, the explained part of each trial takes at most a third of the time of the
    run.
    """
    run = Run.read(path)
    trials = first_trials(run)
    if not trials:
        return False
    try:
        share = 1.0 if is_asked else unasked_share(run, trials)
        found = explain_trials(run, trials, jobs, reporter, share)
    except RunRefusedError as error:
        if is_asked:
            reporter.say(f"warning: {error}")
        return False
    except KeyboardInterrupt:
        return True
    for one in found:
        if not one.is_same:
            reporter.say(other_events_words(one.key, NOT_KEPT))
    keep(found)
    return False


def other_events_words(key: TrialKey, more: str = "") -> str:
    """A warning that a trial, simulated once more, was another one than that of the run."""
    return (
        f"warning: {key} had other events when it was run: the simulator has changed "
        f"since{more} (hint: run it again)"
    )


def unasked_share(run: Run, trials: Sequence[Trial]) -> float:
    """The explained share of these trials, of all trials of a run, where explanations were not
    requested."""
    every = sum(trial.outcome.events or 0 for arm in run.arms for trial in run.with_outcome(arm))
    counts = [sum(own.transactions for own in trial.workloads.values()) for trial in trials]
    wanted = COST * sum(trial.outcome.events or 0 for trial in trials) + TRANSACTION_EVENTS * sum(
        counts
    )
    before = COST * sum((trial.outcome.events or 0) * _before(trial.outcome) for trial in trials)
    left = max(UNASKED_SHARE * every, UNASKED_EVENTS) - before
    by_time = left / (wanted - before) if wanted > before else 1.0
    return max(UNASKED_MIN, min(1.0, by_time, UNASKED_MAX / max(1, *counts)))


def _before(outcome: Outcome) -> float:
    """Share of a trial before it begins to count, which has to be run whatever is explained."""
    return (outcome.counted_from_ps or 0) / max(1, outcome.end_ps)


def explain_trials(
    run: Run, trials: Sequence[Trial], jobs: int, reporter: Reporter, share: float = 1.0
) -> list[Explanation]:
    """Explains these trials or their beginning, `jobs` at a time.

    Raises `RunRefusedError` for the first that cannot be explained, and `KeyboardInterrupt` when
    interrupted.
    """
    workloads = explainable(run)
    for trial in trials:
        _refuse_long(trial, workloads, share)
    plans = {
        TrialKey(trial.arm, trial.number): _begun(trial_plan(run, trial), trial, share)
        for trial in trials
    }
    explained = explain_all(
        {key: canonical_json(plan) for key, plan in plans.items()}, jobs, reporter
    )
    subjects = subjects_of(run)
    return [
        _explanation(
            trial,
            causes_of(explained[key], plan, is_counted=True),
            explained[key].outcome,
            (workloads, subjects),
            share,
        )
        for trial, (key, plan) in zip(trials, plans.items(), strict=True)
    ]


def _begun(plan: dict[str, Any], trial: Trial, share: float) -> dict[str, Any]:
    """The plan of the beginning of a trial: this share of its counted time after the last workload
    has begun."""
    if share >= 1:
        return plan
    starts_ps = [own["header"].get("start_ps", 0) for own in plan["workloads"]]
    begin_ps, end_ps = max(trial.outcome.counted_from_ps or 0, *starts_ps), trial.outcome.end_ps
    return plan | {"stop_at_ps": begin_ps + round(share * max(0, end_ps - begin_ps))}


def _refuse_long(trial: Trial, workloads: Sequence[str], share: float) -> None:
    """Raises `RunRefusedError` for a trial whose explanation would take gigabytes."""
    count = sum(own.transactions for name, own in trial.workloads.items() if name in workloads)
    if share * count > EXPLAINED_MAX:
        counts = [f"{number:,}".replace(",", " ") for number in (count, EXPLAINED_MAX)]
        raise RunRefusedError(
            f"{trial.arm}/{trial.number}: it has {counts[0]} transactions, and an explanation "
            "keeps each of them,"
            f" at most {counts[1]} (hint: run the scenario for a shorter time, or with a "
            "smaller --scale)"
        )


def keep(explanations: Sequence[Explanation]) -> int:
    """Writes the records of these trials beside their outcomes and returns their number. A trial
    that had other events when it was run has none: the simulator has changed since.
    """
    kept = [one for one in explanations if one.is_same]
    for one in kept:
        write_record(one.trial, one.workloads, one.lost, until_ps=one.until_ps)
    return len(kept)


def ran_all(
    plans: Mapping[TrialKey, str],
    jobs: int,
    trial: Callable[[str], SimulatedTrial],
    reporter: Reporter,
    what: str,
) -> dict[TrialKey, Ran | Failed]:
    """Runs every plan, `jobs` at a time, and reports it as `what`.

    Raises `KeyboardInterrupt` when interrupted.
    """
    kept = _Kept(list(plans), jobs, reporter)
    reporter.begin(what, kept.estimate)
    try:
        if Pool(jobs, lambda key: trial(plans[key]), kept, LEAVE_S).run_all(list(plans)):
            raise KeyboardInterrupt
    finally:
        reporter.end()
    return {key: kept.ended[key] for key in plans}


def explain_all(
    plans: Mapping[TrialKey, str], jobs: int, reporter: Reporter
) -> dict[TrialKey, Ran]:
    """Explains every plan, `jobs` at a time.

    Raises `RunRefusedError` for the first that cannot be explained, and `KeyboardInterrupt` when
    interrupted.
    """
    explained: dict[TrialKey, Ran] = {}
    for key, ended in ran_all(plans, jobs, ExplainedTrial, reporter, "explaining").items():
        if isinstance(ended, Failed):
            raise RunRefusedError(f"{key} cannot be explained: {ended.reason}")
        explained[key] = ended
    return explained


def causes_of(ran: Ran, plan: Mapping[str, Any], *, is_counted: bool = False) -> Causes:
    """The causes in the tables of an explained trial: of all transactions, or of the counted ones,
    which for workloads without end are those completed after the warm-up."""
    begin_ps = (
        {own.name: counted_from_ps(ran.outcome, own.name) for own in ran.outcome.workloads}
        if is_counted
        else {}
    )
    return Causes(
        {name: values(columns) for name, columns in ran.tables.items()},
        plan,
        dropped_by(),
        begin_ps,
    )


def _explanation(
    trial: Trial,
    causes: Causes,
    outcome: Outcome,
    named: tuple[Sequence[str], Sequence[Subject]],
    share: float,
) -> Explanation:
    workloads, subjects = named
    counted = {name: causes.by_workload.get(name, []) for name in causes.names_of(workloads)}
    held = [
        subject for subject in subjects if all(name in trial.workloads for name in subject.members)
    ]
    is_whole = share >= 1
    is_same = not is_whole or trial.outcome.digest == outcome.digest
    until_ps = None if is_whole else outcome.end_ps
    return Explanation(
        trial, is_same, until_ps, with_groups(held, counted), lost_with_groups(held, causes.lost)
    )


def trial_plan(run: Run, trial: Trial) -> dict[str, Any]:
    """The plan of this trial: that of its arm with the trial's name and seed."""
    plan = run.plan(trial.arm)
    if plan is None:
        raise RunRefusedError(
            f"{run.path}: it has no plan of arm '{trial.arm}' (hint: run the scenario again)"
        )
    own: dict[str, Any] = to_builtins(
        replace(plan, name=trial.outcome.name, seed=trial.outcome.seed)
    )
    return own
