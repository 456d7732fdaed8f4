"""RabbitMQ with PerfTest, from the command line to the results."""

from pathlib import Path
from typing import Any

import pytest

import machine
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.programs.rabbitmq_service import RabbitMq
from tailrace.programs import perf_test
from tailrace.programs.needed import path_of
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.workloads.planned import planned_workloads

SCENARIO = Path(__file__).with_name("mq.yaml")
RUN_LIMIT_S = 200

MISSING = [each.title for each in (perf_test.PERF_TEST, perf_test.JAVA) if path_of(each) is None]
pytestmark = pytest.mark.slow  # a broker starts for a quarter of a minute


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outcome of one run, which leaves the machine as it was."""
    if MISSING:
        machine.skip_lacking(f"{' and '.join(MISSING)}, which no package of live runs has")
    return machine.finished_run(SCENARIO, tmp_path_factory.mktemp("mq") / "run", RUN_LIMIT_S)


def test_every_message_is_done(finished: dict[str, Any]) -> None:
    confirm, consume, publish = finished["workloads"]
    assert (confirm["transactions"], consume["transactions"]) == (400, 800)
    assert None not in (confirm["completion_ps"], consume["completion_ps"])
    assert publish["transactions"] > 100
    assert publish["completion_ps"] is None
    assert consume["latency"] is None
    for each in (confirm, publish):
        latency = each["latency"]
        assert latency["count"] + latency["above"]["count"] == each["transactions"]
        assert 0 < latency["min_ps"] <= latency["p50_ps"] <= latency["p99_ps"] < 8e12
    # 100 messages of each of two users on a line of 10 Mbit/s.
    assert publish["latency"]["p50_ps"] > 50e9


def test_messages_have_their_size_on_the_wire(finished: dict[str, Any]) -> None:
    [port] = [each for each in finished["ports"] if each["towards"] == "broker"]
    confirm, consume, publish = (each["transactions"] for each in finished["workloads"])
    payload = (confirm + publish) * 1082 + consume * 21
    # Headers, acknowledgements of TCP, the opening of sessions; and messages that were on their way
    # at the end.
    assert payload < port["tx_bytes"] < 1.15 * payload + 200 * 1200 + 50_000


def test_programs_versions_and_configurations_are_recorded(finished: dict[str, Any]) -> None:
    assert {"rabbitmq-server", "perf-test"} <= set(finished["versions"])
    record = finished["live"]["programs"]
    assert "--confirm" in record["commands"]["perf-test-publish"]
    assert "loopback_users = none" in record["configurations"]["rabbitmq-broker"]
    assert "confirm latency min/median" in record["reports"]["confirm"]


def test_a_lost_message_is_told(tmp_path: Path) -> None:
    plan = lower(load_scenario(SCENARIO).arms["base"], "base", 1)
    raws = [own.flat for own in planned_workloads(plan)]
    service = RabbitMq("broker", raws, tmp_path / "templates")
    service.make_template()
    with Lab(canonical_json(plan), tmp_path / "lab") as lab:
        service.start(lab, None)
        service.wait_until_ready()
        service.verify(lab)
        # Nothing was published: all 400 are missing.
        with pytest.raises(
            FabricError, match=r"rabbitmq-broker: the queue of confirm has 0 messages, not 400"
        ):
            service.require_all(lab, service.works[0])
        service.stop()
