"""The reproduction of database density: what a run gives, and what its inputs give by arithmetic alone."""

from pathlib import Path
from typing import Any

import pytest

import tailrace
from tailrace.results.directory.published import Band, read_published

HERE = Path(__file__).resolve().parents[2] / "reproductions" / "nutanix-density"
NODES, CORES, FREE_CORES = 4, 40, 38
ONE_PER_S = 64_000
"""2560 thousand transactions per second of 40 databases."""
FOUR_BUSY_GHZ, TWENTY_BUSY_GHZ, SLOWER_GHZ = 3.5, 3.1, 2.7
ARMS = {
    "one": ONE_PER_S,
    "off": 40 * ONE_PER_S,
    "forty": 40 * ONE_PER_S * FREE_CORES / CORES * TWENTY_BUSY_GHZ / FOUR_BUSY_GHZ,
    "alone": 40 * ONE_PER_S * TWENTY_BUSY_GHZ / FOUR_BUSY_GHZ,
    "one-clock": 40 * ONE_PER_S * FREE_CORES / CORES,
    "slower": 40 * ONE_PER_S * FREE_CORES / CORES * SLOWER_GHZ / FOUR_BUSY_GHZ,
}
"""Transactions per second by arithmetic."""


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("runs") / "density"
    return tailrace.run(HERE / "scenario.yaml", trials=1, out=out).summary


def rate(summary: dict[str, Any], arm: str) -> float:
    workloads = summary["arms"][arm]["workloads"].values()
    return sum(float(one["rate_per_s"]["mean"]) for one in workloads)


def band(arm: str, kind: str) -> Band:
    [found] = [one for one in read_published(HERE / "published.yaml") if (one.arm, one.kind) == (arm, kind)]
    return found


@pytest.mark.parametrize("arm", ARMS)
def test_the_simulation_gives_what_the_inputs_give(summary: dict[str, Any], arm: str) -> None:
    assert rate(summary, arm) == pytest.approx(ARMS[arm], rel=0.005)


def test_the_clock_and_the_controller_together_give_the_figure_and_other_arms_do_not(summary: dict[str, Any]) -> None:
    figure = band("forty", "independent")
    assert figure.value == 2_194_000
    assert [arm for arm in ARMS if figure.holds(rate(summary, arm))] == ["forty", "alone"]


def test_the_figures_of_one_database_and_of_the_controller_are_inputs(summary: dict[str, Any]) -> None:
    judged = {(one["arm"], one["kind"]): one["passed"] for one in summary["expectations"]}
    assert judged == {
        ("one", "input"): True,
        ("forty", "independent"): True,
        ("forty", "derived"): False,
        ("alone", "input"): True,
    }


def test_throughput_bends_where_the_cores_are_taken_and_databases_stay_equal(tmp_path: Path) -> None:
    sweep = tailrace.run(HERE / "density.yaml", trials=1, out=tmp_path / "density").summary["sweep"]
    [grown] = sweep["scalability"]
    shares = {point["size"] / 4: point["share"] for point in grown["points"]}
    assert shares[4] == pytest.approx(1, abs=0.001)
    assert shares[40] == pytest.approx(0.842, abs=0.002)
    assert shares[80] == pytest.approx(shares[40] / 2, rel=0.01), "beyond the cores nothing is added"
    assert grown["knee"] == 160
