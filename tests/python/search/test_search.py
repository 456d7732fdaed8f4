"""`tailrace search`: answers that arithmetic knows, what contradicts a search, and what it
refuses."""

import json
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import pytest

from command_line import tailrace
from tailrace.experiment.reporter import Silent
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.definitions import metric_of_members
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.starter import STARTER
from tailrace.search.options import SearchOptions
from tailrace.search.search import DECIDING, Searched, search

HERE = Path(__file__).parent
LIMIT = "policies.q.queues.normal.limit"
FRAGMENTS, FRAME_BYTES, LAST_BYTES = 8, 8976 + 20 + 14, 65008 - 7 * 8976 + 20 + 14
"""A datagram of 65000 bytes and its header of 8 in fragments of 8976, each with headers of IP and
Ethernet."""


def searched(tmp_path: Path, scenario: str = "burst.yaml", **options: object) -> Searched:
    wanted = SearchOptions(
        **{"vary": [], "goals": ["burst.loss <= 0"], "out": tmp_path / "out", **options}  # type: ignore[arg-type]
    )
    return search(load_scenario(HERE / scenario), wanted, Silent())


def test_the_smallest_limit_without_loss_is_that_of_arithmetic(tmp_path: Path) -> None:
    # Fragments come four times as fast as they leave: when the eighth arrives, the first and the
    # fifth have begun to leave, and the limit has to hold five whole ones and the last.
    needed = (FRAGMENTS - 3) * FRAME_BYTES + LAST_BYTES
    found = searched(tmp_path, vary=[f"{LIMIT}=10kB..1MB"], minimise="limit", precision=0.002)
    assert found.state == "found"
    assert found.found is not None
    assert found.nearest is not None
    low, high = (
        float(str(one.values[LIMIT]).removesuffix("kB")) * 1000
        for one in (found.nearest, found.found)
    )
    assert low < needed <= high
    assert high / low <= 1.003
    assert not found.contradictions
    # One lost datagram is certain to miss a goal of none; that there are none takes a look at six
    # trials.
    assert {one.trials for one in found.tried if one.is_missed} == {2}
    assert {one.trials for one in found.tried if one.is_met} == {found.found.trials} == {6}
    assert not found.undecided
    assert found.found.assignment == f"--set {LIMIT}={found.found.values[LIMIT]}"


def test_the_figure_of_a_trial_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def counted(trial: Trial, members: Sequence[str], metric: str) -> float | None:
        read.append(trial.files.stem)
        return metric_of_members(trial, members, metric)

    monkeypatch.setattr("tailrace.results.metrics.figure.metric_of_members", counted)
    found = searched(tmp_path, vary=[f"{LIMIT}=20kB,1MB"], minimise="limit")
    assert [one.trials for one in found.tried] == [2, 6]
    # The two trials after which a loss would be certain are looked at again among six.
    assert (len(read), len(set(read))) == (2 + 2 + 6, 2 + 6)


def test_the_highest_load_that_keeps_a_mean_wait_is_that_of_the_queue(tmp_path: Path) -> None:
    # M/D/1 (Pollaczek and Khinchine): a mean wait of two service times at a load of 0.8.
    gaps = ",".join(
        f"exponential({gap}us)"
        for gap in (11, 11.5, 12, 12.5, 12.75, 12.88, 13, 13.25, 13.5, 14, 15, 20)
    )
    service_us = (1222 + 8 + 20 + 14 + 24) * 8 / 1000
    fixed_us = 2 * 0.5 + 1 + service_us + (1222 + 8 + 20 + 14) * 8 / 100_000
    found = searched(
        tmp_path,
        "line.yaml",
        vary=[f"workloads.load.interarrival={gaps}"],
        minimise="interarrival",
        goals=[f"load.mean < {fixed_us + 2 * service_us:.3f}us"],
    )
    assert found.found is not None
    gap_us = float(re.findall(r"[\d.]+", str(found.found.values["workloads.load.interarrival"]))[0])
    assert 12.75 <= gap_us <= 13.25, "the load of 0.8 is a gap of 12.88 us"
    assert min(one.trials for one in found.tried) == 6


def test_all_settings_and_none(tmp_path: Path) -> None:
    every = searched(tmp_path / "a", vary=[f"{LIMIT}=60kB..1MB"], minimise="limit")
    assert (every.state, str(every.found.values[LIMIT]) if every.found else "") == ("all", "60kB")
    none = searched(tmp_path / "n", vary=[f"{LIMIT}=10kB..40kB"], minimise="limit")
    assert (none.state, none.found) == ("none", None)
    assert len(none.tried) > 2, "settings between the ends are tried as well"


def test_a_setting_at_which_nothing_arrives_misses_the_goal(tmp_path: Path) -> None:
    found = searched(
        tmp_path, vary=[f"{LIMIT}=16kB,64kB,100kB"], minimise="limit", goals=["burst.mean < 1s"]
    )
    assert found.tried[0].figures[0].values == []
    assert [one.verdict for one in found.tried] == ["misses", "meets", "meets"]


def test_a_setting_that_contradicts_is_told(tmp_path: Path) -> None:
    # The other way round: the goal is kept by large limits, so that the largest is best and small
    # ones contradict.
    found = searched(tmp_path, vary=[f"{LIMIT}=10kB..1MB"], maximise="limit")
    assert found.found is not None
    assert found.found.values[LIMIT] == "1MB"
    assert [str(one.values[LIMIT]) for one in found.contradictions][-1] == "10kB"


def test_the_result_is_kept_and_the_same_command_runs_nothing_again(tmp_path: Path) -> None:
    words = ("search", str(HERE / "burst.yaml"), "--vary", f"{LIMIT}=20kB,40kB,60kB", "--goal", "burst.loss <= 0",  # noqa: E501
             "--minimise", "limit", "--out", str(tmp_path / "out"))  # fmt: skip
    first = tailrace(*words)
    assert first.returncode == 0, first.stderr
    assert f"--set {LIMIT}=60kB" in first.stdout
    data = json.loads((tmp_path / "out" / "search.json").read_text())
    assert data["found"]["set"] == f"--set {LIMIT}=60kB"
    assert (data["found"]["trials"], data["found"]["decision"], data["undecided"]) == (
        6,
        "meets",
        [],
    )
    assert (data["error_of_a_decision"] * data["decisions_at_most"]) == pytest.approx(0.05)
    assert (
        "| 60kB | 0 (0 to 0) | 6 | meets, found |" in (tmp_path / "out" / "search.md").read_text()
    )
    again = tailrace(*words)
    assert again.stdout == first.stdout
    assert "took" not in again.stderr


def test_trials_that_an_earlier_search_has_run_beyond_its_own_do_not_count(tmp_path: Path) -> None:
    for confirm, trials in ((9, 9), (4, 6)):
        found = searched(tmp_path, vary=[f"{LIMIT}=20kB,60kB"], minimise="limit", confirm=confirm)
        assert [one.trials for one in found.tried] == [2, trials]


def test_what_a_scenario_expects_of_other_arms_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(STARTER)
    wanted = SearchOptions(
        vary=["switches.leaf.buffer=4MB,16MB"],
        goals=["orders.p99 < 50ms"],
        minimise="buffer",
        scale=0.02,
        out=tmp_path / "out",
    )
    for arm in ("fifo", "dpp"):
        found = search(
            load_scenario(tmp_path / "lab.yaml"),
            replace(wanted, arm=arm, out=tmp_path / arm),
            Silent(),
        )
        assert [one.why_not for one in found.tried] == ["", ""]


REFUSED = [
    ((f"{LIMIT}=1MB..10kB",), "1MB is above 10kB (hint: the smaller end comes first: 10kB..1MB)"),
    ((f"{LIMIT}=1MB..10ms",), "1MB is a size and 10ms a time"),
    ((f"{LIMIT}=1KB..10MB",), "'KB' is no unit (hint: as a size write kB"),
    ((f"{LIMIT}=20kB..1",), "1 has no unit"),
    ((f"{LIMIT}=1us..10us",), "'us' is not a unit of size"),
    (("policies.q.queues.nrmal.limit=10kB..1MB",), "has no 'nrmal' (hint: did you mean 'normal'?)"),
    (("policies.q.queues.normal.limt=10kB..1MB",), "limt=10kB is not possible: unknown key"),
    (("workloads.brst.interarrival=1us..1ms",), "has no 'brst' (hint: did you mean 'burst'?)"),
    (("switchs.leaf.buffer=1MB..2MB",), "'switchs' cannot be set (hint: did you mean 'switches'?)"),
    (
        (f"{LIMIT}=10kB..1MB", "--goal", "brst.loss < 1%"),
        "no workload 'brst' (hint: did you mean 'burst'?)",
    ),
    (
        (f"{LIMIT}=10kB..1MB", "--goal", "burst.lss < 1%"),
        "no metric 'lss' (hint: did you mean 'loss'?)",
    ),
    ((f"{LIMIT}=10kB..1MB", "--goal", "burst.p99"), "a search needs a bound"),
    (
        (f"{LIMIT}=10kB..1MB", "--goal", "burst.rate > 1/s"),
        "'burst' is of kind datagrams, which has no rate (hint:",
    ),
    (
        (f"{LIMIT}=10kB..1MB", "--minimise", "burst.failed"),
        "'burst' is of kind datagrams, which has no failed",
    ),
    ((f"{LIMIT}=10kB..1MB", "--trials-max", "2"), "--trials-max and --confirm must be at least 3"),
    (
        (f"{LIMIT}=20kB,20000B", "--minimise", "limit"),
        "20kB is the same as 20000B (hint: remove one of the two)",
    ),
    (
        (f"{LIMIT}=10kB..1MB", "--vary", f"{LIMIT}=1kB,2kB"),
        "it is varied twice (hint: write all of its values",
    ),
    (
        (f"{LIMIT}=10kB..1MB", "--minimise", "limt"),
        "no --vary varies it (hint: did you mean 'limit'?)",
    ),
    ((f"{LIMIT}=10kB..1MB", "--precision", "1"), "--precision 1: 1 has no unit"),
    (
        (
            f"{LIMIT}=10kB..10GB",
            "--vary",
            "switches.leaf.buffer=10kB..10GB",
            "--vary",
            "workloads.burst.interarrival=1us..1000s",
            "--vary",
            "hosts.defaults.nic.rx_coalesce=1us..1000s",
            "--sampler",
            "grid",
        ),
        "the grid has 8 391 218 497 600 settings (1390 × 1390 × 2084 × 2084)",
    ),
]


@pytest.mark.parametrize(("words", "told"), REFUSED, ids=[told[:30] for _, told in REFUSED])
def test_what_is_wrong_is_said_before_anything_runs(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    base = ("search", str(HERE / "burst.yaml"), "--out", str(tmp_path / "out"))
    goal = () if "--goal" in words else ("--goal", "burst.loss <= 0")
    aim = () if "--minimise" in words else ("--minimise", "limit")
    done = tailrace(*base, "--vary", *words, *goal, *aim)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


def test_each_option_of_a_search_decides_or_is_in_the_scenario() -> None:
    elsewhere = {"execution", "json", "seed", "set"}
    assert {one.name for one in fields(SearchOptions)} == {*DECIDING, *elsewhere}
