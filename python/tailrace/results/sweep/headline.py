"""A sweep in at most three sentences: the effect of an arm over the points, the course of the
figure, and its knee."""

from collections.abc import Sequence

from tailrace.results.compare.effect_words import are, few_words
from tailrace.results.compare.phrases import apart, listed, metric_words, named, unit_behind
from tailrace.results.compare.tone import change_size
from tailrace.results.format.numbers import bound_mark
from tailrace.results.metrics.definitions import noun_of
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.sweep import SweepCurve
from tailrace.scenario.sweep import AT


def sweep_headline(summary: Summary) -> list[str]:
    """The largest change between arms, or along the points of a single arm, and the knee."""
    curve, own = headline_curve(summary)
    if curve is None:
        return [f"None of {points_text(len(summary.swept.points))} has a valid trial."]
    found = [
        _arms(summary, own) if own else "",
        _course(summary, curve),
        _knee(summary, curve.workload),
    ]
    return [sentence for sentence in found if sentence]


def headline_curve(summary: Summary) -> tuple[SweepCurve | None, Sequence[ArmEffect]]:
    """The curve of the headline: the main figure that an arm changes most, with its effects at all
    points. Without arms to compare, the lead metric of the first workload or group."""
    curves = summary.swept.curves
    tested = tested_effects(summary)
    found = [
        (curve, own)
        for curve in curves
        if curve.arm != summary.baseline
        and (own := tested.get((curve.arm, curve.workload, curve.metric)))
        if own[0].is_main
    ]
    if found:
        return max(found, key=lambda one: _rank(one[1]))
    leads = {(subject.name, subject.lead) for subject in summary.subjects}
    return next(
        (one for one in curves if (one.workload, one.metric) in leads and any(one.values)), None
    ), ()


def tested_effects(summary: Summary) -> dict[tuple[str, str, str], list[ArmEffect]]:
    """Those at all points: of main metrics, and of others that have an interval."""
    arms = {
        f"{arm}{AT}{point.label}": arm
        for point in summary.swept.points
        for arm in summary.swept.arms
    }
    found: dict[tuple[str, str, str], list[ArmEffect]] = {}
    for effect in summary.comparisons:
        has_interval = effect.is_main or effect.ratio_interval or effect.difference_interval
        if effect.arm in arms and has_interval and not any(effect.bounds):
            found.setdefault((arms[effect.arm], effect.workload, effect.metric), []).append(effect)
    return found


def way_of(effect: ArmEffect) -> str:
    """`lower`, `higher` or nothing: by the tests of main metrics, by the intervals of others."""
    if effect.is_main:
        return effect.verdict if effect.verdict in ("lower", "higher") else ""
    interval, nothing = (
        effect.ratio_interval or effect.difference_interval,
        1.0 if effect.ratio_interval else 0.0,
    )
    if interval is None:
        return ""
    return "higher" if interval.low > nothing else "lower" if interval.high < nothing else ""


def _rank(own: Sequence[ArmEffect]) -> tuple[int, float]:
    return sum(bool(way_of(effect)) for effect in own), max(map(change_size, own))


def _arms(summary: Summary, own: Sequence[ArmEffect]) -> str:
    """`With dpp instead of fifo, the p99 of shop is lower at 7 of 9 points, most at 64: it falls
    from 21 to 3 ms.`"""
    ways = [way_of(effect) for effect in own]
    few = [effect for effect in own if effect.verdict == "too few trials"]
    counted = [(way, ways.count(way)) for way in ("lower", "higher")] + [("undecided", len(few))]
    counts = listed([f"{way} at {count}" for way, count in counted if count], len(counted), "")
    most = max(own, key=lambda effect: (bool(way_of(effect)), change_size(effect)))
    arm, _, label = most.arm.partition(AT)
    before, after = apart(most.baseline_value, most.arm_value)
    size = (
        f", most at {label}: {after} instead of {before}{unit_behind(most.metric)}"
        if counts
        else ""
    )
    needed = (
        f" ({few_words(few[0].trials, few[0].tests, few[0].trials_needed)})"
        if few and few[0].trials_needed
        else ""
    )
    begin = (
        f"With {arm} instead of {summary.baseline}, the {metric_words(most)} of "
        f"{most.workload} {are(most.metric)}"
    )
    return (
        f"{begin} {counts or 'not significantly different at any'} of "
        f"{points_text(len(own))}{size}{needed}."
    )


def points_text(count: int) -> str:
    """`1 point`, `7 points`."""
    return f"{count} point{'s' * (count != 1)}"


def _course(summary: Summary, curve: SweepCurve) -> str:
    """`From users = 1 to 64, the p99 of shop with dpp rises from 1.2 to 30 ms.`; of several axes
    the range alone."""
    sweep = summary.swept
    known = [(at, value) for at, value in enumerate(curve.values) if value is not None]
    if len(known) < 2:
        return ""
    ends = (known[0], known[-1])
    if len(sweep.axes) > 1 and sweep.combine == "grid":
        ordered = sorted(known, key=lambda one: one[1].mean)
        ends = (ordered[0], ordered[-1])
    labels = [sweep.points[at].label for at, _ in ends]
    low, high = (value for _, value in ends)
    before, after = apart(low.mean, high.mean)
    texts = [f"{bound_mark(value.bounds)}{text}" for value, text in ((low, before), (high, after))]
    name = f"the {named(curve.metric, noun_of(curve.kinds))} of {curve.workload} with {curve.arm}"
    unit, be = unit_behind(curve.metric), are(curve.metric)
    if before == after:
        return f"From {labels[0]} to {labels[1]}, {name} {be} the same ({texts[0]}{unit})."
    verb = f"{'rise' if high.mean > low.mean else 'fall'}{'' if be == 'are' else 's'}"
    return f"From {labels[0]} to {labels[1]}, {name} {verb} from {texts[0]} to {texts[1]}{unit}."


def _knee(summary: Summary, workload: str) -> str:
    """Where a latency of the workload bends, in the baseline."""
    sweep = summary.swept
    found = [one for one in sweep.curves if one.knee and one.workload == workload]
    curve = next((one for one in found if one.arm == summary.baseline), found[0] if found else None)
    if curve is None or curve.knee is None:
        return ""
    name = named(curve.metric, noun_of(curve.kinds))
    return (
        f"The knee of the {name} of {workload} with {curve.arm} is at {sweep.axes[0].name} = "
        f"{curve.knee.value}."
    )
