"""The interface of a load: the program that generates the traffic of one workload in a live trial, and its
measurements.
"""

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
"""Keys below the workload, problem, hint."""


@dataclass(frozen=True)
class MeasuredInterval:
    """The measured interval; transactions that end after it do not count."""

    begun_wall_us: int
    """Start by the wall clock."""
    span_s: float
    warm_up_s: float = 0.0
    """Warm-up: work of endless workloads in this time from the start is not reported."""

    @property
    def counted_from_ps(self) -> int:
        """Start of the measurement of endless workloads; the end, if the interval ended within the warm-up."""
        return round(min(self.warm_up_s, self.span_s) * PS_PER_S)

    @property
    def ended_wall_us(self) -> int:
        """End by the wall clock."""
        return self.begun_wall_us + round(self.span_s * US_PER_S)


@dataclass
class Measured:
    """The measurements of one workload."""

    outcome: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    begun_ps: int | None = None
    """Start of its first user or connection, from the start of the trial."""
    lag_us: float | None = None
    """Mean lateness of the starts of transactions."""
    cut_off: list[Row] = field(default_factory=list)
    """Transactions that were running at the end of the interval; their latency is the time until then."""


@dataclass(frozen=True)
class Task:
    """The task of a load."""

    raw: Raw
    """The workload in the format of the plan."""
    seed: int
    limit_s: float
    """Length of the trial."""
    service: Service | None = None
    """The server that it uses; None for a load with its own server."""
    first_port: int = 5201
    """First port that its own servers may use."""


class Load(ABC):
    """The load of one workload.

    The order of calls in a trial is `prepare`, `tick` every few milliseconds, `stop`, `connections`, `measured`.
    Methods raise `FabricError` where the program fails.
    """

    load_name: ClassVar[str]
    """Its name in scenarios, unique among the loads of its sort."""
    sort: ClassVar[str]
    """The sort of load that it generates, one of those in `tailrace.scenario.programs`."""
    needs: ClassVar[tuple[Needed, ...]]
    """Programs that it needs, with their packages."""
    services: ClassVar[tuple[str, ...]] = ()
    """Names of the services that it can use, the default first; none for a load with its own server."""
    server_key: ClassVar[str | None] = None
    """Key of the workload with the host of the service."""
    marks_itself: ClassVar[bool] = False
    """Whether the program sets the code point of its packets itself; otherwise control groups set it."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.name = str(task.raw["name"])

    @classmethod
    @abstractmethod
    def refusals(cls, workload: Any) -> Refusals:
        """Problems of a workload of the scenario (an object of its kind's class) that this program does not support."""

    @property
    @abstractmethod
    def ends(self) -> tuple[str, str]:
        """The host that sends most of the bytes, and the host that receives them."""

    @property
    @abstractmethod
    def opens(self) -> tuple[str, str]:
        """The host that opens the connections, and the host that accepts them."""

    @property
    @abstractmethod
    def waiting(self) -> int:
        """Number of users, or connections, that wait for the programs."""

    @abstractmethod
    def exposed(self, send_buffer_bytes: int) -> float:
        """Share of a program's wait for a core that delays users; the rest is hidden by socket buffers."""

    @property
    @abstractmethod
    def is_finite(self) -> bool:
        """Whether it ends by itself."""

    @property
    def ports(self) -> int:
        """Number of ports from `Task.first_port` that its own servers use."""
        return 0

    @abstractmethod
    def prepare(self, lab: Lab) -> None:
        """Prepares the load before the trial begins."""

    @abstractmethod
    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """Starts the programs that are due this long after the start of the trial."""

    @property
    @abstractmethod
    def programs(self) -> Sequence[Program]:
        """Programs started so far."""

    @property
    @abstractmethod
    def is_done(self) -> bool:
        """Whether it has ended."""

    @abstractmethod
    def stop(self, lab: Lab) -> None:
        """Stops running programs at the end of the trial; started transactions may finish."""

    @abstractmethod
    def connections(self, lab: Lab) -> Meant | None:
        """Its TCP connections; None if there are none, or they are unknown."""

    @abstractmethod
    def measured(self, interval: MeasuredInterval) -> Measured:
        """The measurements of the interval, from its logs."""
