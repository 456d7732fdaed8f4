"""The reproduction of iperf streams: a cap for each flow, its rivals, and what its README says."""

import re
from pathlib import Path

import pytest

import tailrace
from tailrace.results.directory.published import Band, read_published
from tailrace.results.summary.summary import Summary
from tailrace.scenario.loading import load_scenario

HERE = Path(__file__).resolve().parents[2] / "reproductions" / "aws-streams"
SCENARIO = HERE / "scenario.yaml"
STREAMS = (1, 2, 4, 8)
LINE_GBPS = 25 * 1448 / 1538


def bands(group: str) -> dict[int, Band]:
    found = {band.arm or "": band for band in read_published(HERE / "published.yaml")}
    return {streams: found[f"{group}-{streams}"] for streams in STREAMS}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    arms = [f"{group}-{n}" for group in ("off", "aws", "window", "one-core") for n in (1, 8)]
    out = tmp_path_factory.mktemp("runs") / "streams"
    summary: Summary = tailrace.run(SCENARIO, arms=arms, trials=1, out=out).summary
    judged = {one.arm or "": one.value for one in summary.expectations if one.value is not None}
    whole = {arm: summary.arms[arm].workloads["iperf"].goodput_gbps.mean or 0.0 for arm in arms}
    return whole | judged


@pytest.mark.parametrize("group", ["aws", "window"])
def test_every_flow_at_one_rate_gives_the_column_of_the_cloud(
    group: str, measured: dict[str, float]
) -> None:
    for streams in (1, 8):
        assert bands(group)[streams].holds(measured[f"{group}-{streams}"])


def test_without_a_cap_only_the_figure_of_the_line_holds(measured: dict[str, float]) -> None:
    assert measured["off-1"] == pytest.approx(LINE_GBPS, rel=0.01)
    assert [n for n, band in bands("aws").items() if band.holds(LINE_GBPS)] == [8]
    assert [n for n, band in bands("onprem").items() if band.holds(LINE_GBPS)] == [8]


def test_one_core_gives_every_number_of_streams_the_same(measured: dict[str, float]) -> None:
    assert measured["one-core-8"] == pytest.approx(measured["one-core-1"], rel=0.01)
    assert not bands("one-core")[8].holds(measured["one-core-8"])


def test_only_figures_that_the_model_can_miss_are_independent() -> None:
    kinds = {group: [band.kind for band in bands(group).values()] for group in ("aws", "window")}
    assert kinds == {
        "aws": ["independent", "derived", "derived", "bound"],
        "window": ["fitted", "derived", "derived", "bound"],
    }


def test_all_groups_have_the_same_streams_and_the_figures_of_their_column() -> None:
    assert len(load_scenario(SCENARIO).arms) == 6 * len(STREAMS) + 1  # and window-default-1
    for rival, column in (("window", "aws"), ("one-core", "onprem")):
        assert {n: band.value for n, band in bands(rival).items()} == {
            n: bands(column)[n].value for n in STREAMS
        }


def test_the_readme_counts_what_the_region_shows() -> None:
    """The bold figures of the page are those inside the band, and the README's count is theirs."""
    page, band = (HERE / "region.md").read_text(), bands("aws")[1]
    parts = re.split(r"^MTU \d+, [A-Z]+: ", page, flags=re.MULTILINE)[1:]
    for part in parts:
        held, points = map(int, re.findall(r"holds at (\d+) of (\d+)", part)[0])
        cells = re.findall(r"\| (\**)(\d\.\d\d)\**(?= )", part)
        assert (sum(mark == "**" for mark, _ in cells), len(cells)) == (held, points)
        assert all(band.holds(float(value)) for mark, value in cells if mark)
        assert not any(band.holds(float(value)) for mark, value in cells if not mark)
    assert (
        f"at {re.findall(r'holds at (.*) points', parts[0])[0]} pairs"
        in (HERE / "README.md").read_text()
    )


def test_the_tables_of_the_readme_are_those_of_a_run(measured: dict[str, float]) -> None:
    """Rows of one and of eight streams, cells in the order of the columns; a mark says whether the
    figure holds."""
    tables = (
        (HERE / "README.md")
        .read_text()
        .split("## Result")[1]
        .split("**Of the AWS")[0]
        .split("| streams |")[1:]
    )
    columns = {"4.8": ("aws", "shaped", "window", "off"), "21.4": ("onprem", "one-core", "off")}
    for table, (first, groups) in zip(tables, columns.items(), strict=True):
        for streams in (1, 8):
            [row] = re.findall(rf"^\| {streams} \| (.*) \|$", table, flags=re.MULTILINE)
            published, *cells = row.split(" | ")
            assert streams == 8 or published == first
            for group, cell in zip(groups, cells, strict=True):
                value = measured.get(f"{group}-{streams}")
                own = bands("aws" if first == "4.8" else "onprem")[streams]
                assert value is None or float(cell.split()[0]) == pytest.approx(value, rel=0.005)
                assert own.holds(float(cell.split()[0])) == (cell.split()[1] == "✓")
