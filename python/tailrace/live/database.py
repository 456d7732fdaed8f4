"""Base class of databases as services: a template is copied into memory for each trial, and
verified there."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.plans import plan_of_one_host
from tailrace.live.lab.program import Program
from tailrace.live.service import Raw, Service
from tailrace.programs.command import Command, Ended
from tailrace.programs.program_runner import Running
from tailrace.programs.templates import Template, Templates, copy_tree, sizes_of


class DatabaseService(Service):
    """A server with tables for the responses of all workloads that use it."""

    protocol: ClassVar[str]
    """Its protocol, by the name of its library."""
    templates_class: ClassVar[type[Templates]]
    stop_signal: ClassVar[str]
    """Ends the server without waiting for clients. Its data vanishes with the trial."""

    def __init__(self, host: str, workloads: Sequence[Raw], templates: Path) -> None:
        super().__init__(host, workloads, templates)
        self.kept = self.templates_class(templates, lambda folder: Lab(plan_of_one_host(), folder))
        """The templates of the run."""
        self._running: Program | None = None

    @abstractmethod
    def prepared(
        self, lab: Lab, addresses: str, users: int, priority: int, cpus: float | None
    ) -> tuple[str, Command]:
        """Makes the folders of a server for this trial; returns the one of its data, still empty,
        and its command."""

    @abstractmethod
    def wait_for(self, running: Running) -> None:
        """Returns once the server accepts connections."""

    @abstractmethod
    def facts(self, lab: Lab, rows: Mapping[int, int]) -> Mapping[str, str]:
        """Facts of every table of this trial's server, from every byte of it."""

    @property
    def template(self) -> Template:
        """The template from which it starts; created if absent."""
        return self.kept.get(sizes_of(self.workloads))

    @property
    def rows(self) -> Mapping[int, int]:
        """Rows of each table by the size of the answers that they make."""
        return self.template.rows

    def make_template(self) -> None:
        """In a lab of its own."""
        _ = self.template

    def start(self, lab: Lab, cpus: float | None) -> None:
        """Restores the data directory into the lab's memory."""
        vlans = sorted({int(raw.get("vlan") or 0) for raw in self.workloads})
        addresses = ",".join(lab.address(self.host, vlan) for vlan in vlans)
        users = sum(raw["users"] for raw in self.workloads)
        # Workloads with a common server have one priority: others are refused.
        priority = self.workloads[-1]["priority"]
        data, command = self.prepared(lab, addresses, users, priority, cpus)
        copy_tree(lab, f"restore-{self.service_name}-{self.host}", f"{self.template.data}/.", data)
        self.compare(lab, data)
        self._running = lab.start(command)

    def compare(self, lab: Lab, data: str) -> None:
        """Raises `FabricError` unless the restored folder is the template; for a database that
        `verify` does not read."""

    def wait_until_ready(self) -> None:
        """It reports that in its log."""
        self.wait_for(self._program)

    def verify(self, lab: Lab) -> None:
        """Reads every row, which also brings all of them into memory."""
        template = self.template
        facts, loaded = dict(self.facts(lab, template.rows)), dict(template.facts)
        if facts != loaded:
            raise FabricError(
                f"the database of {self.host} differs from the loaded one: {facts}, not {loaded}"
            )

    @property
    def programs(self) -> Sequence[Program]:
        """The server."""
        return [self._running] if self._running else []

    def stop(self) -> Ended:
        """At once."""
        return self._program.stop(self.stop_signal)

    @property
    def _program(self) -> Program:
        assert self._running is not None, "it was started"
        return self._running
