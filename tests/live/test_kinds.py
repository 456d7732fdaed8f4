"""Fabrics for comparison with real programs: a small database run to its end, and nothing left."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import machine
from tailrace.errors import RunRefusedError
from tailrace.live.lab import kinds
from tailrace.live.lab.fabric import ask, program
from tailrace.live.lab.lab import Lab
from tailrace.programs.command import Command
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from trial_files import read_trial

RUN_LIMIT_S = 150
WINDOW_S = 1
WINDOWS_MAX = 8
"""Most windows in which a port is looked at."""
TOLERANCE = 0.02


def require(name: str) -> None:
    """Skips a test where its fabric cannot be had, with the reason."""
    try:
        kinds.require(kinds.kind_of(name), ask("doctor"))
    except RunRefusedError as error:
        machine.skip_lacking(f"a fabric: {error}")


def fabrics(*names: str) -> list[Any]:
    """Parameters of a test: those that need packages of their own are slow."""
    return [
        pytest.param(name, marks=[] if name == "bridge" else pytest.mark.slow) for name in names
    ]


def tailrace(*words: str) -> subprocess.CompletedProcess[str]:
    """One command."""
    return machine.tailrace(*words, limit_s=RUN_LIMIT_S)


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["bridge", "ovs"])
def test_a_database_is_served_to_the_end_and_nothing_stays(fabric: str, tmp_path: Path) -> None:
    require(fabric)
    out, before = tmp_path / "run", machine.picture()
    options = ["--fabric", fabric, "--set", "experiment.solo=false"]
    done = tailrace(
        "run", "--live", str(machine.SCENARIO), "--arm", "fifo", *options, "--out", str(out)
    )
    machine.assert_ended(done)
    assert f"small, live over {fabric}" in done.stdout
    assert machine.wait_until_gone(str(out)) == []
    assert machine.wait_until_gone("tailrace-ovs") == []
    assert machine.picture() == before
    data: dict[str, Any] = read_trial(out / "trials" / "fifo" / "1.json")
    assert (data["fabric"]["kind"], data["workloads"][0]["transactions"]) == (fabric, 120)
    port = next(port for port in data["ports"] if port["towards"] == "client")
    assert port["queues"][0]["drops"]["tail-drop"]["frames"] > 0, (
        "the backup fills the queue of 1 MB"
    )
    shown = tailrace("show", "queues", str(out), "--port", "leaf>client")
    assert "Tail Drop Pkts" in shown.stdout, shown.stderr


@pytest.mark.parametrize(
    "fabric", fabrics(*(name for name, kind in kinds.KINDS.items() if kind.is_foreign))
)
def test_a_port_that_is_offered_more_has_the_rate_of_its_link(fabric: str, tmp_path: Path) -> None:
    require(fabric)
    before = machine.picture()
    loaded = load_scenario(machine.SCENARIO, {"hosts.defaults.mtu": "1500B"})
    plan = canonical_json(lower(loaded.arms["fifo"], "fifo", 1))
    with Lab(plan, tmp_path / "lab", "--kind", fabric) as lab:
        words = [
            str(program()),
            "source",
            "--to",
            f"{lab.addresses['client']}:9",
            "--payload-bytes",
            "1400",
        ]
        words += ["--interval-ns", "60000", "--seconds", str(2 + WINDOWS_MAX * WINDOW_S)]
        # Two hosts, of which each has a line as fast as the port.
        for host in ("bulk", "db"):
            lab.start(Command(f"source-{host}", words, host=host))
        time.sleep(1)  # the queue is full by now
        shares = [share_of_rate(lab)]
        while abs(shares[-1] - 1) > TOLERANCE and len(shares) < WINDOWS_MAX:
            shares.append(share_of_rate(lab))
        lab.call("down")
    assert machine.wait_until_gone(str(tmp_path)) == []
    assert machine.picture() == before
    # A busy machine may keep the kernel from sending for a moment, or the fabric from looking at
    # its counters.
    assert shares[-1] == pytest.approx(1, abs=TOLERANCE), shares


def share_of_rate(lab: Lab) -> float:
    """What the port towards the client sent in a window, with 24 bytes besides each frame, in parts
    of its rate."""
    lab.call("begin")
    time.sleep(WINDOW_S)
    lab.call("end")
    outcome = lab.call("counters")["outcome"]
    port = next(port for port in outcome["ports"] if port["towards"] == "client")
    bits = 8 * (port["tx_bytes"] + 24 * port["tx_frames"])
    return float(bits * 10**12 / outcome["end_ps"] / port["rate_bps"])


@pytest.mark.slow
@pytest.mark.parametrize("fabric", [name for name, kind in kinds.KINDS.items() if kind.is_foreign])
@pytest.mark.parametrize("scenario", ["requests.yaml", "sysbench.yaml"])
def test_every_request_program_runs_over_every_fabric(
    fabric: str, scenario: str, tmp_path: Path
) -> None:
    require(fabric)
    out, before = tmp_path / "run", machine.picture()
    options = [
        "--fabric",
        fabric,
        "--set",
        "experiment.duration=10s",
    ]  # it ends with the last request
    done = tailrace(
        "run", "--live", str(machine.SCENARIO.with_name(scenario)), *options, "--out", str(out)
    )
    machine.assert_ended(done)
    assert machine.wait_until_gone(str(out)) == []
    assert machine.wait_until_gone("tailrace-ovs") == []
    assert machine.picture() == before
    data: dict[str, Any] = read_trial(out / "trials" / "base" / "1.json")
    assert all(one["transactions"] > 0 for one in data["workloads"]), data["workloads"]
    assert "failed" not in done.stdout
    assert (data["live"]["switch"] is None) == (fabric == "bridge"), "the bridge is no program"
    if fabric != "bridge":
        switch = data["live"]["switch"]
        assert switch["program"].startswith("ovs-vswitchd")
        assert switch["user_ps"] + switch["system_ps"] > 0
    assert {"port-0", "switch-0"} <= set(data["live"]["interfaces"]["switch"])
