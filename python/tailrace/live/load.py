"""A load: the program that makes the traffic of one workload in a live trial, and what it measured."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tailrace.errors import KeyPath
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.needed import Needed
from tailrace.live.lab.program import Program
from tailrace.live.measure.closings import Meant
from tailrace.live.measure.series import Moved, Row
from tailrace.live.service import Raw, Service

PS_PER_S = 10**12
PS_PER_US = 10**6
US_PER_S = 10**6

Refusals = Iterator[tuple[KeyPath, str, str]]
"""Keys below the workload, what cannot be run, hint."""


@dataclass(frozen=True)
class MeasuredInterval:
    """The measured interval: what ended later does not count."""

    begun_wall_us: int
    """Wall clock at which it began."""
    span_s: float
    warm_up_s: float = 0.0
    """What workloads without end do in this time, from the beginning, is not reported."""

    @property
    def counted_from_ps(self) -> int:
        """From when workloads without end count; the end where the interval ended within the warm-up."""
        return round(min(self.warm_up_s, self.span_s) * PS_PER_S)

    @property
    def ended_wall_us(self) -> int:
        """Wall clock at which it ended."""
        return self.begun_wall_us + round(self.span_s * US_PER_S)


@dataclass
class Measured:
    """What one workload did."""

    outcome: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    begun_ps: int | None = None
    """When its first user or connection began to work, from the beginning of the trial."""
    lag_us: float | None = None
    """How late the load began a transaction, on average."""
    cut_off: list[Row] = field(default_factory=list)
    """What was running at the end of the interval; the latency is the wait until then."""


@dataclass(frozen=True)
class Task:
    """What a load has to do."""

    raw: Raw
    """The workload, as it stands in the plan."""
    seed: int
    limit_s: float
    """Length of the trial."""
    service: Service | None = None
    """The server that it asks; None for a load that brings its own."""
    first_port: int = 5201
    """Ports from here on are free for servers of its own."""


class Load(ABC):
    """The load of one workload.

    The order of calls in a trial is `prepare`, `tick` every few milliseconds, `stop`, `connections`, `measured`.
    Methods raise `FabricError` where the program fails.
    """

    load_name: ClassVar[str]
    """What a scenario writes to choose it, unique among the loads of its sort."""
    sort: ClassVar[str]
    """The sort of load that it makes, as a kind of workload asks for it: `tailrace.scenario.programs` lists them."""
    needs: ClassVar[tuple[Needed, ...]]
    """Programs, and the packages that have them."""
    services: ClassVar[tuple[str, ...]] = ()
    """Names of the services that it can ask, the usual one first; none for a load that brings its own server."""
    server_key: ClassVar[str | None] = None
    """Key of the workload with the host of the service."""
    marks_itself: ClassVar[bool] = False
    """Whether the program writes the code point of its packets itself; otherwise control groups do."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.name = str(task.raw["name"])

    @classmethod
    @abstractmethod
    def refusals(cls, workload: Any) -> Refusals:
        """What this program cannot do of a workload of the scenario (an object of its kind's class)."""

    @property
    @abstractmethod
    def ends(self) -> tuple[str, str]:
        """The host that most of the bytes come from, and the one that they go to."""

    @property
    @abstractmethod
    def opens(self) -> tuple[str, str]:
        """The host that opens the connections, and the one that is asked."""

    @property
    @abstractmethod
    def waiting(self) -> int:
        """How many wait for the programs: users, or connections."""

    @abstractmethod
    def exposed(self, send_buffer_bytes: int) -> float:
        """Share of a program's wait for a core that delays those who wait; what socket buffers hide is left out."""

    @property
    @abstractmethod
    def is_finite(self) -> bool:
        """Whether it comes to its end by itself."""

    @property
    def ports(self) -> int:
        """How many ports from `Task.first_port` on its own servers take."""
        return 0

    @abstractmethod
    def prepare(self, lab: Lab) -> None:
        """Does what can be done before the trial begins."""

    @abstractmethod
    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """Starts what is due this long after the beginning."""

    @property
    @abstractmethod
    def programs(self) -> Sequence[Program]:
        """What it has started so far."""

    @property
    @abstractmethod
    def is_done(self) -> bool:
        """Whether it has come to its end."""

    @abstractmethod
    def stop(self, lab: Lab) -> None:
        """Ends what still runs, at the end of the trial; what has begun may be finished."""

    @abstractmethod
    def connections(self, lab: Lab) -> Meant | None:
        """Its TCP connections; None where there are none, or they are not known."""

    @abstractmethod
    def measured(self, interval: MeasuredInterval) -> Measured:
        """What it did in the measured interval, from its logs."""
