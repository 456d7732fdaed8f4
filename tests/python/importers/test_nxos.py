"""NX-OS as it is printed and as it is shown by a switch: what becomes of every line."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from counts import cases
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.nxos.parse import HEADS
from tailrace.importers.remarks import Remarks

HERE = Path(__file__).parent
# Cisco C11-738425, page 5, as the document's text has it: one line.
PRINTED = (
    "Switch Configuration The following configurations were used to set up DPP on the switch: "
    "switchname Lacrosse-1 class-map type network-qos c-8q class-map type network-qos c-8q-nq "
    "policy-map type network-qos c-8q class type network-qos c-8q-nq-default dpp set-qos-group 7 "
    "mtu 1500 policy-map type network-qos dpp-nwqos class type network-qos c-8q-nq-default dpp "
    "set-qos-group 7 mtu 1500 hardware qos dynamic-packet-prioritization max-num-pkts 20"
)
SAID = "The maximum transmission unit (MTU) size was set to 9000 for all servers and switch ports."
BROKEN = """switchname Lacrosse-1
class-map type network-qos c-8q
class-map type network-qos c-8q-nq
policy-map type network-qos c-8q
  class type network-qos c-8q-nq-default
    dpp set-qos-group 7
    mtu 1500
policy-map type network-qos dpp-nwqos
  class type network-qos c-8q-nq-default
    dpp set-qos-group 7
    mtu 1500
hardware qos dynamic-packet-prioritization max-num-pkts 20
"""
FABRIC = (HERE / "fabric.nxos").read_text()


def verdicts(remarks: Remarks, verdict: str) -> dict[int, str]:
    return {remark.line: remark.words for remark in remarks.found if remark.verdict == verdict}


@pytest.mark.parametrize("text", [PRINTED, BROKEN], ids=["one line", "lines"])
def test_the_policy_of_the_paper_becomes_the_running_policy(text: str) -> None:
    section, _ = import_nxos(text)
    policies, switch = section.models()
    policy = policies[switch.policy]
    assert section.switch_name == "Lacrosse-1"
    assert section.mtu_bytes == 1500
    assert policy.dpp is not None
    assert (policy.dpp.max_packets, policy.dpp.express, policy.dpp.priorities) == (20, "q7", [0])
    assert policy.queues["q7"].strict == 1
    assert policy.queue_of(0) == "q-default"
    assert policy.queues["q-default"].limit.amount == 14_000


def test_lines_that_were_run_together_are_taken_apart_and_prose_is_not_guessed_at() -> None:
    _, remarks = import_nxos(PRINTED)
    assert remarks.count("understood") == 8
    assert [r.text for r in remarks.found if r.verdict == "not-understood"] == [
        "Switch Configuration The following configurations were used to",
        "DPP on the switch:",
    ]
    _, prose = import_nxos("we match class and set mtu 1500 on the system qos priority level 3")
    assert prose.count("understood") == 0


def test_an_mtu_of_9000_contradicts_mtu_1500() -> None:
    _, remarks = import_nxos(f"{SAID}\n{BROKEN}")
    found = verdicts(remarks, "contradiction")
    assert found == {
        1: "the MTU is 9000 on this line but 1500 on line 8",
        8: "the MTU is 1500 on this line but 9000 on line 1",
        12: "the MTU is 1500 on this line but 9000 on line 1",
    }
    _, remarks = import_nxos(BROKEN, {"db1": 9000})
    (words,) = verdicts(remarks, "contradiction").values()
    assert "hosts.db1 of the scenario has an MTU of 9000 bytes" in words
    _, remarks = import_nxos(BROKEN + "interface Ethernet1/1\n  mtu 9216\nsystem jumbomtu 9000\n")
    assert set(verdicts(remarks, "contradiction")) == {7, 11, 14}


def test_a_whole_configuration_is_understood() -> None:
    section, remarks = import_nxos(FABRIC)
    assert [
        r
        for r in remarks.data()
        if r["verdict"] in ("not-modelled", "not-understood", "contradiction")
    ] == []
    assert section.class_mtus == {0: 9216, 3: 2158}
    policies, switch = section.models()
    policy = policies["fabric-out"]
    assert list(policy.queues) == ["q7", "q3", "q1", "q-default"]
    assert policy.queues["q7"].strict == 1
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3]
    assert policy.pfc.thresholds(3).headroom == 60_000
    assert policy.pfc.watchdog is not None
    assert policy.etrap is not None
    assert policy.etrap.periods_ps() == (20_000_000, 10_000_000)
    assert policy.police is not None
    assert policy.police.rate == 5 * 10**9
    said = [rule.model_dump(by_alias=True, exclude_none=True) for rule in switch.classify]
    assert said == [
        {"class": 3, "dscp": [26]},
        {"class": 1, "protocol": "tcp", "source_port": (3260, 3260)},
        {"class": 1, "protocol": "tcp", "destination_port": (3260, 3260)},
        {"class": 0, "pcp": list(range(8))},
    ]


@pytest.mark.parametrize(
    ("line", "verdict", "words"),
    [
        ("random-detect threshold burst-optimized ecn", "not-modelled", "queues.NAME.aqm"),
        ("hardware qos ns-buffer-profile mesh", "not-modelled", "network security"),
        ("no hardware qos dynamic-packet-prioritization", "not-modelled", "disables a mechanism"),
        ("spanning-tree vlan 10 priority 4096", "not-modelled", "network.spanning_tree"),
        ("feature bgp", "no-effect", "management"),
        ("frobnicate 7", "not-understood", "unknown command"),
        ("match cos 3", "not-understood", "outside of a map"),
        (
            "hardware qos dynamic-packet-prioritization age-period 5 msec",
            "no-effect",
            "no class has dpp",
        ),
    ],
)
def test_a_line_that_goes_nowhere_says_what_it_would_have_meant(
    line: str, verdict: str, words: str
) -> None:
    _, remarks = import_nxos(f"hostname x\n{line}\n")
    (remark,) = (remark for remark in remarks.found if remark.line == 2)
    assert (remark.verdict, words in remark.words) == (verdict, True), remark


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("priority level 1\n bandwidth percent 30", "its share is omitted"),
        ("bandwidth percent 30\n bandwidth percent 40", "the later line takes precedence"),
        (
            "afd queue-desired 150 kbytes\n random-detect minimum-threshold 1 kbytes "
            "maximum-threshold 2 kbytes",
            "has afd",
        ),
        (
            "random-detect minimum-threshold 9 kbytes maximum-threshold 2 kbytes",
            "minimum is above the maximum",
        ),
        ("dynamic", ""),
    ],
)
def test_lines_that_contradict_each_other_are_pointed_out(action: str, words: str) -> None:
    _, remarks = import_nxos(
        f"policy-map type queuing p\n class type queuing c-out-8q-q1\n {action}\n"
    )
    found = verdicts(remarks, "contradiction")
    assert any(words in text for text in found.values()) == bool(words), remarks.found


def test_a_port_has_one_kind_of_pause() -> None:
    section, remarks = import_nxos(FABRIC + "interface Ethernet1/2\n  flowcontrol receive on\n")
    assert ["pfc" in policy for policy in section.policies.values()] == [True]
    assert any(
        "can have only one of the two" in words
        for words in verdicts(remarks, "contradiction").values()
    )


def test_dpp_to_a_queue_without_priority_is_a_contradiction() -> None:
    queuing = (
        "policy-map type queuing out\n class type queuing c-out-8q-q7\n  bandwidth remaining "
        "percent 10\n"
    )
    _, remarks = import_nxos(BROKEN + queuing)
    assert any(
        "dpp needs a strict-priority queue" in words
        for words in verdicts(remarks, "contradiction").values()
    )


VOCABULARY = """
    type qos queuing network-qos control-plane match-any c-out-8q-q-default c-out-8q-q3 x c-8q-nq3
    class-default cos dscp qos-group access-group name ip access-list permit tcp any eq range 0 3 7 9 100
    99999999999999 0-7 7-0 3,4 ef percent remaining level min max gbps kbytes ms packets dynamic
    minimum-threshold ecn maximum-threshold drop-probability weight queue-desired cir bc conform transmit
    drop set-qos-group pfc-cos buffer-size pause-threshold resume-threshold receive max-num-pkts
    dynamic-packet-prioritization etrap age-period usec byte-count profile mesh jumbomtu mode on off
    watch-dog-interval watch-dog interval shutdown-multiplier input output ! \x00
"""  # noqa: E501
WORDS = [
    *sorted(HEADS),
    *VOCABULARY.split(),
    "! tailrace name c-out-8q-q3 y",
    "mtu 9000",
    "\x00",
    "é",
    "²",
]
lines = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
pieces = st.sampled_from([*FABRIC.splitlines(), *BROKEN.splitlines()])


@settings(max_examples=cases(300, 80))
@given(text=st.lists(lines | pieces, max_size=40).map("\n".join) | st.text())
@example("policy-map type queuing p\nclass type queuing c-out-8q-q1\nshape")
@example("class class-default\nset qos-group 9")
def test_any_text_has_a_remark_for_every_line(text: str) -> None:
    section, remarks = import_nxos(text, {"db": 9000})
    section.text("any")
    remarks.text("any")
    told = {remark.line for remark in remarks.found}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.strip().startswith(("!", "#")):
            assert number in told, line
