"""The parts of drawings: scales, series, names of ports, and words for policies."""

import random
import re
from itertools import pairwise
from typing import Any

import pytest
from msgspec import convert

import whole
from fake_run import plan
from parts import part
from tailrace.plan.types import Plan
from tailrace.report.charts.latency import thinned
from tailrace.report.charts.strip import deviation_strip
from tailrace.report.charts.topology import topology_chart, topology_words
from tailrace.report.drawing.plain_csv import csv_text
from tailrace.report.drawing.scale import (
    MILLISECONDS,
    AxisScale,
    Linear,
    Log,
    Share,
    Tail,
    linear_from_zero,
    log_around,
)
from tailrace.report.drawing.series import CELLS, BinnedSeries, cell_means, lines_of, medians
from tailrace.report.drawing.svg import line, row_label, steps, tag
from tailrace.report.policy.switch import switch_sentences
from tailrace.results.format.numbers import (
    bytes_text,
    count_text,
    digits_text,
    p_text,
    rate_text,
    signed_text,
    size_text,
)
from tailrace.results.format.numbers import span_text as span
from tailrace.results.summary.expectation import JudgedFigure


def labels(scale: AxisScale) -> list[str]:
    return [text for _, text in scale.ticks() if text]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (Linear(0, 700, 6), ["0", "200", "400", "600"]),
        (Linear(0, 5.2, 5), ["0", "2", "4"]),
        (Linear(-3, 38, 6, " %"), ["0 %", "10 %", "20 %", "30 %"]),
        (Linear(0, 0.3, 4), ["0.0", "0.1", "0.2", "0.3"]),
        (Linear(0, 22_000, 4), ["0", "10\u202f000", "20\u202f000"]),
        (Log(0.9, 12, MILLISECONDS), ["1 ms", "2 ms", "5 ms", "10 ms"]),
        (Log(0.02, 20, MILLISECONDS), ["100 µs", "1 ms", "10 ms"]),
        (Share(), ["0", "25 %", "50 %", "75 %", "100 %"]),
        (Tail(4), ["0", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]),
    ],
)
def test_ticks_are_round_and_labelled(scale: AxisScale, expected: list[str]) -> None:
    assert labels(scale) == expected
    positions = [scale(value) for value, _ in scale.ticks()]
    assert positions == sorted(positions)
    assert all(-1e-9 <= position <= 1 + 1e-9 for position in positions)


def test_scales_map_their_ends_to_the_ends_of_the_axis() -> None:
    assert (Linear(10, 20)(10), Linear(10, 20)(20)) == (0, 1)
    assert Log(1, 100)(10) == pytest.approx(0.5)
    assert Log(1, 100)(0.001) == 0
    assert [Tail(4)(0.0), Tail(4)(0.99), Tail(4)(1.0)] == pytest.approx([0, 0.5, 1])
    assert linear_from_zero([])(0.5) == 0.5
    assert log_around(5, 5).high / log_around(5, 5).low > 4


def test_means_of_cells_keep_the_area() -> None:
    rng = random.Random(3)
    starts = sorted({0.0, *(rng.uniform(0, 9) for _ in range(50))})
    recorded = BinnedSeries(starts, [rng.uniform(0, 5) for _ in starts], 10.0)
    exact = sum(
        v * (b - a) for a, b, v in zip(starts, [*starts[1:], 10.0], recorded.values, strict=True)
    )
    means = cell_means(recorded, 10.0)
    assert all(mean is not None for mean in means)
    assert sum(mean or 0.0 for mean in means) * 10.0 / CELLS == pytest.approx(exact)


def test_a_trial_that_ended_early_has_no_value_after_its_end() -> None:
    means = cell_means(BinnedSeries([0.0, 1.0], [2.0, 4.0], 5.0), 10.0)
    assert means[: CELLS // 2] == [2.0] * (CELLS // 10) + [4.0] * (CELLS // 2 - CELLS // 10)
    assert set(means[CELLS // 2 :]) == {None}
    assert cell_means(BinnedSeries([], [], 5.0), 10.0) == [None] * CELLS


def test_medians_need_half_of_the_trials() -> None:
    assert medians([[1.0, 1.0, 1.0], [2.0, 2.0, None], [9.0, None, None]]) == [2.0, 1.5, None]


def test_the_first_trial_stands_beside_the_median() -> None:
    found = lines_of("fifo", "arm-0", [(2, [1.0]), (3, [3.0])])
    assert [(one.name, one.trial, one.values) for one in found] == [
        ("fifo trial 2", 2, [1.0]),
        ("fifo", None, [2.0]),
    ]
    assert len(lines_of("fifo", "arm-0", [(2, [1.0])])) == 1


def test_thinning_keeps_the_ends_and_the_order_and_the_tail() -> None:
    points = [(float(i), i / 5_000) for i in range(1, 5_001)]
    kept = thinned(points, 100)
    assert kept[0] == points[0]
    assert kept[-1] == points[-1]
    assert kept == sorted(kept)
    assert len(kept) <= 102
    assert sum(share > 0.99 for _, share in kept) > 10
    assert max(b[1] - a[1] for a, b in pairwise(kept)) < 0.06
    assert thinned(points[:50], 100) == points[:50]


def path_of(markup: str) -> str:
    found = re.search(r' d="([^"]*)"', markup)
    return found.group(1) if found else ""


def test_a_missing_value_interrupts_a_line() -> None:
    unit = Linear(0, 1)
    drawn = line([(0.0, 0.0), (0.25, 1.0), (0.5, None), (1.0, 0.5)], unit, unit)
    assert path_of(drawn) == "M0 2000L500 0M2000 1000"


def test_a_distribution_rises_from_zero_and_stays_at_its_end() -> None:
    unit = Linear(0, 1)
    assert path_of(steps([(0.25, 0.5), (0.5, 1.0)], unit, unit)) == "M500 2000V1000H1000V0H2000"


def test_data_beside_a_chart_is_plain_csv() -> None:
    text = csv_text(("arm", "a,b"), [("x,\ny", 1.23456789), ("z", None)])
    assert text == "arm,a b\nx y,1.2346\nz,"


def test_text_in_drawings_is_escaped() -> None:
    assert (
        tag("text", "<b>&", x=1.50, class_="a") == '<text x="1.5" class="a">&lt;b&gt;&amp;</text>'
    )


def test_long_names_are_cut_and_whole_in_the_tip() -> None:
    label = row_label("analytics-nightly-batch", 10)
    assert ">analytics-ni…<" in label
    assert "<title>analytics-nightly-batch</title>" in label


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (digits_text(571.43), "571"),
        (digits_text(0.04567), "0.0457"),
        (digits_text(12_345.6), "12\u202f346"),
        (digits_text(1e-9), "1.00e−9"),
        (digits_text(None), "–"),
        (digits_text(0), "0"),
        (count_text(1_234_567.8), "1\u202f234\u202f568"),
        (count_text(3.4), "3.4"),
        (count_text(3.0), "3"),
        (bytes_text(4_666_000), "4.67 MB"),
        (bytes_text(0.2), "< 1 B"),
        (size_text(5_000_000), "5 MB"),
        (rate_text(10_000_000_000), "10 Gbit/s"),
        (rate_text(2_500_000), "2.5 Mbit/s"),
        (span(5 * 10**9), "5 ms"),
        (span(500_000), "500 ns"),
        (span(0), "0 s"),
        (signed_text(-0.04, "%"), "0.0 %"),
        (signed_text(-3.25, "points"), "−3.2 points"),
        (signed_text(2.0, "%"), "+2.0 %"),
        (p_text(0.03125), "0.031"),
        (p_text(1e-7), "< 0.0001"),
    ],
)
def test_numbers_are_short_and_carry_their_unit(shown: str, expected: str) -> None:
    assert shown == expected


def words(policy: dict[str, Any]) -> str:
    switch = plan("fifo", 1)["switches"][0] | {"policy": policy}
    return " ".join(switch_sentences(whole.part(Plan, switches=[switch]))[0].policies[0].sentences)


@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        ({"service": {"strict": 2}}, "strict priority, level 2"),
        ({"service": {"dwrr": 333}}, "weighted 33.3 %"),
        ({"limit": {"bytes": 1_000_000}}, "at most 1 MB"),
        ({"limit": {"frames": 64}}, "at most 64 frames"),
        ({"limit": {"alpha-milli": 125}}, "at most 0.125 times the free buffer"),
        ({"aqm": {"step": {"threshold_bytes": 30_000}}}, "marks above 30 kB"),
        (
            {
                "aqm": {
                    "red": {
                        "minimum_bytes": 10**4,
                        "maximum_bytes": 30_000,
                        "probability_milli": 100,
                        "ecn": False,
                    }
                }
            },
            "RED drops up to 10 % between 10 kB and 30 kB and everything above",
        ),
        (
            {"aqm": {"codel": {"target_ps": 5 * 10**9, "interval_ps": 10**11, "ecn": True}}},
            "CoDel marks above 5 ms over 100 ms",
        ),
    ],
)
def test_every_setting_of_a_queue_has_its_words(queue: dict[str, Any], expected: str) -> None:
    default = {
        "name": "default",
        "service": {"dwrr": 1000},
        "limit": {"bytes": 10**6},
        "aqm": "none",
    }
    assert expected in words({"queues": [default | queue], "dpp": None})


def test_switches_with_the_same_settings_share_an_entry() -> None:
    one = plan("dpp", 1)["switches"][0]
    switches = [one, one | {"name": "leaf2"}, one | {"name": "leaf3", "latency_ps": 7}]
    found = switch_sentences(whole.part(Plan, switches=switches))
    assert [entry.names for entry in found] == [["leaf1", "leaf2"], ["leaf3"]]


def boxes(drawing: str) -> list[str]:
    return re.findall(r'class="node-label">([^<]*)<', drawing)


def test_a_star_has_its_senders_left_and_its_receiver_right() -> None:
    star = convert(plan("fifo", 1), Plan)
    drawing = str(topology_chart(star))
    assert boxes(drawing) == ["db-xs", "db-s", "db-m", "db-l1", "db-l2", "leaf1", "client"]
    assert drawing.count('class="link"') == 6
    assert (
        topology_words(star) == "6 hosts with MTU 9000, 1 switch, 6 links of 10 Gbit/s and 500 ns."
    )


def fabric(leaves: int, hosts_per_leaf: int) -> Plan:
    leaf_names = [f"leaf{i}" for i in range(leaves)]
    hosts = [f"h{i}" for i in range(leaves * hosts_per_leaf)]
    rate = {"rate_bps": 10**10, "delay_ps": 10**6}
    return whole.part(
        Plan,
        hosts=[{"name": name, "mtu_bytes": 1500} for name in hosts],
        switches=[{"name": name} for name in [*leaf_names, "spine0", "spine1"]],
        links=[{"a": h, "b": leaf_names[i // hosts_per_leaf], **rate} for i, h in enumerate(hosts)]
        + [
            {"a": leaf, "b": spine, **rate} for leaf in leaf_names for spine in ("spine0", "spine1")
        ],
    )


def test_a_fabric_stands_in_tiers_with_its_spines_on_top() -> None:
    assert boxes(str(topology_chart(fabric(3, 2)))) == [
        *("spine0", "spine1"),
        *("leaf0", "leaf1", "leaf2"),
        *("h0", "h1", "h2", "h3", "h4", "h5"),
    ]


def test_links_outside_a_spanning_tree_are_dashed() -> None:
    plan = fabric(3, 2)
    forwards = [link.b != "spine1" or link.a == "leaf0" for link in plan.links]
    drawing = str(topology_chart(plan, forwards))
    assert drawing.count('class="link"') == 6 + 3 + 1
    assert drawing.count('class="link blocked"') == 2
    # Of links between the same boxes one that forwards is enough.
    summed = str(topology_chart(fabric(20, 1), [True] * 20 + [False, True] + [False] * 38))
    assert (summed.count('class="link"'), summed.count('class="link blocked"')) == (2, 1)


def test_a_large_fabric_is_summed_up() -> None:
    drawing = str(topology_chart(fabric(20, 16)))
    assert boxes(drawing) == ["spine0", "spine1", "20 switches", "320 hosts"]
    assert drawing.count('class="link"') == 3


def test_a_strip_shows_where_a_value_lies() -> None:
    def strip(value: float | None, low: float | None = 90) -> str:
        return deviation_strip(part(JudgedFigure, low=low, high=110, value=value))

    places = {value: re.findall(r'cx="([\d.]+)%"', strip(value)) for value in (100, 110, 999)}
    assert places == {100: ["50"], 110: ["75"], 999: ["98"]}
    assert strip(None) == ""
    assert strip(1, None) == ""
