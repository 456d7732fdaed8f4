"""The databases of a trial: a server on every host that some workload asks, restored from its template and verified."""

from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.live.programs import postgres
from tailrace.live.programs.postgres import Server
from tailrace.live.programs.template import Template, Templates, copy_tree, facts_of


class Databases:
    """Servers by host."""

    def __init__(self, oltps: Sequence[Mapping[str, Any]], templates: Templates) -> None:
        self._templates = templates
        self._sizes: dict[str, set[int]] = {}
        self._users: dict[str, int] = {}
        self._priorities: dict[str, int] = {}
        self._vlans: dict[str, set[int]] = {}
        self._running: dict[str, Program] = {}
        for oltp in oltps:
            sizes = {trip["response_bytes"] for trip in oltp["round_trips"]}
            self._sizes.setdefault(oltp["server"], set()).update(sizes)
            self._priorities[oltp["server"]] = oltp["priority"]
            self._vlans.setdefault(oltp["server"], set()).add(oltp.get("vlan") or 0)
            self._users[oltp["server"]] = self._users.get(oltp["server"], 0) + oltp["users"]

    def template(self, host: str) -> Template:
        """What the server of this host starts from."""
        return self._templates.get(frozenset(self._sizes[host]))

    def make_templates(self) -> None:
        """Makes those that are not there; each in a lab of its own, before the trial's."""
        for host in self._sizes:
            self.template(host)

    @property
    def programs(self) -> Mapping[str, Program]:
        """The running servers."""
        return self._running

    def start(self, lab: Lab, cpus: Mapping[str, float | None]) -> None:
        """Restores, starts and verifies every server."""
        servers = {host: self._server(lab, host) for host in self._sizes}
        for host, server in servers.items():
            postgres.make_folders(lab, server)
            copy_tree(lab, f"restore-{host}", f"{self.template(host).data}/.", server.data)
            self._running[host] = lab.start(server.command(self._templates.installed, cpus.get(host)))
        for host, server in servers.items():
            postgres.wait_until_ready(self._running[host])
            self._verify(lab, host, server)

    def _server(self, lab: Lab, host: str) -> Server:
        addresses = ",".join(lab.address(host, vlan) for vlan in sorted(self._vlans[host]))
        return Server(host, f"{lab.scratch}/postgres-{host}", addresses, self._users[host], self._priorities[host])

    def _verify(self, lab: Lab, host: str, server: Server) -> None:
        """Reads every row, which also brings all of them into memory."""
        template = self.template(host)
        facts = facts_of(lab, self._templates.installed, server, template.rows, "verify")
        if facts != dict(template.facts):
            raise FabricError(f"the database of {host} is not what was loaded: {facts}, not {dict(template.facts)}")
