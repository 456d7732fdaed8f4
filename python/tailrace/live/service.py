"""The interface of a service: a server program of a live trial, such as a database."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.programs.command import Ended
from tailrace.programs.needed import Needed

Raw = Mapping[str, Any]
"""A workload as it stands in the plan."""


class Service(ABC):
    """One server on one host, for all workloads of a trial that use it.

    The order of calls in a trial is `make_template`, `start`, `wait_until_ready`, `verify`, `stop`.
    Methods raise `FabricError` where the program fails.
    """

    service_name: ClassVar[str]
    """Name in the registry, unique among services."""
    needs: ClassVar[tuple[Needed, ...]]
    """Required programs, with their packages."""
    nodes_min: ClassVar[int] = 1
    """Least number of its servers in a trial: those of a cluster depend on each other."""
    nodes_max: ClassVar[int | None] = None
    """Largest number of its servers in a trial; None for any."""

    def __init__(self, host: str, workloads: Sequence[Raw], templates: Path) -> None:
        """`workloads` are those that use it; `templates` is a folder of the run that outlives
        trials."""
        self.host = host
        self.workloads = workloads
        self.templates = templates
        self.port = int(workloads[0]["port"])
        """Where it listens: workloads with other ports are refused."""
        self.together: Sequence[Service] = [self]

    def meet(self, services: "Sequence[Service]") -> None:
        """Receives all services of the trial, itself included, in the order of their start, before
        any other call."""
        self.together = services

    @property
    def configuration(self) -> str:
        """The text of its configuration, for results; empty where the command has all of it."""
        return ""

    @abstractmethod
    def make_template(self) -> None:
        """Creates the initial state of every trial, such as loaded data, unless it exists.

        The lab of the trial is not up yet.
        """

    @abstractmethod
    def start(self, lab: Lab, cpus: float | None) -> None:
        """Restores the template and starts the server with this many cores, or with all (None)."""

    @abstractmethod
    def wait_until_ready(self) -> None:
        """Returns once the server accepts connections; raises `FabricError` when it does not in its
        time."""

    @abstractmethod
    def verify(self, lab: Lab) -> None:
        """Raises `FabricError` unless the server has exactly the data of the template."""

    @property
    @abstractmethod
    def programs(self) -> Sequence[Program]:
        """Programs that it has started in this trial."""

    @abstractmethod
    def stop(self) -> Ended:
        """Stops the server; returns its resource usage. Raises `FabricError` where the server was
        in an invalid state at the end."""

    def report(self) -> str:
        """The server's report at its end, for results; empty where it reports nothing."""
        return ""
