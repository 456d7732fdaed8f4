"""Import, export and show, as a user types them."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from fake_bridging import add_bridging
from fake_run import FakeRun, change_plan
from lab import sound
from tailrace.cli import main

HERE = Path(__file__).parent
NXOS = HERE.parent / "importers" / "fabric.nxos"
# Cisco-NX-OS-device.yang, grouping ipqos_QueuingStats: what the vendor counts for a queue and a
# port.
NX_OS_COUNTERS = {
    "dropPackets",
    "dropBytes",
    "txPackets",
    "txBytes",
    "currQueueDepth",
    "maxQueueDepth",
    "ingQDropPackets",
    "ingQDepthBytes",
    "randDropPackets",
    "randDropBytes",
    "randEcnMarkedPackets",
    "pfcTxPpp",
    "pfcRxPpp",
    "pfcwdShutdownCount",
    "pfcwdRestoredCount",
    "pfcwdFlushedPackets",
}
SONIC = HERE.parent / "importers" / "config_db.json"
Program = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tailrace(
    workplace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    """The program, in an empty folder with a scenario."""
    (workplace / "lab.yaml").write_text(json.dumps(sound()), encoding="utf-8")

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tailrace", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        seen = capsys.readouterr()
        assert "Traceback" not in seen.out + seen.err
        return int(end.value.code or 0), seen.out, seen.err

    return run


@pytest.mark.parametrize(
    ("vendor", "file", "name"), [("nxos", NXOS, "leaf-101"), ("sonic", SONIC, "leaf-1")]
)
def test_a_configuration_becomes_a_switch_section(
    tailrace: Program, vendor: str, file: Path, name: str
) -> None:
    code, out, err = tailrace("import", vendor, file)
    section = YAML(typ="safe").load(out)
    assert code == 0
    assert set(section) == {"policies", "switches"}
    assert section["switches"][name]["policy"] in section["policies"]
    assert err.splitlines()[-1].startswith(f"{file}: ")


# Cisco C11-738425, page 5: the document's text has it in one line.
PAPER = (
    "used to set up DPP on the switch: switchname Lacrosse-1 policy-map type network-qos dpp-nwqos "
    "class type network-qos c-8q-nq-default dpp set-qos-group 7 mtu 1500 hardware qos "
    "dynamic-packet-prioritization max-num-pkts 20"
)


@pytest.mark.parametrize(
    ("vendor", "text", "switch"),
    [
        ("nxos", NXOS.read_text(), "leaf-101"),
        ("nxos", PAPER, "Lacrosse-1"),
        ("sonic", SONIC.read_text(), "leaf-1"),
    ],
    ids=["nxos", "paper", "sonic"],
)
def test_an_imported_section_makes_a_sound_scenario(
    tailrace: Program, workplace: Path, vendor: str, text: str, switch: str
) -> None:
    (workplace / "switch.cfg").write_text(text)
    _, out, _ = tailrace("import", vendor, "switch.cfg")
    scenario: dict[str, Any] = sound(network__topology__switch=switch, arms={}) | YAML(
        typ="safe"
    ).load(out)
    (workplace / "whole.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    code, out, err = tailrace("check", "whole.yaml")
    # A section has rules for more traffic than two workloads have.
    others = [
        line
        for line in err.splitlines()
        if "no frames of a workload meet this rule first" not in line
    ]
    assert (code, others) == (0, [])


def test_strict_fails_where_a_line_is_not_understood(tailrace: Program, workplace: Path) -> None:
    (workplace / "odd.cfg").write_text("hostname x\nfrobnicate 7\nfeature vpc\n")
    code, _, err = tailrace("import", "nxos", "odd.cfg", "--strict")
    assert code == 1
    assert "odd.cfg:2: NOT UNDERSTOOD: 'frobnicate 7'" in err
    assert tailrace("import", "nxos", NXOS, "--strict")[0] == 0


def test_the_hosts_of_a_scenario_are_compared(tailrace: Program, workplace: Path) -> None:
    (workplace / "jumbo.yaml").write_text(json.dumps(sound(hosts={"db": {"mtu": "9000B"}})))
    (workplace / "small.cfg").write_text(
        "policy-map type network-qos p\n class type network-qos class-default\n  mtu 1500"
    )
    _, _, err = tailrace("import", "nxos", "small.cfg", "--scenario", "jumbo.yaml")
    assert "CONTRADICTION: 'mtu 1500' hosts.db of the scenario has an MTU of 9000 bytes" in err


def test_remarks_are_there_for_programs_too(tailrace: Program) -> None:
    _, out, _ = tailrace("import", "nxos", NXOS, "--json")
    found = json.loads(out)
    assert {"line", "text", "verdict", "words"} == set(found["remarks"][0])
    assert found["mtu_bytes"] == 9216


@pytest.mark.parametrize("vendor", ["nxos", "sonic"])
def test_what_is_written_is_read_again(tailrace: Program, workplace: Path, vendor: str) -> None:
    code, _, err = tailrace("export", vendor, "lab.yaml", "--arm", "dpp", "--out", "out.cfg")
    assert code == 0
    assert "wrote out.cfg" in err
    code, _, err = tailrace("import", vendor, "out.cfg", "--strict")
    # SONiC has no words for DPP: what is left is a queue that nothing comes into, which is left
    # out.
    assert code == 0
    assert ("no traffic class is mapped to queue 7" in err) == (vendor == "sonic")
    assert tailrace("export", vendor, "lab.yaml", "--out", "out.cfg")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("import", "nxos", "none.cfg"), "none.cfg: cannot read it"),
        (("import", "sonic", "lab.yaml"), "NOT UNDERSTOOD"),
        (("import", "sonic", str(NXOS)), "this is Cisco NX-OS"),
        (("export", "nxos", "lab.yaml", "--switch", "leav"), "did you mean 'leaf'?"),
        (("export", "nxos", "lab.yaml", "--arm", "dp"), "did you mean 'dpp'?"),
        (("show", "queues", "lab.yaml"), "lab.yaml"),
    ],
)
def test_what_is_wrong_is_said_in_words(
    tailrace: Program, arguments: tuple[str, ...], words: str
) -> None:
    _, _, err = tailrace(*arguments)
    assert words in err


def test_counters_have_the_layout_and_the_names_of_the_switch(
    tailrace: Program, workplace: Path
) -> None:
    path = FakeRun(trials=1, with_solo=False).write(workplace / "run")
    add_bridging(path)
    code, out, _ = tailrace("show", "queues", path, "--arm", "dpp", "--port", "leaf1>client")
    assert code == 0
    for words in (
        "Egress Queuing for leaf1>client",
        "Tail Drop Pkts",
        "WRED/AFD Drop Pkts",
        "Ingress Queuing for leaf1>client",
        "TxPPP:                    5,   RxPPP:                    4",
        "Watch-dog: 1 shutdowns, 1 restores",
        "ETRAP: 12 elephants detected, 2 % of the bytes, 11 evicted",
    ):
        assert words in out
    _, out, _ = tailrace("show", "queues", path, "--arm", "dpp", "--json")
    (port,) = json.loads(out)["ports"]
    queue = port["queues"][1]
    assert (queue["randDropPackets"], queue["pfcwdFlushedPackets"], queue["cnmTx"]) == (5, 6, 9)
    assert (
        port["pfc"]["pfcTxPpp"],
        port["pfc"]["pfcRxPpp"],
        port["pfc"]["pfcwdShutdownCount"],
    ) == (5, 4, 1)
    assert port["ingress"][0]["priorities"] == [3]


def test_dynamic_limits_are_shown_in_the_numbers_of_the_vendor(
    tailrace: Program, workplace: Path
) -> None:
    path = FakeRun(trials=1, with_solo=False).write(workplace / "run")
    add_bridging(path)
    port = ("--arm", "dpp", "--port", "leaf1>client")
    _, out, _ = tailrace("show", "queues", path, *port)
    assert "dynamic 9" in out
    assert "14(D)" not in out
    plan = path / "plans" / "dpp.json"
    change_plan(
        path, "dpp", switches=json.loads(plan.read_text().replace("14000", "8000"))["switches"]
    )
    scenario = path / "scenario.yaml"
    scenario.write_text(
        "policies: {p: {queues: {q: {limit: dynamic(sonic:3)}}}}\n", encoding="utf-8"
    )
    assert "dynamic_th 3" in tailrace("show", "queues", path, *port)[1]
    scenario.write_text(
        "policies: {p: {queues: {q: {limit: 'dynamic( nxos:8 )'}}}}\n", encoding="utf-8"
    )
    assert "dynamic 8" in tailrace("show", "queues", path, *port)[1]
    plan.write_text(plan.read_text().replace("8000", "7500"))
    assert "7.5(D)" in tailrace("show", "queues", path, *port)[1]


def test_every_counter_of_the_switch_is_there(tailrace: Program, workplace: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(workplace / "run")
    add_bridging(path)
    _, out, _ = tailrace("show", "queues", path, "--arm", "dpp", "--json")
    (port,) = json.loads(out)["ports"]
    there = {**port["queues"][1], **port["ingress"][0], **port["pfc"]}
    assert sorted(NX_OS_COUNTERS - set(there)) == []
    assert (there["currQueueDepth"], there["ingQDepthBytes"], there["pfcwdRestoredCount"]) == (
        4096,
        81_000,
        1,
    )


def test_what_no_queue_has_seen_is_shown_for_the_switch(tailrace: Program, workplace: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(workplace / "run")
    add_bridging(path)
    _, out, _ = tailrace("show", "queues", path, "--arm", "dpp", "--port", "leaf1>client")
    told = out.partition("Dropped before queueing")[2].split()
    assert [word for word in told if "-" not in word][-4:] == ["leaf1", "policed", "70", "70000"]
    _, out, _ = tailrace("show", "queues", path, "--arm", "dpp", "--json")
    assert json.loads(out)["switches"][0]["earlyDrops"] == {
        "policed": {"dropPackets": 70, "dropBytes": 70_000}
    }


def test_runs_without_these_counters_are_shown_all_the_same(
    tailrace: Program, workplace: Path
) -> None:
    path = FakeRun(trials=1, with_solo=False).write(workplace / "run")
    code, out, _ = tailrace("show", "queues", path)
    assert (code, "PFC Statistics" in out, "Tx Pkts" in out) == (0, False, True)
    code, _, err = tailrace("show", "queues", path, "--trial", "7")
    assert (code, "trials with counters of 'fifo': 1" in err) == (2, True)
    code, _, err = tailrace("show", "queues", path, "--port", "leaf1>cliend")
    assert (code, "did you mean 'leaf1>client'?" in err) == (2, True)


def test_of_a_partial_run_the_first_arm_with_the_trial_is_shown(
    tailrace: Program, workplace: Path
) -> None:
    path = FakeRun(
        trials=2, with_solo=False, missing={("fifo", 1), ("fifo", 2)}, failed={("dpp", 2)}
    ).write(workplace / "run")
    code, out, _ = tailrace("show", "queues", path, "--json")
    assert (code, json.loads(out)["arm"]) == (0, "dpp")
    _, _, err = tailrace("show", "queues", path, "--arm", "fifo")
    assert "there is no trial 1 of 'fifo' (hint: arms with counters: dpp)" in err
    _, _, err = tailrace("show", "queues", path, "--arm", "dpp", "--trial", "2")
    assert "trial 2 of 'dpp' has no counters: failed, " in err
    assert err.rstrip().endswith("(hint: trials with counters of 'dpp': 1)")


SPEEDS = """hostname leaf7
policy-map type queuing fast
  class type queuing c-out-8q-q1
    priority level 1
policy-map type queuing slow
  class type queuing c-out-8q-q1
    bandwidth remaining percent 10
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 90
system qos
  service-policy type queuing output fast
interface Ethernet1/1
  description to db1
  speed 25000
  service-policy type queuing output slow
interface Ethernet1/2
  speed 10000
interface Ethernet1/3
  speed auto
  service-policy type queuing output slow
"""


def test_the_speed_of_a_port_is_the_rate_of_its_link(tailrace: Program) -> None:
    Path("leaf.cfg").write_text(SPEEDS, encoding="utf-8")
    _, out, err = tailrace("import", "nxos", "leaf.cfg", "--verbose")
    assert "# Ethernet1/1 has 25Gbit/s: set network.link.rate, or rate of single links" in out
    assert "# Ethernet1/2 has 10Gbit/s" in out
    assert "understood: 'speed 25000' rate of the port: set rate: 25Gbit/s for its link" in err
    assert "no effect on queues: 'speed auto' the port negotiates its rate" in err
    _, out, _ = tailrace("import", "nxos", "leaf.cfg", "--json")
    assert json.loads(out)["port_rate_bps"] == {"Ethernet1/1": 25 * 10**9, "Ethernet1/2": 10**10}


def test_a_section_has_the_name_that_is_asked_for(tailrace: Program) -> None:
    Path("leaf.cfg").write_text(SPEEDS, encoding="utf-8")
    _, out, err = tailrace("import", "nxos", "leaf.cfg", "--name", "tuned", "--verbose")
    section = YAML(typ="safe").load(out)
    assert set(section["policies"]) == {"tuned-fast", "tuned-slow"}
    assert section["switches"] == {
        "tuned": {"policy": "tuned-fast", "ports": {"db1": "tuned-slow"}}
    }
    assert "'hostname leaf7' switches.tuned" in err
    assert "write switches.tuned.ports: {NEIGHBOUR: tuned-slow}" in err
    _, out, _ = tailrace("import", "sonic", SONIC, "--name", "tuned")
    section = YAML(typ="safe").load(out)
    assert list(section["switches"]) == ["tuned"]
    assert section["switches"]["tuned"]["policy"] in section["policies"]


@pytest.mark.parametrize(
    ("name", "why"),
    [("a b", "is not a valid name"), ("db1", "a neighbour of the switch is called 'db1'")],
)
def test_a_name_that_a_switch_cannot_have_is_refused(
    tailrace: Program, name: str, why: str
) -> None:
    Path("leaf.cfg").write_text(SPEEDS, encoding="utf-8")
    code, out, err = tailrace("import", "nxos", "leaf.cfg", "--name", name)
    assert (code, out) == (2, "")
    assert why in err
