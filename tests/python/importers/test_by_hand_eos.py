"""Ten EOS configurations, read by a person: what each means, value by value."""

from typing import Any

import pytest

from importers.eos_files import FILES
from tailrace.importers.eos.importer import import_eos
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section
from tailrace.scenario.policies.switch import Policy, Switch

OWN = {f"q{n}": 8 - n for n in range(8)}
"""Strict levels by default: queue 7 first."""
BY_PRIORITY = [(0, [1]), (1, [0]), *((tc, [tc]) for tc in range(2, 8))]


def read(name: str) -> tuple[Policy, Switch, Section, Remarks]:
    """The policy of the switch, the switch, the section and the remarks."""
    section, remarks = import_eos(FILES[name])
    assert section.is_sound, remarks.found
    assert remarks.count("not-understood") == 0, remarks.found
    policies, switch = section.models()
    return policies[switch.policy], switch, section, remarks


def strict(policy: Policy) -> dict[str, int]:
    """Levels of strict queues."""
    return {name: queue.strict for name, queue in policy.queues.items() if queue.strict is not None}


def shares(policy: Policy) -> dict[str, float]:
    """Percent of each weighted queue."""
    return {name: round(part / 10**7, 3) for name, part in policy.shares().items()}


def aqm(section: Section, queue: str) -> Any:
    """Queue management as it is written."""
    return section.policies[section.switch["policy"]]["queues"][queue].get("aqm")


def classes(switch: Switch, key: str) -> list[tuple[int, list[int]]]:
    """Class and values of each rule of one kind."""
    return [
        (rule.class_, getattr(rule, key))
        for rule in switch.classify
        if getattr(rule, key) is not None
    ]


def test_a_session_with_a_profile_for_rdma() -> None:
    policy, switch, section, remarks = read("session")
    # Queues 0 and 2 are below a round-robin queue, and the percentages leave them nothing but the
    # least share.
    assert shares(policy) == {"q0": 0.1, "q1": 10.0, "q2": 0.1, "q3": 89.8}
    assert strict(policy) == {name: level for name, level in OWN.items() if name >= "q4"}
    assert aqm(section, "q3") == {
        "kind": "red",
        "minimum": "250kB",
        "maximum": "500kB",
        "probability": "100%",
        "weight_exponent": 0,
        "ecn": True,
    }
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3]
    # A routed port trusts code points: 24 to 31 are class 3 by default.
    assert classes(switch, "dscp")[3] == (3, list(range(24, 32)))
    assert section.switch["mtu"] == "9214B"
    assert remarks.is_complete, remarks.found


def test_segments_have_no_size_and_are_told() -> None:
    policy, _, section, remarks = read("segments")
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3]
    assert aqm(section, "q3") is None
    assert section.port_rates == {"Ethernet2/5/1": 200 * 10**9}
    (told,) = (remark for remark in remarks.found if "segments" in remark.text)
    assert told.verdict == "not-modelled"


def test_classes_of_a_policy_map() -> None:
    policy, switch, _, _ = read("policy-map")
    assert classes(switch, "dscp") == [(3, [24]), (5, [48])]
    assert classes(switch, "pcp") == [(0, list(range(8)))]
    assert strict(policy) == OWN


def test_maps_shapes_and_ports_that_differ() -> None:
    policy, switch, section, _ = read("maps")
    assert section.switch_name == "leaf2"
    by_class = dict(classes(switch, "dscp"))
    assert by_class[3] == [24, 25, 26, 27, 28, 29, 30, 31]
    assert by_class[2] == [*range(8, 24), 40, 41]
    assert 48 in by_class[6]
    assert 0 not in by_class
    # Class 5 shares queue 3, so that no class has queue 5.
    assert [policy.queue_of(tc) for tc in range(8)] == [
        "q0",
        "q1",
        "q2",
        "q3",
        "q4",
        "q3",
        "q6",
        "q7",
    ]
    # Two of four round-robin queues state 90 percent; the others have equal parts of the rest.
    assert shares(policy) == {"q0": 5.0, "q1": 5.0, "q2": 30.0, "q3": 60.0}
    assert section.policies["eos"]["queues"]["q6"]["shape"] == {"max": "4Gbit/s"}
    assert switch.ports == {"db2": "eos-1"}
    assert (section.switch["mtu"], section.switch["port_mtu"]) == ("9000B", {"db2": "1500B"})
    assert section.port_rates == {"Ethernet1": 25 * 10**9, "Ethernet2": 10 * 10**9}


def test_priorities_of_tagged_frames_and_of_pauses() -> None:
    policy, switch, _, remarks = read("cos")
    # 0 is class 1 by default; 1 and 2 are mapped to class 4.
    assert classes(switch, "pcp") == [
        (1, [0]),
        (3, [3]),
        (4, [1, 2, 4]),
        (5, [5]),
        (6, [6]),
        (7, [7]),
    ]
    assert policy.pfc is not None
    assert policy.pfc.priorities == [1, 4]
    assert any(
        "a pause of priority 0 is that of traffic class 1" in remark.words
        for remark in remarks.found
    )


def test_limits_of_a_buffer_profile() -> None:
    policy, _, section, _ = read("memory")
    queues = section.policies["eos"]["queues"]
    assert (queues["q3"]["limit"], queues["q3"]["reserved"]) == ("dynamic(0.125)", "2kB")
    assert queues["q0"]["limit"] == "dynamic(4)"
    assert "limit" not in queues["q1"]
    assert policy.pfc is not None
    assert section.policies["eos"]["pfc"]["xoff"] == "dynamic(0.0625)"
    assert policy.pfc.watchdog is not None
    assert (policy.pfc.watchdog.detection, policy.pfc.watchdog.restoration) == (
        200 * 10**9,
        500 * 10**9,
    )


def test_thresholds_of_dropping_and_of_marking() -> None:
    _, _, section, _ = read("wred")
    drops = {
        "kind": "red",
        "minimum": "1MB",
        "maximum": "2MB",
        "probability": "30%",
        "weight_exponent": 4,
    }
    assert aqm(section, "q1") == drops
    step = aqm(section, "q2")
    assert (step["minimum"], step["maximum"], step["ecn"]) == ("300kB", "300kB", True)
    assert step["not_capable"]["probability"] == "0%"


def test_members_of_a_port_channel_have_its_settings() -> None:
    policy, switch, _, _ = read("channel")
    assert strict(policy) == {}
    assert set(shares(policy).values()) == {12.5}
    assert classes(switch, "dscp")[0] == (0, list(range(8, 16)))
    assert switch.ports == {}


def test_statements_of_the_default_change_nothing() -> None:
    policy, switch, _, remarks = read("all-defaults")
    assert strict(policy) == OWN
    assert policy.pfc is None
    # Without trust, every frame has the class of the port's own priority 0.
    assert classes(switch, "pcp") == [(1, list(range(8)))]
    assert remarks.is_complete


def test_percentages_above_100_are_scaled() -> None:
    policy, _, _, _ = read("overbooked")
    assert shares(policy) == {"q0": 39.9, "q1": 40.0, "q2": 20.0, "q3": 0.1}


@pytest.mark.parametrize(
    ("own", "verdict"), [("", "assumed"), ("   qos trust dscp\n", "not-modelled")]
)
def test_ports_that_differ_in_classification_are_told(own: str, verdict: str) -> None:
    text = (
        "interface Ethernet1\n   no switchport\n   mtu 9000\ninterface Ethernet2\n   mtu "
        f"9000\n{own}interface Et3\n"
    )
    _, remarks = import_eos(text)
    (told,) = (
        remark for remark in remarks.found if "ports differ in classification" in remark.words
    )
    assert told.verdict == verdict


def test_ports_that_are_shut_down_decide_nothing_unless_all_are() -> None:
    spare = "".join(
        f"interface Ethernet{n}\n   shutdown\n   tx-queue 7\n      no priority\n" for n in (2, 3)
    )
    used = "interface Ethernet1\n   tx-queue 0\n      shape rate 1000 kbps\n"
    for text, is_strict in ((used + spare, True), (spare, False)):
        section, _ = import_eos(text)
        policies, switch = section.models()
        assert bool(strict(policies[switch.policy])) is is_strict


@pytest.mark.parametrize(
    "values",
    [
        "2 kbytes maximum-threshold 1 kbytes",
        "0 bytes maximum-threshold 0 bytes",
        *(
            f"1 kbytes maximum-threshold 2 kbytes drop-probability {values}"
            for values in ("101", "9 weight 16")
        ),
    ],
)
def test_thresholds_that_no_queue_can_have_are_not_understood(values: str) -> None:
    head = "interface Ethernet1\n   tx-queue 0\n      random-detect drop minimum-threshold "
    section, remarks = import_eos(f"{head}{values}\n")
    assert remarks.count("not-understood") == 1
    assert aqm(section, "q0") is None
    _, remarks = import_eos(
        f"{head}1 kbytes maximum-threshold 2 kbytes drop-probability 100 weight 15\n"
    )
    assert remarks.count("not-understood") == 0


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_statement_has_a_fate(name: str) -> None:
    _, remarks = import_eos(FILES[name])
    stated = {
        number for number, line in enumerate(FILES[name].splitlines(), 1) if line.strip().strip("!")
    }
    comments = {
        number for number, line in enumerate(FILES[name].splitlines(), 1) if line.startswith("!")
    }
    assert {remark.line for remark in remarks.found} - {0} == stated - comments
