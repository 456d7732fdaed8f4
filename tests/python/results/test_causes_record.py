"""The record of an explained trial, and what sentences make of it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

import whole
from parts import part
from summaries import summary_of
from tailrace.results import RunDirectoryError, Trial
from tailrace.results.causes.bands import bands
from tailrace.results.causes.causes import Transaction
from tailrace.results.causes.record import (
    NAMES_MAX,
    OTHERS,
    SLOWEST_MAX,
    first_record,
    path_of,
    read_record,
    write_record,
)
from tailrace.results.causes.sentence import WORDS, time_words
from tailrace.results.causes.tail import tail, tail_share
from tailrace.results.compare.reason import reason
from tailrace.results.summary.base import Sample
from tailrace.results.summary.causes import Band, Explained, LostDatagrams
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.figure import TableSubject
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import LimitSummary, WorkloadSummary
from tailrace.results.text.limiting_text import limiting_sentence
from tailrace.scenario.vocabulary import LIMITS

MS = 10**9


def trial(folder: Path, digest: str = "aa", number: int = 1) -> Trial:
    return replace(whole.trial(number=number, digest=digest), files=whole.files_in(folder, number))


def queued(wait_ps: int, *, port: str = "leaf>h2", work_ps: int = MS) -> Transaction:
    return Transaction(
        *(0, 0, wait_ps + work_ps, {"switch_queue": wait_ps, "server_work": work_ps}, 0, 0, 0),
        {port: wait_ps},
        {"backup": wait_ps},
    )


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    transactions = [queued(number * MS) for number in range(1, 41)]
    lost = [LostDatagrams(port="leaf>h2", by="tail-drop", datagrams=3)]
    write_record(trial(tmp_path), {"orders": transactions, "idle": []}, {"orders": lost})
    found = read_record(trial(tmp_path))
    assert found["orders"].lost == lost
    assert list(found) == ["orders"]
    assert found["orders"].bands == bands(transactions)
    assert (found["orders"].trial, found["orders"].transactions) == (1, 40)
    assert [one.latency_ps // MS for one in found["orders"].slowest] == list(
        range(41, 41 - SLOWEST_MAX, -1)
    )
    assert (
        found["orders"]
        .slowest[0]
        .sentence.startswith("41 ms from 0 s, user 0: 98 % queues of switches")
    )
    assert [file.name for file in (tmp_path / "trials").iterdir()] == ["1.causes.json"], (
        "no part of a file is left"
    )
    write_record(trial(tmp_path), {"orders": [], "idle": []}, {"orders": lost})
    found = read_record(trial(tmp_path))
    assert [(name, one.transactions, one.bands, one.lost) for name, one in found.items()] == [
        ("orders", 0, [], lost)
    ]


def test_a_record_belongs_to_the_trial_with_its_digest(tmp_path: Path) -> None:
    write_record(trial(tmp_path), {"orders": [queued(MS)]}, {})
    assert read_record(trial(tmp_path, digest="bb")) == {}
    assert read_record(trial(tmp_path, number=2)) == {}
    assert list(first_record([trial(tmp_path, number=2), trial(tmp_path)])) == ["orders"]


def test_of_many_ports_the_longest_are_kept_and_the_others_together(tmp_path: Path) -> None:
    ports = {f"leaf>h{number}": number * MS for number in range(1, NAMES_MAX + 3)}
    whole = sum(ports.values())
    write_record(
        trial(tmp_path),
        {"orders": [Transaction(0, 0, whole, {"switch_queue": whole}, 0, 0, 0, ports)]},
        {},
    )
    kept = read_record(trial(tmp_path))["orders"].bands[0].queues
    assert len(kept) == NAMES_MAX + 1
    assert kept[OTHERS] == 3 * MS
    assert sum(kept.values()) == whole


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"format": 2, "digest": "aa"}',
        '{"format": 2, "digest": "aa", "workloads": {"orders": {}}}',
    ],
)
def test_a_broken_record_is_named_with_the_remedy(tmp_path: Path, text: str) -> None:
    path_of(trial(tmp_path)).write_text(text, encoding="utf-8")
    with pytest.raises(
        RunDirectoryError,
        match=r"1\.causes\.json.*remove the file and run `tailrace explain` again",
    ):
        read_record(trial(tmp_path))


def test_a_record_of_another_layout_is_not_read(tmp_path: Path) -> None:
    path_of(trial(tmp_path)).write_text(
        json.dumps({"format": 1, "digest": "aa", "what": 1}), encoding="utf-8"
    )
    assert read_record(trial(tmp_path)) == {}


@pytest.mark.parametrize(
    ("count", "share"), [(19, 0.0), (99, 0.0), (100, 0.9), (999, 0.9), (1000, 0.99)]
)
def test_a_tail_has_ten_transactions_or_is_not_told(count: int, share: float) -> None:
    assert tail_share(count, 5000)[0] == share
    found = tail(bands([queued(number * MS) for number in range(1, count + 1)]), share)
    slowest = [number + 1 for number in range(1, count + 1)][-found.count :]
    assert found.count >= 10
    assert found.latency_ps == pytest.approx(MS * sum(slowest) / found.count)
    assert sum(found.parts.values()) == pytest.approx(found.latency_ps)
    assert found.behind["backup"] == pytest.approx(found.queues["leaf>h2"])


def effect(metric: str, verdict: str, *, is_main: bool = False) -> ArmEffect:
    return part(
        ArmEffect,
        arm="dpp",
        baseline="fifo",
        workload="orders",
        metric=metric,
        verdict=verdict,
        baseline_value=2.0,
        arm_value=1.0 if verdict == "lower" else 3.0,
        p_value=0.01,
        is_main=is_main,
    )


def summary(before: list[Band], after: list[Band], *effects: ArmEffect) -> Summary:
    arms = {arm: {"orders": explained(own)} for arm, own in (("fifo", before), ("dpp", after))}
    return summary_of(arms, ["orders"], comparisons=list(effects))


def explained(own: list[Band]) -> WorkloadSummary:
    return part(WorkloadSummary, causes=part(Explained, trial=1, transactions=1000, bands=own))


def band(latency_ps: int, *, behind: dict[str, float] | None = None, **parts: float) -> list[Band]:
    queues = {"leaf>h2": parts.get("switch_queue", 0.0)}
    culprits = queues if behind is None else behind
    return [
        part(
            Band,
            name="max",
            count=1000,
            latency_ps=latency_ps,
            parts=parts,
            queues=queues,
            behind=culprits,
        )
    ]


def why(of: Summary, metric: str = "completion_s") -> str | None:
    return reason(of, "dpp", "orders", metric)


SLOW = band(12 * MS, switch_queue=11 * MS, server_work=MS, behind={"backup": 10 * MS, "orders": MS})
FAST = band(
    MS + MS // 2, switch_queue=MS // 2, server_work=MS, behind={"backup": 0, "orders": MS // 2}
)
SOONER = effect("completion_s", "lower", is_main=True)


def test_a_reason_names_port_and_culprit_with_their_times() -> None:
    assert why(summary(SLOW, FAST, SOONER)) == (
        "because the wait in the queue of leaf>h2 behind backup falls "
        "from 11 ms to 500 µs on average"
    )


def test_a_reason_names_the_group_of_workloads_of_which_none_makes_half_of_the_wait() -> None:
    behind: dict[str, float] = {"bk1": 5 * MS, "bk2": 5 * MS, "orders": MS}
    of = summary(band(12 * MS, switch_queue=11 * MS, server_work=MS, behind=behind), FAST, SOONER)
    assert "the queue of leaf>h2 falls from 11 ms to 500 µs" in (why(of) or "")
    group = part(TableSubject, name="backups", members=["bk1", "bk2"], is_group=True)
    of = structs.replace(of, subjects=[*of.subjects, group])
    assert "the queue of leaf>h2 behind backups falls from 11 ms to 500 µs" in (why(of) or "")


@pytest.mark.parametrize(("arm", "verdict"), [("fifo", "lower"), ("dpp", "higher")])
def test_frames_that_are_too_long_are_the_reason_although_nothing_is_complete(
    arm: str, verdict: str
) -> None:
    limits = part(LimitSummary, limited_by="mtu")
    for told in ("lower", "higher"):
        of = summary(SLOW, FAST, effect("completion_s", told, is_main=True))
        of.arms[arm].workloads["orders"] = part(WorkloadSummary, limits=limits)
        words = f"because frames longer than an MTU are dropped with {arm}"
        assert why(of) == (words if told == verdict else None)


@pytest.mark.parametrize(("arm", "seconds"), [("fifo", 0.4), ("dpp", 1.25)])
def test_a_reason_of_the_beginning_of_a_trial_says_so(arm: str, seconds: float) -> None:
    of = summary(SLOW, FAST, SOONER)
    own = of.arms[arm].workloads["orders"]
    whole = own.causes
    assert whole
    of.arms[arm].workloads["orders"] = structs.replace(
        own, causes=structs.replace(whole, until_s=seconds)
    )
    told = why(of) or ""
    assert told.endswith(
        f"falls from 11 ms to 500 µs on average (the first {seconds} s of trial 1)"
    )


def test_a_reason_names_the_host_of_an_interface_and_the_port_of_pauses() -> None:
    waits, stands = (
        [
            part(
                Band,
                name="max",
                count=1000,
                latency_ps=12 * MS,
                parts={name: 11 * MS, "server_work": MS},
                **more,
            )
        ]
        for name, more in (
            (
                "interface_queue",
                {"interfaces": {"db": 11 * MS}, "interfaces_behind": {"backup": 11 * MS}},
            ),
            ("paused", {"pauses": {"leaf>h2 class 3": 11 * MS}}),
        )
    )
    told = why(summary(waits, FAST, SOONER)) or ""
    assert "the wait in the queue of db's interface behind backup falls from 11 ms to 0 s" in told
    told = why(summary(stands, FAST, SOONER)) or ""
    assert "the wait for pauses of leaf>h2 class 3 falls from 11 ms to 0 s" in told


def test_a_part_that_explains_most_but_not_all_is_mostly_the_reason() -> None:
    slower = band(20 * MS, switch_queue=11 * MS, timeout=6 * MS, server_work=3 * MS)
    told = why(summary(slower, FAST, SOONER)) or ""
    assert told.startswith("mostly because the wait in the queue of leaf>h2")
    assert "timeout" not in told


@pytest.mark.parametrize(
    "of",
    [
        summary(SLOW, FAST, effect("completion_s", "higher", is_main=True)),
        summary(SLOW, FAST, SOONER, effect("latency_p50_ms", "higher")),
        summary(SLOW, FAST, effect("goodput_gbps", "higher")),
        summary(
            SLOW, band(12 * MS - MS // 2, switch_queue=11 * MS - MS // 2, server_work=MS), SOONER
        ),
        summary(SLOW, FAST),
    ],
    ids=["the other way", "two ways", "another figure", "too small", "no comparison"],
)
def test_an_explained_trial_that_does_not_show_the_change_of_all_is_no_reason(of: Summary) -> None:
    assert why(of) is None


def test_an_arm_without_an_explanation_has_no_reason() -> None:
    for arm in ("fifo", "dpp"):
        without = summary(SLOW, FAST, SOONER)
        without.arms[arm].workloads["orders"] = part(WorkloadSummary)
        assert why(without) is None


def test_a_tail_is_explained_where_the_arm_is_judged_by_it() -> None:
    others = band(MS, server_work=MS)[0]
    quick = part(Band, name="p99", count=980, latency_ps=MS, parts=others.parts)
    slow, fast = ([quick, structs.replace(one, count=20)] for [one] in (SLOW, FAST))
    of = summary(slow, fast, effect("latency_p99_ms", "lower", is_main=True))
    told = why(of, "latency_p99_ms") or ""
    assert told.endswith("falls from 11 ms to 500 µs on average in the slowest 1 % of transactions")


def test_culprits_of_which_the_record_has_only_the_end_are_not_named() -> None:
    unknown = band(12 * MS, switch_queue=11 * MS, server_work=MS, behind={"backup": 5 * MS})
    told = why(summary(unknown, FAST, SOONER))
    assert told
    assert "behind" not in told


@pytest.mark.parametrize("part", WORDS)
def test_every_part_is_the_subject_of_a_sentence(part: str) -> None:
    assert time_words(part).startswith(("the time ", "the wait ", "the work "))


def test_a_verdict_tells_what_the_explained_tail_consists_of() -> None:
    shares = {cause: part(Sample, mean=10.0) for cause in LIMITS}
    limits = part(LimitSummary, limited_by="mixed", shares_percent=shares)
    workload = part(
        WorkloadSummary, kind="oltp", limits=limits, goodput_gbps=part(Sample, mean=1.0)
    )
    plain = limiting_sentence("fifo", "orders", workload)
    assert plain is not None
    told = limiting_sentence(
        "fifo", "orders", structs.replace(workload, causes=explained(SLOW).causes)
    )
    assert told == (
        f"{plain} In trial 1, the slowest 1 % of transactions take 12 ms on average: 92 % queues "
        "of switches (most at leaf>h2; 91 % of that behind backup), 8 % work of the server."
    )
