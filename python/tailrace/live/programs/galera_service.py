"""Galera as a service: the servers of all workloads that use it are the nodes of one cluster."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.programs.mariadb_service import MariaDb
from tailrace.live.service import Raw
from tailrace.programs import galera
from tailrace.programs.command import Command, Ended
from tailrace.programs.galera import GaleraTemplates, Node
from tailrace.programs.mariadb import Server
from tailrace.programs.needed import Needed
from tailrace.programs.templates import COPY_LIMIT_S, Template, sizes_kept


class Galera(MariaDb):
    """One node. The first node of the trial begins the cluster, the others join it."""

    service_name = galera.SERVICE
    needs: ClassVar[tuple[Needed, ...]] = (*MariaDb.needs, galera.GALERA, galera.RSYNC)
    templates_class = GaleraTemplates
    nodes_min = galera.NODES_MIN
    nodes_max = galera.NODES_MAX

    def __init__(self, host: str, workloads: Sequence[Raw], templates: Path) -> None:
        super().__init__(host, workloads, templates)
        self._lab: Lab | None = None
        self._status: Mapping[str, str] = {}

    @property
    def template(self) -> Template:
        """One for all nodes."""
        return self.nodes[0].kept.get(sizes_kept(self.cluster_workloads))

    @property
    def nodes(self) -> Sequence["Galera"]:
        """All nodes of its cluster, in the order of their start."""
        return [each for each in self.together if isinstance(each, Galera)]

    @property
    def cluster_workloads(self) -> list[Raw]:
        """The workloads that use any of its nodes."""
        return [raw for node in self.nodes for raw in node.workloads]

    def prepared(
        self, lab: Lab, addresses: str, users: int, priority: int, cpus: float | None
    ) -> tuple[str, Command]:
        """Its data directory, and a node that begins or joins the cluster."""
        data, _ = super().prepared(lab, addresses, users, priority, cpus)
        others = (
            []
            if self._is_first
            else [lab.address(node.host, 0) for node in self.nodes if node is not self]
        )
        return data, Node(self._server, lab.address(self.host, 0), others).command(cpus)

    def start(self, lab: Lab, cpus: float | None) -> None:
        """Restores the data directory, compares every byte with the template, and starts the node
        with cold caches.

        Nodes can join once the first one is ready.
        """
        self._lab = lab
        super().start(lab, cpus)
        if self._is_first:
            self.wait_until_ready()

    def compare(self, lab: Lab, data: str) -> None:
        """Raises `FabricError` unless the copy is the template, byte by byte."""
        argv = ["diff", "--recursive", "--brief", str(self.template.data), data]
        try:
            lab.run(Command(f"compare-{self.host}", argv), COPY_LIMIT_S)
        except FabricError as error:
            raise FabricError(
                f"the database of {self.host} was not restored as it was loaded: {error}"
            ) from None

    def verify(self, lab: Lab) -> None:
        """When all nodes are ready, each must see the others. Rows are not read, so that caches
        stay cold."""
        if self.nodes[-1] is self:
            galera.wait_until_formed(lab, [node.server for node in self.nodes])

    def stop(self) -> Ended:
        """Stops the node. The first call checks, while all nodes run, that the cluster is complete
        and its nodes hold the same rows."""
        if self._is_first and self._lab is not None:
            servers = [node.server for node in self.nodes]
            status = galera.require_whole(self._lab, servers)
            galera.require_same(self._lab, servers, self.template.rows)
            for node in self.nodes:
                node._status = status[node.host]
        return super().stop()

    def report(self) -> str:
        """Its version and its counters of the cluster."""
        names = (galera.VERSION, *galera.COUNTERS)
        return "\n".join(f"{name} {self._status[name]}" for name in names if name in self._status)

    @property
    def server(self) -> Server:
        """The server of this trial."""
        return self._server

    @property
    def _is_first(self) -> bool:
        return self.nodes[0] is self
