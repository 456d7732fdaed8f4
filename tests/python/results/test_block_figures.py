"""Figures of blocks from what trials have counted."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics import blocks
from tailrace.results.metrics.blocks import block_figure, summarise_blocks

COUNTS = {"received_blocks": 40, "lost_blocks": 2, "failed_blocks": 1, "messages": 10}


def trial(p50_ps: int = 10**9) -> Trial:
    """Ten transactions between `a` and `b`; 50 frames go to these, 70 to another host."""
    figures = ("mean", "p50", "p90", "p95", "p99", "p99_9", "max")
    own = {"block_counts": COUNTS, "transactions": 10, "block_latency": {f"{key}_ps": p50_ps for key in figures}}
    sent = {"a": [20, 10], "b": [20], "other": [70]}
    ports = [{"towards": to, "queues": [{"tx_frames": frames} for frames in of]} for to, of in sent.items()]
    return cast(Trial, SimpleNamespace(workload=lambda _: own, ports=lambda _: ports))


def test_packets_of_a_transaction_are_those_that_nodes_receive_and_as_many_that_they_send() -> None:
    assert block_figure(trial(), "rac", ["a", "b"], "packets_per_transaction") == 2 * (20 + 10 + 20) / 10
    assert block_figure(trial(), "rac", ["c"], "packets_per_transaction") is None


def test_processor_time_and_switches_are_divided_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: dict[str, Any] = {"cpu_s": 0.002, "context_switches": 120.0}
    monkeypatch.setattr(blocks, "workload_figure", lambda _, __, figure: whole[figure])
    assert block_figure(trial(), "rac", ["a"], "cpu_us_per_block") == pytest.approx(50)
    assert block_figure(trial(), "rac", ["a"], "switches_per_block") == 3


def test_a_summary_has_the_means_of_all_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "counted_ps", lambda *_: 2 * 10**12)
    found = summarise_blocks([trial(10**9), trial(3 * 10**9)], ["rac"])
    assert found is not None
    assert (found["latency_ms"]["p50"], found["blocks_per_s"], found["lost_blocks"]) == (2, 20, 2)


def test_blocks_of_a_group_are_those_of_its_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "counted_ps", lambda *_: 2 * 10**12)

    def own(buckets: list[list[int]]) -> dict[str, Any]:
        [[ps, count]] = buckets
        latency = {"count": count, "buckets": buckets, "min_ps": ps, "max_ps": ps, "mean_ps": ps}
        return {"block_counts": COUNTS, "transactions": 10, "block_latency": latency}

    members = {"rac1": own([[10**9, 60]]), "rac2": own([[5 * 10**9, 40]])}
    of = cast(Trial, SimpleNamespace(workload=members.get))
    found = summarise_blocks([of], ["rac1", "rac2"])
    assert found is not None
    assert (found["blocks_per_s"], found["lost_blocks"]) == (40, 4)
    assert (found["latency_ms"]["p50"], found["latency_ms"]["p99"]) == (1, 5), "of all blocks together"
