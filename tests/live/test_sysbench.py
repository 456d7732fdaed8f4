"""sysbench as the users of PostgreSQL and of MariaDB, from the command line to the results."""

from pathlib import Path
from typing import Any

import pytest

import machine

pytestmark = pytest.mark.slow  # MariaDB, whose packages take a third of the installation
SCENARIO = Path(__file__).with_name("sysbench.yaml")
RUN_LIMIT_S = 150


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outcome of one run, which leaves the machine as it was."""
    return machine.finished_run(SCENARIO, tmp_path_factory.mktemp("sysbench") / "run", RUN_LIMIT_S)


def test_every_transaction_is_done_and_counted(finished: dict[str, Any]) -> None:
    plain, other, endless = finished["workloads"]
    assert (plain["transactions"], plain["latency"]["count"]) == (120, 105), "without the warm-up"
    assert (other["transactions"], other["latency"]["count"]) == (120, 120)
    for each in (plain, other):
        assert each["goodput_bytes"] == 120 * 8500
        assert each["completion_ps"] == max(each["user_completion_ps"])
    assert endless["transactions"] > 20
    assert endless["completion_ps"] is None


def test_programs_and_versions_are_recorded(finished: dict[str, Any]) -> None:
    assert {"sysbench", "mariadbd", "postgres"} <= set(finished["versions"])
    commands = finished["live"]["programs"]["commands"]
    assert "--db-driver=pgsql" in commands["sysbench-plain"]
    assert "--db-driver=mysql" in commands["sysbench-other"]
    assert "--innodb-doublewrite=OFF" in commands["mariadb-twin"]
