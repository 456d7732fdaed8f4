"""Figures of blocks from what trials have counted."""

from typing import Any

import pytest

import whole
from tailrace.results.directory.run_directory import Trial
from tailrace.results.kinds import blocks
from tailrace.results.kinds.blocks import block_figure, summarise_blocks

COUNTS = {"received_blocks": 40, "lost_blocks": 2, "failed_blocks": 1, "messages": 10}


def member(name: str, /, **latency: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "blocks",
        "block_counts": COUNTS,
        "transactions": 10,
        "block_latency": latency,
    }


def trial(p50_ps: int = 10**9) -> Trial:
    """Ten transactions between `a` and `b` in 2 s; 50 frames go to these, 70 to another host."""
    figures = ("mean", "p50", "p90", "p95", "p99", "p99_9", "max")
    sent = {"a": [20, 10], "b": [20], "other": [70]}
    ports = [
        {"towards": to, "queues": [{"tx_frames": frames} for frames in of]}
        for to, of in sent.items()
    ]
    own = member("rac", **{f"{key}_ps": p50_ps for key in figures})
    return whole.trial(end_ps=2 * 10**12, workloads=[own], ports=ports)


def test_packets_of_a_transaction_are_those_that_nodes_receive_and_as_many_that_they_send() -> None:
    assert (
        block_figure(trial(), "rac", lambda: ["a", "b"], "packets_per_transaction")
        == 2 * (20 + 10 + 20) / 10
    )
    assert block_figure(trial(), "rac", lambda: ["c"], "packets_per_transaction") is None


def test_processor_time_and_switches_are_divided_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: dict[str, Any] = {"cpu_s": 0.002, "context_switches": 120.0}
    monkeypatch.setattr(blocks, "workload_figure", lambda _, __, figure: spent[figure])
    assert block_figure(trial(), "rac", list, "cpu_us_per_block") == pytest.approx(50)
    assert block_figure(trial(), "rac", list, "switches_per_block") == 3


def test_a_summary_has_the_means_of_all_trials() -> None:
    found = summarise_blocks([trial(10**9), trial(3 * 10**9)], ["rac"])
    assert found is not None
    assert found.latency_ms
    assert (found.latency_ms.p50, found.blocks_per_s, found.lost_blocks) == (2, 20, 2)


def test_blocks_of_a_group_are_those_of_its_members() -> None:
    def counted(name: str, ps: int, count: int) -> dict[str, Any]:
        return member(name, count=count, buckets=[[ps, count]], min_ps=ps, max_ps=ps, mean_ps=ps)

    members = [counted("rac1", 10**9, 60), counted("rac2", 5 * 10**9, 40)]
    found = summarise_blocks([whole.trial(end_ps=2 * 10**12, workloads=members)], ["rac1", "rac2"])
    assert found is not None
    assert found.latency_ms
    assert (found.blocks_per_s, found.lost_blocks) == (40, 4)
    assert (found.latency_ms.p50, found.latency_ms.p99) == (1, 5), "of all blocks together"
