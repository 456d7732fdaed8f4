"""The queue of a host's interface in exact runs: what does not fit is counted as in simulated
ones."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine import TAILRACE
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("queue.yaml")
LIMIT_S = 100


def outcome(out: Path, *options: str, scenario: Path = SCENARIO) -> dict[str, Any]:
    """Of one run."""
    command = [*TAILRACE, "run", str(scenario), "--out", str(out), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = read_trial(next(out.glob("trials/*/1.json")))
    return found


def test_what_does_not_fit_the_queue_of_the_interface_is_counted(tmp_path: Path) -> None:
    simulated, exact = outcome(tmp_path / "simulated"), outcome(tmp_path / "exact", "--exact")
    drops = [
        {host["name"]: host["nic_queue_drops"] for host in each["hosts"]}
        for each in (simulated, exact)
    ]
    assert drops[1]["sink"] == 0
    assert drops[1]["source"] == pytest.approx(drops[0]["source"], rel=0.1)
    by_kernel = {host["name"]: host["qdisc_drops"] for host in exact["exact"]["hosts"]}
    assert by_kernel["sink"] == 0
    assert 0 < by_kernel["source"] <= drops[1]["source"]


@pytest.mark.slow
def test_datagrams_that_a_socket_has_no_room_for_are_counted(tmp_path: Path) -> None:
    ends = {"source": "source", "destination": "sink"}
    scenario = {
        "tailrace": 1,
        "name": "full-socket",
        "network": {
            "link": {"rate": "100Mbit/s", "delay": "10us"},
            "topology": {"kind": "star", "hosts": ["source", "sink"]},
        },
        "workloads": {
            "flood": {"kind": "datagrams", **ends, "sizes": "1400B", "interarrival": "56us"}
        },
        "experiment": {"trials": 1, "duration": "500ms"},
    }
    file = tmp_path / "full.yaml"
    file.write_text(json.dumps(scenario))
    exact = outcome(tmp_path / "run", "--exact", scenario=file)
    [source] = [host for host in exact["hosts"] if host["name"] == "source"]
    assert all(host["qdisc_drops"] == 0 for host in exact["exact"]["hosts"])
    # Twice the rate of the line is offered. A socket holds 212992 bytes: at least those of a
    # datagram for each.
    offered, held_most = 500_000 // 56, 212_992 // 1_400
    assert 0 <= offered - exact["conservation"]["sent"] - source["nic_queue_drops"] <= held_most
    assert source["nic_queue_drops"] > offered * 0.4
