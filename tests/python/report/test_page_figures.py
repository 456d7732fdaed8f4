"""Figures of the report: the same interval wherever they stand, and what was cut off."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fake_run import FakeRun, cut_off_in_the_last
from report_page import Page, edit_trials, page_of
from tailrace.report import write
from tailrace.results import summarise

ROOT = Path(__file__).parents[3]


FIGURE = re.compile(r"^[+−]?([\d.]+)(?: %)?$")
INTERVAL = re.compile(r"([+−-]?[\d.]+) (?:%? ?)?(?:–|to) ([+−-]?[\d.]+)(?: %)?")
SENTENCE = re.compile(r" ([\d.]+) % \w+ with \w+ than with \w+ \(([+−]?[\d.]+) to ([+−]?[\d.]+) %")


def percents(text: str) -> dict[str, set[tuple[float, ...]]]:
    """Percentages of a page, without signs, and the intervals that stand with each."""
    found: dict[str, set[tuple[float, ...]]] = {}

    def add(figure: str, *ends: str) -> None:
        found.setdefault(figure, set()).add(
            tuple(sorted(abs(float(end.replace("−", "-"))) for end in ends))
        )

    for row in re.findall(r"<tr.*?</tr>", text, re.DOTALL):
        cells = [
            re.sub(r"<.*?>|\s+", " ", cell).strip()
            for cell in re.findall(r"<t[dh].*?</t[dh]>", row, re.DOTALL)
        ]
        if "acceleration" not in row and "completion" not in row:
            continue
        for figure, interval in pairwise(cells):
            ends = INTERVAL.fullmatch(interval)
            if ends and (value := FIGURE.match(figure)) and abs(float(value[1])) < 100:
                add(value[1], *ends.groups())
    for figure, *ends in SENTENCE.findall(re.sub(r"<.*?>", "", text)):
        add(figure, *ends)
    return found


def test_a_figure_has_the_same_interval_wherever_it_stands(cisco: Path) -> None:
    text = write(cisco).read_text(encoding="utf-8")
    accelerations = [e for e in summarise(cisco).expectations if e.metric == "acceleration_percent"]
    assert len(accelerations) >= 5
    found = percents(text)
    for figure in (f"{e.value:.1f}" for e in accelerations if e.interval):
        assert len(found[figure]) == 1, (figure, found[figure])
    assert sum(len(ends) for ends in found.values()) >= 5


def test_the_summary_has_one_interval_for_each_figure(cisco: Path) -> None:
    summary = summarise(cisco)
    effects = {e.workload: e for e in summary.comparisons if e.metric == "completion_s"}
    arms = summary.arms
    for judged in (e for e in summary.expectations if e.interval):
        interval = judged.interval.scaled(1 / judged.multiplied_by)
        if judged.metric == "acceleration_percent":
            other = effects[judged.workload or ""].improvement_interval
        elif judged.arm in arms:
            other = getattr(
                arms[judged.arm].workloads[judged.workload or ""], judged.metric
            ).interval
        else:
            continue
        assert [interval.low, interval.high] == pytest.approx([other.low, other.high]), (
            judged.metric
        )


def test_what_was_cut_off_is_in_the_table_of_percentiles(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")
    assert "cut off" not in page_of(path).text

    def cut(outcome: dict[str, Any]) -> None:
        for workload in outcome["workloads"]:
            longest = 2 * workload["latency"]["max_ps"]
            workload["cut_off"] = {"count": 7, "longest_ps": longest, "buckets": [[longest, 7]]}

    edit_trials(path, cut)
    page = page_of(path)
    assert "Kaplan-Meier estimates" in page.text
    assert "cut off" in page.text
    assert "> " in page.text
    # A workload of which nothing was completed has bounds and no curve.
    edit_trials(
        path, lambda outcome: [workload.update(latency=None) for workload in outcome["workloads"]]
    )
    assert "longest wait" in page_of(path).text


def test_p_values_are_adjusted_and_say_for_what(page: Page) -> None:
    assert "adjusted by Holm's method for the 5 comparisons of main metrics" in page.text
    assert "p adjusted" in page.text


def test_every_size_of_a_difference_between_lower_bounds_is_marked(tmp_path: Path) -> None:
    run = cut_off_in_the_last(tmp_path)
    page = write(run.path).read_text(encoding="utf-8")
    [effect] = [
        one
        for one in summarise(run.path).comparisons
        if (one.workload, one.metric) == ("XS", "latency_p99_ms")
    ]
    assert effect.bounds == (1, 0)
    rows = [row for row in page.split("<tr") if "<td>&lt; " in row and "latency p99, ms" in row]
    assert len(rows) == 1
