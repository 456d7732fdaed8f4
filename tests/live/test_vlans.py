"""VLANs: a tree for each, tags on trunks and none at access ports, beside the simulator."""

from pathlib import Path
from typing import Any

import pytest

import machine
from tailrace.live.lab.lab import Lab
from tailrace.programs.command import Command
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("vlans.yaml")
ARMS = ("trees", "one-tree")
LIMIT_S = 200
# A stream of one VLAN fills a link of 50 Mbit/s with frames of 1542 bytes, of which 1448 are
# payload.
FULL_BPS = 50e6 * 1448 / 1542


def outcomes(out: Path) -> dict[str, dict[str, Any]]:
    """By arm, the outcome of its trial."""
    return {arm: read_trial(out / "trials" / arm / "1.json") for arm in ARMS}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Both arms, live, with what entered."""
    out = tmp_path_factory.mktemp("live") / "run"
    machine.run_live(SCENARIO, out, "--log-ingress")
    assert len(machine.replay(out)) == 2
    return outcomes(out)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The same, simulated."""
    out = tmp_path_factory.mktemp("simulated") / "run"
    done = machine.tailrace("run", str(SCENARIO), "--out", str(out), limit_s=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return outcomes(out)


def goodput_bps(outcome: dict[str, Any], name: str) -> float:
    """Of a workload, over the trial."""
    [found] = [workload for workload in outcome["workloads"] if workload["name"] == name]
    return float(found["goodput_bytes"]) * 8 / (float(outcome["end_ps"]) / 1e12)


def queue_bytes(outcome: dict[str, Any], node: str, towards: str) -> dict[str, int]:
    """What each queue of a port has sent."""
    [found] = [
        port for port in outcome["ports"] if (port["node"], port["towards"]) == (node, towards)
    ]
    return {queue["name"]: queue["tx_bytes"] for queue in found["queues"]}


@pytest.mark.slow
def test_each_vlan_has_a_link_of_its_own_or_both_share_one(
    live: dict[str, dict[str, Any]], simulated: dict[str, dict[str, Any]]
) -> None:
    for engine in (live, simulated):
        for name in ("ten", "twenty"):
            assert goodput_bps(engine["trees"], name) > 0.85 * FULL_BPS
        both = sum(goodput_bps(engine["one-tree"], name) for name in ("ten", "twenty"))
        assert 0.85 * FULL_BPS < both < 1.02 * FULL_BPS
    for name in ("ten", "twenty"):
        assert goodput_bps(live["trees"], name) == pytest.approx(
            goodput_bps(simulated["trees"], name), rel=0.1
        )


@pytest.mark.slow
def test_a_spine_sees_the_frames_of_its_vlan_in_their_queue(
    live: dict[str, dict[str, Any]],
) -> None:
    first, second = (queue_bytes(live["trees"], "leaf1", spine) for spine in ("spine1", "spine2"))
    whole_bytes = 50e6 / 8 * live["trees"]["end_ps"] / 1e12
    assert (first["twenty"], second["normal"]) == (0, 0)
    assert 0.8 * whole_bytes < first["normal"] <= whole_bytes
    assert 0.8 * whole_bytes < second["twenty"] <= whole_bytes


@pytest.mark.slow
def test_who_has_one_vlan_is_served_at_its_access_port(live: dict[str, dict[str, Any]]) -> None:
    for arm in ARMS:
        [orders] = [workload for workload in live[arm]["workloads"] if workload["name"] == "orders"]
        assert orders["transactions"] > 20


def test_a_tag_is_seen_on_a_trunk_and_not_at_an_access_port(tmp_path: Path) -> None:
    plan = canonical_json(lower(load_scenario(SCENARIO).arms["trees"], "trees", 1))
    with Lab(plan, tmp_path / "lab") as lab:
        ports = (("leaf1", "h1"), ("leaf1", "h2"))
        for port in ports:
            lab.call("capture", port=port, path=str(tmp_path / port[1]))
        # The trunk of h1 sends in VLAN 10 to the access port of h2, and in VLAN 20 to another
        # trunk.
        for host, vlan in (("h2", 10), ("h3", 20)):
            lab.run(
                Command(
                    f"ping-{vlan}",
                    ["ping", "-c", "3", "-i", "0.01", lab.address(host, vlan)],
                    host="h1",
                ),
                10,
            )
        for port in ports:
            assert lab.call("capture-stop", port=port)["frames"] >= 6
        assert lab.call("counters")["outcome"]["conservation"]["sent"] == 12
    trunk, access = ((tmp_path / name).read_bytes() for name in ("h1", "h2"))
    # The type of a tag, the priority and the VLAN, before the type of IPv4; three frames each way.
    # The switches give frames of VLAN 20 class 3, which they have when they come back.
    counted = {
        tag: trunk.count(bytes.fromhex(f"8100{tag}0800")) for tag in ("000a", "0014", "6014")
    }
    assert counted == {"000a": 6, "0014": 3, "6014": 3}
    assert access.count(bytes.fromhex("8100000a0800")) == 0
