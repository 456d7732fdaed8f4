"""Fabrics for comparison with real programs: a small database run to its end, and nothing left."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import machine
from tailrace.live import kinds
from tailrace.live.lab import Lab
from tailrace.live.program import Command
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lower import canonical_json, lower

RUN_LIMIT_S = 150
STREAM_S = 3
RATE_BPS = 100_000_000
FRAME_SHARE = {"9000B": (9000 - 52) / (9000 + 38), "1500B": (1500 - 52) / (1500 + 38)}
"""Payload of a full TCP segment with timestamps (RFC 7323) in a frame with 38 bytes of Ethernet and wire, by MTU."""
MTU = {"bridge": "9000B", "ovs": "9000B", "ovs-dpdk": "1500B"}


def require(name: str) -> None:
    """Skips a test where its fabric cannot be had, with the reason."""
    try:
        kinds.require(kinds.kind_of(name))
    except kinds.RunRefusedError as error:
        pytest.skip(str(error))


def tailrace(*words: str) -> subprocess.CompletedProcess[str]:
    """One command."""
    program = [sys.executable, "-c", "from tailrace.cli import main; main()", *words]
    return subprocess.run(program, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)


@pytest.mark.parametrize("fabric", ["bridge", "ovs"])
def test_a_database_is_served_to_the_end_and_nothing_stays(fabric: str, tmp_path: Path) -> None:
    require(fabric)
    out, before = tmp_path / "run", machine.picture()
    options = ["--fabric", fabric, "--set", "experiment.solo=false"]
    done = tailrace("run", "--live", str(machine.SCENARIO), "--arm", "fifo", *options, "--out", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"small, live over {fabric}" in done.stdout
    assert machine.wait_until_gone(str(out)) == []
    assert machine.wait_until_gone("tailrace-ovs") == []
    assert machine.picture() == before
    data: dict[str, Any] = json.loads((out / "trials" / "fifo" / "1.json").read_text(encoding="utf-8"))
    assert (data["fabric"]["kind"], data["workloads"][0]["transactions"]) == (fabric, 120)
    port = next(port for port in data["ports"] if port["towards"] == "client")
    assert port["queues"][0]["drops"]["tail-drop"]["frames"] > 0, "the backup fills the queue of 1 MB"
    shown = tailrace("show", "queues", str(out), "--port", "leaf>client")
    assert "Tail Drop Pkts" in shown.stdout, shown.stderr


@pytest.mark.parametrize("fabric", [name for name, kind in kinds.KINDS.items() if kind.is_foreign])
def test_a_stream_has_the_rate_of_its_link(fabric: str, tmp_path: Path) -> None:
    require(fabric)
    before = machine.picture()
    loaded = load_scenario(machine.SCENARIO, {"hosts.defaults.mtu": MTU[fabric]})
    plan = canonical_json(lower(loaded.arms["fifo"], "fifo", 1))
    with Lab(plan, tmp_path / "lab", "--kind", fabric) as lab:
        server = lab.start(
            Command("server", ["iperf3", "-s", "-1", "-J", "-B", lab.addresses["client"]], host="client")
        )
        words = ["iperf3", "-c", lab.addresses["client"], "-t", str(STREAM_S), "-O", "1", "-P", "2", "-J"]
        lab.run(Command("client", words, host="bulk"), RUN_LIMIT_S)
        server.require(RUN_LIMIT_S)
        outcome = lab.call("down")["outcome"]
    assert machine.wait_until_gone(str(tmp_path)) == []
    assert machine.picture() == before
    received = json.loads(server.out_path.read_text(encoding="utf-8"))["end"]["sum_received"]["bits_per_second"]
    assert received == pytest.approx(RATE_BPS * FRAME_SHARE[MTU[fabric]], rel=0.02)
    assert outcome["ports"][0]["rate_bps"] == RATE_BPS
