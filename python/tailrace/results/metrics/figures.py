"""The figures of each workload and group in one arm, over its trials with outcome: the content of
the outcome table."""

from collections.abc import Sequence

from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.metrics.definitions import main_metric
from tailrace.results.metrics.figure import figure_of
from tailrace.results.metrics.subjects import Subject, subjects_of
from tailrace.results.summary.figure import Figures, TableSubject
from tailrace.scenario.experiment import SOLO
from tailrace.scenario.workloads.kinds import facts_of

LEADS = ("completion_s", "rate_per_s", "goodput_gbps")
"""Possible metrics of the first column."""
METRICS = (
    "completion_s",
    "rate_per_s",
    "goodput_gbps",
    "latency_p50_ms",
    "latency_p99_ms",
    "loss_percent",
)


def summarise_subjects(run: Run) -> list[TableSubject]:
    """Workloads and groups in the order of tables, and the metric that each of them leads with."""
    return [
        TableSubject(
            name=subject.name,
            members=list(subject.members),
            is_group=subject.is_group,
            is_member=subject.is_member,
            lead=_lead(run, subject),
        )
        for subject in subjects_of(run)
    ]


def summarise_figures(run: Run, arm: str) -> dict[str, Figures]:
    """By subject and metric, `figure_of` over the trials with outcome."""
    trials = run.with_outcome(arm)
    # A workload alone is in no group, and no other has figures there: looked for in every such arm,
    # that is quadratic.
    alone = (
        [Subject(name, (name,)) for name in run.workloads_of(arm)]
        if arm.startswith(SOLO)
        else subjects_of(run)
    )
    return {subject.name: figures for subject in alone if (figures := _figures(trials, subject))}


def _lead(run: Run, subject: Subject) -> str | None:
    """The metric of the scenario's headline, or the rate where the workload has one: a percentile
    alone does not state the amount of work."""
    named = [
        one.metric
        for one in run.manifest.headline
        if one.workload == subject.name and one.metric in LEADS
    ]
    if named:
        return named[0]
    kinds = [facts_of(kind) for kind in run.kinds_of(subject.members)]
    if any(kind.is_open_loop for kind in kinds):
        metric = kinds[0].load_metric
        return metric[0] if len(kinds) == 1 and metric else "goodput_gbps"
    return main_metric(run, subject.members, is_group=subject.is_group)


def _figures(trials: Sequence[Trial], subject: Subject) -> Figures:
    found = {metric: figure_of(trials, subject.members, metric) for metric in METRICS}
    return {metric: figure.data() for metric, figure in found.items() if figure.value is not None}
