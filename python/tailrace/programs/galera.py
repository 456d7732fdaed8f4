"""Galera: MariaDB servers that replicate every transaction to each other, and the template from
which all nodes start.

Transactions are replicated over TCP when they commit (Galera's `gcomm`); its UDP multicast is not
used. Every node starts from a copy of one stopped data directory that carries the state (identifier
and sequence number) of a cluster: a node with the state of the cluster joins without a transfer of
state.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.programs import mariadb
from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.mariadb import MariaDbTemplates, Server, facts_of, wait_until_ready
from tailrace.programs.needed import Needed
from tailrace.programs.postgres import DATABASE, Setting
from tailrace.programs.program_runner import ProgramRunner

SERVICE = "galera"
"""Its name in scenarios."""
LIBRARY = "libgalera_smm.so"
FOLDERS = (Path("/usr/lib/galera"), Path("/usr/lib64/galera-4"))
GROUP_PORT = 4567
"""Of the replication between nodes."""
TRANSFER_PORT = 4568
"""Of the write sets that a joining node lacks."""
NODES_MIN = 2
NODES_MAX = 9
"""Each node is a server with 200 MB, and a machine has memory for few."""
FORM_LIMIT_S = 60.0
"""A node without a transfer of state joins within seconds."""
ASK_LIMIT_S = 10.0
POLL_S = 0.1
LAYOUT = 1
"""Version of a template's content."""
STATE = re.compile(r"^uuid:\s*([0-9a-f-]{36})\nseqno:\s*(-?\d+)$", re.MULTILINE)
STATE_FILE = "grastate.dat"
SETTINGS = (
    Setting("wsrep-on", "ON", "replication"),
    Setting("binlog-format", "ROW", "Galera replicates rows"),
    Setting(
        "binlog-row-image", "MINIMAL", "a write set has the key and the new block, not the old one"
    ),
    Setting("innodb-autoinc-lock-mode", "2", "Galera needs it"),
    Setting("wsrep-slave-threads", "4", "write sets of other nodes are applied in parallel"),
    Setting(
        "wsrep-sst-method",
        "rsync",
        "asked for and not used: a restored node lacks two views and no rows",
    ),
    Setting("innodb-buffer-pool-load-at-startup", "OFF", "every trial starts with cold caches"),
    Setting("innodb-buffer-pool-dump-at-shutdown", "OFF", "as innodb-buffer-pool-load-at-startup"),
)
PROVIDER_OPTIONS = "gcache.size=64M;pc.recovery=FALSE"
"""Write sets of a trial, and no memory of an earlier cluster."""
VERSION = "wsrep_provider_version"
COUNTERS = (
    "wsrep_last_committed",
    "wsrep_local_commits",
    "wsrep_local_cert_failures",
    "wsrep_local_bf_aborts",
    "wsrep_replicated_bytes",
    "wsrep_received_bytes",
    "wsrep_flow_control_paused_ns",
)
"""Of a node, for results."""


def library(name: str) -> Path | None:
    """The provider of replication; None where it is missing."""
    return next((folder / name for folder in FOLDERS if (folder / name).is_file()), None)


GALERA = Needed(
    LIBRARY, "galera-4", "", "workloads of kind oltp with galera", find=library, title="Galera"
)
RSYNC = Needed(
    "rsync", "rsync", "--version", "nodes of galera: without it none is asked for its state"
)


@dataclass(frozen=True)
class Node:
    """One server of a cluster."""

    server: Server
    address: str
    """Where other nodes reach it."""
    others: Sequence[str] = ()
    """Addresses of the other nodes; none for the node that begins the cluster."""

    def command(self, cpus: float | None = None) -> Command:
        """The server in the foreground."""
        command = self.server.command(cpus)
        options = (
            f"gmcast.listen_addr=tcp://{self.address}:{GROUP_PORT};ist.recv_addr={self.address}"
        )
        argv = [f"--{setting.name}={setting.value}" for setting in SETTINGS]
        argv += [f"--wsrep-provider={library(LIBRARY) or LIBRARY}"]
        argv += [f"--wsrep-provider-options={PROVIDER_OPTIONS};{options}"]
        argv += [
            f"--wsrep-cluster-address=gcomm://{','.join(self.others)}",
            f"--wsrep-node-address={self.address}",
        ]
        argv += [f"--wsrep-node-name={self.server.host}"]
        argv += [] if self.others else ["--wsrep-new-cluster"]
        return Command(
            f"{SERVICE}-{self.server.host}",
            [*command.argv, *argv],
            host=command.host,
            user=command.user,
            cpus=command.cpus,
            priority=command.priority,
        )


def status(runner: ProgramRunner, server: Server, name: str) -> dict[str, str]:
    """A node's status of its cluster, by the name of the variable."""
    text = runner.run(
        server.shell(f"{name}-{server.host}", "SHOW GLOBAL STATUS LIKE 'wsrep%'"), ASK_LIMIT_S
    )
    rows = (line.split("\t", 1) for line in text.splitlines())
    return {row[0]: row[1].strip() for row in rows if len(row) == 2}


def wait_until_formed(runner: ProgramRunner, servers: Sequence[Server]) -> None:
    """Returns once every node is connected to all others and accepts statements; raises
    `ProgramError` with the status of each."""
    deadline_s = time.monotonic() + FORM_LIMIT_S
    moment = 0
    while True:
        found = {server.host: status(runner, server, f"formed-{moment}") for server in servers}
        if not (problems := list(_unformed(found))):
            return
        if time.monotonic() > deadline_s:
            raise ProgramError(
                f"the cluster of {', '.join(found)} did not form within {FORM_LIMIT_S:g} s: "
                f"{'; '.join(problems)}"
            )
        moment += 1
        time.sleep(POLL_S)


def require_whole(runner: ProgramRunner, servers: Sequence[Server]) -> dict[str, dict[str, str]]:
    """The status of each node; raises `ProgramError` when one has left the cluster."""
    found = {server.host: status(runner, server, "status") for server in servers}
    if problems := list(_unformed(found)):
        raise ProgramError(
            f"the cluster of {', '.join(found)} was not whole at the end: {'; '.join(problems)}"
        )
    return found


def require_same(runner: ProgramRunner, servers: Sequence[Server], rows: Mapping[int, int]) -> None:
    """Returns once all nodes have applied every write and hold the same rows; raises `ProgramError`
    otherwise."""
    deadline_s = time.monotonic() + ASK_LIMIT_S
    moment = 0
    while True:
        facts = {
            server.host: facts_of(runner, server, rows, f"same-{moment}") for server in servers
        }
        if len({tuple(sorted(own.items())) for own in facts.values()}) == 1:
            return
        if time.monotonic() > deadline_s:
            raise ProgramError(f"the nodes hold different rows at the end: {facts}")
        moment += 1
        time.sleep(POLL_S)


def _unformed(found: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for host, own in found.items():
        size, state = (
            own.get("wsrep_cluster_size", "0"),
            own.get("wsrep_local_state_comment", "no state"),
        )
        if size != str(len(found)) or own.get("wsrep_ready") != "ON" or state != "Synced":
            yield f"{host} sees {size} of {len(found)} nodes and is {state}"
    if len({own.get("wsrep_cluster_state_uuid") for own in found.values()}) > 1:
        yield "the nodes belong to different clusters"


def state_of(text: str) -> str:
    """Identifier and sequence number in the state file of a stopped node; raises `ProgramError` for
    an unclean stop."""
    found = STATE.search(text)
    if found is None or int(found[2]) < 0:
        raise ProgramError(
            f"{STATE_FILE} has no state: the server was not stopped cleanly: "
            f"{' '.join(text.split())}"
        )
    return f"{found[1]}:{found[2]}"


class GaleraTemplates(MariaDbTemplates):
    """A database of MariaDB that has been a cluster of one node, which gives it a state."""

    def identity(self) -> list[Any]:
        """Another layout than MariaDB's own."""
        return [SERVICE, LAYOUT, *super().identity()]

    def load(self, runner: ProgramRunner, rows: Mapping[int, int]) -> tuple[str, Mapping[str, str]]:
        """Loads the tables as for MariaDB, and then begins a cluster with them."""
        data, facts = super().load(runner, rows)
        server = Server("db", data, "", 0)
        running = runner.start(Node(server, "127.0.0.1").command())
        wait_until_ready(running)
        wait_until_formed(runner, [server])
        grant = f"GRANT UPDATE ON {DATABASE}.* TO tailrace@'%'"
        runner.run(server.shell("grant", grant), ASK_LIMIT_S)
        if not running.stop("TERM").is_good:
            raise ProgramError(running.complaint())
        state = state_of(
            runner.run(
                Command("state", ["cat", f"{data}/{STATE_FILE}"], user=mariadb.USER), ASK_LIMIT_S
            )
        )
        return data, {**facts, STATE_KEY: state}


STATE_KEY = "state"
"""Of the facts of a template: the state of its cluster."""
