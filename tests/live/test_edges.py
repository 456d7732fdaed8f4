"""What a real program does not do by itself: code points of databases, and an interface that
breaks."""

from pathlib import Path
from typing import Any

import pytest

import machine
from trial_files import read_trial

pytestmark = pytest.mark.slow  # a storm of pauses lasts two seconds


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One trial."""
    out = tmp_path_factory.mktemp("live") / "run"
    machine.run_live(Path(__file__).with_name("edges.yaml"), out, "--log-ingress")
    assert len(machine.replay(out)) == 1
    return out


def outcome(run: Path) -> dict[str, Any]:
    """Its outcome."""
    data: dict[str, Any] = read_trial(run / "trials" / "broken" / "1.json")
    return data


def port(run: Path, towards: str) -> dict[str, Any]:
    """One of its ports."""
    [found] = [port for port in outcome(run)["ports"] if port["towards"] == towards]
    return dict(found)


def test_both_ways_of_a_database_have_its_code_point(run: Path) -> None:
    for workload in outcome(run)["workloads"][:2]:
        assert workload["transactions"] == 100
    to_client = {queue["name"]: queue["tx_bytes"] for queue in port(run, "client")["queues"]}
    to_server = {queue["name"]: queue["tx_bytes"] for queue in port(run, "db")["queues"]}
    # Answers of 20 and of 10 kB, 100 each, with headers of their segments and what opens and ends
    # connections.
    assert 100 * 20_000 < to_client["urgent"] < 100 * 20_000 * 1.15
    assert 100 * 10_000 < to_client["normal"] < 100 * 10_000 * 1.15
    assert to_server["urgent"] > 0
    assert to_server["normal"] > 0


def test_a_storm_stops_its_priority_while_it_lasts(run: Path) -> None:
    broken = port(run, "broken")
    assert broken["pause"]["received"][3] > 0
    paused_s = broken["pause"]["paused_ps"][3] / 1e12
    # One pause is 65 535 quanta of 512 bits: 0.67 s at 50 Mbit/s. The next follows when half of it
    # is over, so that the last one, at 1.5 + 4 * 0.336 = 2.84 s, ends at 3.51 s.
    assert paused_s == pytest.approx(2.01, abs=0.3)
    [copy] = [workload for workload in outcome(run)["workloads"] if workload["name"] == "copy"]
    # The rest of the time it may send.
    rest_bytes = 50e6 / 8 * (outcome(run)["end_ps"] / 1e12 - paused_s) * 1448 / 1538
    assert 0.6 < copy["goodput_bytes"] / rest_bytes < 1.05
