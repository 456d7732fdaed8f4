"""The picture and the bars of the first screen: what is drawn is in the summary, in the order of
the terminal."""

import re
from dataclasses import replace
from math import log
from pathlib import Path

import pytest

from fake_causes import add_causes
from fake_run import FakeRun
from tailrace import results
from tailrace.report.charts.limited_by import Share, limit_bar
from tailrace.report.charts.picture import (
    TICKS_MAX,
    Mark,
    PictureRow,
    Ratios,
    change_tick,
    heat_chart,
    lines_chart,
)
from tailrace.report.sections.limited_by import limited_by
from tailrace.report.sections.picture import Picture, picture
from tailrace.results.metrics.figure import figure_of
from tailrace.results.summary.summary import Summary
from tailrace.results.text.limiting_text import limit_rows
from tailrace.results.text.order import worst_first

CIRCLE = re.compile(r'<circle cx="([\d.]+)%"')


@pytest.fixture(scope="module")
def cisco(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    path = FakeRun(arms=("fifo", "dpp", "wred"), with_solo=False).write(
        tmp_path_factory.mktemp("picture") / "run"
    )
    add_causes(path, "XS")
    return results.summarise(path)


def drawn(summary: Summary) -> Picture:
    found = picture(summary)
    assert found is not None
    return found


def test_each_number_of_the_picture_is_in_the_summary(cisco: Summary) -> None:
    found = drawn(cisco)
    effects = {(e.workload, e.arm): e for e in cisco.comparisons if e.is_main}
    lines = [line.split(",") for line in found.csv.splitlines()[1:]]
    assert {(name, arm) for name, _, arm, *_ in lines} == set(effects)
    for name, _, arm, value, low, high in lines:
        effect = effects[name, arm]
        assert float(value) == pytest.approx(effect.ratio, rel=1e-4)
        assert effect.ratio_interval is not None
        assert (float(low), float(high)) == pytest.approx(
            (effect.ratio_interval.low, effect.ratio_interval.high), rel=1e-4
        )


def test_dots_are_where_their_numbers_are(cisco: Summary) -> None:
    found = drawn(cisco)
    axis = re.findall(
        r'<text x="([\d.]+)%" y="[\d.]+" class="tick" text_?-?anchor="middle">([^<]+)</text>',
        str(found.chart),
    )
    places = {text: float(place) for place, text in axis}
    dots = [float(place) for place in CIRCLE.findall(str(found.chart))]
    marks = [mark for row in found.rows for mark in row.marks]
    assert len(dots) == len(marks)
    assert "same" in places
    for place, mark in zip(dots, marks, strict=True):
        assert mark.value is not None
        assert (place < places["same"]) == (mark.value < 1)


def test_the_order_is_that_of_the_terminal(cisco: Summary) -> None:
    names = [subject.name for subject in worst_first(cisco)]
    assert list(dict.fromkeys(row.name for row in drawn(cisco).rows)) == names
    bars = limited_by(cisco).bars
    assert [bar.name for bar in bars] == sorted((bar.name for bar in bars), key=names.index)
    told = {(one.name, one.arm): one.row for one in limit_rows(cisco)}
    assert all(told[bar.name, bar.arm][2:] == [bar.percent, bar.words] for bar in bars)


def test_without_a_comparison_the_figures_themselves_are_drawn(tmp_path: Path) -> None:
    path = FakeRun(trials=4, arms=("fifo",), with_solo=False).write(tmp_path / "run")
    run, summary = results.Run.read(path), results.summarise(path)
    found = drawn(summary)
    assert found.title == "99th percentile of latency, ms"
    for line in found.csv.splitlines()[1:]:
        name, _, arm, value, *_ = line.split(",")
        assert float(value) == pytest.approx(
            figure_of(run.with_outcome(arm), [name], "latency_p99_ms").value, rel=1e-4
        )


def test_a_run_without_trials_has_no_picture(tmp_path: Path) -> None:
    fake = FakeRun(trials=1, with_solo=False, failed={("fifo", 1), ("dpp", 1)})
    assert picture(results.summarise(fake.write(tmp_path / "run"))) is None


def mark(arm: str, value: float | None, *, bound: str = "", way: int = -1, text: str = "") -> Mark:
    return Mark(arm, 1, value, None, None, bound, text or f"× {value}", "worse", way, "told.")


def row(name: str, *marks: Mark) -> PictureRow:
    return PictureRow(
        name, is_group=False, is_member=False, what="p99", base="fifo 1 ms", marks=list(marks)
    )


def test_many_workloads_are_a_map_whose_colours_follow_the_size_of_the_change() -> None:
    rows = [row(f"w{number}", mark("b", 2.0**number)) for number in range(9, 0, -1)]
    chart = str(heat_chart(rows, rows, "a", ""))
    assert chart.count('class="heat-worse') == 9
    opacities = [float(found) for found in re.findall(r'fill-opacity="([\d.]+)"', chart)]
    assert opacities == sorted(opacities, reverse=True)
    assert opacities[-1] / opacities[0] == pytest.approx(1 / 9, abs=0.01), "as its logarithm"


@pytest.mark.parametrize(("bound", "way"), [("> ", "H11"), ("< ", "H-11")])
def test_a_bound_is_an_open_circle_with_a_stroke_to_its_side(bound: str, way: str) -> None:
    one = [row("shop", mark("b", 3.0, bound=bound))]
    chart = str(lines_chart(one, one, "a", ""))
    assert 'class="dot bound arm-1"' in chart
    assert f'd="M0 0{way}"' in chart


def test_what_has_no_place_on_the_axis_is_a_text_alone() -> None:
    one = [row("shop", mark("b", None, text="–"), mark("c", 2.0))]
    chart = str(lines_chart(one, one, "a", ""))
    assert chart.count("<circle") == 1
    assert "–</tspan>" in chart


def test_of_many_arms_the_worst_and_largest_change_stands_beside_the_name() -> None:
    small, large = mark("small", 2.0), mark("large", 9.0)
    best, good = mark("best", 0.01, way=1), mark("good", 0.5, way=1)
    for marks, told in (
        ((best, small, large, good), "large × 9.0"),
        ((good, best, good, good), "best × 0.01"),
    ):
        one = [row("shop", *marks)]
        [text] = re.findall(
            r'class="picture-told"[^>]*>(.*?)</text>', str(lines_chart(one, one, "a", ""))
        )
        assert re.sub("<[^>]*>", "", text) == f"● {told}"


def test_an_interval_without_end_does_not_press_the_dots_together() -> None:
    wide = replace(mark("b", 2.0), low=1.5, high=5000.0)
    one = [row("shop", wide, mark("c", 1.5))]
    first, second = (float(place) for place in CIRCLE.findall(str(lines_chart(one, one, "a", ""))))
    # The axis goes from -2 % to thirty times the larger dot.
    assert first - second == pytest.approx(100 * log(2 / 1.5) / log(60 / 0.98) / 1.12, abs=0.2)


@pytest.mark.parametrize(
    "ends", [(0.97, 1.02), (0.5, 2.0), (0.1, 1.02), (0.98, 30.0), (1e-4, 1e4), (0.98, 1.2)]
)
def test_ticks_are_few_and_hold_no_change(ends: tuple[float, float]) -> None:
    ticks = Ratios(*ends).ticks()
    assert 2 <= len(ticks) <= TICKS_MAX
    assert all(ends[0] <= value <= ends[1] for value, _ in ticks)
    assert len({text for _, text in ticks}) == len(ticks)


def test_ticks_are_written_as_changes_are() -> None:
    assert [change_tick(value) for value in (0.5, 1, 2, 40, 1000)] == [
        "−50 %",
        "same",
        "+100 %",
        "× 40",
        "× 1\u202f000",
    ]


def test_a_bar_of_shares_takes_no_more_ink_than_they_are() -> None:
    shares = [
        Share("one", "part-a", 40.0),
        Share("thin", "part-b", 0.1),
        Share("two", "part-c", 19.9),
    ]
    bar = str(limit_bar("shop, fifo", shares))
    assert re.findall(r'x="([\d.]+)%" width="([\d.]+)%"', bar) == [("0", "40"), ("40.1", "19.9")]
