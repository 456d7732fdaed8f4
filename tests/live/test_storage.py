"""Storage with real programs, from the command line to the results."""

from pathlib import Path
from typing import Any

import pytest

import machine

SCENARIO = Path(__file__).with_name("storage.yaml")
RUN_LIMIT_S = 200


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outcome of one run, which leaves the machine as it was."""
    return machine.finished_run(SCENARIO, tmp_path_factory.mktemp("storage") / "run", RUN_LIMIT_S)


def workload(finished: dict[str, Any], name: str) -> dict[str, Any]:
    """One workload's part of the outcome."""
    [found] = [each for each in finished["workloads"] if each["name"] == name]
    return dict(found)


def test_iscsi_sessions_read_and_write(finished: dict[str, Any]) -> None:
    disk = workload(finished, "disk")
    requests = disk["storage_requests"]
    assert requests["read"]["count"] / disk["transactions"] == pytest.approx(0.5, abs=0.05)
    for each in disk["initiators"]:
        assert each["requests"]["read"]["count"] > 100
    # A round trip of the network is in each of them.
    assert requests["read"]["latency"]["min_ps"] > 4096 * 8 / 100e6 * 1e12
    programs = finished["live"]["programs"]
    assert [
        word for word in programs["commands"]["session-disk-node1"] if word.startswith("iscsi://")
    ]
    assert programs["configurations"]["tgt-san"].startswith("memory sha256 ")
    received = finished["live"]["counters"]["san"]["rx_frames"]
    assert received > 3 * requests["write"]["count"], (
        "what is written crosses the network: 4 KiB are three frames"
    )


def test_workloads_of_one_device_have_one_unit_of_the_target(finished: dict[str, Any]) -> None:
    commands = finished["live"]["programs"]["commands"]
    places = [
        commands[name][-1]
        for name in ("session-disk-node1", "session-disk-node2", "session-log-node2")
    ]
    assert len(set(places)) == 1, places
    log = workload(finished, "log")["storage_requests"]
    assert log["read"]["count"] == 0 < 50 < log["write"]["count"]
    assert finished["live"]["programs"]["configurations"]["tgt-san"].count("sha256") == 1


def test_targets_listen_at_the_ports_of_the_plan(finished: dict[str, Any]) -> None:
    commands = finished["live"]["programs"]["commands"]
    assert commands["tgt-san"][-1].endswith(":3260")
    assert "--port=10810" in commands["nbdkit-nas"]


def test_a_finite_workload_over_nbd_writes_all_and_is_timed(finished: dict[str, Any]) -> None:
    share = workload(finished, "share")
    requests = share["storage_requests"]
    assert (requests["read"]["count"], requests["write"]["count"]) == (0, 500)
    assert requests["write"]["bytes"] == share["goodput_bytes"] == 500 * 16_384
    # At 100 Mbit/s; the second that fio takes to begin is no part of it.
    assert 500 * 16_384 * 8 / 100e6 < share["completion_ps"] / 1e12 < finished["end_ps"] / 1e12


def test_each_initiator_reads_and_writes_at_its_rate(finished: dict[str, Any]) -> None:
    own = workload(finished, "own")
    requests = own["storage_requests"]
    assert (
        own["transactions"] == requests["read"]["count"] + requests["write"]["count"] == 2 * 2 * 200
    )
    assert own["goodput_bytes"] == 4096 * own["transactions"]
    # Two jobs of an initiator share its rate of 400 requests per second.
    assert own["completion_ps"] / 1e12 > 0.9 * 2 * 200 / 400
    assert requests["read"]["count"] / own["transactions"] == pytest.approx(0.7, abs=0.05)
    assert (
        sum(each["requests"]["read"]["count"] for each in own["initiators"])
        == requests["read"]["count"]
    )
    assert 0 < requests["read"]["latency"]["p50_ps"] < 10**10


def test_initiators_begin_together_and_programs_are_recorded(finished: dict[str, Any]) -> None:
    assert 0 <= finished["live"]["start_skew_ms"]["own"] < 1e3 * finished["live"]["span_s"]
    assert finished["versions"]["fio"].startswith("3.")
    programs = finished["live"]["programs"]
    clients = [word for word in programs["commands"]["fio-own"] if word.startswith("--client")]
    assert clients == ["--client=sock:node1", "--client=sock:node2"]
    told = programs["reports"]["own"]
    assert told.count("sha256") == 2
    assert told.count("requests/s") == 2
