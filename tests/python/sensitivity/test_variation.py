"""How assumptions are varied, and regions, without a simulator."""

import random

import pytest

from tailrace.scenario.variation import Variation, first_value, scaled_value
from tailrace.sensitivity.region import Box, _relaxed, region


def test_a_factor_scales_the_first_quantity_of_each_present_value() -> None:
    present = {"a": "normal(6.739ms, 0.7ms)", "b": "366Mbit/s", "c": 20, "d": None}
    variation = Variation(keys=list(present), times="50%..200%")
    assert variation.changes(1.0, present.get) == {
        "a": "normal(13.478ms, 0.7ms)",
        "b": "732Mbit/s",
        "c": 40,
    }
    assert variation.changes(variation.present_share(present.get), present.get)["b"] == "366Mbit/s"


def test_forms_keep_the_first_quantity() -> None:
    variation = Variation(keys=["gap"], forms=["{}", "normal({}, 1ms)", "exponential({})"])
    at = [
        variation.changes(share, lambda _path: "normal(5ms, 1ms)")["gap"]
        for share in (0.0, 0.5, 1.0)
    ]
    assert at == ["5ms", "normal(5ms, 1ms)", "exponential(5ms)"]
    assert variation.present_share(lambda _path: "normal(5ms, 1ms)") == pytest.approx(0.5)


def test_settings_and_what_they_need() -> None:
    variation = Variation(settings=[{}, {"x.y": 1, "x.z": None}], also={"room": "1MB"})
    assert variation.changes(0.2, lambda _path: None) == {}
    assert variation.changes(0.9, lambda _path: None) == {"room": "1MB", "x.y": 1, "x.z": None}
    assert variation.paths == ["x.y", "x.z"]
    assert variation.present_share(lambda _path: None) == pytest.approx(0.25)


def test_first_values() -> None:
    assert [first_value(text) for text in ("8ms", "normal(6.7ms, 0.7ms)", "exponential(7ms)")] == [
        "8ms",
        "6.7ms",
        "7ms",
    ]
    assert scaled_value(2.5, 2) == 5.0


def test_a_region_is_the_box_without_contradictions() -> None:
    draws = random.Random(1)
    points = [[draws.random() for _ in range(4)] for _ in range(300)]
    box = region(
        points, [point[0] < 0.6 and point[2] > 0.2 for point in points], [0.3, 0.5, 0.5, 0.5]
    )
    assert box is not None
    assert box.cut == [0, 2]
    assert box.highs[0] == pytest.approx(0.6, abs=0.03)
    assert box.lows[2] == pytest.approx(0.2, abs=0.03)
    assert box.volume == pytest.approx(0.48, abs=0.04)


def test_a_cut_that_others_make_needless_is_undone() -> None:
    box = _relaxed(Box((0.0, 0.3), (0.5, 1.0)), [[0.9, 0.1], [0.2, 0.2]], [False, True])
    assert box == Box((0.0, 0.3), (1.0, 1.0))


def test_there_is_no_region_where_the_present_itself_contradicts() -> None:
    assert region([[0.5, 0.5]], [False], [0.5, 0.5]) is None
