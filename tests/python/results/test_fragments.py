"""Counters of fragments stand in the text, and losses of datagrams in fragments are shares of
frames."""

from typing import Any

import pytest

import whole
from parts import part
from tailrace.results.metrics.definitions import metric_of_members
from tailrace.results.ports.outcome import summarise_hosts
from tailrace.results.summary.summary import ArmSummary, Summary
from tailrace.results.text.fragments import COUNTERS, ROWS_MAX, fragment_rows, fragments_text


def host(name: str, **counted: int) -> dict[str, Any]:
    return {"name": name} | ({"ip": counted} if counted else {})


def hosts_of(told: Summary) -> list[tuple[str, Any]]:
    return [(arm, own.hosts) for arm, own in told.arms.items()]


def summary(*trials: list[dict[str, Any]]) -> Summary:
    told = [whole.trial(hosts=hosts, end_ps=10**12) for hosts in trials]
    return part(Summary, arms={"base": part(ArmSummary, hosts=summarise_hosts(told))})


def test_hosts_with_fragments_are_told_those_with_most_failures_first() -> None:
    sender = host("a", FragOKs=3, FragCreates=18)
    receiver = host(
        "b", ReasmReqds=17, ReasmOKs=2, ReasmFails=1, reassembly_memory_max_bytes=11_720
    )
    lines = [
        line.split() for line in fragments_text(summary([sender, receiver, host("c")])).splitlines()
    ]
    assert lines[0] == ["fragments", "arm", *COUNTERS, "memory"]
    assert lines[1] == ["b", "base", "0", "0", "0", "17.00", "2.000", "1.000", "0", "11.7", "kB"]
    assert lines[2][:6] == ["a", "base", "3.000", "0", "18.00", "0"]
    assert lines[3][:2] == ["Per", "trial:"]


def test_they_are_means_over_all_trials_also_over_those_without_fragments() -> None:
    [row] = fragment_rows(hosts_of(summary([host("a", FragOKs=3)], [host("a")])))
    assert row.counted.FragOKs == 1.5


def test_without_fragments_nothing_is_told_and_a_long_table_is_cut() -> None:
    assert fragments_text(summary([host("a"), host("b")])) == ""
    many = fragments_text(summary([host(f"h{n}", FragOKs=1) for n in range(ROWS_MAX + 3)]))
    assert "3 more rows are in result.json" in many
    assert (
        len(fragment_rows(hosts_of(summary([host("a", FragOKs=1), host("b", FragOKs=1)])), 1)) == 1
    )


def port(node: str, sent: int, dropped: int) -> dict[str, Any]:
    row = {"queue": "all", "workloads": ["d"], "sent_frames": sent, "dropped_frames": dropped}
    drops = {"tail-drop": {"frames": dropped, "bytes": 1500 * dropped}} if dropped else {}
    return {"node": node, "queues": [{"drops": drops}], "traffic": [row]}


@pytest.mark.parametrize(
    ("has_fragments", "expected"), [(True, 100 * 2_000 / 6_000), (False, 100 * 2_000 / 2_041)]
)
def test_a_loss_of_fragments_is_a_share_of_frames_not_of_datagrams(
    has_fragments: bool, expected: float
) -> None:
    # 1000 datagrams in six fragments, of which 41 arrive whole; the second switch loses what the
    # first lets through.
    ports = [port("leaf", 6_000, 0), port("spine", 4_000, 2_000)]
    outcome = {"name": "d", "kind": "datagrams", "latency": {"count": 41}}
    hosts = [host("a", FragOKs=1_000) if has_fragments else host("a")]
    switches = [
        {"losses": []},
        {
            "losses": [
                {"workloads": ["d"], "frames": 2_000, "policed_frames": 0, "too_long_frames": 0}
            ]
        },
    ]
    told = whole.trial(hosts=hosts, switches=switches, ports=ports, workloads=[outcome])
    assert metric_of_members(told, ["d"], "loss_percent") == pytest.approx(expected)
