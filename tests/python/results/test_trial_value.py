"""Every figure that can be expected: what it is, and how it is narrowed down."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fake_blocks import add_blocks
from fake_bridging import add_bridging
from fake_hypervisor import add_hypervisor
from fake_limits import add_limits
from fake_processor import add_processor
from fake_run import FakeRun
from fake_storage import add_storage
from tailrace.report.sections.facts import Fact, facts
from tailrace.results import Run, format_table, summarise
from tailrace.results.compare.judge import judge
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.published import Band
from tailrace.results.directory.run_directory import Trial
from tailrace.results.directory.window import goodput_bytes_after
from tailrace.results.metrics.definitions import goodput_gbps, metric_of_members
from tailrace.results.text.run import scope_text
from tailrace.scenario.vocabulary import METRICS

PORT = "leaf1>client"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = FakeRun(trials=2).write(tmp_path_factory.mktemp("run") / "run")
    add_bridging(made)
    add_processor(made, "XS")
    add_hypervisor(made)
    add_limits(made, "XS")
    add_blocks(made, "XS")
    add_storage(made, "XS")
    return made


@pytest.fixture(scope="module")
def run(path: Path) -> Run:
    return Run.read(path)


def value(run: Run, metric: str, **where: Any) -> Any:
    return judge(
        run, Band.parse({"metric": metric, "arm": "dpp", "at_least": 0, **where}, "test")
    ).value


@pytest.mark.parametrize("name", METRICS)
def test_every_word_of_the_vocabulary_has_a_figure(run: Run, name: str) -> None:
    places = {"workload": "XS", "port": PORT, "queue": "default"}
    assert value(run, name, **{key: places[key] for key in METRICS[name].needs}) is not None


def test_another_word_is_refused(run: Run) -> None:
    with pytest.raises(RunDirectoryError, match="unknown metric pauses"):
        value(run, "pauses", workload="XS")


@pytest.mark.parametrize(
    ("metric", "where", "expected"),
    [
        ("pauses_frames", {}, 3),
        ("pauses_frames", {"port": "leaf1>nobody"}, 0),
        ("paused_percent", {"port": PORT}, 25),
        ("paused_percent", {"port": "client>leaf1"}, 50),
        ("paused_percent", {}, 50),
        ("storms", {"port": PORT}, 1),
        ("deadlock_links", {}, 3),
        ("deadlock_links", {"port": "s1>s2"}, 1),
        ("deadlock_links", {"port": PORT}, 0),
        ("deadlock_links", {"arm": "fifo"}, 0),
        ("notifications_frames", {"queue": "default"}, 9),
        ("notifications_frames", {"queue": "express"}, 0),
        ("elephants", {}, 12),
        ("elephant_share_percent", {}, 2),
        ("drops_frames", {"cause": "afd"}, 5),
        ("drops_frames", {"cause": "afd", "port": PORT, "queue": "express"}, 0),
        ("drops_frames", {"cause": "policed"}, 70),
        ("drops_frames", {"cause": "policed", "port": PORT}, 0),
        ("failed_percent", {"workload": "XS"}, 10),
        ("failed_percent", {"workload": "S"}, None),
        ("lost_queries", {"workload": "XS"}, 3),
        ("connections_opened", {"workload": "XS"}, 7),
        ("block_latency_p50_ms", {"workload": "XS"}, 2),
        ("block_latency_p99_ms", {"workload": "XS"}, 8),
        ("lost_blocks", {"workload": "XS"}, 12),
        ("failed_blocks", {"workload": "XS"}, 4),
        ("lost_blocks", {"workload": "S"}, None),
        ("connections_spread_percent", {"workload": "XS"}, 10),
        ("connections_spread_percent", {"workload": "S"}, None),
    ],
)
def test_counters_are_narrowed_down(
    run: Run, metric: str, where: dict[str, str], expected: float | None
) -> None:
    measured = judge(
        run, Band.parse({"metric": metric, "arm": "dpp", "at_least": 0, **where}, "test")
    ).measured
    assert measured == (None if expected is None else pytest.approx(expected))


def test_a_rate_without_a_workload_is_that_of_all(run: Run) -> None:
    rates = [value(run, "rate_per_s", workload=name) for name in run.workloads]
    known = [rate for rate in rates if rate is not None]
    assert len(known) > 1
    assert max(known) < value(run, "rate_per_s") <= sum(known) * (1 + 1e-9), (
        "over the longest of their times"
    )


def test_a_rate_of_a_group_is_that_of_the_members_that_the_arm_has(run: Run) -> None:
    run.__dict__["groups"] = {"small": ["XS", "S", "absent"]}
    try:
        found = value(run, "rate_per_s", workload="small")
    finally:
        del run.__dict__["groups"]
    [trial, *_] = run.with_outcome("dpp")
    assert found == pytest.approx(metric_of_members(trial, ["XS", "S"], "rate_per_s"), rel=0.05)
    assert found > max(value(run, "rate_per_s", workload=name) for name in ("XS", "S"))


def test_drops_of_the_whole_network_count_what_no_queue_has_seen(run: Run) -> None:
    at_ports = value(run, "drops_frames", port=PORT)
    assert value(run, "drops_frames") - at_ports == pytest.approx(70 / run.scale)


def test_shares_of_goodput_and_of_queues_add_up(run: Run) -> None:
    shares = [value(run, "goodput_share_percent", workload=name) for name in run.workloads]
    assert sum(shares) == pytest.approx(100)
    late = [
        value(run, "goodput_share_percent", workload=name, after="2s") for name in run.workloads
    ]
    assert sum(late) == pytest.approx(100)
    assert late != pytest.approx(shares)
    queues = [
        value(run, "queue_share_percent", port=PORT, queue=name) for name in ("express", "default")
    ]
    assert sum(queues) == pytest.approx(100)


def test_goodput_after_an_instant_is_that_of_the_bins_from_there_on(run: Run) -> None:
    whole = [goodput_gbps(trial, trial.workloads["L2"]) for trial in run.valid("dpp")]
    late = value(
        run, "goodput_gbps", workload="L2", after="40s"
    )  # of the full length: 2 s of this run
    assert late == pytest.approx(sum(whole) / len(whole), rel=0.1)
    assert value(run, "goodput_gbps", workload="XS", after="600s") == 0
    assert value(run, "goodput_gbps", workload="XS", after="2000s") is None


@pytest.mark.parametrize(
    ("after_ps", "found"), [(0, (70, 30)), (1, (60, 20)), (10, (60, 20)), (20, (40, 10))]
)
def test_a_bin_that_begins_at_the_instant_counts(after_ps: int, found: tuple[int, int]) -> None:
    bins = {0: [(0, 10), (10, 20), (20, 40)]}
    kept = {("workload_series", ("workload", "goodput_bytes")): bins}
    trial = SimpleNamespace(
        kept=kept,
        workload_numbers={"orders": 0},
        outcome=SimpleNamespace(end_ps=30),
        has_table=lambda _name: True,
    )
    assert goodput_bytes_after(cast("Trial", trial), "orders", after_ps) == found


def test_depth_after_an_instant_leaves_out_the_start(run: Run) -> None:
    mean = value(run, "queue_depth_mean_bytes", port=PORT, after="0s")
    assert value(run, "queue_depth_mean_bytes", port=PORT, after="40s") != mean
    most = value(run, "queue_depth_max_bytes", port=PORT, after="40s")
    assert 4e6 < most <= 4_666_000
    depths = [value(run, f"queue_depth_p{share}_bytes", port=PORT) for share in (1, 5, 50, 95, 99)]
    assert depths == sorted(depths)
    assert depths[0] < depths[-1]
    assert value(run, "queue_depth_p50_bytes", port="leaf1>nobody") is None


def test_a_time_in_published_figures_has_a_unit() -> None:
    with pytest.raises(RunDirectoryError, match="after"):
        Band.parse({"metric": "goodput_gbps", "after": "2", "at_least": 0}, "test")


def test_where_and_from_when_stand_beside_the_figure(run: Run) -> None:
    raw = {"metric": "drops_frames", "arm": "dpp", "port": PORT, "cause": "afd", "at_least": 1}
    assert scope_text(judge(run, Band.parse(raw, "test"))) == "dpp leaf1>client afd"
    raw = {"metric": "goodput_gbps", "arm": "dpp", "workload": "L2", "after": "40s", "at_least": 1}
    assert scope_text(judge(run, Band.parse(raw, "test"))) == "dpp L2 after 40 s"


def test_a_deadlock_is_told_before_everything_else(path: Path) -> None:
    summary = summarise(path)
    told = format_table(summary).split("\n\n")[1]
    assert told.startswith(
        "Deadlock with dpp (trials 1, 2): s0 → s1 → s2 → s0 are paused in a cycle"
    )
    assert Fact("deadlock", "bad") in facts(summary)
    assert summary.arms["fifo"].deadlocks == []


def test_pauses_are_summarised_storms_first(path: Path) -> None:
    rows = summarise(path).arms["dpp"].pauses
    assert [row.label for row in rows] == ["leaf1 → client", "client → network"]
    assert (rows[0].xoff_sent, rows[0].storms_detected) == (3, 1)
    assert rows[1].paused_percent == pytest.approx(50)
