"""Text of a sweep: tables and sentences."""

from collections.abc import Sequence
from textwrap import fill

from tailrace.results.compare.looks_text import looks_sentences
from tailrace.results.format.columns import align
from tailrace.results.format.numbers import THIN_SPACE, digits_text
from tailrace.results.metrics.definitions import name_of
from tailrace.results.metrics.early_end import early_end_sentences
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.sweep import (
    CurveValue,
    ExcludedTrials,
    Knee,
    SweepAxis,
    SweepCurve,
    SweepSummary,
)
from tailrace.results.sweep.curves import METRICS, curve_title, is_drawn, mean_text
from tailrace.results.sweep.headline import (
    headline_curve,
    points_text,
    sweep_headline,
    tested_effects,
    way_of,
)
from tailrace.results.sweep.scalability_text import scalability_sentences, scalability_table
from tailrace.results.text.outcome_text import Paint, plain
from tailrace.results.text.run import format_table
from tailrace.results.text.screen import LINES_MAX, MORE, screen_text

WIDTH = 80
ROWS_MAX = 60
"""Points of one table; the rest stands in the CSV file."""
EXCLUDED_LINES_MAX = 6
"""Lines about such trials on one screen."""
EXCLUDED_MAX = 20
"""Points of one list of trials that are not valid."""
BOUNDS = (
    "'>' marks a lower bound: so much was still running when a trial ended that the percentile is "
    "not known. Such a point has no interval and is not compared."
)
Row = list[str]


def format_result(summary: Summary, paint: Paint = plain, *, is_full: bool = False) -> str:
    """The text that a terminal shows after a run or sweep: one screen of a run, or all of it."""
    if summary.sweep is not None:
        return format_sweep(summary) if is_full else sweep_screen(summary)
    return format_table(summary, paint) if is_full else screen_text(summary, paint)


def sweep_screen(summary: Summary) -> str:
    """One screen: the sentences, the table of their figure, and excluded trials."""
    begin = [
        _title(summary),
        "\n".join(fill(sentence, WIDTH) for sentence in sweep_headline(summary)),
    ]
    doubts = [*_missing(summary), *looks_sentences(summary)]
    excluded = _excluded(summary.swept).splitlines()[:EXCLUDED_LINES_MAX]
    end = ["\n".join(fill(sentence, WIDTH) for sentence in doubts), "\n".join(excluded)]
    bounds = fill(BOUNDS, WIDTH) if has_bounds(summary.swept) else ""
    room = LINES_MAX - sum(part.count("\n") + 2 for part in [*begin, bounds, *end, MORE] if part)
    table = _main_table(summary, room)
    legend = (
        bounds if "> " in table else ""
    )  # the lower bounds may be those of a figure that --full shows
    return "\n\n".join(part for part in [*begin, table, legend, *end, MORE] if part) + "\n"


def _main_table(summary: Summary, room: int) -> str:
    """The figure of the sentences, and other main figures as far as the lines suffice."""
    sweep = summary.swept
    curve, _ = headline_curve(summary)
    first = [(curve.workload, curve.metric)] if curve else []
    leads = [(subject.name, subject.lead) for subject in summary.subjects if subject.lead]
    drawn = [
        key for key in leads if any(_is(curve, *key) and is_drawn(curve) for curve in sweep.curves)
    ]
    shown = dict.fromkeys([*first, *drawn])
    tables: list[str] = []
    for key in shown:
        text = _table(summary, *key)
        lines = text.splitlines()
        if tables and len(lines) + 1 > room:
            break
        if len(lines) > room:
            lines = [*lines[: room - 1], f"... and {len(lines) - room + 1} more points"]
        tables.append("\n".join(lines))
        room -= len(lines) + 1
    return "\n\n".join(tables)


def _title(summary: Summary) -> str:
    run = summary.run
    scale = "" if run.scale == 1 else f", {run.scale:.3g} of the full counts"
    return f"{run.name}: {points_text(len(summary.swept.points))}, seed {run.seed}{scale}"


def format_sweep(summary: Summary) -> str:
    """Tables of the main metrics, points as rows and arms as columns, followed by sentences."""
    sweep = summary.swept
    tables = [
        _table(summary, name, metric)
        for name in subject_names(summary)
        for metric in _shown(sweep, name)
    ]
    tables.append(scalability_table(sweep.scalability))
    paragraphs = (sweep_headline(summary), sweep_sentences(summary))
    first, notes = (
        "\n".join(fill(sentence, WIDTH) for sentence in sentences) for sentences in paragraphs
    )
    excluded = _excluded(sweep)
    return (
        "\n\n".join([part for part in [_title(summary), first, *tables, notes, excluded] if part])
        + "\n"
    )


def sweep_sentences(summary: Summary) -> list[str]:
    """Sentences about missing points, and then about results."""
    return [*sweep_notes(summary), *sweep_findings(summary)]


def sweep_findings(summary: Summary) -> list[str]:
    """Results of the comparisons of all points together, then the knees of the curves."""
    sweep = summary.swept
    effects = tested_effects(summary)
    sentences = [
        sentence
        for arm in sweep.arms
        if arm != summary.baseline
        for name in subject_names(summary)
        for metric in _shown(sweep, name)
        if (sentence := _compared(summary, arm, effects.get((arm, name, metric), ())))
    ]
    knees = [
        _knee(sweep, curve, curve.knee) for curve in sweep.curves if curve.knee and is_drawn(curve)
    ]
    return [*sentences, *knees, *scalability_sentences(sweep.scalability)]


def sweep_notes(summary: Summary) -> list[str]:
    """Trials that are missing, ended early or are too few, and lower bounds."""
    sweep = summary.swept
    few = (
        [f"Too few trials for intervals: {_trials(sweep)} at each point."]
        if _has_too_few(sweep)
        else []
    )
    bounds = [BOUNDS] if has_bounds(sweep) else []
    return [
        *_missing(summary),
        *looks_sentences(summary),
        *early_end_sentences(summary),
        *few,
        *bounds,
    ]


def subject_names(summary: Summary) -> list[str]:
    """Workloads and groups in the order of tables."""
    return [subject.name for subject in summary.subjects]


def _missing(summary: Summary) -> list[str]:
    """Points beyond the rows of a table can lack their trials too."""
    found = {one.arm.partition("@")[2] for one in summary.run.problems if one.status == "missing"}
    of = points_text(len(summary.swept.points))
    return (
        [f"Trials are missing at {len(found)} of {of}: run the same command again to resume."]
        if found
        else []
    )


def _trials(sweep: SweepSummary) -> str:
    counts = {value.trials for curve in sweep.curves for value in curve.values if value}
    return f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(next(iter(counts), 0))


def has_bounds(sweep: SweepSummary) -> bool:
    """Whether a value that is shown is a lower bound."""
    return any(
        value.bounds for curve in sweep.curves if is_drawn(curve) for value in curve.values if value
    )


def _has_too_few(sweep: SweepSummary) -> bool:
    values = [value for curve in sweep.curves for value in curve.values if value]
    return any(value.low is None and not value.bounds for value in values)


def _shown(sweep: SweepSummary, workload: str) -> list[str]:
    """The metrics of a workload that some point has."""
    return [
        metric
        for metric in METRICS
        if any(
            curve.workload == workload and curve.metric == metric and is_drawn(curve)
            for curve in sweep.curves
        )
    ]


def _table(summary: Summary, workload: str, metric: str) -> str:
    sweep = summary.swept
    curves = [curve for curve in sweep.curves if _is(curve, workload, metric)]
    of_arm = {curve.arm: curve.values for curve in curves}
    axes = _distinct(sweep)
    paths = [axis.path for axis in axes]
    rows: list[Row] = [[*(axis.name for axis in axes), *of_arm]]
    for position, point in enumerate(sweep.points[:ROWS_MAX]):
        cells = [_cell(values[position]) for values in of_arm.values()]
        rows.append([*(point.values[path] for path in paths), *cells])
    more = len(sweep.points) - ROWS_MAX
    tail = f"\n... and {more} more points" if more > 0 else ""
    return (
        f"{workload}: {curve_title(curves[0])} (mean ± half of the "
        f"interval)\n{align(rows, left=len(paths))}{tail}"
    )


def _distinct(sweep: SweepSummary) -> list[SweepAxis]:
    """The axes; of paired ones with the same values only the first, whose column stands for all."""
    first = {tuple(axis.values): axis for axis in reversed(sweep.axes)}
    is_paired = sweep.combine == "paired"
    return [axis for axis in sweep.axes if not is_paired or first[tuple(axis.values)] is axis]


def _cell(value: CurveValue | None) -> str:
    if value is None:
        return "no valid trial"
    mean = mean_text(value, 3).replace(THIN_SPACE, " ")
    if value.low is None or value.high is None:
        return mean
    return f"{mean} ± {digits_text((value.high - value.low) / 2, 2).replace(THIN_SPACE, ' ')}"


def _compared(summary: Summary, arm: str, found: Sequence[ArmEffect]) -> str:
    """At how many points an arm differs from the baseline: by the tests of main metrics, by the
    intervals of others."""
    if not found:
        return ""
    ways = [way_of(effect) for effect in found]
    counted = [f"{way} at {count}" for way in ("lower", "higher") if (count := ways.count(way))]
    rest = [f"not clearly different at {count}"] if (count := ways.count("")) else []
    what = name_of(found[0].metric, found[0].noun)
    return (
        f"{found[0].workload}, {what}: {arm} against {summary.baseline} is "
        f"{', '.join([*counted, *rest])} of {points_text(len(found))}."
    )


def _is(curve: SweepCurve, workload: str, metric: str) -> bool:
    return bool(curve.workload == workload and curve.metric == metric)


def _knee(sweep: SweepSummary, curve: SweepCurve, knee: Knee) -> str:
    what = curve_title(curve).partition(",")[0]
    axis = sweep.axes[0].name
    return f"{curve.workload}, {what} with {curve.arm}: the knee is at {axis} = {knee.value}."


def _excluded(sweep: SweepSummary) -> str:
    titles = {
        True: "Unfinished trials, reported by the work done in their time:",
        False: "Invalid and failed trials:",
    }
    return "\n\n".join(
        _listed(title, found)
        for is_in_curves, title in titles.items()
        if (found := [one for one in sweep.excluded if one.is_in_curves == is_in_curves])
    )


def _listed(title: str, found: Sequence[ExcludedTrials]) -> str:
    lines = [
        f"  {one.arm} at {one.label}: {one.trials} of {one.of} trials: {one.reason}"
        for one in found[:EXCLUDED_MAX]
    ]
    more = [f"  and {len(found) - EXCLUDED_MAX} more"] if len(found) > EXCLUDED_MAX else []
    return "\n".join([title, *lines, *more])
