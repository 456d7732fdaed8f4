"""Probes of paths and counters of interfaces: on fabrics, and between namespaces of other
people."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import machine

LIMIT_S = 120
JUMBO = Path(__file__).with_name("jumbo.yaml")


def tailrace(state: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """One command, with its fabrics kept in a folder of the test."""
    return machine.tailrace(*words, limit_s=LIMIT_S, environment={"XDG_STATE_HOME": str(state)})


def probed(state: Path, *words: str, code: int) -> dict[str, Any]:
    """What a probe has found."""
    done = tailrace(state, "measure", "path", *words, "--json")
    assert done.returncode == code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def by_interface(text: str) -> dict[str, dict[str, Any]]:
    """The rows of `show interfaces --json`."""
    return {row["interface"]: row for row in json.loads(text)["interfaces"]}


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A fabric that is up, and leaves the machine as it was; a test puts back what it changes."""
    state, before = tmp_path_factory.mktemp("state"), machine.picture()
    up = tailrace(state, "lab", "up", str(JUMBO))
    try:
        assert up.returncode == 0, up.stderr
        yield state
    finally:
        tailrace(state, "lab", "down")
    assert machine.wait_until_gone(str(state)) == []
    assert machine.picture() == before


def test_a_path_carries_jumbo_frames_until_one_end_is_set_back(fabric: Path) -> None:
    found = probed(fabric, "client", "db", code=0)
    assert [(each["payload_bytes"], each["own_mtu_bytes"]) for each in found["directions"]] == [
        (8_972, 9_000)
    ] * 2
    assert (
        tailrace(
            fabric, "lab", "exec", "db", "--", "ip", "link", "set", "eth0", "mtu", "1500"
        ).returncode
        == 0
    )
    there, back = probed(fabric, "client", "db", code=1)["directions"]
    # A TAP takes what comes, whatever its MTU; its host sends no more than that.
    assert there["payload_bytes"] == 8_972
    assert (back["payload_bytes"], back["cause"], back["own_mtu_bytes"]) == (
        1_472,
        "message-too-long",
        1_500,
    )
    assert (
        tailrace(
            fabric, "lab", "exec", "db", "--", "ip", "link", "set", "eth0", "mtu", "9000"
        ).returncode
        == 0
    )
    assert probed(fabric, "client", "db", code=0)["is_carried"]
    unknown = tailrace(fabric, "measure", "path", "client", "dbs")
    assert (unknown.returncode, "did you mean 'db'?" in unknown.stderr) == (2, True)


def test_interfaces_count_what_passes_them(fabric: Path) -> None:
    before = tailrace(fabric, "show", "interfaces", "--json")
    (fabric / "before.json").write_text(before.stdout, encoding="utf-8")
    ping = tailrace(
        fabric, "lab", "exec", "client", "--", "ping", "-c", "5", "-i", "0.01", "-s", "8000", "db"
    )
    assert " 0% packet loss" in ping.stdout, ping.stderr
    since = tailrace(fabric, "show", "interfaces", "--since", str(fabric / "before.json"), "--json")
    rows = {row["interface"]: row for row in json.loads(since.stdout)["difference"]}
    assert list(rows) == ["client/eth0", "db/eth0", "leaf>client", "leaf>db"]
    assert {(row["rx_frames"], row["tx_frames"]) for row in rows.values()} == {(5, 5)}
    assert {row["rx_overruns"] for row in rows.values()} == {None}
    again = tailrace(
        fabric, "show", "interfaces", "--interval", "50ms", "--count", "3", "--port", "db"
    )
    assert again.stdout.splitlines()[0].split()[:4] == ["Iface", "MTU", "Met", "RX-OK"]
    assert [line.split()[0] for line in again.stdout.splitlines()[1:]] == ["db/eth0"] * 3
    unknown = tailrace(fabric, "show", "interfaces", "--port", "leaf>dbs")
    assert (unknown.returncode, "did you mean 'leaf>db'?" in unknown.stderr) == (2, True)


@pytest.mark.parametrize("kind", ["tap", "bridge"])
def test_a_scenario_is_probed_on_a_fabric_of_its_own(tmp_path: Path, kind: str) -> None:
    before = machine.picture()
    found = probed(tmp_path, str(JUMBO), "client", "db", "--live", "--fabric", kind, code=0)
    assert [each["payload_bytes"] for each in found["directions"]] == [8_972, 8_972]
    assert machine.picture() == before


BLACK_HOLE = ("--set", "switches.leaf.mtu=9000B", "--set", "switches.leaf.port_mtu.db=1500B")


def test_a_port_of_the_built_in_switch_names_itself(tmp_path: Path) -> None:
    there, back = probed(tmp_path, str(JUMBO), "client", "db", "--live", *BLACK_HOLE, code=1)[
        "directions"
    ]
    assert (there["payload_bytes"], there["cause"], there["silent"]["lost"]) == (
        1_472,
        "silent-black-hole",
        30,
    )
    assert (there["where"]["port"], there["where"]["side"], there["where"]["mtu_bytes"]) == (
        "leaf>db",
        "egress",
        1_500,
    )
    assert (back["payload_bytes"], back["where"]["port"], back["where"]["side"]) == (
        1_472,
        "leaf>db",
        "ingress",
    )


def test_a_bridge_that_counts_nothing_has_lost_frames_between_two_interfaces(
    tmp_path: Path,
) -> None:
    words = (str(JUMBO), "client", "db", "--live", "--fabric", "bridge", *BLACK_HOLE)
    there, back = probed(tmp_path, *words, code=1)["directions"]
    # A device of the kernel receives 4 bytes more than its MTU, for a VLAN's tag; some kernels let
    # them out as well.
    assert (there["mtu_bytes"] in (1_500, 1_504), there["cause"]) == (True, "silent-black-hole")
    assert (there["where"]["after"], there["where"]["before"]) == ("leaf>client", "leaf>db")
    assert (back["mtu_bytes"], back["where"]["before"]) == (1_504, "leaf>db")


@pytest.fixture
def namespaces() -> Iterator[tuple[str, str]]:
    """Two network namespaces of other people, joined by a pair of interfaces."""
    names = (f"probe-a-{os.getpid()}", f"probe-b-{os.getpid()}")
    try:
        for name in names:
            ip("netns", "add", name)
        ip(
            "-n",
            names[0],
            "link",
            "add",
            "e0",
            "mtu",
            "9000",
            "type",
            "veth",
            "peer",
            "name",
            "e0",
            "netns",
            names[1],
        )
        for number, name in enumerate(names, 1):
            ip("-n", name, "address", "add", f"10.200.0.{number}/24", "dev", "e0")
            ip("-n", name, "link", "set", "e0", "mtu", "9000", "up")
        yield names
    finally:
        for name in names:
            ip("netns", "del", name)


def ip(*words: str) -> None:
    """One command of iproute2."""
    subprocess.run(["ip", *words], check=True, timeout=LIMIT_S)


def test_an_address_is_probed_from_a_namespace(tmp_path: Path, namespaces: tuple[str, str]) -> None:
    words = ("10.200.0.2", "--netns", namespaces[0])
    [whole] = probed(tmp_path, *words, code=0)["directions"]
    assert (whole["payload_bytes"], whole["own_mtu_bytes"], whole["is_round_trip"]) == (
        8_972,
        9_000,
        True,
    )
    ip("-n", namespaces[1], "link", "set", "e0", "mtu", "1500")
    [less] = probed(tmp_path, *words, code=1)["directions"]
    # A veth interface receives 4 bytes more than its MTU, and its host cuts the reply.
    assert (less["mtu_bytes"], less["cause"]) == (1_504, "silent-black-hole")
    assert (less["silent"]["sent"], less["silent"]["lost"], less["small"]["lost"]) == (30, 30, 0)
    assert less["reply_fragment_bytes"] == 1_500
    assert less["chance_of_ordinary_loss"] < 1e-20


def test_who_does_not_answer_is_told_in_words(tmp_path: Path, namespaces: tuple[str, str]) -> None:
    silent = tailrace(
        tmp_path, "measure", "path", "10.200.0.9", "--netns", namespaces[0], "--tries", "2"
    )
    assert (silent.returncode, "10.200.0.9 does not answer 10.200.0.1" in silent.stderr) == (
        2,
        True,
    )
    none = tailrace(tmp_path, "measure", "path", "10.200.0.2", "--netns", namespaces[0] + "x")
    assert (none.returncode, f"did you mean '{namespaces[0]}'?" in none.stderr) == (2, True)
    away = tailrace(tmp_path, "measure", "path", "10.9.9.9", "--netns", namespaces[0])
    assert (away.returncode, "there is no route to 10.9.9.9" in away.stderr) == (2, True)
    down = tailrace(tmp_path, "measure", "path", "client", "db")
    assert (down.returncode, "no fabric is up" in down.stderr) == (2, True)
