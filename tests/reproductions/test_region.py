"""The map of the Cisco reproduction: every value over its range, and regions that are counted
right."""

import json
import re
from itertools import combinations, product
from pathlib import Path

import pytest

import region_map
from region import (
    HERE,
    Map,
    at_least,
    covers_fit,
    near_region,
    rectangle_of,
    span_of,
    speed_ups,
    tally,
    verdict,
)
from region_design import corners, design, draws, label, near_ends, pair_grids, singles
from region_table import TIMES, Table
from region_values import (
    BY_KEY,
    CONTROL,
    FITTED,
    FITTED_KEYS,
    PARAMETERS,
    Parameter,
    Point,
    changes_of,
)
from sensitivity import Cells
from tailrace.experiment.plans import Plans
from tailrace.results.directory.published import INDEPENDENT, read_published
from tailrace.scenario.loading import load_scenario

SCENARIO = HERE / "scenario.yaml"
COMMITTED_SCALE, AGAIN_SCALE = 0.05, 0.2
MIN_POINTS = 7


@pytest.fixture(scope="module")
def committed() -> Map:
    return Map.read(region_map.TABLE, COMMITTED_SCALE)


def made(path: Path, held: dict[str, int]) -> Map:
    """A map in which so many of the six figures hold at each point: the others are missed by
    far."""
    table = Table(path / "map.csv", {})
    bands = [band for band in read_published(HERE / "published.yaml") if band.kind == INDEPENDENT]
    for name, number in held.items():
        good = {(band.arm or "", band.workload or ""): band.value or 0 for band in bands[:number]}
        table.add(name, COMMITTED_SCALE, Cells({key: [good.get(key, 9999.0)] for key in TIMES}))
    return Map(table, COMMITTED_SCALE, bands)


def test_six_figures_are_independent(committed: Map) -> None:
    figures = {(band.arm, band.workload) for band in committed.bands}
    assert figures == {(arm, name) for arm in ("fifo", "dpp") for name in ("XS", "S", "M")}


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.key)
def test_every_value_makes_a_sound_scenario_and_the_base_changes_nothing(
    parameter: Parameter,
) -> None:
    base = Plans(load_scenario(SCENARIO).arms).hashes
    for value in (parameter.values[0], parameter.base, parameter.values[-1]):
        hashes = Plans(load_scenario(SCENARIO, changes_of({parameter.key: value})).arms).hashes
        assert (hashes == base) == (value == parameter.base), value


def test_any_fitted_values_can_be_varied_together() -> None:
    for point in [*list(corners())[:2], next(iter(draws()))]:
        assert Plans(load_scenario(SCENARIO, changes_of(point)).arms)
    with pytest.raises(ValueError, match="varied alone"):
        changes_of({"units": "binary, 19 users", "cores": 23})


def assumption_of(parameter: Parameter) -> dict[str, str]:
    listed = [part.model_dump() for part in load_scenario(SCENARIO).scenario.assumptions]
    found = [part for part in listed if parameter.name in part["name"].split(" and ")]
    [only] = found or [part for part in listed if parameter.name == part["name"]]
    return only


@pytest.mark.parametrize(
    "parameter",
    [one for one in PARAMETERS if one.kind != CONTROL],
    ids=lambda parameter: parameter.key,
)
def test_the_range_of_a_value_is_the_one_that_the_scenario_states(parameter: Parameter) -> None:
    assumption = assumption_of(parameter)
    if parameter.kind == FITTED:
        assert assumption["mark"] == "fitted"
    if parameter.stated and parameter.key != "client_percent":
        words = f"{parameter.stated[0]} to {parameter.text(parameter.stated[1])}".removesuffix(" %")
        assert words in assumption["range"].replace("0 ms to", "0 to")
    for end in parameter.stated or ():
        assert end in parameter.values


def test_every_fitted_and_assumed_range_of_the_scenario_is_mapped() -> None:
    mapped = {assumption_of(one)["name"] for one in PARAMETERS if one.kind != CONTROL}
    listed = load_scenario(SCENARIO).scenario.assumptions
    assert {part.name for part in listed if part.range} <= mapped


def test_every_fitted_value_has_enough_points_and_the_ends_of_15_percent() -> None:
    for key in FITTED_KEYS:
        assert len(BY_KEY[key].values) >= MIN_POINTS
        low, high = (float(end) / float(BY_KEY[key].base) for end in near_ends(key))
        assert 0.849 < low < 0.88, key
        assert 1.12 < high < 1.151, key


def test_a_point_has_one_name(committed: Map) -> None:
    assert label({}) == label({"cores": 24}) == "base"
    assert label({"queue_mb": 4, "cores": 23}) == "cores=23 queue_mb=4"
    names = [label(point) for part in design().values() for point in part]
    rows = {point for point, _, _ in committed.table.rows}
    assert rows <= set(names), "points of another design"


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = made(tmp_path, {"base": 6, "cores=23": 3})
    again = Map.read(found.table.path, COMMITTED_SCALE)
    assert again.table.rows == found.table.rows
    assert again.held({"cores": 23}) == 3
    assert again.table.has("base", COMMITTED_SCALE, 1)
    assert not again.table.has("base", COMMITTED_SCALE, 2)


def test_a_map_runs_only_what_is_missing(tmp_path: Path) -> None:
    found = made(tmp_path, {label(point): 6 for point in singles()})
    assert list(region_map.missing(found, ["base", "singles"], 1)) == []
    assert [one.point for one in region_map.missing(made(tmp_path, {}), ["base"], 1)] == [{}]
    assert len(list(region_map.missing(found, ["singles"], 2))) == len(
        {label(point) for point in singles()}
    )


def test_a_span_is_the_row_around_the_base(tmp_path: Path) -> None:
    held = {
        f"cores={n}": count
        for n, count in zip(range(20, 29), (6, 6, 6, 3, 0, 4, 5, 3, 6), strict=True)
    }
    found = made(tmp_path, held | {"base": 6})
    cores = BY_KEY["cores"]
    six, four = span_of(found, cores, 6), span_of(found, cores, 4)
    assert six is not None
    assert four is not None
    assert (six.text, six.has_base, covers_fit(six)) == ("24", True, False)
    assert (four.low, four.high) == (24, 26)
    assert four.percent == pytest.approx((0, 100 / 12))


def test_a_span_without_the_base_is_the_longest(tmp_path: Path) -> None:
    held = {
        f"cores={n}": count
        for n, count in zip(range(20, 29), (6, 3, 3, 6, 0, 6, 3, 3, 3), strict=True)
    }
    found = made(tmp_path, held | {"base": 3})
    span = span_of(found, BY_KEY["cores"], 6)
    assert span is not None
    assert not span.has_base
    assert span.points == 1
    assert span_of(made(tmp_path, {"base": 3}), BY_KEY["cores"], 6) is None


def test_values_without_an_order_are_listed(tmp_path: Path) -> None:
    held = {
        "base": 6,
        "tcp=new-reno": 3,
        "tcp=no_SACK": 6,
        "tcp=no_tail_loss_probe": 3,
        "tcp=no_HyStart": 6,
    }
    span = span_of(made(tmp_path, held), BY_KEY["tcp"], 6)
    assert span is not None
    assert span.text == "cubic, no SACK, no HyStart"


def test_a_rectangle_has_the_base_and_no_bad_cell(tmp_path: Path) -> None:
    cores, rates = pair_grids("cores", "rate_mbps")
    held = {
        label({"cores": a, "rate_mbps": b}): 6 if a in (23, 24) and b != 370 else 3
        for a in cores
        for b in rates
    }
    rectangle = rectangle_of(made(tmp_path, held), "cores", "rate_mbps", 6)
    assert rectangle is not None
    assert (rectangle.lows, rectangle.highs, rectangle.points) == ((23, 330), (24, 366), 8)
    assert rectangle_of(made(tmp_path, held | {"base": 3}), "cores", "rate_mbps", 6) is None


def test_corners_have_every_two_values_in_all_four_ways() -> None:
    points = list(corners())
    assert len(points) == 2 ** (len(FITTED_KEYS) - 1)
    for first, second in combinations(FITTED_KEYS, 2):
        ways = [(point[first], point[second]) for point in points]
        assert {way: ways.count(way) for way in ways} == dict.fromkeys(
            product(near_ends(first), near_ends(second)), 4
        )


def test_points_that_were_not_run_are_not_counted(tmp_path: Path) -> None:
    points: list[Point] = [{}, {"cores": 23}, {"cores": 22}]
    counts = tally(made(tmp_path, {"base": 6, "cores=23": 3}), points)
    assert counts == {6: 1, 3: 1}
    assert at_least(counts, 4) == 1


def test_a_verdict_changes_with_the_region(tmp_path: Path) -> None:
    everywhere = {label(point): 6 for point in singles()}
    assert verdict(made(tmp_path, everywhere)).startswith("All six figures hold while")
    narrow = verdict(made(tmp_path, everywhere | {"cores=23": 3}))
    assert "The six figures do not all hold over a variation of ±15 % of the cores" in narrow
    assert "not a conclusion" in narrow


def test_speed_ups_are_those_of_all_points_but_the_controls(tmp_path: Path) -> None:
    found = made(tmp_path, {"base": 6})
    for name, dpp_s in (("cores=23", 50.0), ("max_packets=1", 100.0)):
        cells = Cells(
            {(arm, workload): [dpp_s if arm == "dpp" else 100.0] for arm, workload in TIMES}
        )
        found.table.add(name, COMMITTED_SCALE, cells)
    assert speed_ups(found)["XS"] == pytest.approx((100 * (1 - 390 / 572), 50))


def test_what_could_hold_is_run_again_the_nearest_first(tmp_path: Path) -> None:
    held = {label(point): 3 for point in singles()} | {"base": 6, "queue_mb=10": 4}
    found = made(tmp_path, held)
    points = [label(point) for point in near_region(found)]
    assert points[0] == "base"
    assert {"rate_mbps=364", "rate_mbps=368"} == set(points[1:3])
    assert {"cores=23", "cores=25", "queue_mb=8", "queue_mb=10", "queue_mb=20"} <= set(points)
    assert "cores=22" not in points
    assert "queue_mb=30" not in points
    assert [label(one.point) for one in region_map.unrepeated(found, found, 1)] == []


def test_ranges_of_fitted_values_are_those_of_the_longer_runs(tmp_path: Path) -> None:
    found = made(tmp_path, {label(point): 6 for point in singles()})
    again = Map(found.table, AGAIN_SCALE, found.bands)
    told = json.loads(region_map.pages(found, again)["map.json"])
    assert told["again_scale"] == COMMITTED_SCALE, "the longer runs are not whole"
    for point in near_region(found):
        found.table.rows[label(point), AGAIN_SCALE, 1] = found.table.rows[
            label(point), COMMITTED_SCALE, 1
        ]
    bad = dict.fromkeys(TIMES, 9999.0)
    found.table.rows["cores=23", AGAIN_SCALE, 1] = found.table.rows["cores=25", AGAIN_SCALE, 1] = (
        bad
    )
    told = json.loads(region_map.pages(found, again)["map.json"])
    [cores] = [value for value in told["values"] if value["key"] == "cores"]
    assert (told["again_scale"], cores["holds"]["6"]) == (AGAIN_SCALE, "24")


def test_the_committed_map_has_every_value_alone_and_its_pages_belong_to_it(committed: Map) -> None:
    assert list(region_map.missing(committed, ["base", "singles"], 1)) == []
    again = Map.read(region_map.TABLE, AGAIN_SCALE)
    assert list(region_map.unrepeated(committed, again, 1)) == []
    for name, text in region_map.pages(committed, again).items():
        assert (HERE / name).read_text() == text, "run region_map.py --page"


def test_the_committed_map_has_the_values_of_the_scenario() -> None:
    """A value of the scenario that moves needs another map."""
    recorded = {
        one["key"]: one["base"] for one in json.loads((HERE / "map.json").read_text())["values"]
    }
    assert recorded == {parameter.key: parameter.text(parameter.base) for parameter in PARAMETERS}
    text = SCENARIO.read_text()
    assert re.search(r"program_cores: 24, time_slice: 1.5ms\b", text)
    assert len(re.findall(r"write: 6300B", text)) == 5
    assert len(re.findall(r"consume_rate: 366Mbit/s", text)) == 3
    assert len(re.findall(r"normal: \{limit: 5MB\}", text)) == 2


def test_the_base_of_the_map_is_near_the_full_run(committed: Map) -> None:
    """A twentieth of the counts is no other experiment: no time differs by more than 10 %."""
    full = json.loads((HERE / "result-summary.json").read_text())["completion_full_scale_s"]
    base = committed.table.mean("base", COMMITTED_SCALE)
    assert base is not None
    for (arm, name), time_s in base.items():
        mean_s = sum(full[arm][name]) / len(full[arm][name])
        assert time_s == pytest.approx(mean_s, rel=0.1), (arm, name)
