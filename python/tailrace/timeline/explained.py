"""A live trial, explained by its fabric: the frames of each workload, and its transactions divided
into parts.

The ingress log is replayed once or a few times for the frames of each workload, and once more for
the slowest transactions with all frames, to find the frames behind which theirs waited.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.live.lab.fabric import FabricError
from tailrace.results import Run
from tailrace.results.causes.causes import Transaction
from tailrace.results.causes.counted import counted_from_ps
from tailrace.results.causes.grouped import grouped
from tailrace.results.causes.record import has_record, write_record
from tailrace.results.causes.sentence import slowest_of
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.subjects import Subject, subjects_of
from tailrace.scenario.workloads.planned import planned_workloads
from tailrace.timeline.attribution import connections_by_user, taken_apart, with_behind
from tailrace.timeline.chosen import Chosen
from tailrace.timeline.crossings import (
    AtQueue,
    Connection,
    Paths,
    at_queues,
    connections_of,
    merged_queues,
)
from tailrace.timeline.live import LiveTrial, NotMeasuredError, live_log, read_live, read_replay
from tailrace.timeline.log import NONE_64, Log, Socket
from tailrace.timeline.queues import behind

CLOCKS_APART_US_MAX = 100
"""Trials of earlier versions do not record the start of the fabric by the clock of the programs."""
PS_PER_US = 10**6
REPLAYS_MAX = 8
"""For the frames of one workload. A replay keeps 2^18 rows."""
OVERLAP_PS = 200 * 10**9
"""Frames that are in the fabric at the end of one replay's rows are whole in the next."""
BEHIND_MAX = 20
"""Transactions for which the frames in front of theirs are determined."""
SLOWEST_KEPT = 10
"""Of a record."""


@dataclass(frozen=True)
class OfWorkload:
    """The fabric's observations of one workload in a trial."""

    queues: Mapping[str, AtQueue]
    """By port and class."""
    transactions: list[Transaction]
    """Taken apart; those whose connection is known."""
    slowest: list[Transaction]
    """Of these, from the slowest; with the workloads behind whose frames theirs waited."""
    unknown: int
    """Transactions whose connection is not known."""
    unseen: int
    """Transactions after the replayed part of the log."""


@dataclass(frozen=True)
class LiveExplanation:
    """One explained trial."""

    trial: Trial
    is_same: bool
    """Whether the replay was the same as the trial."""
    workloads: dict[str, OfWorkload]
    """By workload and group, a group before its members."""


def explain_live(run: Run, trial: Trial, wanted: Sequence[str], slowest: int) -> LiveExplanation:
    """Explains the workloads of a trial that have logged transactions; raises `RunRefusedError`
    where none has."""
    live = read_live(run, trial, None)
    assert trial.outcome.live is not None, "it has an ingress log"
    within_us = trial.outcome.live.begun_within_us
    if within_us > CLOCKS_APART_US_MAX:
        raise NotMeasuredError(
            f"{run.path}: trial {trial.number} of '{trial.arm}' does not tell when the fabric "
            "began by the clock of"
            " the programs (hint: run it again; earlier versions did not record it)"
        )
    subjects = [
        one
        for one in subjects_of(run)
        if (not wanted or one.name in wanted) and _has_any(one, live.of)
    ]
    if not subjects:
        raise NotMeasuredError(
            f"{run.path}: {', '.join(wanted)} logged no transactions (hint: {', '.join(live.of)})"
        )
    members = {name for subject in subjects for name in subject.members}
    names = [name for name in live.of if name in members]
    ports: Mapping[str, Sequence[int]] = trial.outcome.live.client_ports
    found, is_same = {}, True
    for name in names:
        connections, until_ps, same = _connections(live, name)
        begin_ps = counted_from_ps(trial.outcome, name)
        counted = [one for one in live.of[name] if one.end_ps > begin_ps]
        own = ports.get(name, ())
        connections = [one for one in connections if not own or one.client[1] in own]
        found[name] = _explained(
            live, name, counted, connections, own, until_ps, slowest, within_us * PS_PER_US
        )
        is_same = is_same and same
    return LiveExplanation(
        trial, is_same, {one.name: _of_subject(one, found, slowest) for one in subjects}
    )


def keep_live(found: LiveExplanation, say: Callable[[str], None]) -> bool:
    """Writes the record of a trial whose replay was the same; returns whether there is one."""
    if not found.is_same:
        say(
            f"warning: the replay of {found.trial.arm}/{found.trial.number} had other events, and "
            "the explanation is not kept (hint: `tailrace lab replay` tells)"
        )
        return False
    known = {name: of.transactions for name, of in found.workloads.items() if of.transactions}
    if known:
        write_record(
            found.trial, known, {}, {name: found.workloads[name].slowest for name in known}
        )
    return bool(known)


def explain_live_finished(path: Path, say: Callable[[str], None]) -> None:
    """Explains the first trial with a log of every arm of a live run that has ended, where none has
    a record.

    Where the explanation is impossible, only counters are reported; a failed replay is a warning.
    """
    run = Run.read(path)
    for trials in (run.with_outcome(arm) for arm in run.arms):
        if any(has_record(trial) for trial in trials):
            continue
        for trial in trials:
            try:
                keep_live(explain_live(run, trial, [], SLOWEST_KEPT), say)
                break
            except NotMeasuredError:
                continue
            except RunRefusedError as error:
                say(f"warning: {error}")
                return


def _has_any(subject: Subject, of: Mapping[str, object]) -> bool:
    return any(name in of for name in subject.members)


def _of_subject(subject: Subject, found: Mapping[str, OfWorkload], slowest: int) -> OfWorkload:
    """A workload, or the members of a group together."""
    if not subject.is_group:
        return found[subject.name]
    members = {name: found[name] for name in subject.members if name in found}
    return OfWorkload(
        merged_queues([one.queues for one in members.values()]),
        grouped(list(members), {name: one.transactions for name, one in members.items()}),
        slowest_of(
            grouped(list(members), {name: one.slowest for name, one in members.items()}), slowest
        ),
        sum(one.unknown for one in members.values()),
        sum(one.unseen for one in members.values()),
    )


def seen_connections(run: Run, trial: Trial, workload: str) -> list[Connection]:
    """The connections between the hosts of a workload, in the replayed part of the log."""
    return _connections(read_live(run, trial, workload), workload)[0]


def _explained(
    live: LiveTrial,
    name: str,
    counted: Sequence[Transaction],
    connections: Sequence[Connection],
    ports: Sequence[int],
    until_ps: int | None,
    slowest: int,
    apart_ps: int,
) -> OfWorkload:
    seen = [one for one in counted if until_ps is None or one.end_ps < until_ps]
    of_user = connections_by_user(seen, connections, ports)
    known = [one for one in seen if one.user in of_user]
    whole = [taken_apart(one, of_user[one.user], apart_ps)[0] for one in known]
    chosen = slowest_of(whole, max(slowest, BEHIND_MAX))
    waits = [(one, taken_apart(one, of_user[one.user], apart_ps)[1]) for one in chosen[:BEHIND_MAX]]
    waited = {
        id(one): with_behind(one, of)
        for (one, _), of in zip(waits, _behind(live, name, waits), strict=True)
    }
    whole_with_waits = [waited.get(id(one), one) for one in whole]
    return OfWorkload(
        at_queues(connections),
        whole_with_waits,
        [waited.get(id(one), one) for one in chosen[:slowest]],
        len(seen) - len(known),
        len(counted) - len(seen),
    )


def _behind(
    live: LiveTrial, name: str, of: Sequence[tuple[Transaction, Sequence[Any]]]
) -> list[dict[str, int]]:
    """For each transaction, for how long frames of each workload were sent while its own waited."""
    if not any(one.queues for one, _ in of):
        return [{} for _ in of]
    log, _ = live_log(live, [Chosen(name, index, one) for index, (one, _) in enumerate(of)])
    found = []
    for _, waits in of:
        total: Counter[str] = Counter()
        for wait in waits:
            if log.whole_until_ps is None or wait.to_ps < log.whole_until_ps:
                total.update(behind(log.hops.get(wait.wire, ()), wait.from_ps, wait.to_ps))
        found.append(dict(total))
    return found


def _connections(live: LiveTrial, name: str) -> tuple[list[Connection], int | None, bool]:
    """The connections of a workload, until when they are whole (None: all), and whether the replay
    was the same."""
    [own] = [one for one in planned_workloads(live.plan) if one.name == name]
    pairs = [
        f"{one},{other}" for one in own.ends.openers for other in own.ends.peers if one != other
    ]
    end_ps = max(one.end_ps for one in live.of[name]) + 1
    from_ps, logs, is_same = 0, [], True
    for _ in range(REPLAYS_MAX):
        log, same = _replayed(live, name, pairs, (from_ps, end_ps))
        logs.append(log)
        is_same = is_same and same
        if log.whole_until_ps is None or log.whole_until_ps - OVERLAP_PS <= from_ps:
            break
        from_ps = log.whole_until_ps - OVERLAP_PS
    whole = merged_logs(logs)
    return connections_of(whole, Paths(live.plan)), logs[-1].whole_until_ps, is_same


def _replayed(
    live: LiveTrial, name: str, pairs: Sequence[str], window_ps: tuple[int, int]
) -> tuple[Log, bool]:
    words = [word for pair in pairs for word in ("--between", pair)]
    window = f"{window_ps[0]}-{window_ps[1]}"
    try:
        answer = live.log.ask("--window", window, *words)
    except FabricError as error:
        raise RunRefusedError(f"the trial cannot be replayed: {error}") from None
    return read_replay(answer["timeline"], live.plan, [window_ps], {name}), answer.get(
        "digest"
    ) == live.digest


def merged_logs(logs: Sequence[Log]) -> Log:
    """One log of several windows that overlap: each frame from the last that has it whole."""
    if len(logs) == 1:
        return logs[0]
    first = logs[0]
    numbers: dict[tuple[Any, ...], int] = {}
    sockets: list[Socket] = []
    merged = replace(
        first,
        sockets=sockets,
        frames={},
        hops={},
        drops={},
        pauses={},
        windows_ps=[],
        whole_until_ps=None,
    )
    for index, log in enumerate(logs):
        renumbered = []
        for one, other in zip(log.sockets[::2], log.sockets[1::2], strict=True):
            if (one, other) not in numbers:
                numbers[one, other] = len(sockets)
                sockets += [one, other]
            renumbered += [numbers[one, other], numbers[one, other] + 1]
        until_ps = log.whole_until_ps or NONE_64
        begin_ps = log.windows_ps[0][0] + (OVERLAP_PS // 2 if index else 0)
        until_ps = until_ps - OVERLAP_PS // 2 if index + 1 < len(logs) else until_ps
        taken = {
            number: frame._replace(sender=renumbered[frame.sender])
            for number, frame in log.frames.items()
            if begin_ps <= frame.handed_ps < until_ps
        }
        merged.frames.update(taken)
        for wire, hops in log.hops.items():
            merged.hops.setdefault(wire, []).extend(hop for hop in hops if hop.frame in taken)
        for wire, drops in log.drops.items():
            merged.drops.setdefault(wire, []).extend(drop for drop in drops if drop.frame in taken)
        for wire, pauses in log.pauses.items():
            kept = merged.pauses.setdefault(wire, [])
            kept += [pause for pause in pauses if pause not in kept[-8:]]
        merged.windows_ps.extend(log.windows_ps)
    return merged
