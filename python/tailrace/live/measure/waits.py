"""Time for which the programs of a lab were on a core and waited for one, and their context
switches.

A thread that is ready and waits in a run queue is counted there; time that a hypervisor takes from
a core on which the thread runs is not, and is estimated from the machine's steal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.live.measure.threads import (
    NOTHING,
    NS_PER_S,
    Figures,
    Spent,
    figures_of,
    schedstat,
    text_of,
)
from tailrace.outcome.types import CoreWait

PROC = Path("/proc")
KTHREADD = 2
LAB = 1
"""Number of the lab's first process inside the lab."""
SWITCHES = ("ovs-vswitchd",)
"""How the names of programs begin that switch frames."""
PUT_OFF = "ksoftirqd/"
"""Prefix of the kernel threads, one on each core, that receive frames under load."""
SAMPLE_EVERY_S = 0.5
"""Seconds between samples; waits of a thread after its last sample are not seen."""


@dataclass(frozen=True)
class Waited:
    """Sums over the threads of a program and its descendants."""

    run_s: float = 0.0
    """On a core."""
    wait_s: float = 0.0
    """Ready, and in a run queue."""

    def __add__(self, other: "Waited") -> "Waited":
        return Waited(self.run_s + other.run_s, self.wait_s + other.wait_s)


@dataclass
class Watch:
    """Samples all threads of a lab, and keeps the last figures of threads that have ended."""

    lab_pid: int
    proc: Path = PROC
    background: frozenset[str] = frozenset()
    """Names of threads that no user waits for, as the kernel has them: at most 15 characters."""
    _first: dict[tuple[int, int], Figures] = field(default_factory=dict)
    """By process and thread, as first seen."""
    _last: dict[tuple[int, int], Figures] = field(default_factory=dict)
    _unawaited: set[tuple[int, int]] = field(default_factory=set)
    """Threads with such a name."""
    _program: dict[int, int] = field(default_factory=dict)
    """By process: the program from which it descends, by its number inside the lab."""
    _kernel: dict[str, Path] = field(default_factory=dict)
    """By name, the kernel's threads for received frames that were put off, one on each core."""
    _kernel_first: dict[str, int] = field(default_factory=dict)
    _kernel_last: dict[str, int] = field(default_factory=dict)
    _has_begun: bool = False

    def begin(self) -> None:
        """The measured interval begins: earlier waits do not count."""
        self._first.clear()
        self._last.clear()
        self._has_begun = False
        self._kernel = self._kernel_threads()
        self.sample()
        self._kernel_first = dict(self._kernel_last)
        self._has_begun = True

    def sample(self) -> None:
        """Reads every thread of the lab once."""
        self._threads(self.lab_pid, LAB)
        for pid, inner in self._programs():
            self._tree(pid, inner)
        for name, path in self._kernel.items():
            figures = schedstat(path)
            if figures is not None:
                self._kernel_last[name] = figures[1]

    def waited(self) -> dict[int, Waited]:
        """By the program's number inside the lab, since `begin`; without threads that no user waits
        for."""
        found: dict[int, Waited] = {}
        for key, last in self._last.items():
            if key in self._unawaited:
                continue
            first = self._first.get(key, NOTHING)
            one = Waited(
                (last.run_ns - first.run_ns) / NS_PER_S, (last.wait_ns - first.wait_ns) / NS_PER_S
            )
            program = self._program[key[0]]
            found[program] = found.get(program, Waited()) + one
        found.pop(LAB, None)
        return found

    def spent(self) -> dict[int, Spent]:
        """By the program's number inside the lab, since `begin`; `LAB` is the lab itself, with the
        built-in switch."""
        found: dict[int, Spent] = {}
        for key, last in self._last.items():
            one = last.since(self._first.get(key, NOTHING)).spent
            program = self._program[key[0]]
            found[program] = found.get(program, Spent()) + one
        return found

    def before(self) -> dict[int, Spent]:
        """By the program's number inside the lab, until `begin`."""
        found: dict[int, Spent] = {}
        for key, first in self._first.items():
            program = self._program[key[0]]
            found[program] = found.get(program, Spent()) + first.spent
        return found

    def daemons(self) -> dict[int, str]:
        """The programs of a foreign switch, by their numbers inside the lab: its fabric has started
        them itself."""
        named = {
            inner: text_of(self.proc / str(pid) / "comm").strip() for pid, inner in self._programs()
        }
        return {inner: name for inner, name in named.items() if name.startswith(SWITCHES)}

    def kernel_wait_s(self) -> dict[str, float]:
        """Seconds for which each of the kernel's threads for received frames was ready and waited,
        since `begin`."""
        return {
            name: (wait - self._kernel_first.get(name, 0)) / NS_PER_S
            for name, wait in self._kernel_last.items()
        }

    def _kernel_threads(self) -> dict[str, Path]:
        """They are children of kthreadd, process 2; none where /proc shows a container's processes
        alone."""
        threads = {
            text_of(self.proc / str(pid) / "comm").strip(): pid for pid in self._children(KTHREADD)
        }
        return {
            name: self.proc / str(pid) / "schedstat"
            for name, pid in threads.items()
            if name.startswith(PUT_OFF)
        }

    def _programs(self) -> list[tuple[int, int]]:
        """Programs that the lab has started: their numbers outside and inside."""
        return [(pid, self._inner(pid)) for pid in self._children(self.lab_pid)]

    def _tree(self, pid: int, program: int) -> None:
        self._threads(pid, program)
        for child in self._children(pid):
            self._tree(child, program)

    def _threads(self, pid: int, program: int) -> None:
        self._program[pid] = program
        for task in self._tasks(pid):
            figures = figures_of(task)
            if figures is not None:
                key = (pid, int(task.name))
                self._last[key] = figures
                if self.background and text_of(task / "comm").strip() in self.background:
                    self._unawaited.add(key)
                if not self._has_begun:
                    self._first[key] = figures

    def _tasks(self, pid: int) -> list[Path]:
        try:
            return list((self.proc / str(pid) / "task").iterdir())
        except OSError:  # it has ended
            return []

    def _children(self, pid: int) -> list[int]:
        words = [word for task in self._tasks(pid) for word in text_of(task / "children").split()]
        return [int(word) for word in words]

    def _inner(self, pid: int) -> int:
        """Number of a process in the lab's own namespace, the last of `NSpid` (proc(5))."""
        known = self._program.get(pid)
        if known is not None:
            return known
        lines = text_of(self.proc / str(pid) / "status").splitlines()
        words = next((line.split() for line in lines if line.startswith("NSpid")), [])
        return int(words[-1]) if len(words) > 1 else pid


@dataclass(frozen=True)
class Loss:
    """Time that the users of a workload lost because their programs did not get a core."""

    wait_s: float
    """In run queues, of all its users' and its server's threads."""
    stolen_s: float
    """Taken by the hypervisor while they ran, as a share of the machine's steal."""
    of_s: float
    """Time of all users together."""
    exposed: float
    """Share of a wait that delays a user; data in socket buffers hides the rest."""

    @property
    def share(self) -> float:
        """Lost share of its users' time. Waits of concurrent threads are added, so it is an upper
        bound; no user loses more than all of its time."""
        return (
            min(1.0, (self.wait_s + self.stolen_s) * self.exposed / self.of_s) if self.of_s else 0.0
        )

    @property
    def outcome(self) -> CoreWait:
        """For an outcome."""
        return CoreWait(
            wait_s=self.wait_s,
            stolen_s=self.stolen_s,
            exposed=self.exposed,
            of_s=self.of_s,
            share=self.share,
        )


@dataclass(frozen=True)
class Using:
    """The programs on which the users of a workload wait."""

    workload: str
    waiting: int
    """Users of a server, or connections."""
    exposed: float
    """Share of a program's wait that delays them."""
    programs: Sequence[str]
    """Names of the programs of its load and of its server."""


def losses(
    workloads: Sequence[Using],
    waited: Mapping[str, Waited],
    seconds: Mapping[str, float],
    shares: Mapping[str, float | None],
) -> dict[str, CoreWait]:
    """Losses by workload. `waited` is by program. A server that several workloads use is charged to
    each by its users. `seconds` is the duration of a workload."""
    ratio = _stolen_ratio(shares)
    asked: dict[str, int] = {}
    for each in workloads:
        for program in each.programs:
            asked[program] = asked.get(program, 0) + each.waiting
    found = {}
    for each in workloads:
        parts = [
            (waited.get(program, Waited()), each.waiting / asked[program])
            for program in each.programs
        ]
        wait_s = sum(one.wait_s * share for one, share in parts)
        stolen_s = sum(one.run_s * share for one, share in parts) * ratio
        of_s = each.waiting * seconds[each.workload]
        found[each.workload] = Loss(wait_s, stolen_s, of_s, each.exposed).outcome
    return found


def _stolen_ratio(shares: Mapping[str, float | None]) -> float:
    """Stolen time for each unit of time on a core, over the whole machine."""
    idle, steal = shares.get("idle_share"), shares.get("steal_share")
    if idle is None or steal is None or idle + steal >= 1:
        return 0.0
    return steal / (1 - idle - steal)
