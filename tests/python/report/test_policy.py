"""The policy of each port, drawn and in words."""

import re

from msgspec import convert
from msgspec.structs import replace

from lab import load
from tailrace.plan.types import Plan, PortPolicy
from tailrace.report.charts.port_policy import policy_chart
from tailrace.report.charts.topology import topology_chart
from tailrace.report.policy.ingress import ranges_text
from tailrace.report.policy.interfaces import interface_sentences
from tailrace.report.policy.switch import policy_sentences, switch_sentences
from tailrace.scenario.lowering.plan import lower

LOSSLESS = {
    "queues": {
        "storage": {"share": "50%", "shape": {"max": "4Gbit/s"}, "reserved": "20kB", "qcn": {}},
        "lan": {"aqm": {"kind": "afd", "desired": "150kB", "ecn": True}},
        "fast": {"strict": 1},
    },
    "priorities": {3: "storage", 5: "fast"},
    "pfc": {"priorities": [3], "headroom": "50kB", "xoff": "100kB", "watchdog": {}},
    "police": {"rate": "5Gbit/s", "per_flow": True, "priorities": [0, 1, 2, 4, 5, 6, 7]},
}
RULES = [
    {"dscp": ["ef"], "class": 5},
    {"destination": "db", "protocol": "tcp", "destination_port": 5432, "class": 3},
]


def plan() -> Plan:
    loaded = load(
        policies__lossless=LOSSLESS,
        switches__leaf={"policy": "lossless", "classify": RULES},
        arms={},
    )
    return convert(lower(loaded.arms["base"], "base", 1), Plan)


def texts(drawing: str) -> list[str]:
    return [
        text.replace("\u00a0", " ") for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawing)
    ]


def test_a_drawing_has_classes_queues_thresholds_and_service() -> None:
    shown = texts(str(policy_chart(plan().switches[0].policy)))
    for text in ("storage", "lan", "fast", "0–2,4,6–7", "3", "5", "strict 1", "50 %", "≤ 8 × free"):
        assert text in shown, text
    assert any("AFD marks elephants to keep 150 kB" in text for text in shown)
    assert any("headroom 50 kB" in text for text in shown)
    assert "XOFF 100 kB" in shown
    assert "policer, class 0–2,4–7: each flow 5 Gbit/s" in shown
    assert any("watchdog 200 ms" in text for text in shown)
    assert shown.index("fast") < shown.index("storage")


def test_the_drawing_says_in_words_what_it_shows() -> None:
    policy = plan().switches[0].policy
    drawing = str(policy_chart(policy))
    assert 'role="img"' in drawing
    sentences = policy_sentences(policy)
    assert any("priority 3 pauses its sender above 100 kB" in sentence for sentence in sentences)
    assert any(
        "Policer: each flow in class 0–2, 4–7 is limited to 5 Gbit/s" in sentence
        for sentence in sentences
    )
    assert any("Elephant trap: a flow of more than" in sentence for sentence in sentences)
    assert any(
        "at most 4 Gbit/s" in sentence and "QCN around 26 kB" in sentence for sentence in sentences
    )


def test_ports_with_the_same_policy_share_an_entry() -> None:
    whole = plan()
    [switch] = whole.switches
    own = replace(switch.policy, groups=switch.policy.groups[:1])
    ports = [PortPolicy(towards=name, policy=own) for name in ("db", "bulk")]
    (entry,) = switch_sentences(replace(whole, switches=[replace(switch, port_policies=ports)]))
    assert [policy.where for policy in entry.policies] == ["all other ports", "ports to db, bulk"]
    assert entry.rules == ["DSCP 46 → class 5", "to db, TCP, port 5432 → class 3"]


def test_numbers_in_a_row_are_a_range() -> None:
    assert ranges_text([5, 0, 1, 2]) == "0–2, 5"
    assert ranges_text([]) == ""


NIC_DEFAULTS = {"nic": {"pfc": {"priorities": [3]}}}
RING = {
    "hosts": ["client", "db", "bulk"],
    "switches": ["a", "b", "c"],
    "links": [
        {"between": ends}
        for ends in (
            ["client", "a"],
            ["db", "b"],
            ["bulk", "c"],
            ["a", "b"],
            ["b", "c"],
            ["c", "a"],
        )
    ],
}


def ring() -> Plan:
    loaded = load(
        network=RING,
        policies__lossless={
            "queues": {"all": {}, "san": {}},
            "priorities": {3: "san"},
            "pfc": {"priorities": [3]},
        },
        switches={"defaults": {"policy": "lossless"}},
        hosts={
            "defaults": NIC_DEFAULTS,
            "bulk": {"nic": {"storm": {"priorities": [3], "end": "5ms"}}},
        },
        arms={},
    )
    return convert(lower(loaded.arms["base"], "base", 1), Plan)


def test_the_ports_between_switches_have_the_same_words_at_every_switch() -> None:
    [described] = switch_sentences(ring())
    assert described.names == ["a", "b", "c"]
    assert [policy.where for policy in described.policies] == [
        "ports to hosts",
        "ports to switches",
    ]


def test_the_switches_of_a_ring_do_not_stand_in_line() -> None:
    drawing = str(topology_chart(ring()))
    heights = [float(y) for y in re.findall(r'<svg x="[^"]*" y="([^"]*)" overflow', drawing)]
    assert heights[0] == heights[2] < heights[1] < heights[3]


def test_the_traffic_classes_of_an_interface_are_said() -> None:
    ets = {"tcp": {"priorities": [0, 1], "share": "40%"}, "san": {"priorities": [6], "strict": 1}}
    loaded = load(hosts={"db": {"nic": {"ets": ets}}}, arms={})
    [_, sentence] = sorted(
        interface_sentences(convert(lower(loaded.arms["base"], "base", 1), Plan))
    )
    words = "tcp (priority 0–1, weight 400), san (priority 6, strict, level 1)"
    assert sentence == f"Interfaces of db ignore pauses and send by ETS: {words}."


def test_who_obeys_pauses_and_who_is_broken_is_said() -> None:
    sentences = interface_sentences(ring())
    assert sentences == [
        "Interfaces of all hosts obey pauses of priority 3 within 3.43 µs.",
        "A fault: the interface of bulk sends pauses for priority 3 repeatedly from 0 s to 5 ms.",
    ]
    assert interface_sentences(plan()) == []
