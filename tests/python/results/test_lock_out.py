"""Lock-out: who counts as locked out, of whom, and what is said."""

import pytest

import whole
from parts import part
from scenario_files import ROOT
from tailrace.outcome.types import SourceTraffic
from tailrace.results.directory.run_directory import Trial
from tailrace.results.ports.lock_out import (
    DROPPED_FRAMES_MIN,
    LOST_SHARE_MIN,
    OFFERED_FRAMES_MIN,
    SHARE_RATIO_MIN,
    is_locked_out,
    lock_out_sentences,
    lock_outs_of,
)
from tailrace.results.summary.summary import ArmSummary


def traffic(name: str, sent: int, dropped: int) -> SourceTraffic:
    return SourceTraffic(queue="all", workloads=[name], sent_frames=sent, dropped_frames=dropped)


def row(name: str, sent: int, dropped: int, queue: str = "all") -> dict[str, object]:
    return {"queue": queue, "workloads": [name], "sent_frames": sent, "dropped_frames": dropped}


def trial(number: int, *rows: dict[str, object]) -> Trial:
    port = {"node": "leaf", "towards": "client", "traffic": list(rows)}
    return whole.trial(number=number, ports=[port])


def test_the_limits_of_the_warning_are_documented() -> None:
    told = " ".join((ROOT / "docs" / "limits.md").read_text(encoding="utf-8").split())
    assert f"at least {OFFERED_FRAMES_MIN} frames with data each" in told
    assert (
        f"lost at least {DROPPED_FRAMES_MIN}, {100 * LOST_SHARE_MIN:g} % or more, and ten "
        "times the share" in told
    )
    assert SHARE_RATIO_MIN == 10


BULK = traffic("bulk", 67_000, 300)


def test_a_workload_that_loses_ten_times_the_share_of_another_is_locked_out() -> None:
    assert is_locked_out(traffic("small", 500, 240), BULK)
    assert not is_locked_out(BULK, traffic("small", 500, 240))


def test_nine_times_the_share_is_not_enough() -> None:
    other = traffic("other", 9_900, 100)  # 1 %
    assert not is_locked_out(traffic("small", 9_100, 900), other)  # 9 %
    assert is_locked_out(traffic("small", 9_000, 1_000), other)  # 10 %, the least
    assert SHARE_RATIO_MIN == 10


def test_three_of_ten_are_luck() -> None:
    assert not is_locked_out(traffic("small", 7, 3), BULK)
    assert not is_locked_out(traffic("small", 50, 49), BULK)
    hardly = traffic("bulk", 67_000, 60)
    assert not is_locked_out(traffic("small", 1_000, 29), hardly)
    assert is_locked_out(traffic("small", 1_000, 30), hardly)


def test_beside_it_stands_who_lost_the_least() -> None:
    rows = row("small", 500, 240), row("bulk", 67_000, 300), row("backup", 67_000, 30)
    [found] = lock_outs_of([trial(1, *rows)])
    assert found.others == ["backup"]


def test_the_other_must_have_come_too() -> None:
    small = traffic("small", 500, 500)  # 50 % against at most 1 %
    assert not is_locked_out(small, traffic("bulk", 99, 0))
    assert is_locked_out(small, traffic("bulk", 100, 0))


def test_less_than_one_frame_in_a_hundred_is_no_lock_out() -> None:
    assert LOST_SHARE_MIN == 0.01
    assert not is_locked_out(traffic("small", 9_910, 90), traffic("bulk", 1_000_000, 1))


def test_one_that_loses_nothing_counts_as_one_frame() -> None:
    assert not is_locked_out(traffic("small", 910, 90), traffic("bulk", 100, 0))  # 9 % against 1 %
    assert is_locked_out(traffic("small", 910, 90), traffic("bulk", 1_000, 0))  # 9 % against 0.1 %


def test_only_workloads_of_one_queue_are_compared() -> None:
    losing, winning = row("small", 500, 240), row("bulk", 67_000, 300)
    assert lock_outs_of([trial(1, losing, winning)])
    assert lock_outs_of([trial(1, losing, {**winning, "queue": "express"})]) == []


def test_an_arm_names_its_trials_and_the_worst_of_them() -> None:
    healthy = trial(1, row("small", 2_000, 10), row("bulk", 67_000, 300))
    bad = trial(2, row("small", 600, 200), row("bulk", 67_000, 300))
    worst = trial(3, row("small", 500, 500), row("bulk", 67_000, 600))
    (found,) = lock_outs_of([healthy, bad, worst])
    assert (found.trials, found.port, found.queue) == ([2, 3], "leaf>client", "all")
    assert (found.lost_share, found.others) == (0.5, ["bulk"])
    (sentence,) = lock_out_sentences(
        {"fifo": part(ArmSummary, trials=[1, 2, 3], lock_outs=[found])}
    )
    assert sentence.startswith(
        "Lock-out with fifo (2 of 3 trials): in queue 'all' of leaf>client, 'small' lost up to "
        "50.0 % of the"
    )
    assert all(word in sentence for word in ("Remedies", "`aqm`", "`dpp`")), "what heals it"


def test_each_of_two_that_alternate_is_named() -> None:
    first = trial(1, row("a", 200, 200), row("b", 67_000, 100))
    second = trial(2, row("a", 67_000, 100), row("b", 200, 200))
    assert [found.workloads for found in lock_outs_of([first, second])] == [["a"], ["b"]]


def test_ports_without_records_say_nothing() -> None:
    ports = [
        {"node": "leaf", "towards": "client"},
        {"node": "leaf", "towards": "db", "traffic": None},
    ]
    assert lock_outs_of([whole.trial(ports=ports)]) == []


@pytest.mark.parametrize("arms", [{}, {"fifo": part(ArmSummary, trials=[1])}])
def test_a_run_without_lock_outs_has_no_warning(arms: dict[str, ArmSummary]) -> None:
    assert lock_out_sentences(arms) == []
