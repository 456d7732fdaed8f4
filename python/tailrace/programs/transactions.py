"""The measurements of transactions, from the logs of their users."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tailrace.errors import KeyPath
from tailrace.outcome.types import Workload
from tailrace.programs.draws import Draw, UnknownDrawError
from tailrace.programs.errors import ProgramError
from tailrace.programs.latency import cut_off_outcome, latency_outcome
from tailrace.programs.measured import PS_PER_US, Measured, MeasuredInterval
from tailrace.programs.series import Moved, Row
from tailrace.programs.work import Transaction, Work
from tailrace.scenario.workloads.oltp import Oltp


def refusals(program: str, workload: Oltp) -> Iterator[tuple[KeyPath, str, str]]:
    """Key, problem and hint: pauses that cannot be computed again from the log of a program."""
    if workload.gap_from == "start":
        yield (
            ("gap_from",),
            f"{program} starts the gap at the end of a transaction",
            "write gap_from: end",
        )
    for key, distribution in (("gap", workload.gap), ("start", workload.first_transaction())):
        try:
            Draw(distribution.raw, 0)
        except UnknownDrawError as error:
            yield (key,), f"{program} cannot draw it: {error}", "use a smaller shape"


def measured(
    work: Work, whole: Sequence[Transaction], lag_us: float | None, interval: MeasuredInterval
) -> Measured:
    """The measurements of an interval, from all transactions of the users of a workload."""
    done = [one for one in whole if one.ended_us <= interval.ended_wall_us]
    raw, begun_wall_us = work.raw, interval.begun_wall_us
    recorded = [one for one in done if one.number > raw["warmup_transactions"]]
    # What a workload with a number to do has done is counted whole: its completion is from its
    # start.
    counted_from_ps = 0 if work.is_finite else interval.counted_from_ps
    warm_us = begun_wall_us + counted_from_ps // PS_PER_US
    counted = [one for one in done if one.ended_us >= warm_us]
    reported = [one for one in recorded if one.ended_us >= warm_us]
    size = sum(work.responses)
    ends = _ends_of(work, done)
    ends_ps = [None if end is None else (end - begun_wall_us) * PS_PER_US for end in ends]
    cut_off = _cut_off(work, whole, interval)
    outcome = Workload(
        name=work.name,
        kind="oltp",
        completion_ps=None if None in ends_ps else max(end for end in ends_ps if end is not None),
        counted_from_ps=counted_from_ps,
        transactions=len(counted),
        goodput_bytes=len(counted) * size,
        latency=latency_outcome(one.latency_us * PS_PER_US for one in reported),
        cut_off=cut_off_outcome([row.latency_ps for row in cut_off]),
        user_completion_ps=ends_ps,
    )
    rows = [_row(one, begun_wall_us) for one in sorted(reported, key=lambda one: one.intended_us)]
    all_rows = [
        _row(one, begun_wall_us) for one in sorted(recorded, key=lambda one: one.intended_us)
    ]
    moved = [Moved(row.start_ps, row.start_ps + row.latency_ps, size) for row in all_rows]
    first = min((one.begun_us for one in done), default=None)
    begun_ps = None if first is None else (first - begun_wall_us) * PS_PER_US
    return Measured(outcome, rows, moved, begun_ps, lag_us, cut_off)


def _cut_off(work: Work, whole: Sequence[Transaction], interval: MeasuredInterval) -> list[Row]:
    """Running transactions at the end, and their times so far: users end after those transactions,
    and log them."""
    ended_us = interval.ended_wall_us
    running = [one for one in whole if one.intended_us <= ended_us < one.ended_us]
    counted = [one for one in running if one.number > work.raw["warmup_transactions"]]
    return [_row(replace(one, ended_us=ended_us), interval.begun_wall_us) for one in counted]


def _ends_of(work: Work, done: Sequence[Transaction]) -> list[int | None]:
    """When each user ended its last transaction; None unless it did all of them."""
    last_us = [0] * int(work.raw["users"])
    counts = [0] * len(last_us)
    for one in done:
        last_us[one.user] = max(last_us[one.user], one.ended_us)
        counts[one.user] += 1
    is_whole = [work.is_finite and count == work.count for count in counts]
    return [last if whole else None for last, whole in zip(last_us, is_whole, strict=True)]


def _row(one: Transaction, begun_wall_us: int) -> Row:
    start_us = max(0, one.intended_us - begun_wall_us)
    return Row(one.user, start_us * PS_PER_US, max(0, one.latency_us) * PS_PER_US)


def log_lines(log_prefix: Path, count: int) -> Iterator[list[str]]:
    """The `count` words of every whole line of a workload's log; every thread has its own file.

    A last line without its end was being written. Raises `ProgramError` for a line with another
    number of words.
    """
    for file in sorted(log_prefix.parent.glob(f"{log_prefix.name}.*")):
        for line in file.read_text(encoding="ascii").splitlines(keepends=True):
            if not line.endswith("\n"):
                continue
            words = line.split()
            if len(words) != count:
                raise ProgramError(
                    f"{file.name}: a line of the log has {len(words)} words, not {count}: "
                    f"{line.strip()}"
                )
            yield words
