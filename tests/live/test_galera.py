"""A cluster of two real databases with users at both, from the command line to the results."""

from pathlib import Path
from typing import Any

import pytest

import machine

pytestmark = (
    pytest.mark.slow
)  # a cluster of MariaDB, whose packages take a third of the installation
SCENARIO = Path(__file__).with_name("galera.yaml")
RUN_LIMIT_S = 180
BLOCK_BYTES = 7967
"""Text of a row that a statement of 8 kB writes."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outcome of one run, which leaves the machine as it was."""
    return machine.finished_run(SCENARIO, tmp_path_factory.mktemp("galera") / "run", RUN_LIMIT_S)


def told(finished: dict[str, Any], host: str) -> dict[str, int]:
    """What a node counted at the end."""
    report = finished["live"]["programs"]["reports"][f"galera-{host}"]
    rows = dict(line.split(maxsplit=1) for line in report.splitlines())
    assert "4." in rows.pop("wsrep_provider_version"), "Galera 4"
    return {name: int(value) for name, value in rows.items()}


def test_every_transaction_is_committed_and_those_rolled_back_are_counted_besides(
    finished: dict[str, Any],
) -> None:
    for each in finished["workloads"]:
        assert each["transactions"] == each["latency"]["count"] == 160
        assert set(each["failed_attempts"]) <= {"1213", "1020", "1205", "1180"}
    nodes = {host: told(finished, host) for host in ("db", "twin")}
    assert sum(own["wsrep_local_commits"] for own in nodes.values()) == 320
    assert nodes["db"]["wsrep_last_committed"] == nodes["twin"]["wsrep_last_committed"]


def test_each_node_receives_the_blocks_that_the_other_one_writes(finished: dict[str, Any]) -> None:
    for host in ("db", "twin"):
        assert told(finished, host)["wsrep_replicated_bytes"] >= 160 * BLOCK_BYTES
        # A block is one frame at 9000 bytes, and six at 1500: the clients' and the other node's.
        assert finished["live"]["counters"][host]["tx_frames"] > 160


def test_nodes_and_versions_are_recorded(finished: dict[str, Any]) -> None:
    assert {"sysbench", "mariadbd", "rsync"} <= set(finished["versions"])
    commands = finished["live"]["programs"]["commands"]
    assert "--wsrep-new-cluster" in commands["galera-db"]
    assert "--wsrep-new-cluster" not in commands["galera-twin"]
    assert "--mysql-ignore-errors=1213,1020,1205,1180" in commands["sysbench-here"]
