"""Verdicts of live runs whose transactions the fabric has measured."""

from dataclasses import replace
from pathlib import Path

import pytest

import whole
from summaries import summary_of
from tailrace.results.causes.causes import Transaction
from tailrace.results.causes.record import read_record, write_record
from tailrace.results.causes.verdict import fabric_verdict
from tailrace.results.summary.causes import Explained
from tailrace.results.summary.workload import WorkloadSummary
from tailrace.results.text.limiting_text import limiting_sentence, limiting_text, verdict_words
from tailrace.results.workload import summarise_workload

MS = 10**9


def waited(queue_ms: int, outside_ms: int, after_drop_ms: int = 0) -> Transaction:
    parts = {"switch_queue": queue_ms * MS, "outside": outside_ms * MS, "outside_after_drop": after_drop_ms * MS}
    kept = {part: time for part, time in parts.items() if time}
    queues = {"leaf>client": queue_ms * MS} if queue_ms else {}
    return Transaction(0, 0, sum(parts.values()), kept, 0, 0, 0, queues)


def explained(folder: Path, of: list[Transaction], *, is_live: bool = True) -> Explained:
    """A record that was written and read."""
    trial = replace(whole.trial(digest="aa"), stem=folder / "1")
    write_record(trial, {"orders": of}, {}, {"orders": of[:1]} if is_live else None)
    return read_record(trial)["orders"]


def summary(folder: Path, of: list[Transaction], *, is_live: bool = True) -> WorkloadSummary:
    """A workload of an arm in which every connection was limited by the application, with its record."""
    causes = explained(folder, of, is_live=is_live)
    own = {"name": "orders", "kind": "oltp", "goodput_bytes": 1000, "limits": {"open_ps": 1000}}
    trial = whole.trial(end_ps=16_000_000, workloads=[own])
    found = summarise_workload("orders", [trial], scale=1.0, explained=causes)
    assert found is not None
    return found


def test_the_fabric_decides_in_the_result_too_and_the_kernel_stands_beside_it(tmp_path: Path) -> None:
    found = summary(tmp_path, [waited(9, 1)] * 40)
    limits, kernel = found.limits, found.kernel_limits
    assert limits
    assert kernel
    assert (limits.limited_by, limits.measured_by, limits.trial) == ("queue of leaf>client", "fabric", 1)
    assert {name: share.mean for name, share in limits.shares_percent.items()} == {
        "switch_queue": pytest.approx(90.0),
        "outside": pytest.approx(10.0),
    }
    assert {cause: share.mean for cause, share in kernel.shares_percent.items() if share.mean} == {"application": 100.0}
    assert verdict_words(limits) == "queue of leaf>client", "in the table of TCP"
    assert verdict_words(kernel) == "application"


def test_without_a_fabric_the_limits_are_those_of_the_connections(tmp_path: Path) -> None:
    found = summary(tmp_path, [waited(9, 1)] * 40, is_live=False)
    assert found.limits
    assert (found.limits.limited_by, found.limits.measured_by) == ("application", None)
    assert found.kernel_limits is None


def test_the_queue_of_the_fabric_comes_before_what_the_kernel_calls_the_application(tmp_path: Path) -> None:
    said = limiting_sentence("fifo", "orders", summary(tmp_path, [waited(9, 1)] * 40))
    assert said == (
        "With fifo, orders (0.500 Gbit/s) loses most of its time in the queue of leaf>client: measured by the fabric in"
        " trial 1, its transactions take 10 ms on average, 90 % queues of switches (most at leaf>client), 10 % outside"
        " the fabric (hosts, programs). Its connections, by the kernel's counters: application 100 % of the time."
    )


def test_a_simulated_explanation_leaves_the_verdict_to_the_connections(tmp_path: Path) -> None:
    said = limiting_sentence("fifo", "orders", summary(tmp_path, [waited(9, 1)] * 40, is_live=False))
    assert said is not None
    assert said.startswith("With fifo, orders (0.500 Gbit/s) is limited by the application for 100 % of the time. In")


def test_the_table_has_both_sources(tmp_path: Path) -> None:
    of = summary_of({"fifo": {"orders": summary(tmp_path, [waited(1, 9)] * 40)}}, ["orders"])
    _, fabric, kernel = limiting_text(of).splitlines()
    assert "outside the fabric (hosts, programs)  of transactions, by the fabric: 90 % outside" in fabric
    assert kernel.endswith("application                           of connections, by the kernel: application 100 %")


@pytest.mark.parametrize(
    ("of", "verdict"),
    [
        (waited(60, 40), "queue of leaf>client"),
        (waited(59, 41), "mixed"),
        (waited(30, 0, 70), "outside the fabric, after a drop"),
        (waited(49, 0, 29), "queue of leaf>client"),
    ],
)
def test_a_verdict_is_half_of_the_time_and_clearly_the_largest(of: Transaction, verdict: str, tmp_path: Path) -> None:
    assert fabric_verdict(explained(tmp_path, [of])) == verdict
