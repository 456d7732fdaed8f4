"""The costs of each workload's requests: processor time and context switches of their programs, by
host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from tailrace.live.lab.program import Program
from tailrace.live.measure.threads import Spent
from tailrace.live.measure.waits import LAB, Watch
from tailrace.outcome import types
from tailrace.outcome.types import SwitchTimes
from tailrace.programs.command import Ended
from tailrace.results.compare.fidelity import TAP


@dataclass(frozen=True)
class Counted:
    """The kernel's counts for the programs of a lab in the measured interval."""

    spent: Mapping[int, Spent]
    """By the number of the program: sums over its sampled threads."""
    before: Mapping[int, Spent]
    """The same before the interval."""
    ended: Mapping[int, Ended]
    """Programs that have ended within the interval: their exit status has the totals, because the
    last figures of their threads were not sampled."""
    daemons: Mapping[int, str]
    """Programs of a foreign switch."""

    @classmethod
    def at_end(cls, watch: Watch, programs: Sequence[Program]) -> "Counted":
        """At the end of the interval, before anything is stopped."""
        ended = {program.pid: program.ended for program in programs if program.ended is not None}
        return cls(watch.spent(), watch.before(), ended, watch.daemons())

    def of(self, pid: int) -> Spent:
        """Sums over one program and its descendants."""
        if (end := self.ended.get(pid)) is not None:
            whole = Spent(
                end.user_s, end.system_s, end.voluntary_switches, end.involuntary_switches
            )
            return whole - self.before.get(pid, Spent())
        return self.spent.get(pid, Spent())

    def switch(self, kind: str) -> SwitchTimes | None:
        """The program that switches frames on a fabric of this kind; None for the bridge, which is
        in the kernel."""
        pids = [LAB] if kind == TAP else list(self.daemons)
        if not pids:
            return None
        total = sum((self.of(pid) for pid in pids), Spent()).times
        return SwitchTimes(
            program=next(iter(self.daemons.values()), "tailrace-fabric"), **structs.asdict(total)
        )


@dataclass(frozen=True)
class Share:
    """A program of which a workload is charged a part."""

    program: Program
    workload: str
    share: float = 1.0
    """Share of a server that several workloads use: their parts of all its users."""


def by_host(counted: Counted, shares: Sequence[Share]) -> dict[str, list[types.Program]]:
    """Rows of workloads by host."""
    sums: dict[str, dict[str, Spent]] = {}
    for each in shares:
        rows = sums.setdefault(each.program.command.host or "", {})
        rows[each.workload] = rows.get(each.workload, Spent()) + counted.of(each.program.pid).part(
            each.share
        )
    return {
        host: [types.Program(name=name, **structs.asdict(own.times)) for name, own in rows.items()]
        for host, rows in sums.items()
    }
