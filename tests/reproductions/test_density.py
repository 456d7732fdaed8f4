"""The reproduction of database density: what a run gives, and what its inputs give by arithmetic
alone."""

import json
import re
from pathlib import Path

import pytest

import tailrace
from live_density import judged, refusal
from tailrace.results.directory.published import read_published
from tailrace.results.summary.summary import Summary
from tailrace.statistics import jain_index

HERE = Path(__file__).resolve().parents[2] / "reproductions" / "nutanix-density"
CORES, FREE_CORES, RESERVED_CORES = 40, 38, 35.8
ONE_PER_S = 64_000
FOUR_BUSY_GHZ, TWENTY_BUSY_GHZ, SLOWER_GHZ = 3.5, 3.1, 2.7
ALL = 40 * ONE_PER_S
ARMS = {
    "one": ONE_PER_S,
    "four": 4 * ONE_PER_S,
    "eight": 8 * ONE_PER_S,
    "sixteen": 16 * ONE_PER_S * 3.4 / FOUR_BUSY_GHZ,
    "twenty-four": 24 * ONE_PER_S * 3.4 / FOUR_BUSY_GHZ,
    "thirty-two": 32 * ONE_PER_S * 3.3 / FOUR_BUSY_GHZ,
    "thirty-two-alone": 32 * ONE_PER_S * 3.3 / FOUR_BUSY_GHZ,
    "off": ALL,
    "forty": ALL * FREE_CORES / CORES * TWENTY_BUSY_GHZ / FOUR_BUSY_GHZ,
    "alone": ALL * TWENTY_BUSY_GHZ / FOUR_BUSY_GHZ,
    "reserved": ALL * RESERVED_CORES / CORES * TWENTY_BUSY_GHZ / FOUR_BUSY_GHZ,
    "one-clock": ALL * FREE_CORES / CORES,
    "slower": ALL * FREE_CORES / CORES * SLOWER_GHZ / FOUR_BUSY_GHZ,
}
"""Transactions per second by arithmetic."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def summary(path: Path) -> Summary:
    return tailrace.run(
        HERE / "scenario.yaml", trials=1, out=path / "density", explain=False
    ).summary


@pytest.fixture(scope="module")
def sockets(path: Path) -> Summary:
    return tailrace.run(
        HERE / "sockets.yaml", trials=1, out=path / "sockets", explain=False
    ).summary


def rate(summary: Summary, arm: str) -> float:
    workloads = summary.arms[arm].workloads.items()
    return sum(
        one.rate_per_s.mean or 0.0 for name, one in workloads if not name.startswith("controller")
    )


@pytest.mark.parametrize("arm", ARMS)
def test_the_scheduler_gives_what_arithmetic_gives(summary: Summary, arm: str) -> None:
    assert rate(summary, arm) == pytest.approx(ARMS[arm], rel=0.011)


def test_a_controller_costs_its_cores_where_all_are_wanted_and_nothing_where_some_are_free(
    summary: Summary,
) -> None:
    assert (1 - rate(summary, "forty") / rate(summary, "alone")) * 100 == pytest.approx(5, abs=1)
    assert rate(summary, "thirty-two") == pytest.approx(
        rate(summary, "thirty-two-alone"), rel=0.001
    )


def test_cores_that_the_hypervisor_takes_cost_twice_their_share(summary: Summary) -> None:
    assert 1 - rate(summary, "steal") / rate(summary, "alone") == pytest.approx(0.098, abs=0.01)


def test_the_readme_has_the_rows_of_both_explanations(summary: Summary, sockets: Summary) -> None:
    page = (HERE / "README.md").read_text()
    names = {
        1: "one",
        4: "four",
        8: "eight",
        16: "sixteen",
        24: "twenty-four",
        32: "thirty-two",
        40: "forty",
    }
    rows = re.findall(
        r"^\| (\d+) \| \d+[^|]*\| ([\d.]+) [^|]*\| ([\d.]+) [^|]*\| \w+ \|$", page, re.MULTILINE
    )
    assert [int(row[0]) for row in rows] == list(names)
    for databases, clock, socket in rows:
        arm = names[int(databases)]
        assert float(clock) * 1000 == pytest.approx(rate(summary, arm), rel=0.001)
        assert float(socket) * 1000 == pytest.approx(rate(sockets, arm), rel=0.001)


@pytest.mark.parametrize("explanation", ["summary", "sockets"])
def test_four_of_five_independent_figures_hold(
    explanation: str, request: pytest.FixtureRequest
) -> None:
    judged = request.getfixturevalue(explanation).expectations
    missed = [one.arm for one in judged if one.kind != "derived" and not one.passed]
    assert missed == ["eight"]
    assert sum(one.kind == "independent" for one in judged) == 5


def test_a_mechanism_that_is_left_out_misses_the_figure_of_forty_databases(
    summary: Summary,
) -> None:
    [figure] = [
        one
        for one in read_published(HERE / "published.yaml")
        if (one.arm, one.kind) == ("forty", "independent")
    ]
    assert figure.value == 2_194_000
    tried = ("off", "forty", "alone", "reserved", "one-clock", "slower")
    assert [arm for arm in tried if figure.holds(rate(summary, arm))] == ["forty", "alone"]


def test_throughput_bends_where_the_cores_are_taken(path: Path) -> None:
    sweep = tailrace.run(
        HERE / "density.yaml", trials=1, out=path / "sweep", arms="with-controller"
    ).summary.swept
    [grown] = sweep.scalability
    shares = {point.size / 4: point.share for point in grown.points}
    assert shares[4] == pytest.approx(1, abs=0.001)
    assert shares[40] == pytest.approx(0.837, abs=0.002)
    assert shares[80] == pytest.approx(shares[40] / 2, rel=0.01), (
        "beyond the cores nothing is added"
    )
    assert grown.knee == 160
    page = (HERE / "README.md").read_text()
    rows = dict(
        re.findall(r"^\| (databases|share, %) \| (\d+(?: \||\.\d \|).*) \|$", page, re.MULTILINE)
    )
    told = dict(zip(rows["databases"].split(" | "), rows["share, %"].split(" | "), strict=True))
    assert {int(n): float(share) for n, share in told.items()} == pytest.approx(
        {int(n): share * 100 for n, share in shares.items()}, abs=0.06
    )


def test_a_quota_of_four_cores_holds_a_database_to_its_virtual_cores(path: Path) -> None:
    arms = ("greedy", "greedy-without-quotas")
    found = tailrace.run(
        HERE / "databases.yaml", trials=1, out=path / "databases", arms=arms, explain=False
    ).summary.arms
    per_s = {
        arm: {
            name: one.rate_per_s.mean or 0.0
            for name, one in found[arm].workloads.items()
            if name.startswith("db")
        }
        for arm in found
    }
    greedy = {arm: per_s[arm]["db1-1"] / per_s[arm]["db1-2"] for arm in per_s}
    assert greedy["greedy"] < 1.1
    assert greedy["greedy-without-quotas"] > 1.8
    assert (jain_index(list(per_s["greedy"].values())) or 0) > 0.999


def test_more_databases_than_the_memory_holds_are_refused_in_words() -> None:
    assert refusal(41, 1.5, 3000) == (
        "41 databases need 4100 MB of memory (100 each), and 3000 MB are available (hint: "
        "--databases 30)"
    )
    assert refusal(30, 1.5, 3000) is None


@pytest.mark.parametrize(
    ("databases", "quota", "words"), [(40, 0.5, "below the kernel's least"), (10_000, 99, "cores")]
)
def test_quotas_that_the_kernel_or_the_machine_lacks_are_refused(
    databases: int, quota: float, words: str
) -> None:
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
