"""Verdicts of live runs whose transactions the fabric has measured."""

from dataclasses import replace
from pathlib import Path

import pytest

import whole
from summaries import summary_of
from tailrace.results.causes.causes import Loss, Transaction
from tailrace.results.causes.record import read_record, write_record
from tailrace.results.causes.verdict import path_limits, verdict_of
from tailrace.results.summary.causes import Explained
from tailrace.results.summary.workload import WorkloadSummary
from tailrace.results.text.limiting_text import limiting_sentence, limiting_text, verdict_words
from tailrace.results.workload import summarise_workload

MS = 10**9


def waited(queue_ms: int, outside_ms: int, after_drop_ms: int = 0) -> Transaction:
    parts = {
        "switch_queue": queue_ms * MS,
        "outside": outside_ms * MS,
        "outside_after_drop": after_drop_ms * MS,
    }
    kept = {part: time for part, time in parts.items() if time}
    queues = {"leaf>client": queue_ms * MS} if queue_ms else {}
    return Transaction(0, 0, sum(parts.values()), kept, 0, 0, 0, queues)


def explained(folder: Path, of: list[Transaction], *, is_live: bool = True) -> Explained:
    """A record that was written and read."""
    trial = replace(whole.trial(digest="aa"), files=whole.files_in(folder))
    write_record(trial, {"orders": of}, {}, {"orders": of[:1]} if is_live else None)
    return read_record(trial)["orders"]


def summary(folder: Path, of: list[Transaction], *, is_live: bool = True) -> WorkloadSummary:
    """A workload of an arm in which every connection was limited by the application, with its
    record."""
    causes = explained(folder, of, is_live=is_live)
    own = {
        "name": "orders",
        "kind": "oltp",
        "goodput_bytes": 1000,
        "transactions": 1,
        "limits": {"open_ps": 1000},
    }
    trial = whole.trial(end_ps=16_000_000, workloads=[own], live={} if is_live else None)
    found = summarise_workload("orders", [trial], scale=1.0, explained=causes)
    assert found is not None
    return found


def test_the_fabric_decides_in_the_result_too_and_the_kernel_stands_beside_it(
    tmp_path: Path,
) -> None:
    found = summary(tmp_path, [waited(9, 1)] * 40)
    limits, kernel = found.limits, found.connection_limits
    assert limits
    assert kernel
    assert (limits.limited_by, limits.measured_by, limits.trial) == (
        "queue of leaf>client",
        "fabric",
        1,
    )
    assert {name: share.mean for name, share in limits.shares_percent.items()} == {
        "switch_queue": pytest.approx(90.0),
        "outside": pytest.approx(10.0),
    }
    assert {cause: share.mean for cause, share in kernel.shares_percent.items() if share.mean} == {
        "application": 100.0
    }
    assert verdict_words(limits) == "queue of leaf>client", "in the table of TCP"
    assert verdict_words(kernel) == "application"


def test_a_simulated_explanation_decides_too(tmp_path: Path) -> None:
    found = summary(tmp_path, [waited(9, 1)] * 40, is_live=False)
    assert found.limits
    assert (found.limits.limited_by, found.limits.measured_by) == (
        "queue of leaf>client",
        "simulator",
    )
    assert found.connection_limits
    assert found.connection_limits.limited_by == "application"


def test_without_an_explanation_the_limits_are_those_of_the_connections(tmp_path: Path) -> None:
    own = {"name": "orders", "kind": "oltp", "limits": {"open_ps": 1000}}
    found = summarise_workload("orders", [whole.trial(workloads=[own])], scale=1.0, explained=None)
    assert found is not None
    assert found.limits
    assert (found.limits.limited_by, found.limits.measured_by) == ("application", None)
    assert found.connection_limits is None


def test_a_stream_with_an_end_keeps_the_verdict_of_its_connections(tmp_path: Path) -> None:
    causes = explained(tmp_path, [waited(9, 1)] * 40, is_live=False)
    own = {"name": "orders", "kind": "stream", "limits": {"open_ps": 1000, "interface_ps": 900}}
    found = summarise_workload(
        "orders", [whole.trial(workloads=[own])], scale=1.0, explained=causes
    )
    assert found is not None
    assert found.limits
    assert (found.limits.limited_by, found.limits.measured_by) == ("interface", None)


def test_the_queue_of_the_fabric_comes_before_what_the_kernel_calls_the_application(
    tmp_path: Path,
) -> None:
    said = limiting_sentence("fifo", "orders", summary(tmp_path, [waited(9, 1)] * 40))
    assert said == (
        "With fifo, orders (0.500 Gbit/s) loses most of its time in the queue of leaf>client: "
        "measured by the fabric in trial 1, its transactions take 10 ms on average, 90 % queues of "
        "switches (most at leaf>client), 10 % outside the fabric (hosts, programs). Its "
        "connections, by the kernel's counters: application 100 % of the time."
    )


def test_a_simulated_explanation_says_of_which_trial_it_is(tmp_path: Path) -> None:
    said = limiting_sentence(
        "fifo", "orders", summary(tmp_path, [waited(9, 1)] * 40, is_live=False)
    )
    assert said == (
        "With fifo, orders (0.500 Gbit/s) loses most of its time in the queue of leaf>client: by "
        "trial 1, its transactions take 10 ms on average, 90 % queues of switches (most at "
        "leaf>client), 10 % outside the fabric (hosts, programs). Its connections, by TCP's "
        "counters: application 100 % of the time."
    )


def test_the_table_has_both_sources(tmp_path: Path) -> None:
    of = summary_of({"fifo": {"orders": summary(tmp_path, [waited(1, 9)] * 40)}}, ["orders"])
    _, *lines = limiting_text(of).splitlines()
    told = " ".join(" ".join(lines).split())
    assert "90 % outside the fabric (hosts, programs) (of transactions, by the fabric)" in told
    assert "100 % application (of connections, by the kernel's counters)" in told


@pytest.mark.parametrize(
    ("of", "verdict"),
    [
        (waited(60, 40), "queue of leaf>client"),
        (waited(59, 41), "mixed"),
        (waited(30, 0, 70), "outside the fabric, after a drop"),
        (waited(49, 0, 29), "queue of leaf>client"),
    ],
)
def test_a_verdict_is_half_of_the_time_and_clearly_the_largest(
    of: Transaction, verdict: str, tmp_path: Path
) -> None:
    assert verdict_of(explained(tmp_path, [of]).bands) == verdict


def slow(count: int, part: str, ms: int) -> list[Transaction]:
    return [Transaction(0, 0, ms * MS, {part: ms * MS}, 0, 0)] * count


@pytest.mark.parametrize(
    ("of", "verdict"),
    [
        (
            slow(90, "receive", 1) + slow(10, "probe", 200),
            "until a tail loss probe, in the slowest 10 % of transactions",
        ),
        (
            slow(990, "core_wait", 9) + slow(10, "timeout", 210),
            "waiting for a core; in the slowest 1 % of transactions: "
            "until a retransmission timeout",
        ),
        (slow(90, "core_wait", 9) + slow(10, "core_wait", 30), "waiting for a core"),
    ],
)
def test_what_only_the_slowest_have_is_told_as_theirs(
    of: list[Transaction], verdict: str, tmp_path: Path
) -> None:
    assert verdict_of(explained(tmp_path, of, is_live=False).bands) == verdict


def rounds(windowed_ms: int, of_receiver_ms: int, **parts: int) -> Transaction:
    """It spends so much of its time in round trips for a window."""
    times = {part: ms * MS for part, ms in parts.items()}
    return Transaction(0, 0, sum(times.values()), times, windowed_ms * MS, 1, of_receiver_ms * MS)


@pytest.mark.parametrize(
    ("of", "verdict", "percent"),
    [
        (
            rounds(90, 80, propagation=60, device=40),
            "round trips for the receiver's window ({})",
            90,
        ),
        (
            rounds(90, 30, propagation=60, device=40),
            "round trips for the congestion window ({})",
            90,
        ),
        (rounds(40, 40, propagation=70, device=30), "{}", 70),
        (rounds(90, 0, timeout=70, propagation=30), "until a retransmission timeout", 70),
        (rounds(90, 0, timeout=40, propagation=35, delayed_ack=25), "mixed", None),
        (rounds(0, 0, timeout=40, probe=30, propagation=30), "repairs of dropped frames", 70),
        (
            rounds(0, 0, virtual_switch=50, virtual_switch_wait=40, propagation=10),
            "the virtual switch",
            90,
        ),
    ],
)
def test_a_window_is_the_cause_where_its_round_trips_are_those_of_the_path(
    of: Transaction, verdict: str, percent: int | None, tmp_path: Path
) -> None:
    found = path_limits(explained(tmp_path, [of], is_live=False), ["orders"])
    assert found
    assert found.limited_by == verdict.format("propagation and switch latency")
    assert found.limited_percent == (None if percent is None else pytest.approx(percent))


def test_a_repair_says_where_and_by_what_most_of_the_frames_were_dropped(tmp_path: Path) -> None:
    losses = [
        Loss("leaf>client", 1, "policed"),
        Loss("leaf>client", 2, "policed"),
        Loss("leaf>db", 3, "line"),
    ]
    of = [Transaction(0, 0, 10 * MS, {"timeout": 10 * MS}, 0, 0, losses=[loss]) for loss in losses]
    told = explained(tmp_path, of, is_live=False)
    assert (
        verdict_of(told.bands)
        == "until a retransmission timeout after drops before leaf>client (policed)"
    )


def test_interfaces_and_pauses_have_a_place(tmp_path: Path) -> None:
    waits = Transaction(
        *(0, 0, 10 * MS, {"interface_queue": 10 * MS}, 0, 0),
        interfaces={"db": 10 * MS},
        interfaces_behind={"backup": 9 * MS},
    )
    told = explained(tmp_path, [waits], is_live=False)
    assert verdict_of(told.bands) == "queue of db's interface behind backup"
    stands = Transaction(
        0, 0, 10 * MS, {"paused": 10 * MS}, 0, 0, pauses={"leaf>db class 3": 10 * MS}
    )
    assert (
        verdict_of(explained(tmp_path, [stands], is_live=False).bands)
        == "pauses of leaf>db class 3"
    )


def test_of_a_live_run_the_culprit_is_that_of_the_slowest(tmp_path: Path) -> None:
    told = explained(
        tmp_path, [*[waited(8, 2)] * 30, replace(waited(9, 1), behind={"backup": 9 * MS})]
    )
    assert verdict_of(told.bands) == "queue of leaf>client behind backup"


def test_the_culprit_is_named_and_own_frames_are_told_as_such(tmp_path: Path) -> None:
    one = replace(waited(9, 1), behind={"backup": 8 * MS, "orders": MS})
    told = explained(tmp_path, [one] * 20, is_live=False)
    assert verdict_of(told.bands, ["orders"]) == "queue of leaf>client behind backup"
    assert verdict_of(told.bands, ["backup"]) == "queue of leaf>client behind its own frames"


def test_a_culprit_of_a_small_part_of_the_wait_is_not_named(tmp_path: Path) -> None:
    parts = {"switch_queue": 9 * MS, "propagation": MS}
    one = Transaction(
        0, 0, 10 * MS, parts, 0, 0, 0, {"leaf>client": 9 * MS}, behind={"backup": 3 * MS}
    )
    told = explained(tmp_path, [one] * 20, is_live=False)
    assert verdict_of(told.bands) == "queue of leaf>client", (
        "the bounded record has forgotten the others"
    )
