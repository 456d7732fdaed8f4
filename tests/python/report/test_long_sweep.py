"""The page of a sweep with many points: it stays readable, and small."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from msgspec.structs import replace

from parts import part
from tailrace.report.charts.sweep import (
    LABELS_APART,
    MARKERS_MAX,
    TICKS_MAX,
    axis_scale,
    curve_chart,
    heat_map,
    load_chart,
    marked_every,
)
from tailrace.report.sections.sweep import values_text
from tailrace.results.summary.sweep import (
    CurveValue,
    SweepAxis,
    SweepCurve,
    SweepPoint,
    SweepSummary,
)

POINTS = 1000
VALUES = [f"{number}us" for number in range(1, POINTS + 1)]


VALUE = CurveValue(mean=1.0, low=0.5, high=1.5, trials=3, bounds=0)


def curve(points: int) -> SweepCurve:
    return part(
        SweepCurve,
        workload="web",
        metric="latency_p99_ms",
        arm="base",
        kinds=["flows"],
        values=[VALUE] * points,
    )


def axis_of(values: Sequence[str], name: str = "delay", *, is_log: bool = False) -> SweepAxis:
    return part(SweepAxis, values=values, name=name, path=name, is_log=is_log)


@pytest.mark.parametrize("is_log", [False, True])
def test_of_many_values_those_that_are_far_apart_have_labels_and_no_others_have_ticks(
    is_log: bool,
) -> None:
    axis = axis_of(VALUES, is_log=is_log)
    ticks = axis_scale(axis, [float(number) for number in range(1, POINTS + 1)]).ticks()
    assert all(label for _, label in ticks)
    places = [place for place, _ in ticks]
    assert 3 <= len(places) <= 8
    assert min(b - a for a, b in pairwise(places)) >= LABELS_APART


def test_each_of_few_values_has_a_tick_and_of_several_some_have_labels() -> None:
    few = axis_scale(axis_of(VALUES[:8]), None).ticks()
    assert [label for _, label in few] == VALUES[:8]
    several = axis_scale(axis_of(VALUES[:TICKS_MAX]), None).ticks()
    assert len(several) == TICKS_MAX
    assert len([label for _, label in several if label]) <= 8


def test_a_curve_of_many_points_has_some_markers() -> None:
    axis = axis_of(VALUES)
    drawn = curve_chart([curve(POINTS)], axis, axis_scale(axis, None), ["base"])
    assert drawn.count("<circle") == MARKERS_MAX == POINTS / marked_every(POINTS)
    assert marked_every(MARKERS_MAX) == 1


def test_a_lower_bound_between_points_with_markers_has_one_too() -> None:
    axis = axis_of(VALUES)
    values = [replace(VALUE, mean=1.0 + at) for at in range(POINTS)]
    loads = replace(curve(POINTS), metric="rate_per_s", values=list(values))
    bound = marked_every(POINTS) + 1
    values[bound] = replace(values[bound], bounds=1, low=None, high=None)
    latency = replace(curve(POINTS), values=values)
    for drawn in (
        curve_chart([latency], axis, axis_scale(axis, None), ["base"]),
        load_chart([loads], [latency], ["base"]),
    ):
        assert drawn is not None
        assert drawn.count("<circle") == MARKERS_MAX + 1
        assert drawn.count("dot bound") == 1


def test_of_many_values_the_first_ones_the_last_and_their_number_are_listed() -> None:
    assert values_text(VALUES[:3]) == "1us, 2us, 3us"
    assert values_text(VALUES) == "1us, 2us, 3us, … 1000us (1000 values)"


@pytest.mark.parametrize(("columns", "texts", "labels"), [(8, 16, 8), (30, 0, 6)])
def test_cells_of_a_wide_map_have_titles_and_no_texts(
    columns: int, texts: int, labels: int
) -> None:
    axes = [axis_of(VALUES[:count], name) for name, count in (("a", 2), ("b", columns))]
    points = [
        SweepPoint(label="", values={"a": a, "b": b}) for a in VALUES[:2] for b in VALUES[:columns]
    ]
    sweep = part(SweepSummary, axes=axes, points=points)
    drawn = heat_map(curve(2 * columns), sweep, 0.5, 1.5, is_log=False)
    assert drawn.count('class="heat"') == 2 * columns
    assert drawn.count("<title>") >= 2 * columns
    assert drawn.count('class="heat-light"') + drawn.count('class="heat-dark"') == texts
    assert drawn.count('class="tick"') <= labels
