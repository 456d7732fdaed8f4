"""The interface of a load: the program that generates the traffic of one workload in a live trial,
and its measurements.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tailrace.errors import KeyPath
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.live.measure.closings import Meant
from tailrace.live.service import Raw, Service
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.needed import Needed
from tailrace.scenario.programs import SERVICE_KEY
from tailrace.scenario.workloads import ports

Refusals = Iterator[tuple[KeyPath, str, str]]
"""Keys below the workload, problem, hint."""


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
    first_port: int = ports.STREAM
    """First port that its own servers may use."""


class Load(ABC):
    """The load of one workload.

    The order of calls in a trial is `prepare`, `tick` every few milliseconds, `stop`,
    `connections`, `measured`. Methods raise `FabricError` where the program fails.
    """

    load_name: ClassVar[str]
    """Its name in scenarios, unique among the loads of its sort."""
    sort: ClassVar[str]
    """The sort of generated load, one of those in `tailrace.scenario.programs`."""
    needs: ClassVar[tuple[Needed, ...]]
    """Required programs, with their packages."""
    services: ClassVar[tuple[str, ...]] = ()
    """Names of the services that it supports, the default first; none for a load with its own
    server."""
    background_threads: ClassVar[tuple[str, ...]] = ()
    """Threads of its program that no user waits for, by the kernel's names."""
    marks_itself: ClassVar[bool] = False
    """Whether the program sets the code point of its packets itself; otherwise control groups set
    it."""

    binds_clients: ClassVar[bool] = False
    """Whether its clients have the ports that a workload names; otherwise the kernel chooses
    them."""
    writes_headers: ClassVar[bool] = False
    """Whether it writes the headers of its frames, so that their code point does not change the
    priority of its sockets, and no control group is needed for either.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.name = str(task.raw["name"])

    @classmethod
    def server_of(cls, raw: Any) -> str | None:
        """Host of the service of a workload, in the plan or in the scenario; None for a load with
        its own server."""
        return None

    @classmethod
    def service_of(cls, raw: Any) -> str | None:
        """Name of the service that a workload uses, in the plan or in the scenario; None for a load
        with its own server."""
        named = (
            raw.get(SERVICE_KEY) if isinstance(raw, Mapping) else getattr(raw, SERVICE_KEY, None)
        )
        return str(named) if named else next(iter(cls.services), None)

    @classmethod
    @abstractmethod
    def refusals(cls, workload: Any) -> Refusals:
        """Problems of a workload of the scenario (an object of its kind's class) that this program
        does not support."""

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
        """Share of a program's wait for a core that delays users; the rest is hidden by socket
        buffers."""

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
    def failed(self) -> Sequence[Program]:
        """Programs that have ended otherwise than they should."""
        return [each for each in self.programs if each.ended is not None and not each.ended.is_good]

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

    def warnings(self) -> list[str]:
        """Warnings about the validity of its figures; available after `prepare`."""
        return []

    def report(self) -> str:
        """The program's report at its end, for results; empty where its log contains everything."""
        return ""

    @abstractmethod
    def measured(self, interval: MeasuredInterval) -> Measured:
        """The measurements of the interval, from its logs."""
