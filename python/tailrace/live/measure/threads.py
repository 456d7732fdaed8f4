"""The kernel's counts for a thread (/proc/PID/task/TID): time on a core and waiting for one
(`schedstat`), its part in the kernel (`stat`), context switches (`status`). proc(5) describes the
files."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tailrace.outcome.types import SpentTimes

NS_PER_S = 1e9
PS_PER_S = 10**12


@dataclass(frozen=True)
class Spent:
    """Sums over the threads of a program and its descendants."""

    user_s: float = 0.0
    system_s: float = 0.0
    voluntary_switches: int = 0
    involuntary_switches: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.user_s + other.user_s,
            self.system_s + other.system_s,
            self.voluntary_switches + other.voluntary_switches,
            self.involuntary_switches + other.involuntary_switches,
        )

    def part(self, share: float) -> "Spent":
        """A part of it."""
        switches = (
            round(self.voluntary_switches * share),
            round(self.involuntary_switches * share),
        )
        return Spent(self.user_s * share, self.system_s * share, *switches)

    @property
    def times(self) -> SpentTimes:
        """For an outcome."""
        return SpentTimes(
            user_ps=round(self.user_s * PS_PER_S),
            system_ps=round(self.system_s * PS_PER_S),
            voluntary_switches=self.voluntary_switches,
            involuntary_switches=self.involuntary_switches,
        )

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(
            max(0.0, self.user_s - other.user_s),
            max(0.0, self.system_s - other.system_s),
            max(0, self.voluntary_switches - other.voluntary_switches),
            max(0, self.involuntary_switches - other.involuntary_switches),
        )


class Figures(NamedTuple):
    """The kernel's counts for a thread."""

    run_ns: int = 0
    """On a core."""
    wait_ns: int = 0
    """In a run queue."""
    user_ticks: int = 0
    system_ticks: int = 0
    voluntary: int = 0
    """Switches because it waited for something."""
    involuntary: int = 0
    """Switches because another thread was to run."""

    def since(self, before: "Figures") -> "Figures":
        """The counts since an earlier reading."""
        return Figures._make(now - then for now, then in zip(self, before, strict=True))

    @property
    def spent(self) -> Spent:
        """The exact time on a core, divided into kernel and user time by ticks."""
        ticks = self.user_ticks + self.system_ticks
        run_s = self.run_ns / NS_PER_S
        user_s = run_s * self.user_ticks / ticks if ticks else 0.0
        return Spent(user_s, run_s - user_s, self.voluntary, self.involuntary)


NOTHING = Figures()


def figures_of(task: Path) -> Figures | None:
    """The counts of a thread; None where it has ended."""
    times = schedstat(task / "schedstat")
    if times is None:
        return None
    behind_name = text_of(task / "stat").rpartition(") ")[2].split()
    user, system = (
        map(int, behind_name[11:13]) if len(behind_name) > 12 else (0, 0)
    )  # utime, stime: proc(5)
    return Figures(*times, user, system, *_switches(text_of(task / "status")))


def _switches(status: str) -> tuple[int, int]:
    """Voluntary and involuntary switches, from the text of `status`."""
    found = dict(line.split(":", 1) for line in status.splitlines() if "ctxt_switches:" in line)
    return int(found.get("voluntary_ctxt_switches", 0)), int(
        found.get("nonvoluntary_ctxt_switches", 0)
    )


def schedstat(path: Path) -> tuple[int, int] | None:
    """Nanoseconds on a core and in a run queue; None where the thread has ended."""
    words = text_of(path).split()
    return (int(words[0]), int(words[1])) if len(words) >= 2 else None


def text_of(path: Path) -> str:
    """Of a file below /proc; empty where it is no longer there."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:  # the thread has ended
        return ""
