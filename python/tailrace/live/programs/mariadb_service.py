"""MariaDB as a service: its template is copied into the lab's memory for each trial, and verified there."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.plans import plan_of_one_host
from tailrace.live.lab.program import Program
from tailrace.live.service import Raw, Service
from tailrace.programs import mariadb
from tailrace.programs.command import Ended
from tailrace.programs.mariadb import Server, Template, Templates
from tailrace.programs.postgres import CP
from tailrace.programs.postgres_template import copy_tree, sizes_of


class MariaDb(Service):
    """A server with tables for the responses of all workloads that use it."""

    service_name = "mariadb"
    port = mariadb.PORT
    needs = (mariadb.MARIADB, mariadb.INSTALL, mariadb.SHELL, CP)

    def __init__(self, host: str, workloads: Sequence[Raw], templates: Path) -> None:
        super().__init__(host, workloads, templates)
        self._templates = Templates(templates, lambda folder: Lab(plan_of_one_host(), folder))
        self._server: Server | None = None
        self._running: Program | None = None

    @property
    def template(self) -> Template:
        """What it starts from; made where it is not there."""
        return self._templates.get(sizes_of(self.workloads))

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
        # Workloads that ask one server have one priority: others are refused.
        priority = self.workloads[-1]["priority"]
        server = Server(self.host, f"{lab.scratch}/mariadb-{self.host}/data", addresses, users, priority)
        mariadb.make_folder_of(lab, server)
        copy_tree(lab, f"restore-{self.host}", f"{self.template.data}/.", server.data)
        self._server, self._running = server, lab.start(server.command(cpus))

    def wait_until_ready(self) -> None:
        """It reports that in its log."""
        mariadb.wait_until_ready(self._program)

    def verify(self, lab: Lab) -> None:
        """Reads every row, which also brings all of them into memory."""
        assert self._server is not None, "it was started"
        template = self.template
        facts = mariadb.facts_of(lab, self._server, template.rows, "verify")
        if facts != dict(template.facts):
            raise FabricError(
                f"the database of {self.host} differs from the loaded one: {facts}, not {dict(template.facts)}"
            )

    @property
    def programs(self) -> Sequence[Program]:
        """The server."""
        return [self._running] if self._running else []

    def stop(self) -> Ended:
        """At once: its data vanishes with the trial."""
        return self._program.stop("KILL")

    @property
    def _program(self) -> Program:
        assert self._running is not None, "it was started"
        return self._running
