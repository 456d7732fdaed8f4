"""A large sweep as text and as a page."""

from collections.abc import Iterator

from tailrace.results.directory.grid import metric_name
from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import THIN_SPACE, digits_text
from tailrace.results.summary.large import LargeCurve, LargeSummary

ROWS_MAX = 60
"""Values of an axis in a table of the page, at most; of more, evenly spread ones are shown."""
BOUNDS = (
    "'>' marks a lower bound: at some of the points so much was still running when a trial ended "
    "that the percentile is not known; `bounds` in sweep.csv counts these trials."
)
HEAD = ["workload", "figure", "arm", "mean", "smallest", "largest"]


def large_text(summary: LargeSummary) -> str:
    """Means over all points, extremes, and trials that are not ok."""
    lines = [fill(line, WIDTH) for line in _title(summary)]
    lines += ["", align([HEAD, *_rows(summary)], left=3), ""]
    lines += [fill(sentence, WIDTH) for sentence in _sentences(summary)]
    lines += [f"  {line}" for line in _problems(summary)]
    return "\n".join(lines).rstrip() + "\n"


def large_page(summary: LargeSummary) -> str:
    """The same as Markdown, with the points of the extremes and the means by value of each axis."""
    lines = [f"# Sweep: {summary.run.name}", "", *(f"{line}\n" for line in _title(summary))]
    lines += [f"{line}\n" for line in _sentences(summary)]
    lines += [
        "## Over all points",
        "",
        *_markdown([[*HEAD, "smallest at", "largest at"], *_rows(summary, True)]),
        "",
    ]
    for axis in summary.axes:
        rows = _by_value(summary, axis.path, axis.name)
        if (
            len(rows) > 1
        ):  # an axis of very many values has no means, nor has a sweep without a sound trial
            lines += [
                f"## By {axis.name}",
                "",
                "Mean over all points with this value.",
                "",
                *_markdown(rows),
                "",
            ]
    if summary.problems:
        lines += [
            "## Trials that are not ok",
            "",
            *(f"- {line}" for line in _problems(summary)),
            "",
        ]
    return "\n".join(lines)


def _title(summary: LargeSummary) -> Iterator[str]:
    run, points = summary.run, _number(summary.large.points)
    scale = "" if run.scale == 1 else f", {run.scale:.3g} of the full counts"
    axes = " × ".join(f"{axis.name} ({axis.count})" for axis in summary.axes)
    yield f"{run.name}: {points} points of {axes}, seed {run.seed}{scale}."
    if summary.points_run < summary.large.points:
        yield f"{_number(summary.points_run)} points have run; they are spread over all values."


def _rows(summary: LargeSummary, is_long: bool = False) -> Iterator[list[str]]:
    for curve in summary.curves:
        ends = [curve.low, curve.high]
        names = [curve.workload, metric_name(curve.metric, ""), curve.arm]
        figures = [_digits(curve.mean, is_bound=curve.bounds > 0)]
        figures += [_digits(end.value, is_bound=end.is_bound) for end in ends]
        yield [*names, *figures, *([end.point for end in ends] if is_long else [])]


def _sentences(summary: LargeSummary) -> Iterator[str]:
    baseline = summary.baseline
    for curve in summary.curves:
        what = f"{curve.workload}, {metric_name(curve.metric, '')}"
        compared = _number(curve.compared)
        if curve.compared and (curve.below or curve.above):
            below, above = _number(curve.below), _number(curve.above)
            yield (
                f"{what}: {curve.arm} is more than 1 % below {baseline} at {below} and above it at "
                f"{above} of {compared} points{_open(curve)}."
            )
        elif curve.unknown:
            yield (
                f"{what}: {curve.arm} is compared with {baseline} at {compared} "
                f"points{_open(curve)}."
            )
    if any(curve.bounds for curve in summary.curves):
        yield BOUNDS
    bad = {status: count for status, count in summary.statuses.items() if status != "ok"}
    if bad:
        yield (
            "Not ok: "
            + ", ".join(f"{_number(count)} {status}" for status, count in bad.items())
            + "."
        )


def _problems(summary: LargeSummary) -> Iterator[str]:
    for one in summary.problems:
        trial = f", trial {one.trial}" if one.trial else ""
        yield f"{one.arm} at {one.point}{trial}: {one.status}: {one.reason}"
    more = sum(count for status, count in summary.statuses.items() if status != "ok") - len(
        summary.problems
    )
    if more > 0:
        yield f"and {_number(more)} more"


def _by_value(summary: LargeSummary, path: str, name: str) -> list[list[str]]:
    curves = [curve for curve in summary.curves if path in curve.by_value]
    head = [name, *(f"{c.workload}, {metric_name(c.metric, '')}, {c.arm}" for c in curves)]
    columns = [
        {one.value: _digits(one.mean, is_bound=one.bounds > 0) for one in curve.by_value[path]}
        for curve in curves
    ]
    values = list(dict.fromkeys(value for column in columns for value in column))
    every = max(1, -(-len(values) // ROWS_MAX))
    rows = [[value, *(column.get(value, "") for column in columns)] for value in values[::every]]
    return [head, *rows]


def _markdown(rows: list[list[str]]) -> Iterator[str]:
    head, *rest = rows
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in rest:
        yield f"| {' | '.join(row)} |"


def _open(curve: LargeCurve) -> str:
    """The points that the comparison omits."""
    return (
        f"; a lower bound leaves it open at {_number(curve.unknown)} more" if curve.unknown else ""
    )


def _digits(value: float, *, is_bound: bool) -> str:
    return ("> " if is_bound else "") + digits_text(value, 3).replace(THIN_SPACE, " ")


def _number(count: int) -> str:
    return f"{count:,}".replace(",", " ")
