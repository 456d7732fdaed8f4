"""What limits connections: shares that add up, and a verdict that does not hang on one value."""

import itertools
from typing import Any

import pytest

import whole
from parts import part
from summaries import summary_of
from tailrace.outcome.types import Limits
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics import limiting
from tailrace.results.metrics.limiting import LostShares
from tailrace.results.summary.base import Sample
from tailrace.results.summary.workload import TcpMeans, WorkloadSummary
from tailrace.results.text import limiting_text
from tailrace.scenario.vocabulary import LIMITS


def times(**more: int) -> dict[str, int]:
    return {"open_ps": 1000} | more


def verdict(lost: LostShares | None = None, **more: int) -> str:
    shares = limiting.shares_of(whole.part(Limits, **times(**more)), lost or LostShares())
    assert shares is not None
    assert sum(shares.values()) == pytest.approx(100)
    assert set(shares) == set(LIMITS)
    return limiting.limited_by(shares)


@pytest.mark.parametrize(
    ("found", "lost", "expected"),
    [
        ({}, None, "application"),
        ({"send_buffer_ps": 900}, None, "send_buffer"),
        ({"receive_window_ps": 900}, None, "receive_window"),
        ({"receive_window_ps": 900, "reader_late_ps": 850}, None, "receiver_processor"),
        ({"congestion_ps": 500, "recovery_ps": 400}, None, "congestion"),
        ({"congestion_ps": 500, "recovery_ps": 400}, LostShares(policed=1), "rate_cap"),
        ({"congestion_ps": 500, "recovery_ps": 400}, LostShares(too_long=1), "mtu"),
        ({"congestion_ps": 900, "receive_core_permille": 960}, None, "receiver_processor"),
        ({"send_buffer_ps": 900, "receive_core_permille": 960}, None, "receiver_processor"),
        ({"send_buffer_ps": 900, "ack_core_permille": 960}, None, "sender_processor"),
        ({"congestion_ps": 900, "receive_core_permille": 790}, None, "congestion"),
        ({"pacing_ps": 900}, None, "pacing"),
        ({"interface_ps": 900}, None, "interface"),
        ({"sender_processor_ps": 900}, None, "sender_processor"),
        ({"send_buffer_ps": 900, "queued_ps": 600}, None, "congestion"),
        ({"send_buffer_ps": 900, "queued_ps": 200}, None, "send_buffer"),
        ({"send_buffer_ps": 500, "congestion_ps": 400}, None, "mixed"),
        ({"send_buffer_ps": 450}, None, "mixed"),
    ],
)
def test_each_cause_has_its_verdict(
    found: dict[str, int], lost: LostShares | None, expected: str
) -> None:
    assert verdict(lost, **found) == expected


def test_between_two_causes_there_is_no_value_at_which_one_becomes_the_other() -> None:
    verdicts = [
        verdict(congestion_ps=1000, receive_core_permille=busy) for busy in range(780, 1000)
    ]
    changes = [pair for pair in itertools.pairwise(verdicts) if pair[0] != pair[1]]
    assert changes == [("congestion", "mixed"), ("mixed", "receiver_processor")]


def test_ends_that_send_at_the_same_time_share_the_time() -> None:
    shares = limiting.shares_of(
        whole.part(Limits, **times(congestion_ps=900, interface_ps=900)), LostShares()
    )
    assert shares is not None
    assert (shares["congestion"], shares["interface"], shares["application"]) == (50, 50, 0)


def trial(limits: Any, losses: list[dict[str, Any]], goodput_bytes: int = 0) -> Trial:
    own = {"name": "copy", "kind": "stream", "goodput_bytes": goodput_bytes, "limits": limits}
    return whole.trial(switches=[{"losses": losses}], workloads=[own])


def test_what_policers_dropped_of_a_workload_counts_and_of_others_does_not() -> None:
    losses = [
        {"workloads": ["copy"], "frames": 10, "policed_frames": 10, "too_long_frames": 0},
        {"workloads": ["other"], "frames": 90, "policed_frames": 0, "too_long_frames": 0},
    ]
    own = trial(times(congestion_ps=1000) | {"connections": [times(congestion_ps=1000)]}, losses)
    found = limiting.summarise_limits(["copy"], [own])
    assert found is not None
    assert (found.limited_by, found.connections[0].limited_by) == ("rate_cap", "rate_cap")
    assert limiting.summarise_limits(["copy"], [trial(None, [])]) is None


@pytest.mark.parametrize(("goodput_bytes", "verdict"), [(0, "mtu"), (1, "receive_window")])
def test_a_window_that_is_full_of_frames_that_never_arrive_is_not_the_cause(
    goodput_bytes: int, verdict: str
) -> None:
    losses = [{"workloads": ["copy"], "frames": 10, "policed_frames": 0, "too_long_frames": 9}]
    found = limiting.summarise_limits(
        ["copy"], [trial(times(receive_window_ps=1000), losses, goodput_bytes)]
    )
    assert found is not None
    assert found.limited_by == verdict


def workload(**more: int) -> WorkloadSummary:
    found = limiting.summarise_limits(["copy"], [trial(times(**more), [])])
    counted = part(TcpMeans, segments_sent=1000, retransmits=20, timeouts=3)
    return part(
        WorkloadSummary,
        kind="stream",
        limits=found,
        goodput_gbps=part(Sample, mean=4.5),
        tcp=counted,
    )


def test_a_sentence_has_the_cause_the_rate_and_the_losses() -> None:
    said = limiting_text.limiting_sentence("slow", "copy", workload(receive_window_ps=900))
    assert said == (
        "With slow, copy (4.50 Gbit/s, 2.0 % retransmitted, 3 timeouts) is limited by the "
        "receiver's window for 90 % of the time; also application 10 %."
    )
    mixed = limiting_text.limiting_sentence(
        "slow", "copy", workload(receive_window_ps=500, congestion_ps=400)
    )
    assert mixed is not None
    assert "has no single limit (receiver's window 50 %, congestion window and losses 40 %" in mixed
    assert limiting_text.limiting_sentence("slow", "copy", part(WorkloadSummary)) is None


def test_the_table_has_a_row_for_each_arm() -> None:
    summary = summary_of({"slow": {"copy": workload(interface_ps=990)}}, ["copy"])
    assert (
        limiting_text.limiting_text(summary).splitlines()[1]
        == "copy        slow  99 %  sender's interface"
    )
    assert limiting_text.limiting_text(summary_of({"slow": {}}, ["copy"])) == ""


def test_rows_beyond_the_limit_of_the_table_are_counted() -> None:
    names = [f"copy{number}" for number in range(limiting_text.ROWS_MAX + 53)]
    summary = summary_of({"slow": {name: workload(interface_ps=990) for name in names}}, names)
    assert limiting_text.limiting_text(summary).endswith("\n53 more rows in result.json")
