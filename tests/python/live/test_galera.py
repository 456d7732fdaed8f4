"""A cluster of databases: what its nodes are started with, how its state is judged, and what is
refused."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lab import sound
from tailrace.errors import ScenarioError
from tailrace.exact.refuse import refuse as refuse_exact
from tailrace.experiment.engine import Simulated
from tailrace.live.lab.fabric import FabricError
from tailrace.live.programs.galera_service import Galera
from tailrace.live.refuse import refuse
from tailrace.live.trial.servers import Servers
from tailrace.programs import galera, sysbench
from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.galera import Node
from tailrace.programs.mariadb import Server
from tailrace.programs.program_runner import ProgramRunner, Running
from tailrace.programs.templates import Template, sizes_kept
from tailrace.scenario.loading import load_scenario

TRIPS = [
    {"request_bytes": 200, "response_bytes": 500},
    {"request_bytes": 8_000, "response_bytes": 100},
]
RAW: dict[str, Any] = {
    "name": "first",
    "port": 3306,
    "client": "web",
    "server": "node1",
    "database": "galera",
    "load_generator": "sysbench",
    "users": 3,
    "transactions": 4,
    "warmup_transactions": 0,
    "round_trips": TRIPS,
    "start": {"constant": 0},
    "gap": {"constant": 0},
    "priority": 0,
}
SCRIPT = sysbench.Script(RAW, 7, {500: 1000, 8_000: 900})
WHOLE = "wsrep_cluster_size\t2\nwsrep_cluster_state_uuid\tu\nwsrep_local_state_comment\tSynced\nwsrep_ready\tON\n"  # noqa: E501
Refuse = Callable[..., None]


class Told(ProgramRunner):
    """A place whose programs print these texts, by the beginning of their name."""

    scratch = "/nowhere"
    is_nested = False

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def start(self, command: Command) -> Running:
        """Only commands that end are run."""
        raise AssertionError(f"{command.name} is started")

    def run(self, command: Command, _limit_s: float) -> str:
        """The text of the first that fits."""
        return next(text for name, text in self._texts.items() if command.name.startswith(name))


def refusals(judge: Refuse, *, servers: tuple[str, ...] = ("db", "bulk"), **keys: Any) -> list[str]:
    """Of a cluster on these servers."""
    body = {
        "client": "client",
        "kind": "oltp",
        "users": 2,
        "gap": "1ms",
        "load_generator": "sysbench",
    }
    body |= {"database": "galera", "round_trips": [{"request": "8kB", "response": "100B"}], **keys}
    names = dict(zip(("orders", "web"), servers, strict=False))
    changes: dict[str, Any] = {
        "workloads": {name: {**body, "server": server} for name, server in names.items()}
    }
    loaded = load_scenario(sound(**changes))
    try:
        judge(loaded, loaded.arms)
    except ScenarioError as error:
        return [str(problem).removeprefix("scenario: workloads.") for problem in error.problems]
    return []


def test_a_statement_that_sends_more_than_it_gets_writes_a_row_and_is_in_a_transaction() -> None:
    text = SCRIPT.text(Path("/l/log"))
    assert (
        'local statements = {{"pay_500", 1000}, {"pay_8000", 900, 7967}}\nlocal can_fail = true\n'
        in text
    )
    assert sizes_kept([RAW]) == {500, 8_000}
    assert "--mysql-ignore-errors=1213,1020,1205,1180" in SCRIPT.command(Path("/s.lua"), [], 9).argv
    alone = sysbench.Script({**RAW, "database": "mariadb"}, 7, {500: 1000, 100: 1000})
    assert '{"pay_500", 1000}, {"pay_100", 1000}}\nlocal can_fail = false\n' in alone.text(
        Path("/l/log")
    )
    assert not [word for word in alone.command(Path("/s.lua"), [], 9).argv if "ignore" in word]


def test_failed_attempts_are_counted_by_their_error_until_the_end_of_the_trial(
    tmp_path: Path,
) -> None:
    (tmp_path / "failed-log.0").write_text(
        "0 1 1213 100\n0 1 1205 150\n0 4 1213 201\n", encoding="ascii"
    )
    (tmp_path / "failed-log.1").write_text(
        "1 7 1213 180\n1 8 12", encoding="ascii"
    )  # being written
    (tmp_path / "log.0").write_text("0 1 1 0 1 2\n", encoding="ascii")
    assert sysbench.failures(tmp_path / "log", 200) == {"1205": 1, "1213": 2}


def test_the_first_node_begins_the_cluster_and_the_others_join_it() -> None:
    first = Node(Server("n1", "/d", "10.0.0.1", 3), "10.0.0.1").command(1.0)
    second = Node(Server("n2", "/d", "10.0.0.2", 3), "10.0.0.2", ["10.0.0.1"]).command()
    assert {"--wsrep-new-cluster", "--wsrep-cluster-address=gcomm://"} <= set(first.argv)
    assert "--wsrep-cluster-address=gcomm://10.0.0.1" in second.argv
    assert "--wsrep-new-cluster" not in second.argv
    assert {"--wsrep-sst-method=rsync", "--innodb-buffer-pool-load-at-startup=OFF"} <= set(
        second.argv
    )
    assert (first.name, first.host, first.cpus) == ("galera-n1", "n1", 1.0)


def test_all_workloads_of_a_cluster_share_one_template_and_its_first_server_is_the_first_of_the_scenario() -> (  # noqa: E501
    None
):
    other = {
        **RAW,
        "name": "second",
        "server": "node2",
        "round_trips": [{"request_bytes": 1, "response_bytes": 64}],
    }
    servers = Servers([("oltp", RAW), ("oltp", other)], Path("/templates"))
    first, second = (servers.of(name) for name in ("first", "second"))
    assert isinstance(first, Galera)
    assert isinstance(second, Galera)
    assert first.nodes == second.nodes == [first, second]
    assert sizes_kept(first.cluster_workloads) == {64, 500, 8_000}


class Changed:
    """A lab in which a restored folder differs from its template."""

    def run(self, command: Command, _limit_s: float) -> str:
        """As the program of the comparison ends."""
        raise FabricError(f"{command.name}: diff ended with status 1: Files ibdata1 differ")


def test_a_database_that_was_not_restored_as_it_was_loaded_fails_the_trial(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = Servers([("oltp", RAW)], Path("/templates")).of("first")
    assert isinstance(node, Galera)
    monkeypatch.setattr(Galera, "template", Template(Path("/t"), {}, {}))
    with pytest.raises(
        FabricError,
        match=r"the database of node1 was not restored as it was loaded: .*ibdata1 differ",
    ):
        node.compare(Changed(), "/data")  # type: ignore[arg-type]


def test_a_cluster_that_does_not_form_is_told_with_what_each_node_sees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(galera, "FORM_LIMIT_S", 0.0)
    nodes = [Server("n1", "/d", "a", 1), Server("n2", "/d", "b", 1)]
    galera.wait_until_formed(Told({"formed": WHOLE}), nodes)
    split = {"status": WHOLE.replace("size\t2", "size\t1")}
    with pytest.raises(ProgramError, match="n1 sees 1 of 2 nodes and is Synced"):
        galera.require_whole(Told(split), nodes)
    alone = WHOLE.replace("size\t2", "size\t1").replace("Synced", "Joining")
    with pytest.raises(
        ProgramError, match=r"the cluster of n1, n2 did not form within 0 s: n1 sees 1 of 2 nodes"
    ):
        galera.wait_until_formed(Told({"formed": alone}), nodes)
    with pytest.raises(
        ProgramError, match="not whole at the end: n1 sees 1 of 2 nodes and is Joining"
    ):
        galera.require_whole(Told({"status": alone}), nodes)


def test_nodes_that_hold_different_rows_at_the_end_fail_the_trial(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(galera, "ASK_LIMIT_S", 0.0)
    nodes = [Server("n1", "/d", "a", 1), Server("n2", "/d", "b", 1)]
    galera.require_same(Told({"same": "9 18 7"}), nodes, {500: 9})
    with pytest.raises(ProgramError, match="the nodes hold different rows at the end"):
        galera.require_same(Told({"same-0-n1": "9 18 7", "same-0-n2": "9 18 8"}), nodes, {500: 9})


def test_a_template_needs_a_server_that_was_stopped_cleanly() -> None:
    text = (
        "# GALERA saved state\nversion: 2.1\nuuid:    "
        "0123abcd-0123-0123-0123-0123456789ab\nseqno:   {}\n"
    )
    assert galera.state_of(text.format(7)) == "0123abcd-0123-0123-0123-0123456789ab:7"
    with pytest.raises(ProgramError, match="was not stopped cleanly"):
        galera.state_of(text.format(-1))


def test_a_cluster_needs_two_nodes_and_live_runs() -> None:
    assert refusals(refuse) == []
    assert refusals(refuse, servers=("db",)) == [
        "orders.database: a cluster of galera has 1 node, and needs at least 2"
        " (hint: add a workload with database: galera and another server)"
    ]
    assert refusals(refuse, round_trips=[{"request": "17MB", "response": "1kB"}])[0].startswith(
        "orders.round_trips.0.request: a row of MariaDB is one packet of at most 16 MiB"
    )
    for judge, engine in ((Simulated().refuse, "simulated"), (refuse_exact, "exact")):
        assert [one.partition(" (")[0] for one in refusals(judge)] == [
            f"{name}.database: {engine} runs do not have galera: replication between databases is "
            "not modelled, and the servers do not start in a guest"
            for name in ("orders", "web")
        ]
