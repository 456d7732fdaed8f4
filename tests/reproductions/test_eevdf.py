"""The map of the Cisco reproduction with a run queue for each core: its points, and the page that
they make."""

from pathlib import Path

import pytest

import eevdf_map
from eevdf_map import FITTED, ROWS, changes, corners, design, ends, label, page
from region_table import Table
from tailrace.experiment.plans import Plans
from tailrace.scenario.loading import load_scenario

SCENARIO = eevdf_map.HERE / "scenario.yaml"


def test_every_fitted_value_is_varied_by_15_percent_and_by_half_of_it() -> None:
    for row in FITTED:
        low, high = (end / float(row.base) for end in ends(row))
        assert 0.849 < low < 0.88, row.key
        assert 1.12 < high < 1.151, row.key
        assert any(0.91 < float(value) / float(row.base) < 0.95 for value in row.values), row.key
        assert any(1.05 < float(value) / float(row.base) < 1.09 for value in row.values), row.key


def test_points_have_one_name_and_the_corners_are_half_of_all() -> None:
    assert label({}) == label({"cores": 24, "rate_mbps": 366.0}) == "base"
    assert label({"queue_mb": 4.25, "cores": 21.0}) == "cores=21 queue_mb=4.25"
    assert len({label(point) for point in corners()}) == 8


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_every_point_is_a_sound_scenario_with_a_processor(row: eevdf_map.Row) -> None:
    base = Plans(load_scenario(SCENARIO, changes({})).arms).hashes
    for value in (row.values[0], row.base, row.values[-1]):
        loaded = load_scenario(SCENARIO, changes({row.key: value}))
        assert loaded.scenario.host("hammerdb").cpu.effective_scheduler == "eevdf"
        assert (Plans(loaded.arms).hashes == base) == (value == row.base)


def test_the_page_is_made_from_the_points_that_were_run() -> None:
    table = Table.read(eevdf_map.TABLE)
    assert {point for point, _, _ in table.rows} <= set(design())
    assert eevdf_map.PAGE.read_text(encoding="utf-8") == page(table)


def test_a_page_without_points_has_its_head_alone(tmp_path: Path) -> None:
    assert "## At" not in page(Table(tmp_path / "none.csv", {}))
