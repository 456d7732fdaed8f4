"""First sentences about why something is slow: timeouts, waits in queues, deferred resets."""

from typing import Any

import pytest

import whole
from tailrace.plan.types import Dpp, Plan
from tailrace.report.sections.why import deferred_reset_words
from tailrace.results.directory.run_directory import Trial
from tailrace.results.ports.outcome import summarise_ports
from tailrace.results.ports.timeouts import Slowest, minimum_timeouts_ms, slowest_of, timeout_words
from tailrace.results.ports.waiting import (
    Wait,
    crossings_of,
    prioritized_words,
    wait_words,
    waits_of,
)

MS = 10**9


def trial(
    workload: dict[str, Any] | None = None,
    ports: list[dict[str, Any]] | None = None,
    counted_from_ps: int = 0,
) -> Trial:
    workloads = [workload] if workload else []
    return whole.trial(
        workloads=workloads,
        ports=ports or [],
        end_ps=10 * 1000 * MS,
        counted_from_ps=counted_from_ps,
    )


def shop(slow: int, timeouts: int, probes: int = 0) -> dict[str, Any]:
    buckets = [[5 * MS, 1000 - slow], [250 * MS, slow]]
    latency = {
        "count": 1000,
        "mean_ps": 5 * MS,
        "min_ps": MS,
        "max_ps": 250 * MS,
        "buckets": buckets,
    }
    tcp = {"timeouts": timeouts, "tail_loss_probes": probes}
    return {"name": "shop", "kind": "oltp", "latency": latency, "tcp": tcp}


def words(slow: int, timeouts: int, probes: int = 0) -> str:
    slowest = slowest_of([trial(shop(slow, timeouts, probes))], "shop", 200.0)
    assert slowest is not None
    return str(timeout_words("fifo", "shop", slowest, "transactions"))


def test_without_a_timeout_none_waited() -> None:
    assert words(4, 0) == (
        "With fifo, none of the 10 slowest of 1\u202f000 transactions of shop (1 %) waited for a "
        "retransmission timeout: none occurred."
    )


@pytest.mark.parametrize(
    ("slow", "timeouts", "most"), [(4, 9, "at most 4"), (30, 9, "at most 9"), (0, 2, "none")]
)
def test_the_smaller_count_bounds_those_that_waited(slow: int, timeouts: int, most: str) -> None:
    assert words(slow, timeouts).startswith(f"With fifo, {most} of the 10 slowest")


def test_of_the_slowest_only_those_count_that_belong_to_the_slowest_hundredth() -> None:
    slowest = slowest_of([trial(shop(30, 50))], "shop", 200.0)
    assert slowest == Slowest(10, 1000, 10, 50, 0, 200.0, 5.0)


def test_tail_loss_probes_are_named_where_timeouts_do_not_explain_the_tail() -> None:
    assert "had 1 timeout and 8 tail loss probes over all trials" in words(4, 1, probes=8)
    assert "4 took at least 200 ms, the minimum timeout, with 8 tail loss probes" in words(
        4, 0, probes=8
    )
    assert "probe" not in words(4, 4, probes=8)


def test_where_the_median_exceeds_a_timeout_latencies_do_not_tell() -> None:
    assert (
        "had 7 timeouts over all trials; which transactions waited for one cannot be determined"
        in words(600, 7)
    )


def test_of_very_few_nothing_is_said() -> None:
    few = Slowest(4, 400, 1, 1, 0, 200.0, 5.0)
    assert timeout_words("fifo", "shop", few, "transactions") is None


def test_what_was_not_counted_gives_no_sentence() -> None:
    live = shop(4, 1) | {"tcp": {"retransmits": 3}}
    assert slowest_of([trial(live)], "shop", 200.0) is None
    assert slowest_of([], "shop", 200.0) is None


def test_the_minimum_timeout_is_that_of_the_hosts_of_the_workload() -> None:
    hosts = [
        {"name": n, "tcp": {"rto_min_ps": ms * MS}} for n, ms in (("a", 200), ("b", 5), ("c", 1))
    ]
    workloads = [{"header": {"name": "shop"}, "body": {"oltp": {"client": "a", "server": "b"}}}]
    assert minimum_timeouts_ms(whole.part(Plan, hosts=hosts, workloads=workloads)) == {"shop": 5}


def test_a_workload_that_names_no_host_has_the_minimum_timeout_of_all() -> None:
    hosts = [{"name": n, "tcp": {"rto_min_ps": ms * MS}} for n, ms in (("a", 200), ("b", 5))]
    workloads = [{"header": {"name": "search"}, "body": {"flows": {"sources": "all"}}}]
    assert minimum_timeouts_ms(whole.part(Plan, hosts=hosts, workloads=workloads)) == {"search": 5}


def port(
    *, dpp: dict[str, Any] | None = None, rows: list[tuple[str, int]] | None = None
) -> dict[str, Any]:
    """Ten seconds: `slow` holds 2 MB and sends 1 GB (20 ms), `fast` 1 kB and 1 GB (10 us)."""
    queues = [
        {"name": "slow", "depth_mean_bytes": 2_000_000, "tx_bytes": 10**9},
        {"name": "fast", "depth_mean_bytes": 1_000, "tx_bytes": 10**9},
        {"name": "unused", "depth_mean_bytes": 0, "tx_bytes": 0},
    ]
    traffic = [
        {"queue": queue, "workloads": ["shop"], "sent_frames": n}
        for queue, n in rows or [("slow", 100)]
    ]
    return {"node": "leaf", "towards": "client", "queues": queues, "dpp": dpp, "traffic": traffic}


def test_a_wait_is_the_mean_depth_over_what_left_per_second() -> None:
    [wait] = waits_of([trial(ports=[port()])], "shop")
    assert wait.port == "leaf → client"
    assert wait.own_ms == pytest.approx(20.0)
    assert wait.queues == {"slow": pytest.approx(20.0), "fast": pytest.approx(0.01)}


def test_after_a_warm_up_the_bytes_are_those_of_the_time_that_was_counted() -> None:
    warmed = trial(ports=[port()], counted_from_ps=5 * 1000 * MS)
    [wait] = waits_of([warmed], "shop")
    assert wait.own_ms == pytest.approx(10.0)


def test_the_port_with_the_longest_wait_comes_first() -> None:
    ports = [
        port(rows=[("fast", 1)]) | {"node": "spine"},
        port(),
        port(rows=[("fast", 1)]) | {"node": "edge"},
    ]
    assert next(iter(waits_of([trial(ports=ports)], "shop"))).port == "leaf → client"


def test_a_wait_that_one_trial_does_not_know_is_not_known() -> None:
    [wait] = waits_of([trial(ports=[port()]), trial(ports=[port(dpp={"resets": 1})])], "shop")
    assert wait.own_ms is None


def test_a_switch_that_records_no_depth_gives_no_wait() -> None:
    bridge = port()
    for queue in bridge["queues"]:
        queue["depth_mean_bytes"] = None
    assert waits_of([trial(ports=[bridge])], "shop") == []


def test_frames_of_several_queues_weigh_by_their_number() -> None:
    [wait] = waits_of([trial(ports=[port(rows=[("slow", 1), ("fast", 3)])])], "shop")
    assert wait.own_ms == pytest.approx((20 + 3 * 0.01) / 4)
    assert waits_of([trial(ports=[port()])], "backup") == []


def test_the_share_of_the_median_counts_every_round_trip() -> None:
    wait = Wait("leaf → client", {"slow": 2.0}, 2.0)
    assert wait_words("fifo", "shop", wait, 1, 8.0) == (
        "With fifo, frames of shop wait 2 ms at leaf → client on average: 25 % of the median "
        "latency of 8 ms."
    )
    assert "in each of 3 round trips: 75 % of the median" in str(
        wait_words("fifo", "shop", wait, 3, 8.0)
    )
    assert "most transactions saw a shorter queue" in str(wait_words("fifo", "shop", wait, 1, 0.5))
    assert wait_words("fifo", "shop", wait, 1, 1000.0) is None
    workloads = [{"header": {"name": "shop"}, "body": {"oltp": {"round_trips": [{}, {}]}}}]
    assert crossings_of(whole.part(Plan, workloads=workloads)) == {"shop": 2}


def test_with_prioritization_nothing_is_claimed_about_whose_frames_waited() -> None:
    [wait] = waits_of([trial(ports=[port(dpp={"resets": 1})])], "shop")
    assert wait.own_ms is None
    assert wait_words("dpp", "shop", wait, 1, 1.4) is None
    said = str(prioritized_words("dpp", wait, {"shop": 1.4, "bank": 3.0}))
    assert "20 ms in slow and 10 µs in fast" in said
    assert "cannot be attributed to a workload" in said
    assert "shop 1.4 ms, bank 3 ms" in said
    assert prioritized_words("dpp", wait, {"shop": 1e6}) is None


def test_deferred_resets_come_with_advice() -> None:
    queues = [{"name": "express", "depth_mean_bytes": 9}, {"name": "normal", "depth_mean_bytes": 5}]
    counted = {
        "node": "leaf",
        "towards": "client",
        "queues": queues,
        "dpp": {"deferred_resets": 324, "resets": 676},
    }
    [at], _ = summarise_ports([trial(ports=[counted])])
    [quiet], _ = summarise_ports(
        [trial(ports=[counted | {"dpp": {"deferred_resets": 0, "resets": 5}}])]
    )
    said = str(deferred_reset_words("dpp", at, whole.part(Dpp, age_ps=5 * MS, express_queue=0)))
    assert "324 of 1\u202f000 silences" in said
    assert "queued in normal at leaf → client" in said
    assert "silent for the age of 5 ms" in said
    assert "reduce it" in said
    assert deferred_reset_words("dpp", quiet, None) is None
