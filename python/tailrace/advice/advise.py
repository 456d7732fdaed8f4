"""From a scenario and a goal to ranked advice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tailrace.advice.candidate import Candidate
from tailrace.advice.candidates import candidates
from tailrace.advice.causes import Makeup, makeup
from tailrace.advice.combining import COMBINATION, combined
from tailrace.advice.configuration import Configuration, configuration
from tailrace.advice.doubts import doubts
from tailrace.advice.judging import Judged, decided, figure_in, improvement, judged, subject_of
from tailrace.advice.options import AdviceOptions
from tailrace.advice.screening import LEAST_PERCENT, Screened, Screening, screening_of
from tailrace.advice.situation import Situation
from tailrace.advice.trying import (
    PRESENT,
    Effort,
    experiment_of,
    run_all,
    trials_of,
    until_decided_of,
    with_arms,
)
from tailrace.errors import RunRefusedError, closest, known_arm
from tailrace.experiment.explain import ExplainedIfPossible, ran_all
from tailrace.experiment.native import Failed, Ran
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.run import RUNS
from tailrace.experiment.schedule import TrialKey
from tailrace.experiment.stages import working
from tailrace.results import Run
from tailrace.results.metrics.latency import latency_figure
from tailrace.results.summary.expectation import End
from tailrace.results.summary.figure import FigureSummary
from tailrace.scenario.figures import parse_goal
from tailrace.scenario.goal import Goal
from tailrace.scenario.loading import Loaded, document_of, try_changes
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.text.document import Document
from tailrace.scenario.workloads.kinds import facts_of

CONFIRMED_MAX = 3
COMBINED_FROM = 5
"""The two candidates to combine are among this many of the best."""
SCREENING, CONFIRMED = "screening", "confirmed"
FOLDER_DIGITS = 8


@dataclass(frozen=True)
class Confirmed:
    """A candidate that was simulated again, with other random numbers and until it was decided."""

    candidate: Candidate
    judged: Judged
    configuration: Configuration


@dataclass(frozen=True)
class Advice:
    """The answer."""

    scenario: str
    arm: str
    goal: Goal
    path: Path
    makeup: Makeup | None
    present: FigureSummary
    """The goal's figure at present."""
    end: End
    """Whether the figure keeps the bound."""
    takes: str
    """The trials that would decide it; empty where it is decided."""
    confirmed: list[Confirmed]
    """The best first."""
    screening: Screening
    screened: list[Screened]
    """The best first, of equal ones the likeliest."""
    not_possible: list[tuple[Candidate, str]]
    """Candidates that the scenario cannot express or already has, with the reason."""
    doubts: list[str]

    @property
    def helpful(self) -> list[Confirmed]:
        """Candidates that improve the goal's figure significantly."""
        return [one for one in self.confirmed if one.judged.helps]


def advise(loaded: Loaded, options: AdviceOptions, reporter: Reporter) -> Advice:
    """Simulates the present and the candidates; raises `RunRefusedError` for a goal that is none.

    Raises `KeyboardInterrupt` when interrupted: finished trials are kept, and the same call
    continues.
    """
    effort = Effort(options.jobs, options.scale)
    arm = _arm(loaded, options.arm)
    document, scenario = document_of(loaded, arm), loaded.arms[arm]
    named = parse_goal(options.goal, scenario) if options.goal else None
    seed = scenario.experiment.seed
    # Sizes that are calibrated are not known before: nothing is explained then.
    seen = None if scenario.experiment.calibrate else _at_present(document, seed, effort, reporter)
    goal = named or _slowest(seen)
    targets = tuple(scenario.groups.get(goal.subject, [goal.subject]))
    situation = Situation(document, scenario, targets, goal.metric)
    with working(reporter, "reading where the time goes"):
        made = makeup(*seen, targets, goal.metric) if seen else None
    with working(reporter, "looking for what may help"):
        tried, not_possible = _chosen(situation, options.only)
        if made is not None:
            tried.sort(key=made.share_of, reverse=True)
    present = seen[0] if seen else None
    screening = screening_of(
        present, situation, goal, 1 + len(tried), options.screening, effort.scale
    )
    with working(reporter, f"making plans of {len(tried)} candidates"):
        arms = with_arms(document, tried, seed, trials_of(options.screening))
        short = experiment_of(arms, replace(effort, scale=effort.scale * screening.share), reporter)
    folder = options.out or RUNS / f"{scenario.name}-advice-{short.identity[:FOLDER_DIGITS]}"
    run = run_all(short, folder / SCREENING, reporter)
    _refuse_unknown(run, goal)
    screened = sorted(
        (Screened(one, improvement(run, one.name, goal)) for one in tried),
        key=lambda one: (one.improvement_percent is None, -(one.improvement_percent or 0.0)),
    )
    better = _best_of_groups(screened)
    with working(reporter, "combining candidates"):
        both = combined(situation, better[:COMBINED_FROM])
    chosen = [*better[:CONFIRMED_MAX], *([both] if both else [])]
    # The confirmation uses other random numbers than the selection: the best of many is best partly
    # by chance.
    with working(reporter, f"making plans of {len(chosen)} candidates to confirm"):
        arms = with_arms(
            document, chosen, seed + 1, until_decided_of(goal, options.trials_max, LEAST_PERCENT)
        )
        confirming = experiment_of(arms, effort, reporter)
    final = run_all(confirming, folder / CONFIRMED, reporter)
    before = figure_in(final, PRESENT, goal)
    end, takes = decided(goal, before)
    with working(reporter, "comparing candidates"):
        confirmed = list(_confirmed(final, situation, chosen, goal))
    return Advice(
        scenario=scenario.name,
        arm=arm,
        goal=goal,
        path=folder,
        makeup=made,
        present=before.data(),
        end=end,
        takes=takes,
        confirmed=confirmed,
        screening=screening,
        screened=screened,
        not_possible=not_possible,
        doubts=list(doubts(scenario)),
    )


def _best_of_groups(screened: Sequence[Screened]) -> list[Candidate]:
    """Candidates that improved the goal's figure enough, the best of each group, from the best."""
    found: dict[str, Candidate] = {}
    for one in screened:
        if one.is_better:
            found.setdefault(one.candidate.group, one.candidate)
    return list(found.values())


def _arm(loaded: Loaded, wanted: str | None) -> str:
    return known_arm(wanted or loaded.scenario.baseline, list(loaded.arms))


def _at_present(
    document: Document, seed: int, effort: Effort, reporter: Reporter
) -> tuple[Ran, dict[str, Any]]:
    """One trial of the present, explained where that is possible, and its plan."""
    key = TrialKey(PRESENT, 1)
    with working(reporter, "making the plan of the present"):
        experiment = experiment_of(with_arms(document, [], seed, trials_of(1)), effort, reporter)
        plan = experiment.plans.json(key)
    [ended] = ran_all({key: plan}, 1, ExplainedIfPossible, reporter, "the present").values()
    if isinstance(ended, Failed):
        raise RunRefusedError(f"the present cannot be simulated: {ended.reason}")
    return ended, experiment.plans.raw(key)


def _slowest(seen: tuple[Ran, dict[str, Any]] | None) -> Goal:
    """The workload with the largest 99th percentile of latency; of those without latencies, the
    first that ends."""
    if seen is None:
        raise RunRefusedError(
            "--goal is needed where sizes are calibrated (hint: for example --goal 'shop.p99')"
        )
    workloads = seen[0].outcome.workloads
    waits = [
        (figure.ms, workload.name)
        for workload in workloads
        if facts_of(workload.kind).latency and (figure := latency_figure(workload, "p99"))
    ]
    if waits:
        return Goal(max(waits)[1], "latency_p99_ms")
    for workload in workloads:
        metric = facts_of(workload.kind).main_metrics[0]
        if metric == "completion_s" and workload.completion_ps is None:
            metric = "goodput_gbps"
        return Goal(workload.name, metric)
    raise RunRefusedError("the scenario has no workload (hint: enable one)")


def _chosen(
    situation: Situation, only: Sequence[str]
) -> tuple[list[Candidate], list[tuple[Candidate, str]]]:
    """The candidates to simulate, and those that are not, with the reason."""
    tried: list[Candidate] = []
    left: list[tuple[Candidate, str]] = []
    known = list(candidates(situation))
    names = [one.name for one in known]
    for name in only:
        if name not in names:
            raise RunRefusedError(
                f"--only {name}: there is no such candidate here (hint: "
                f"{closest(name, names, 'candidates')})"
            )
    for one in known:
        if only and one.name not in only:
            continue
        reason = _reason_against(situation, one)
        if reason is None:
            tried.append(one)
        else:
            left.append((one, reason))
    return tried, left


def _reason_against(situation: Situation, candidate: Candidate) -> str | None:
    """Why a candidate cannot be tried; None where it can."""
    if not candidate.changes:
        return "nothing to change: the scenario has it already, or has no place for it"
    _, scenario, problems = try_changes(situation.document, candidate.changes)
    if scenario is None or problems:
        return f"not possible here: {problems[0].what}"
    if _settings_of(scenario) == _settings_of(situation.scenario):
        return "nothing to change: the scenario has it already"
    return None


def _settings_of(scenario: Scenario) -> str:
    return repr(
        scenario.model_copy(update={"arms": {}, "sweep": None, "expect": [], "published": None})
    )


def _refuse_unknown(run: Run, goal: Goal) -> None:
    """Raises `RunRefusedError` where not even the present has the goal's figure."""
    if figure_in(run, PRESENT, goal).value is not None:
        return
    reasons = {trial.reason for trial in run.trials[PRESENT] if trial.reason}
    why = f": {min(reasons)}" if reasons else ""
    kind = run.kind_of(subject_of(run, goal).members[0])
    raise RunRefusedError(
        f"--goal '{goal}': trials of the present have no such figure of a "
        f"workload of kind {kind}{why}"
        " (hint: choose another metric, or a longer experiment.duration)"
    )


def _confirmed(
    run: Run, situation: Situation, chosen: Sequence[Candidate], goal: Goal
) -> Iterator[Confirmed]:
    by_name = {one.name: one for one in chosen}
    combinations = {one.name for one in chosen if one.group == COMBINATION}
    for one in judged(run, list(by_name), goal, combinations):
        candidate = by_name[one.arm]
        _, changed, _ = try_changes(situation.document, candidate.changes)
        assert changed is not None, "what was simulated is sound"
        yield Confirmed(candidate, one, configuration(situation.scenario, changed, candidate))
