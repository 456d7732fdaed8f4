"""Expectations that are goals: bounds of a figure of a workload, judged as those of a search
are."""

from dataclasses import dataclass

from tailrace.results.directory.published import Band
from tailrace.results.directory.run_directory import Run
from tailrace.results.metrics.decision import PRINTED, decide_all
from tailrace.results.metrics.figure import figure_of
from tailrace.results.summary.expectation import Verdict
from tailrace.scenario.goal import METRICS, Goal
from tailrace.statistics.interval import VALUES_MIN


@dataclass(frozen=True)
class Limit(Goal):
    """A bound on either side, whatever is better."""

    is_lower: bool = False

    @property
    def is_floor(self) -> bool:
        """Whether the bound is one from below."""
        return self.is_lower


def is_goal(run: Run, band: Band) -> bool:
    """Whether the band has bounds, no published value, and a figure that a goal can name: a
    workload's metric in one arm.

    With fewer trials than an interval requires, the value is judged as that of other expectations,
    because the spread between trials is unknown.
    """
    is_narrowed = band.after_ps or band.port or band.queue or band.cause or band.statistic != "mean"
    is_named = band.value is None and band.metric in METRICS and band.workload is not None
    return is_named and not is_narrowed and len(run.valid(_arm(run, band))) >= VALUES_MIN


def _arm(run: Run, band: Band) -> str:
    return band.arm or run.baseline or ""


def judge_goal(run: Run, band: Band, factor: float) -> Verdict:
    """The end of the goal, and the trials that would decide an undecided one. The figure is
    `factor` times that of the trials."""
    assert band.workload is not None, "it is a goal"
    arm = _arm(run, band)
    # An arm may omit some members of a group.
    members = [
        name
        for name in run.groups.get(band.workload, [band.workload])
        if name in run.workloads_of(arm)
    ]
    figure = figure_of(run.valid(arm), members, band.metric)
    value, found = figure.value, figure.interval
    goals = [
        Limit(band.workload, band.metric, bound / factor, is_lower)
        for bound, is_lower in ((band.low, True), (band.high, False))
        if bound is not None
    ]
    found_end, needed = decide_all([(goal, figure, PRINTED) for goal in goals])
    end = found_end if value is not None else None
    return Verdict(
        value=None if value is None else value * factor,
        interval=found and found.scaled(factor),
        measured=value,
        multiplied_by=factor,
        passed=None if end is None else end == "meets",
        holds=None if value is None else band.holds(value * factor),
        end=end,
        takes=needed if end is not None else "",
        is_bound=figure.is_bound,
        is_open=False,
        is_clear=None if end is None else end != "undecided",
        trials=len(figure.values),
    )
