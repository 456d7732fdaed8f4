"""The reproduction of database density: what a run gives, and what its inputs give by arithmetic alone."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import tailrace
from live_density import judged, refusal
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


def test_the_readme_has_the_figure_of_a_run(summary: dict[str, Any]) -> None:
    [cell] = re.findall(r"^\| 40 databases \| 2194.*\| (\d+) ✓", (HERE / "README.md").read_text(), re.MULTILINE)
    assert float(cell) * 1000 == pytest.approx(rate(summary, "forty"), rel=0.001)


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
    page = (HERE / "README.md").read_text()
    rows = dict(re.findall(r"^\| (databases|share, %) \| (\d.*) \|$", page, re.MULTILINE))
    told = dict(zip(rows["databases"].split(" | "), rows["share, %"].split(" | "), strict=True))
    assert {int(n): float(share) for n, share in told.items()} == pytest.approx(
        {int(n): share * 100 for n, share in shares.items()}, abs=0.06
    )


def test_more_databases_than_the_memory_holds_are_refused_in_words() -> None:
    assert refusal(41, 1.5, 3000) == (
        "41 databases need 4100 MB of memory (100 each), and 3000 MB are available (hint: --databases 30)"
    )
    assert refusal(30, 1.5, 3000) is None


@pytest.mark.parametrize(
    ("databases", "quota", "words"), [(40, 0.5, "below the kernel's least"), (10_000, 99, "cores")]
)
def test_quotas_that_the_kernel_or_the_machine_lacks_are_refused(databases: int, quota: float, words: str) -> None:
    assert words in (refusal(databases, quota, 10**9) or "")


def test_live_points_are_judged_against_the_first() -> None:
    found = judged(
        [
            {"databases": n, "tps": 100.0 * n * (1 - 0.001 * n), "cpu_us": 50.0, "cpu_percent": 1.5}
            for n in (1, 10, 20, 30, 40)
        ]
    )
    assert found["perfect_share"]["40"] == pytest.approx(0.96 / 0.999, abs=1e-4)
    assert found["contention"]["amdahl"] == pytest.approx(0.001, rel=0.1)


def test_the_readme_has_the_live_points() -> None:
    live, page = json.loads((HERE / "live.json").read_text()), (HERE / "README.md").read_text()
    for count, share in live["perfect_share"].items():
        assert f"| {count} | {share * 100:.1f} % |" in page
