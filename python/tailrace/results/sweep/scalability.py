"""Growth of throughput over the points of a sweep: against perfect growth, Amdahl's law and the
Universal Scalability Law.

The size of a point is the number of users, or of connections of streams, in its plan. Where that
number does not change and the axis counts concurrent workers, such as cores, it is the value of the
axis. Sizes count in multiples of the smallest, so that the laws describe the repeated unit: a
database of four users, for example.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf

from tailrace.plan.types import Plan
from tailrace.results.directory.run_directory import Run
from tailrace.results.metrics.definitions import metric_of_trials, noun_of, title_of
from tailrace.results.metrics.sample_summary import summarise_sample
from tailrace.results.summary.sweep import Growth, GrowthLaw, GrowthPoint
from tailrace.results.sweep.knee import bend
from tailrace.scenario.sweep import number_of
from tailrace.scenario.workloads.planned import workloads_of
from tailrace.statistics import Law, fit_amdahl, fit_usl, mean

SIZES_MIN = 3
METRICS = ("rate_per_s", "goodput_gbps")
"""Metrics of throughput; where workloads of several kinds run, those with the first."""
COUNTS = frozenset(
    [
        "connections",
        "cores",
        "depth",
        "hosts",
        "jobs",
        "pipeline",
        "program_cores",
        "queues",
        "rx_queues",
        "servers",
    ],
).union(["threads", "users"])
"""Keys that count concurrent workers; the laws apply to these only."""


@dataclass(frozen=True)
class _Point:
    """One point of one arm."""

    label: str
    size: float
    members: Sequence[str]


def summarise_scalability(run: Run) -> list[Growth]:
    """For every arm its points by size, with the fitted laws; none where a sweep has no sizes."""
    assert run.sweep is not None, "only sweeps grow"
    found = (_of_arm(run, arm) for arm in run.sweep.arms)
    return [grown for grown in found if grown is not None]


def _of_arm(run: Run, arm: str) -> Growth | None:
    metric, noun, points = _points(run, arm)
    kinds = run.kinds_of([name for point in points for name in point.members])
    measured = []
    for point in points:
        sample = metric_of_trials(
            run.with_outcome(run.arm_at(arm, point.label)), point.members, metric
        )
        if sample and (centre := mean(sample)) > 0:
            measured.append((point, centre, summarise_sample(sample).interval))
    if len(measured) < SIZES_MIN:
        return None
    first, base = measured[0][0].size, measured[0][1]
    grown = [
        GrowthPoint(
            label=point.label,
            size=point.size,
            mean=centre,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            perfect=base * point.size / first,
            share=centre / (base * point.size / first),
        )
        for point, centre, interval in measured
    ]
    curve = [(point.size / first, centre) for point, centre, _ in measured]
    turn = bend(curve)
    return Growth(
        arm=arm,
        metric=metric,
        noun=noun,
        title=title_of(metric, noun_of(kinds)),
        first=first,
        points=grown,
        amdahl=_law(fit_amdahl(curve)),
        usl=_law(fit_usl(curve)),
        knee=grown[turn[0]].size if turn and turn[1] > 0 else None,
    )


def _law(law: Law | None) -> GrowthLaw | None:
    if law is None:
        return None
    own = {field.name: getattr(law, field.name) for field in fields(law)}
    return GrowthLaw(**own, limit=law.limit if law.limit < inf else None, peak=law.peak_users)


def _points(run: Run, arm: str) -> tuple[str, str, list[_Point]]:
    """Metric, name of the size, and points in the order of their sizes; no points where sizes are
    not distinct."""
    assert run.sweep is not None, "only sweeps grow"
    labels = [point.label for point in run.sweep.points]
    grown = [_grown(run.plan(run.arm_at(arm, label))) for label in labels]
    metric = next(
        (name for name in METRICS if any(of[0] == name for own in grown for of in own)), None
    )
    if metric is None:
        return "", "", []
    own = [[of for of in listed if of[0] == metric] for listed in grown]
    sizes: list[float] = [sum(size for _, _, _, size in listed) for listed in own]
    noun = next(noun for listed in own for _, noun, _, _ in listed)
    if len(set(sizes)) == 1 and (axis := _axis_numbers(run)) is not None:
        noun, sizes = axis
    if len(set(sizes)) < len(sizes) or min(sizes, default=0) <= 0:
        return metric, noun, []
    found = [
        _Point(label, size, [name for _, _, name, _ in listed])
        for label, size, listed in zip(labels, sizes, own, strict=True)
    ]
    return metric, noun, sorted(found, key=lambda point: point.size)


def _grown(plan: Plan | None) -> list[tuple[str, str, str, int]]:
    """Metric, name of the size, workload and size of those whose throughput can grow; arrivals have
    no users."""
    return [
        (growth[1], growth[0], one.name, size)
        for one in (workloads_of(plan) if plan else [])
        if (growth := one.facts.growth) is not None and (size := int(one.body.get(growth[0], 1)))
    ]


def _axis_numbers(run: Run) -> tuple[str, list[float]] | None:
    """The only axis, where it counts concurrent workers and its values are plain numbers."""
    assert run.sweep is not None, "only sweeps have axes"
    axes = run.sweep.axes
    if len(axes) != 1 or axes[0].name.rpartition(".")[2] not in COUNTS:
        return None
    known = [number_of(str(value)) for value in axes[0].values]
    numbers = [one[0] for one in known if one is not None and not one[1]]
    return (axes[0].name, numbers) if len(numbers) == len(known) else None
