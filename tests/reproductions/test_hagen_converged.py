"""The reproduction of the mixes of one source: its figures, ETS, pauses and notifications, and what
its pages say."""

import json
import re
from pathlib import Path

import pytest

import converged_live as live_page
import converged_matrix as matrix
import converged_measure as measure
import converged_sensitivity as sensitivity
import tailrace
from tailrace.results.directory.published import read_published
from tailrace.results.summary.summary import Summary

HERE = Path(__file__).resolve().parents[2] / "reproductions" / "hagen-converged"


@pytest.fixture(scope="module")
def found() -> measure.Mixes:
    return measure.measured("scenario.yaml", {})


def missed(file: str, folder: Path) -> list[tuple[str, str | None]]:
    summary: Summary = tailrace.run(HERE / file, trials=1, out=folder / file, explain=False).summary
    return [(one.metric, one.arm) for one in summary.expectations if not one.passed]


def test_writes_have_less_than_a_quarter_in_mixes_of_three_and_reads_lose_least(
    found: measure.Mixes,
) -> None:
    triples = [mix for mix in matrix.mixes_of(found) if mix.count("-") == 2 and "write" in mix]
    assert len(triples) == 3
    for mix in triples:
        assert measure.share(found[mix], "write") < matrix.WRITE_MAX, mix
    with_reads = [mix for mix in matrix.mixes_of(found) if "read" in mix]
    assert len(with_reads) == 6
    assert all(sensitivity.read_keeps_most(found, mix, "") for mix in with_reads)


def test_turns_of_the_interface_make_the_writes_lose_and_not_the_wait_for_permission(
    found: measure.Mixes,
) -> None:
    write = {arm: found[arm]["write"] for arm in found if arm.endswith("tcp-udp-write")}
    assert write["no-r2t-tcp-udp-write"] == pytest.approx(write["tcp-udp-write"], rel=0.03)
    assert write["single-tcp-udp-write"] > 1.8 * write["tcp-udp-write"]
    # One turn of six, of a line whose segments carry 1448 of 1538 bytes.
    assert write["tcp-udp-write"] == pytest.approx(10 * 1448 / 1538 / 6, rel=0.03)


def test_with_one_queue_the_rival_misses(found: measure.Mixes) -> None:
    assert measure.share(found["shared-udp-read-write"], "write") > matrix.WRITE_MAX
    assert not sensitivity.read_keeps_most(found, "tcp-read", matrix.SHARED)


def test_shares_hold_at_the_source_and_do_nothing_at_the_switch(tmp_path: Path) -> None:
    assert missed("ets.yaml", tmp_path) == []


def test_pauses_spread_and_notifications_keep_them_away(tmp_path: Path) -> None:
    assert missed("pfc.yaml", tmp_path) == []
    assert missed("qcn.yaml", tmp_path) == []


def test_table_and_map_are_those_of_a_run(found: measure.Mixes) -> None:
    page = matrix.README.read_text(encoding="utf-8")
    assert page == matrix.with_table(page, found)
    assert matrix.DRAWING.read_text(encoding="utf-8") == matrix.drawing(found)


def test_the_live_page_is_what_its_script_writes() -> None:
    parts = []
    for condition in (live_page.FIRST, live_page.SECOND):
        predicted, live = (
            json.loads(path.read_text(encoding="utf-8"))
            for path in (condition.predicted, condition.live)
        )
        assert set(live["mixes"]) == set(predicted)
        parts.append(live_page.section(predicted, live))
    assert live_page.PAGE.read_text(encoding="utf-8") == live_page.page(*parts)


def test_predictions_are_those_of_the_scenario_as_it_stands() -> None:
    for condition in (live_page.FIRST, live_page.SECOND):
        predicted = json.loads(condition.predicted.read_text(encoding="utf-8"))
        found = measure.measured("live.yaml", condition.changes, ["tcp-udp", "tcp-udp-write"])
        assert found == {arm: pytest.approx(predicted[arm], rel=1e-9) for arm in found}


def test_a_live_rate_beyond_the_band_or_of_another_sign_is_told() -> None:
    alone = {"tcp": {"tcp": 1.0}, "udp": {"udp": 1.0}}
    predicted = alone | {"tcp-udp": {"tcp": 0.5, "udp": 0.5}}
    live = alone | {"tcp-udp": {"tcp": 0.97, "udp": 0.45}}
    assert live_page.row("tcp-udp", "tcp", predicted, live)[4:] == ["1.94", "**no**", "**no**"]
    assert live_page.row("tcp-udp", "udp", predicted, live)[4:] == ["0.90", "yes", "yes"]


def test_every_variation_is_in_the_table_and_changes_keys_that_exist() -> None:
    page = (HERE / "sensitivity.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| ([^|]+?) \|", page, flags=re.MULTILINE)[2:] == list(
        sensitivity.VARIATIONS
    )


def test_figures_say_what_they_can_prove() -> None:
    kinds = {
        (band.arm, band.workload): band.kind for band in read_published(HERE / "published.yaml")
    }
    assert [pair for pair, kind in kinds.items() if kind != "independent"] == [
        ("udp-read-write", "write")
    ]
    assert kinds["udp-read-write", "write"] == "bound"
