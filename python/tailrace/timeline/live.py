"""Transactions of a live trial with what the fabric did to frames meanwhile: its ingress log is
replayed.

Two sources are put together. The transactions are those of the programs' own logs, by the wall
clock. What happened to frames is that of the fabric, by its own clock: the frames that entered are
fed to the same switches once more, which is the same to the digest. Both count from the beginning
of the measured interval, which the fabric notes before the lab has its answer: what programs did is
by so much later by the fabric's clock.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.experiment.native import drop_causes
from tailrace.live.lab.fabric import FabricError
from tailrace.live.trial.replay import ReplayLog
from tailrace.results import Run
from tailrace.results.causes.causes import Transaction
from tailrace.results.causes.wires import wire_names
from tailrace.results.directory.run_directory import Trial
from tailrace.results.directory.tables import read_trial_table
from tailrace.results.format.numbers import span_text
from tailrace.timeline.chosen import Chosen
from tailrace.timeline.labels import WAIT_NAMED_PS_MIN, shares
from tailrace.timeline.live_ends import Ends, Sorter
from tailrace.timeline.log import NONE_64, Frame, Log, Socket, Values, read_wires
from tailrace.timeline.queues import behind, waited_from
from tailrace.timeline.simulate import apart

PS_PER_US = 1_000_000


class NotMeasuredError(RunRefusedError):
    """The fabric has no measurements of a trial's transactions: it kept no log, or no program
    logged transactions."""


@dataclass(frozen=True)
class LiveTrial:
    """A trial with an ingress log."""

    plan: dict[str, Any]
    log: ReplayLog
    digest: str
    of: dict[str, list[Transaction]]
    """Transactions by workload, in the order of completion; without workloads that logged none."""
    workloads: list[str]
    """The requested workloads."""
    ends: dict[str, Ends]
    """By workload, where its connections end; without those of which it is not known."""
    apart_ps: int
    """The interval may have begun this much earlier by the fabric's clock than by that of the
    programs."""


def read_live(
    run: Run, trial: Trial, workload: str | None, *, may_be_interval: bool = False
) -> LiveTrial:
    """The trial with its transactions; raises `RunRefusedError` where it has no log, or no
    transactions unless an interval will do.
    """
    outcome = trial.outcome
    named = outcome.fabric.replay_log if outcome.fabric else None
    where = f"{run.path}: trial {trial.number} of '{trial.arm}'"
    if not named:
        raise NotMeasuredError(
            f"{where} has no ingress log, from which frames are traced (hint: `tailrace run "
            "--live --log-ingress`)"
        )
    log = ReplayLog(run, named)
    if not log.is_there:
        raise NotMeasuredError(
            f"{where}: {run.path / named} is missing (hint: run it again with --log-ingress)"
        )
    plan = log.plan()
    names = [str(one["header"]["name"]) for one in plan["workloads"]]
    if names != [own.name for own in outcome.workloads]:
        raise RunRefusedError(
            f"{where}: {run.path / named} is of other workloads (hint: run it again)"
        )
    if workload is not None and workload not in names:
        raise RunRefusedError(
            f"{where} has no workload '{workload}' (hint: workloads: {', '.join(names)})"
        )
    found = {
        name: of for name, of in transactions_of(trial, names).items() if workload in (None, name)
    }
    if not found and not may_be_interval:
        what = "no program logged" if workload is None else f"the program of '{workload}' logged no"
        raise NotMeasuredError(
            f"{where}: {what} operations (hint: `--at TIME` shows 5 ms of frames)"
        )
    assert outcome.live is not None, "it has an ingress log"
    return LiveTrial(
        plan,
        log,
        str(outcome.digest),
        found,
        names if workload is None else [workload],
        {name: Ends.read(plan, of) for name, of in outcome.live.ends.items()},
        outcome.live.begun_within_us * PS_PER_US,
    )


def transactions_of(trial: Trial, names: Sequence[str]) -> dict[str, list[Transaction]]:
    table = read_trial_table(trial, "transactions")
    offsets_ps = trial.outcome.live.offsets_ps if trial.outcome.live else {}
    found: dict[str, list[Transaction]] = defaultdict(list)
    columns = (table.column(key) for key in ("workload", "user", "start_ps", "latency_ps"))
    for number, user, start_ps, latency_ps in zip(*columns, strict=True):
        name = names[int(number)]
        begin_ps = int(start_ps) + offsets_ps.get(name, 0)
        found[name].append(Transaction(int(user), begin_ps, begin_ps + int(latency_ps), {}, 0, 0))
    for of in found.values():
        of.sort(key=lambda one: (one.end_ps, one.user))
    return dict(found)


def live_log(trial: LiveTrial, chosen: Sequence[Chosen]) -> tuple[Log, bool]:
    """The events of frames in the windows of these transactions, and whether the replay had the
    same digest."""
    windows_ps = apart([(one.window_ps[0], one.window_ps[1] + trial.apart_ps) for one in chosen])
    words = [word for from_ps, to_ps in windows_ps for word in ("--window", f"{from_ps}-{to_ps}")]
    try:
        answer = trial.log.ask(*words)
    except FabricError as error:
        raise RunRefusedError(f"the trial cannot be replayed: {error}") from None
    workloads = {one.workload for one in chosen}
    log = read_replay(answer["timeline"], trial.plan, windows_ps, workloads, trial.ends)
    return log, answer.get("digest") == trial.digest


def read_replay(
    timeline: Mapping[str, Any],
    plan: Mapping[str, Any],
    windows_ps: list[tuple[int, int]],
    workloads: set[str],
    ends: Mapping[str, Ends] | None = None,
) -> Log:
    """The log of a replay. The connections are those of these workloads where their ports are
    known, and those between their hosts otherwise.
    """
    wires = wire_names(plan)
    names = [str(workload["header"]["name"]) for workload in plan["workloads"]]
    hosts = [str(host["name"]) for host in plan["hosts"]]
    sorter = Sorter(timeline, names, ends or {})
    tables = {
        f"timeline_{name}": sorter.named(timeline[name]) for name in ("hops", "drops", "marks")
    }
    tables["timeline_pauses"] = timeline["pauses"]
    of_wires = read_wires(tables, wires, sorter.name, drop_causes())
    connections = _Connections(hosts, ends or {})
    frames = {
        one.id: one
        for row in _rows(timeline["frames"], _FRAME)
        if sorter.is_of(row[0], workloads)
        and (one := connections.frame(row, sorter.whose(row[0]))) is not None
    }
    first = timeline["left_out"]["from_ps"][0]
    return Log(
        windows_ps=windows_ps,
        sockets=connections.sockets,
        frames=frames,
        hops=of_wires.hops,
        drops=of_wires.drops,
        marks=of_wires.marks,
        pauses=of_wires.pauses,
        samples={},
        steps={},
        rates_bps={
            name: int(plan["links"][number // 2]["rate_bps"]) for number, name in enumerate(wires)
        },
        left_out=int(timeline["left_out"]["rows"][0]),
        whole_until_ps=None if first == NONE_64 else first,
        is_live=True,
    )


_FRAME = (
    "id",
    "from",
    "to",
    "source_port",
    "destination_port",
    "protocol",
    "bytes",
    "entered_ps",
    "delivered_ps",
)


class _Connections:
    """Both ends of every connection, in the order of their first frames."""

    def __init__(self, hosts: Sequence[str], ends: Mapping[str, Ends]) -> None:
        self._ends = ends
        self.sockets: list[Socket] = []
        self._hosts = hosts
        self._numbers: dict[tuple[tuple[int, int], tuple[int, int], int], int] = {}

    def frame(self, row: Sequence[int], workload: str) -> Frame | None:
        """A frame of a connection; None for one that came before the window."""
        number, from_, to, source, destination, protocol, size, entered_ps, delivered_ps = row
        if entered_ps == NONE_64:
            return None
        ends = (from_, source), (to, destination)
        known = self._ends.get(workload)
        if known is not None:
            server, client = sorted(ends, key=lambda end: (end[0] != known.server, end[1]))
        else:
            # Programs listen on low ports, and systems assign the high ones to clients.
            client, server = sorted(ends, key=lambda end: (-end[1], end[0]))
        key = client, server, protocol
        if key not in self._numbers:
            self._numbers[key] = len(self.sockets)
            self.sockets += [
                Socket(workload, None, self._hosts[host], host, port)
                for host, port in (client, server)
            ]
        sender = self._numbers[key] + (ends[0] == server)
        given_ps = None if delivered_ps == NONE_64 else delivered_ps
        header = dict.fromkeys(_NO_HEADER, 0)
        return Frame(
            number,
            sender,
            entered_ps,
            given_ps,
            None,
            None,
            None,
            **header,
            frame_bytes=size,
            sack=(),
            has_header=False,
        )


_NO_HEADER = (
    *("seq", "ack", "window_bytes", "flags", "ecn", "dscp", "priority", "vlan", "tag_bytes"),
    "payload_bytes",
)
"""Fields of a frame that an ingress log does not keep."""


def chosen_reason(log: Log, one: Chosen) -> str:
    """`3.1 ms from 1.5 s, user 1 (program's log); meanwhile 2 frames of orders were dropped at
    leaf>client`: the fabric's effects on frames of the workload during the transaction."""
    of = one.transaction
    span = f"{span_text(of.latency_ps)} from {span_text(of.start_ps)}"
    text = (
        f"{span} (its program logs no operations)."
        if one.is_interval
        else f"{span}, user {of.user} (the program's log)."
    )
    drops = [
        *_longest_wait(log, of),
        *(
            f"{count} dropped at {wire}"
            for wire, count in sorted(_lost(log, of).items(), key=lambda each: -each[1])
        ),
    ]
    if not drops:
        return f"{text} No frame of its workload waited or was lost meanwhile."
    return f"{text} Of the frames of its workload meanwhile (the fabric's log): {'; '.join(drops)}."


def _longest_wait(log: Log, of: Transaction) -> list[str]:
    waits = [
        (hop.start_ps - waited_from(log, hop), wire, hop)
        for wire, hops in log.hops.items()
        for hop in hops
        if hop.frame in log.frames and of.start_ps <= hop.start_ps <= of.end_ps
    ]
    wait_ps, wire, hop = max(waits, key=lambda each: each[0], default=(0, "", None))
    if hop is None or wait_ps < WAIT_NAMED_PS_MIN:
        return []
    whose = shares(behind(log.hops[wire], hop.start_ps - wait_ps, hop.start_ps))
    return [f"one waited {span_text(wait_ps)} at {wire}" + (f" behind {whose}" if whose else "")]


def _lost(log: Log, of: Transaction) -> dict[str, int]:
    lost = {
        wire: sum(
            drop.frame in log.frames and of.start_ps <= drop.at_ps <= of.end_ps for drop in drops
        )
        for wire, drops in log.drops.items()
    }
    return {wire: count for wire, count in lost.items() if count}


def _rows(table: Values, keys: Sequence[str]) -> Iterator[tuple[int, ...]]:
    return zip(*(table[key] for key in keys), strict=True)
