"""Counters of arms whose trials end at different times: per second, and per million frames."""

from collections.abc import Iterable, Sequence
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, digits_text
from tailrace.results.ports.outcome import count_drops
from tailrace.scenario.workloads.kinds import facts_of

MILLION = 1_000_000
SAME_END = 1.01
"""Arms whose trials last so many times as long as those of another, or less, end at the same time."""


def summarise_rates(trials: Sequence[Trial]) -> dict[str, Any]:
    """Length of the trials, and counts of dropped, marked and retransmitted frames, per second and per million frames.

    Seconds and frames of all trials stand together below the counts, so that a short trial counts as little as it says.
    A counter that some trial lacks is None.
    """
    seconds = sum(trial.counted_ps for trial in trials) / PS_PER_S
    # Frames are counted from the beginning: after a warm-up they are no measure of what was counted later.
    counts_of_frames = [trial.outcome.get("conservation") if trial.is_counted_whole else None for trial in trials]
    frames = sum(count["sent"] for count in counts_of_frames if count) if all(counts_of_frames) else None
    counts = {
        "drops": _sum(_drops(trial) for trial in trials),
        "marks": _sum(_marks(trial) for trial in trials),
        "retransmits": _sum(_retransmits(trial) for trial in trials),
    }
    return {
        "end_s": seconds / len(trials) if trials else None,
        "frames": frames / len(trials) if frames is not None and trials else None,
        "per_second": {
            key: count / seconds if count is not None and seconds else None for key, count in counts.items()
        },
        "per_million_frames": {
            key: count * MILLION / frames if count is not None and frames else None for key, count in counts.items()
        },
    }


def end_words(arms: dict[str, dict[str, Any]]) -> str:
    """A sentence where the trials of arms end at different times; empty where they do not."""
    ends = {arm: own["rates"]["end_s"] for arm, own in arms.items() if own["rates"]["end_s"]}
    if not ends or max(ends.values()) <= SAME_END * min(ends.values()):
        return ""
    longest, shortest = max(ends, key=ends.__getitem__), min(ends, key=ends.__getitem__)
    return (
        f"Trials end at different times (on average after {digits_text(ends[shortest])} s with {shortest}, "
        f"{digits_text(ends[longest])} s with {longest}): drops, marks and retransmissions are given per second and "
        "per million frames."
    )


def _sum(counts: Iterable[float | None]) -> float | None:
    listed = list(counts)
    known = [count for count in listed if count is not None]
    return sum(known) if len(known) == len(listed) else None


def _drops(trial: Trial) -> float:
    hosts = sum(host["nic_queue_drops"] + host["rx_ring_drops"] for host in trial.outcome.get("hosts", []))
    return count_drops(trial, None, None, None) + float(hosts)


def _marks(trial: Trial) -> float | None:
    marks = [queue.get("marked_frames") for port in trial.ports(None) for queue in port["queues"]]
    return None if None in marks else float(sum(mark for mark in marks if mark is not None))


def _retransmits(trial: Trial) -> float | None:
    counted = [
        workload.get("tcp")
        for workload in trial.outcome.get("workloads", [])
        if facts_of(workload["kind"]).protocol == "tcp"
    ]
    if any(not tcp or "retransmits" not in tcp for tcp in counted):
        return None
    return float(sum(tcp["retransmits"] for tcp in counted if tcp))
