"""The explained transactions of one trial (`docs/models/causes.md`), from the tables of the
simulator."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tailrace.results.causes.wires import wire_names
from tailrace.results.summary.causes import LostDatagrams

PARTS = (
    *(
        "wait_to_start",
        "client_work",
        "server_work",
        "worker_wait",
        "core_wait",
        "entry_wait",
        "device",
        "pacing",
        "sender_hold",
        "interface_queue",
    ),
    *(
        "switch_queue",
        "paused",
        "serialisation",
        "propagation",
        "fast_retransmission",
        "reordering_timer",
        "probe",
        "timeout",
        "delayed_ack",
    ),
    *(
        "receive",
        "reassembly",
        "virtual_switch_wait",
        "virtual_switch",
        "vhost_wait",
        "vhost",
        "virtual_core_wait",
    ),
    "unknown",
)
"""Parts of a latency, in the order of `tailrace_sim::Part`. A table with further columns of times
has further parts."""
NOT_PARTS = frozenset({"start_ps", "end_ps", "windowed_ps", "receive_windowed_ps"})
"""Times of a transaction that are no part of its latency."""
SWITCH_QUEUE, INTERFACE_QUEUE, PAUSED = "switch_queue", "interface_queue", "paused"
"""Parts that are queues: of each it is known where it was."""
INSIDE = "a hypervisor"
"""Location of frames inside a hypervisor, which is no end of a link of the plan."""
_PS = "_ps"
OF_SWITCHES = "frames of switches"
"""Whose frames: pauses and messages of spanning trees belong to no workload."""
_NO_WORKLOAD = 2**32 - 1
NO_USER = 2**32 - 1
"""Of flows and other things that arrive by themselves."""

Values = Mapping[str, Sequence[int]]
"""A table: values by column."""
_ByTransaction = dict[int, dict[str, int]]


@dataclass(frozen=True)
class Loss:
    """A frame of the critical path that was dropped."""

    port: str
    """The wire before which it was lost, as `node>neighbour`; drops of the neighbour are losses at
    the wire's end."""
    at_ps: int
    by: str = ""
    """The dropping component: the cause of a switch, or `interface`, `receive_ring`, `hypervisor`,
    `reassembly` or `socket_buffer`."""


@dataclass(frozen=True)
class Transaction:
    """One transaction; all times in picoseconds."""

    user: int
    start_ps: int
    end_ps: int
    parts: dict[str, int]
    """Time by part, without parts that took none; the sum is the latency."""
    windowed_ps: int
    """Of the latency, round trips for which bytes waited for a window."""
    window_rounds: int
    receive_windowed_ps: int = 0
    """Of `windowed_ps`, where it was the window of the receiver."""
    queues: dict[str, int] = field(default_factory=dict)
    """Of `switch_queue`: by port, with the class in all classes but the first."""
    behind: dict[str, int] = field(default_factory=dict)
    """Of `switch_queue`: for how long frames of each workload were sent meanwhile."""
    interfaces: dict[str, int] = field(default_factory=dict)
    """Of `interface_queue`: by host."""
    interfaces_behind: dict[str, int] = field(default_factory=dict)
    """Of `interface_queue`: for how long frames of each workload were sent meanwhile."""
    pauses: dict[str, int] = field(default_factory=dict)
    """Of `paused`: by port, with the class in all classes but the first."""
    losses: list[Loss] = field(default_factory=list)
    workload: str = ""
    """In a group, whose it is."""

    @property
    def latency_ps(self) -> int:
        """From the intended start to the completion."""
        return self.end_ps - self.start_ps


class Causes:
    """The transactions of one trial by workload."""

    def __init__(
        self,
        tables: Mapping[str, Values],
        plan: Mapping[str, Any],
        dropped_by: Sequence[str],
        begin_ps: Mapping[str, int] | None = None,
    ) -> None:
        """`dropped_by` are the names of dropping components, in the order of the simulator's
        numbers. Transactions that completed by `begin_ps` of their workload are omitted."""
        self._begin_ps = begin_ps or {}
        self._tables = tables
        self._dropped_by = dropped_by
        self._names = [str(workload["header"]["name"]) for workload in plan["workloads"]]
        self._wires = wire_names(plan)

    def names_of(self, wanted: Iterable[str]) -> list[str]:
        """Those of `wanted` that the plan has: a solo arm has one workload."""
        return [name for name in wanted if name in self._names]

    @cached_property
    def by_workload(self) -> dict[str, list[Transaction]]:
        """In the order of completion; raises `ValueError` when parts do not add up to a latency."""
        kept = self._kept
        waits, behind = self._waits(kept), self._behind(kept)
        losses: dict[int, list[Loss]] = defaultdict(list)
        for row, wire, by, at_ps in _rows(
            self._tables["causes_losses"], ("transaction", "wire", "by", "at_ps")
        ):
            if row in kept:
                losses[row].append(Loss(self._wires[wire], at_ps, self._dropped_by[by]))
        found: dict[str, list[Transaction]] = defaultdict(list)
        names = parts_of(self._tables["causes"])
        keys = (
            "workload",
            "user",
            "start_ps",
            "end_ps",
            "windowed_ps",
            "window_rounds",
            "receive_windowed_ps",
            *(f"{part}{_PS}" for part in names),
        )
        for row, (
            workload,
            user,
            start_ps,
            end_ps,
            windowed_ps,
            rounds,
            receive_windowed_ps,
            *times,
        ) in enumerate(_rows(self._tables["causes"], keys)):
            if row not in kept:
                continue
            if sum(times) != end_ps - start_ps:
                raise ValueError(
                    f"transaction {row}: {sum(times)} ps of parts and a latency of "
                    f"{end_ps - start_ps} ps"
                )
            parts = {part: time for part, time in zip(names, times, strict=True) if time}
            one = Transaction(
                *(user, start_ps, end_ps, parts, windowed_ps, rounds, receive_windowed_ps),
                waits[SWITCH_QUEUE].get(row, {}),
                behind[SWITCH_QUEUE].get(row, {}),
                waits[INTERFACE_QUEUE].get(row, {}),
                behind[INTERFACE_QUEUE].get(row, {}),
                waits[PAUSED].get(row, {}),
                losses.get(row, []),
            )
            found[self._workload(workload)].append(one)
        return dict(found)

    @cached_property
    def lost(self) -> dict[str, list[LostDatagrams]]:
        """By workload, datagrams that were lost, in descending order of their number by port.

        A datagram counts where its first frame was lost. Workloads without end count datagrams lost
        after the warm-up.
        """
        found: dict[str, list[LostDatagrams]] = defaultdict(list)
        rows = _rows(self._tables["causes_lost"], ("workload", "wire", "by", "datagrams"))
        for workload, wire, by, datagrams in sorted(rows, key=lambda row: -row[-1]):
            lost = LostDatagrams(
                port=self._wires[wire], by=self._dropped_by[by], datagrams=datagrams
            )
            found[self._workload(workload)].append(lost)
        return dict(found)

    def _workload(self, number: int) -> str:
        return OF_SWITCHES if number == _NO_WORKLOAD else self._names[number]

    @cached_property
    def _kept(self) -> Collection[int]:
        """Rows that are not left out."""
        if not self._begin_ps:
            return range(len(self._tables["causes"]["end_ps"]))
        begin_ps = [self._begin_ps.get(name, -1) for name in self._names]
        ends = enumerate(_rows(self._tables["causes"], ("workload", "end_ps")))
        return {row for row, (own, end_ps) in ends if own == _NO_WORKLOAD or end_ps > begin_ps[own]}

    def _waits(self, kept: Collection[int]) -> dict[str, _ByTransaction]:
        """By part that is a queue, and transaction, where it was."""
        rows = _rows(
            self._tables["causes_queues"], ("transaction", "part", "wire", "class", "time_ps")
        )
        found = _by_part()
        for row, part, wire, number, time_ps in rows:
            if row in kept:
                of_row = found[PARTS[part]][row]
                name = self._location_of(PARTS[part], wire, number)
                of_row[name] = of_row.get(name, 0) + time_ps
        return found

    def _location_of(self, part: str, wire: int, number: int) -> str:
        """The host of an interface, or the port of a switch with its class."""
        name = self._wires[wire] if wire < len(self._wires) else INSIDE
        if part == INTERFACE_QUEUE:
            return name.partition(">")[0]
        return f"{name} class {number}" if number else name

    def _behind(self, kept: Collection[int]) -> dict[str, _ByTransaction]:
        rows = _rows(self._tables["causes_behind"], ("transaction", "part", "workload", "time_ps"))
        found = _by_part()
        for row, part, number, time_ps in rows:
            if row in kept:
                of_row = found[PARTS[part]][row]
                name = self._workload(number)
                of_row[name] = of_row.get(name, 0) + time_ps
        return found


def _by_part() -> dict[str, _ByTransaction]:
    return {part: defaultdict(dict) for part in (SWITCH_QUEUE, INTERFACE_QUEUE, PAUSED)}


def parts_of(columns: Iterable[str]) -> list[str]:
    """The parts of which a table has a column: those of `PARTS` first, in their order."""
    found = [
        name.removesuffix(_PS) for name in columns if name.endswith(_PS) and name not in NOT_PARTS
    ]
    return in_order(found)


def in_order(parts: Iterable[str]) -> list[str]:
    """Parts in the order of `PARTS`, then other parts in the given order."""
    order = {part: index for index, part in enumerate(PARTS)}
    return sorted(dict.fromkeys(parts), key=lambda part: order.get(part, len(PARTS)))


def _rows(table: Values, keys: Iterable[str]) -> Iterable[tuple[int, ...]]:
    return zip(*(table[key] for key in keys), strict=True)
