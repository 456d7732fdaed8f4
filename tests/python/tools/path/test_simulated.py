"""Probes of a scenario in the simulator, by the command."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sealing import seal
from tailrace.results.ports.interfaces import COUNTERS

pytestmark = pytest.mark.smoke

JUMBO = """
tailrace: 1
name: jumbo
network:
  link: {rate: 1Gbit/s}
  topology: {kind: star, switch: leaf, hosts: [client, db, other]}
hosts: {defaults: {mtu: 9000B}}
workloads:
  copy: {kind: stream, source: db, destination: client, size: 1MB}
experiment: {duration: 1s, trials: 1}
"""
Program = Callable[..., Any]


@pytest.fixture
def jumbo(workplace: Path) -> Path:
    """A scenario with jumbo frames in the current directory."""
    (workplace / "jumbo.yaml").write_text(JUMBO, encoding="utf-8")
    return workplace


def test_8972_bytes_pass_and_8973_do_not(tailrace: Program, jumbo: Path) -> None:
    ended = tailrace("measure", "path", "jumbo.yaml", "client", "db", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert (found["is_carried"], found["expected_mtu_bytes"], found["how"]) == (
        True,
        9_000,
        "simulated",
    )
    for direction in found["directions"]:
        assert (direction["payload_bytes"], direction["failed_payload_bytes"]) == (8_972, 8_973)
        assert (
            direction["why"] == f"message too long, mtu=9000: the interface of {direction['from']}"
        )


def test_one_end_set_back_is_found_in_the_direction_in_which_it_sends(
    tailrace: Program, jumbo: Path
) -> None:
    ended = tailrace("measure", "path", "jumbo.yaml", "client", "db", "--set", "hosts.db.mtu=1500B")
    assert ended.code == 1
    assert "message too long, mtu=1500: the interface of db" in ended.out
    assert "does not carry packets of 9000 bytes: db to client 1500 (simulated)." in ended.out
    assert tailrace("measure", "path", "jumbo.yaml", "client", "db", "--expect", "9216B").code == 1
    assert tailrace("measure", "path", "jumbo.yaml", "client", "db", "--expect", "1500").code == 0


def test_a_switch_port_set_back_is_a_black_hole_with_a_place(
    tailrace: Program, jumbo: Path
) -> None:
    ends = ("jumbo.yaml", "client", "db", "--set", "switches.leaf.mtu=9000B", "--set")
    ended = tailrace("measure", "path", *ends, "switches.leaf.port_mtu.db=1500B", "--json")
    assert ended.code == 1, ended.err
    there, back = json.loads(ended.out)["directions"]
    assert (there["payload_bytes"], there["cause"], there["silent"]) == (
        1_472,
        "silent-black-hole",
        {"sent": 30, "lost": 30},
    )
    assert (there["where"]["port"], there["where"]["side"], there["where"]["frames"]) == (
        "leaf>db",
        "egress",
        10,
    )
    assert (
        "dropped by leaf, leaving by its port leaf>db, whose MTU is 1500: the port counted 10"
        in there["why"]
    )
    # In the other direction the same port receives.
    assert (back["payload_bytes"], back["where"]["port"], back["where"]["side"]) == (
        1_472,
        "leaf>db",
        "ingress",
    )
    assert tailrace("measure", "path", *ends, "switches.leaf.port_mtu.db=9000B").code == 0


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (
            ("jumbo.yaml", "client", "dbs"),
            "jumbo.yaml has no host 'dbs' (hint: did you mean 'db'?)",
        ),
        (("jumbo.yaml", "db", "db"), "a path has two ends; 'db' was named twice"),
        (("jumbo.yaml", "client", "leaf"), "jumbo.yaml has no host 'leaf'"),
        (
            ("jumbo.yaml", "client", "db", "--expect", "12"),
            "'12' is not an MTU of 576 to 65535 bytes",
        ),
        (("jumbo.yaml", "client", "db", "--netns", "a"), "--netns does not belong to this form"),
        (
            ("jumbo.yaml", "client", "db", "--live", "--exact"),
            "--live and --exact exclude each other",
        ),
        (
            ("jumbo.yaml", "client", "db", "--live", "--fabric", "token-ring"),
            "there is no fabric 'token-ring'",
        ),
        (("jumbo.yaml", "client", "db", "--arm", "fast"), "there is no arm 'fast'"),
        (("none.yaml", "client", "db"), "none.yaml: the file does not exist"),
        (("jumbo.yaml", "none.yaml", "client", "db"), "none.yaml: the file does not exist"),
        (("jumbo.yaml",), "jumbo.yaml: of a scenario, two hosts are probed (hint: SCENARIO A B)"),
        (
            ("jumbo.yaml", "db"),
            "jumbo.yaml: of a scenario, two hosts are probed (hint: SCENARIO A B)",
        ),
        (("a", "b", "--live"), "--live does not belong to this form"),
    ],
)
def test_wrong_use_is_told_in_words(
    tailrace: Program, jumbo: Path, arguments: tuple[str, ...], what: str
) -> None:
    ended = tailrace("measure", "path", *arguments)
    assert (ended.code, what in ended.err) == (2, True), ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("engine", ["--live", "--exact"])
@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ("hypervisors.leaf.cores=4", "hypervisors.leaf: {} runs do not have virtual machines"),
        ("hosts.db.nic.bond=layer3+4", "hosts.db.nic.bond: hosts of {} runs have one interface"),
        (
            "network.framing.header=22B",
            "network.framing: frames of {} runs have the sizes of Ethernet",
        ),
    ],
)
def test_networks_that_real_kernels_do_not_have_are_refused(
    tailrace: Program, jumbo: Path, engine: str, setting: str, what: str
) -> None:
    second = ("--set", "network.links=[{between: [db, spare]}, {between: [spare, leaf]}]")
    extra = (*second, "--set", "network.switches=[spare]") if "bond" in setting else ()
    cores = (
        ("--set", "hosts.defaults.cpu={cores: 1, profile: linux-kernel}")
        if "hypervisors" in setting
        else ()
    )
    ended = tailrace(
        "measure", "path", "jumbo.yaml", "client", "db", engine, "--set", setting, *extra, *cores
    )
    assert (ended.code, what.format(engine.removeprefix("--")) in ended.err) == (2, True), ended.err


def test_more_hosts_than_kernels_are_refused(tailrace: Program, jumbo: Path) -> None:
    many = (
        "--set",
        "network.topology={kind: star, hosts: 300}",
        "--set",
        "workloads.copy={kind: stream, source: h1, destination: h2}",
    )
    ended = tailrace("measure", "path", "jumbo.yaml", "h1", "h300", "--exact", *many)
    assert (
        ended.code,
        "it has 300 hosts, each of which would be a kernel of its own" in ended.err,
    ) == (2, True)


def test_the_interfaces_of_a_run_are_shown_as_netstat_does(tailrace: Program, jumbo: Path) -> None:
    assert tailrace("run", "jumbo.yaml", "--out", "out").code == 0
    shown = tailrace("show", "interfaces", "out")
    lines = [line.split() for line in shown.out.splitlines()]
    assert (
        " ".join(lines[0])
        == "Iface MTU Met RX-OK RX-ERR RX-DRP RX-OVR TX-OK TX-ERR TX-DRP TX-OVR Flg"
    )
    assert [line[0] for line in lines[1:]] == [
        *("client/eth0", "db/eth0", "other/eth0"),
        *("leaf>client", "leaf>db", "leaf>other"),
    ]
    rows = {
        row["interface"]: row
        for row in json.loads(tailrace("show", "interfaces", "out", "--json").out)["interfaces"]
    }
    # Nothing is lost: what one end sends, the other receives.
    assert (
        rows["db/eth0"]["tx_frames"]
        == rows["leaf>db"]["rx_frames"]
        == rows["leaf>client"]["tx_frames"]
        > 100
    )
    assert rows["client/eth0"]["rx_frames"] == rows["leaf>client"]["tx_frames"]
    # The run ends with the last byte: the acknowledgement of it may still be on the wire.
    assert rows["client/eth0"]["tx_frames"] - rows["leaf>client"]["rx_frames"] in (0, 1)
    assert rows["leaf>client"]["rx_frames"] > 10
    assert rows["leaf>other"]["rx_frames"] == rows["leaf>other"]["tx_frames"] == 0
    assert lines[1][4:7] == ["-", "-", "0"]
    assert len(tailrace("show", "interfaces", "out", "--port", "leaf").out.splitlines()) == 4


def test_interfaces_of_a_simulated_run_are_shown_over_time(tailrace: Program, jumbo: Path) -> None:
    options = ("--set", "observe.interfaces=2ms", "--out", "out")
    assert tailrace("run", "jumbo.yaml", *options).code == 0
    shown = tailrace(
        "show", "interfaces", "out", "--interval", "2ms", "--count", "3", "--port", "leaf>client"
    )
    lines = [line.split() for line in shown.out.splitlines()]
    assert [line[0] for line in lines] == ["Iface", *["leaf>client"] * 3]
    counted = [int(line[7]) for line in lines[1:]]
    assert counted == sorted(counted)
    assert counted[-1] > counted[0]
    assert lines[1][5] == "-"
    read = [
        json.loads(line)
        for line in tailrace(
            "show", "interfaces", "out", "--interval", "4ms", "--json"
        ).out.splitlines()
    ]
    assert [each["time_s"] for each in read[:2]] == [0.004, 0.008]
    for interval in ("3us", "3ms"):
        less = tailrace("show", "interfaces", "out", "--interval", interval)
        assert (less.code, f"{interval} is no multiple of observe.interfaces, 2ms" in less.err) == (
            2,
            True,
        )
    none = tailrace("show", "interfaces", "out", "--interval", "5s")
    assert (none.code, "has no reading at a multiple of 5s" in none.err) == (2, True)
    assert tailrace("run", "jumbo.yaml", "--out", "without").code == 0
    without = tailrace("show", "interfaces", "without", "--interval", "1s")
    assert (without.code, "observe.interfaces=1s" in without.err) == (2, True)
    manifest = Path("without/manifest.json")
    for engine in ("exact", "live"):
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"engine": engine}))
        seal(manifest)
        refused = tailrace("show", "interfaces", "without", "--interval", "1s")
        assert (refused.code, f"{engine} runs count interfaces once" in refused.err) == (2, True)


def test_readings_of_the_warm_up_are_left_out(tailrace: Program, jumbo: Path) -> None:
    options = ("--set", "observe.interfaces=2ms", "--set", "experiment.warm_up=4ms", "--out", "out")
    assert tailrace("run", "jumbo.yaml", *options).code == 0
    shown = tailrace("show", "interfaces", "out", "--interval", "2ms", "--json")
    readings = [json.loads(line) for line in shown.out.splitlines()]
    assert readings[0]["time_s"] == 0.006
    sent = [reading["interfaces"][1]["tx_frames"] for reading in readings]
    assert sent == sorted(sent)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("queues",), "show queues needs a run directory"),
        (("queues", "out", "--interval", "1s"), "belong to `show interfaces`"),
        (("interfaces", "out", "--since", "x"), "--since is for a fabric that is up"),
        (("interfaces", "--count", "3"), "--count needs --interval"),
        (("interfaces", "--trial", "2"), "--arm and --trial are for a run directory"),
        (("interfaces", "none"), "manifest.json"),
        (("interfaces", "--since", "words.json"), "it is not what `show interfaces --json` prints"),
        (("interfaces", "--interval", "1us"), "shorter than 10ms"),
    ],
)
def test_options_that_do_not_belong_together(
    tailrace: Program, jumbo: Path, arguments: tuple[str, ...], what: str
) -> None:
    row = dict.fromkeys(("node", "towards", "name", "mtu_bytes", *COUNTERS, "flags")) | {
        "rx_frames": "many"
    }
    (jumbo / "words.json").write_text(json.dumps({"interfaces": [row]}), encoding="utf-8")
    ended = tailrace("show", *arguments)
    assert (ended.code, what in ended.err) == (2, True), ended.err
