"""Counters of arms whose trials end at different times: per second, and per million frames."""

from collections.abc import Iterable, Mapping, Sequence

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, digits_text
from tailrace.results.ports.outcome import count_drops, known, queues_of
from tailrace.results.summary.network import Counts, Rates
from tailrace.results.summary.summary import ArmSummary
from tailrace.scenario.workloads.kinds import facts_of

MILLION = 1_000_000
SAME_END = 1.01
"""Arms end at the same time where the durations of their trials differ by at most this factor."""


def summarise_rates(trials: Sequence[Trial]) -> Rates:
    """Length of the trials, and counts of dropped, marked and retransmitted frames, per second and
    per million frames.

    Seconds and frames of all trials stand together below the counts, so that a short trial counts
    as little as it says.
    """
    seconds = sum(trial.counted_ps for trial in trials) / PS_PER_S
    counts = Counts(
        drops=sum(_drops(trial) for trial in trials),
        marks=_sum(_marks(trial) for trial in trials),
        retransmits=_sum(_retransmits(trial) for trial in trials),
    )
    frames = _frames(trials)
    return Rates(
        end_s=seconds / len(trials) if trials else None,
        frames=frames / len(trials) if frames is not None and trials else None,
        per_second=_scaled(counts, 1, seconds),
        per_million_frames=_scaled(counts, MILLION, frames),
    )


def _frames(trials: Sequence[Trial]) -> int | None:
    """Frames that hosts sent in all trials; None where one did not count them.

    Frames are counted from the beginning: after a warm-up they do not describe the counted
    interval.
    """
    counts = [trial.outcome.conservation if trial.is_counted_whole else None for trial in trials]
    known = [count.sent for count in counts if count]
    return sum(known) if len(known) == len(counts) else None


def _scaled(counts: Counts, factor: int, of: float | None) -> Counts:
    def scaled(count: float | None) -> float | None:
        return count * factor / of if count is not None and of else None

    return Counts(
        drops=scaled(counts.drops),
        marks=scaled(counts.marks),
        retransmits=scaled(counts.retransmits),
    )


def end_words(arms: Mapping[str, ArmSummary]) -> str:
    """A sentence where the trials of arms end at different times; empty where they do not."""
    rates: dict[str, Rates] = {arm: own.rates for arm, own in arms.items()}
    ends = {arm: own.end_s for arm, own in rates.items() if own.end_s}
    if not ends or max(ends.values()) <= SAME_END * min(ends.values()):
        return ""
    longest, shortest = max(ends, key=ends.__getitem__), min(ends, key=ends.__getitem__)
    return (
        f"Trials end at different times (on average after {digits_text(ends[shortest])} s with "
        f"{shortest}, {digits_text(ends[longest])} s with {longest}): drops, marks and "
        "retransmissions are given per second and per million frames."
    )


def _sum(counts: Iterable[float | None]) -> float | None:
    """None where one of them is not known."""
    listed = known(list(counts))
    return None if listed is None else sum(listed)


def _drops(trial: Trial) -> float:
    hosts = sum(host.nic_queue_drops + host.rx_ring_drops for host in trial.outcome.hosts)
    return count_drops(trial, None, None, None) + float(hosts)


def _marks(trial: Trial) -> float | None:
    return _sum(queue.marked_frames for queue in queues_of(trial, None, None))


def _retransmits(trial: Trial) -> float | None:
    counted = [own.tcp for own in trial.outcome.workloads if facts_of(own.kind).protocol == "tcp"]
    return _sum(tcp.retransmits if tcp else None for tcp in counted)
