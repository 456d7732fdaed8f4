"""Forms of NX-OS that configurations have: steps, input policies, two kinds of bandwidth, ports,
sessions."""

import pytest

from tailrace.importers.nxos.export import export_nxos
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.remarks import Remark
from tailrace.importers.section import Section
from tailrace.scenario.policies.switch import Policy, Switch

STEP = (
    "random-detect minimum-threshold 300 kbytes maximum-threshold 300 kbytes drop-probability "
    "100 weight 0 ecn"
)
QUEUES = """policy-map type queuing o
  class type queuing c-out-8q-q3
    bandwidth remaining percent 30
    {action}
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 70
system qos
  service-policy type queuing output o
"""
LOSSLESS = """policy-map type network-qos n
  class type network-qos c-8q-nq3
    {pause}
system qos
  service-policy type network-qos n
"""


def told(text: str, verdict: str) -> list[Remark]:
    """Remarks with one verdict."""
    return [remark for remark in import_nxos(text)[1].found if remark.verdict == verdict]


def aqm(text: str) -> object:
    """Queue management of queue 3."""
    return import_nxos(text)[0].policies["o"]["queues"]["q3"].get("aqm")


def shares(section: Section, policy: str = "o") -> dict[str, str | None]:
    """Shares by queue, as they are written."""
    return {name: queue.get("share") for name, queue in section.policies[policy]["queues"].items()}


def test_a_minimum_at_the_maximum_is_a_step() -> None:
    section, _ = import_nxos(QUEUES.format(action=STEP))
    assert section.is_sound
    equal = {"kind": "red", "minimum": "300kB", "maximum": "300kB", "probability": "100%"}
    assert aqm(QUEUES.format(action=STEP)) == equal | {"weight_exponent": 0, "ecn": True}
    lossless = LOSSLESS.format(pause="pause pfc-cos 3")
    assert aqm(QUEUES.format(action=STEP) + lossless) == {"kind": "step", "threshold": "300kB"}
    averaged = STEP.replace("weight 0", "weight 4")
    assert aqm(QUEUES.format(action=averaged) + lossless) == equal | {
        "weight_exponent": 4,
        "ecn": True,
    }


@pytest.mark.parametrize(
    "aqm",
    [{"kind": "step", "threshold": "300kB"}, {"kind": "red", "minimum": "1kB", "maximum": "1kB"}],
)
def test_a_step_is_exported_in_the_same_words(aqm: dict[str, str]) -> None:
    lossless = {"pfc": {"priorities": [3]}} if aqm["kind"] == "step" else {}
    queues = {"q": {"share": "50%"}, "r": {"share": "50%", "aqm": aqm}}
    policy = Policy.model_validate({"queues": queues, "priorities": {3: "r"}} | lossless)
    text, remarks = export_nxos("leaf1", Switch(policy="p"), policy)
    assert not remarks.found, text


@pytest.mark.parametrize("pause", ["pause no-drop", "pause no-drop pfc-cos 3", "pause pfc-cos 3"])
def test_a_lossless_class_needs_no_queue_in_the_output_policy(pause: str) -> None:
    section, remarks = import_nxos(LOSSLESS.format(pause=pause))
    assert section.is_sound, remarks.found
    assert section.policies["nxos"]["pfc"]["priorities"] == [3]
    assert section.policies["nxos"]["queues"]["q3"]["share"] == "0.1%"
    assert section.policies["nxos"]["priorities"][3] == "q3"


def test_an_input_policy_is_never_the_output_policy() -> None:
    text = QUEUES.format(action="queue-limit 1 mbytes").replace(
        "queuing output o", "queuing input o"
    )
    section, _ = import_nxos(text)
    assert list(section.policies) == ["nxos"]
    assert any("an input queue" in remark.words for remark in told(text, "not-modelled"))


def test_pauses_that_a_port_announces_are_read() -> None:
    text = (
        LOSSLESS.format(pause="pause pfc-cos 3")
        + "interface Ethernet1/1\n  priority-flow-control mode on send-tlv\n"
    )
    assert import_nxos(text)[1].is_complete
    off = text.replace("on send-tlv", "off")
    assert "pfc" not in import_nxos(off)[0].policies["nxos"]


@pytest.mark.parametrize(
    ("q3", "rest", "expected"),
    [
        (
            "bandwidth percent 20",
            "bandwidth remaining percent 100",
            {"q3": "20%", "q-default": "80%"},
        ),
        ("bandwidth percent 1", "bandwidth remaining percent 50", {"q3": "1%", "q-default": "99%"}),
        (
            "bandwidth percent 100",
            "bandwidth remaining percent 50",
            {"q3": "99.9%", "q-default": "0.1%"},
        ),
        (
            "bandwidth remaining percent 30",
            "bandwidth remaining percent 60",
            {"q3": "30%", "q-default": "60%"},
        ),
        ("bandwidth percent 30", "bandwidth percent 70", {"q3": "30%", "q-default": "70%"}),
        ("bandwidth remaining percent 0", "bandwidth remaining percent 100", {"q-default": "100%"}),
        (
            "bandwidth remaining percent 0",
            "bandwidth remaining percent 0",
            {"q3": "50%", "q-default": "50%"},
        ),
    ],
)
def test_a_remaining_percentage_is_one_of_what_absolute_ones_leave(
    q3: str, rest: str, expected: dict[str, str]
) -> None:
    text = QUEUES.replace("bandwidth remaining percent 30", q3).replace(
        "bandwidth remaining percent 70", rest
    )
    section, remarks = import_nxos(text.format(action="queue-limit 1 mbytes"))
    assert section.is_sound, remarks.found
    assert shares(section) == expected


def test_three_remaining_queues_share_what_is_left() -> None:
    text = (
        "policy-map type queuing o\n class type queuing c-out-8q-q7\n  bandwidth percent 1\n"
        " class type queuing c-out-8q-q3\n  bandwidth remaining percent 50\n"
        " class type queuing c-out-8q-q-default\n  bandwidth remaining percent 48\n"
    )
    section, _ = import_nxos(text)
    # 99 % in 98 parts.
    assert shares(section) == {"q7": "1%", "q3": "50.510204%", "q-default": "48.4897959%"}
    policies, switch = section.models()
    exported, remarks = export_nxos("leaf1", switch, policies["o"])
    assert not remarks.found, exported
    assert "bandwidth percent 1\n" in exported


@pytest.mark.parametrize(
    "behind",
    ["  ! why", " ! <- why", "\t! why ! more", " # why", "  ← why", " <--- why", " ------ why"],
)
def test_a_remark_behind_a_command_is_no_part_of_it(behind: str) -> None:
    text = QUEUES.format(action="queue-limit 2 mbytes" + behind)
    section, remarks = import_nxos(text)
    assert section.policies["o"]["queues"]["q3"]["limit"] == "2MB"
    assert remarks.count("not-understood", "not-modelled") == 0


@pytest.mark.parametrize(
    "lines",
    [
        "random-detect minimum-threshold 150 kbytes \\\n maximum-threshold 3000 kbytes \\\n"
        " drop-probability 7 weight 0 ecn",
        "random-detect minimum-threshold 150 kbytes\n maximum-threshold 3000 kbytes\n"
        " drop-probability 7\n weight 0\n ecn",
        "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes "
        "drop-probability 7 weight 0\n ecn",
        "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes "
        "drop-probability 7 weight 0\n"
        " random-detect ecn",
    ],
    ids=["backslashes", "a word on each line", "ecn alone", "ecn as a command"],
)
def test_a_command_may_go_on_in_the_next_line(lines: str) -> None:
    red = {
        "kind": "red",
        "minimum": "150kB",
        "maximum": "3MB",
        "probability": "7%",
        "weight_exponent": 0,
        "ecn": True,
    }
    assert aqm(QUEUES.format(action=lines)) == red
    assert not told(QUEUES.format(action=lines), "not-understood")


def test_prompts_of_a_session_are_no_part_of_its_commands() -> None:
    lines = QUEUES.format(action="queue-limit 2 mbytes").splitlines()
    session = "\n".join(f"sw-1(config-pmap-c-que)# {line.strip()}" for line in lines)
    assert import_nxos(session)[0].data() == import_nxos("\n".join(lines))[0].data()
    assert import_nxos("sw-1# conf t\nsw-1(config)#\n" + session)[1].count("not-understood") == 0


def test_the_mtu_of_a_class_is_kept() -> None:
    text = LOSSLESS.format(
        pause="pause pfc-cos 3\n    mtu 2240\n  class type network-qos "
        "c-8q-nq-default\n    mtu 9216"
    )
    section, _ = import_nxos(text)
    assert (section.mtu_bytes, section.class_mtus) == (9216, {0: 9216, 3: 2240})
    assert "# MTU of class 3: set mtu to at most 2240B for hosts that send it" in section.text(
        "nexus.cfg"
    )
    (remark,) = (remark for remark in import_nxos(text)[1].found if remark.text == "mtu 2240")
    assert "set hosts.NAME.mtu to at most 2240B for hosts that send priority 3" in remark.words


PORT = """policy-map type queuing p
  class type queuing c-out-8q-q-default
    queue-limit 1 mbytes
interface Ethernet1/7
  description {name}
  service-policy type queuing output p
"""


def test_a_port_has_the_policy_that_it_alone_applies() -> None:
    text = QUEUES.format(action="queue-limit 2 mbytes") + PORT.format(name="to db1")
    section, _ = import_nxos(text)
    assert section.switch["policy"] == "o"
    assert section.switch["ports"] == {"db1": "p"}
    assert section.policies["p"]["queues"]["q-default"]["limit"] == "1MB"
    unnamed = QUEUES.format(action="queue-limit 2 mbytes") + PORT.format(name="server room, row 3")
    section, _ = import_nxos(unnamed)
    assert list(section.policies) == ["o", "p"]
    (remark,) = told(unnamed, "not-modelled")
    assert "write switches.switch.ports: {NEIGHBOUR: p}" in remark.words


def test_a_policy_of_single_ports_that_becomes_that_of_all_is_told() -> None:
    section, _ = import_nxos(PORT.format(name="to db1"))
    assert section.switch["policy"] == "p"
    assert any(
        "'p' is applied only at Ethernet1/7; in the scenario all ports have it" in r.words
        for r in told(PORT, "assumed")
    )


def test_a_policy_of_the_ports_comes_back_from_an_export() -> None:
    section, _ = import_nxos(
        QUEUES.format(action="queue-limit 2 mbytes") + PORT.format(name="to db1")
    )
    policies, switch = section.models()
    text, remarks = export_nxos("leaf1", switch, policies["o"], others=policies)
    assert not remarks.found, text
    assert import_nxos(text)[0].models()[1].ports == {"db1": "p"}


def test_a_class_that_is_not_read_does_not_give_its_actions_to_the_one_above() -> None:
    text = QUEUES.format(action="class type qos group 5\n    queue-limit 2 mbytes")
    section, _ = import_nxos(text)
    assert section.policies["o"]["queues"]["q3"]["limit"] == "dynamic(nxos:9)"


def test_a_condition_that_is_not_read_leaves_a_class_that_needs_it_without_frames() -> None:
    text = (
        "class-map type qos match-{kind} c\n  match dscp 8\n  match ip rtp 2000\n"
        "policy-map type qos p\n  class c\n    set qos-group 3\nsystem qos\n  service-policy "
        "type qos input p\n"
    )
    assert len(import_nxos(text.format(kind="all"))[0].switch["classify"]) == 1
    assert len(import_nxos(text.format(kind="any"))[0].switch["classify"]) == 2


def test_a_policy_of_which_no_class_is_read_is_refused() -> None:
    section, remarks = import_nxos(
        "policy-map type queuing o\n  class type qos group 3\n    bandwidth percent 50\n"
    )
    assert not section.is_sound
    assert any(
        "policy-map 'o' has no class that is understood" in remark.words for remark in remarks.found
    )


def rules(conditions: str, matching: str = "match-any") -> list[dict[str, object]]:
    """Rules of classification that the conditions of a class of qos-group 2 become."""
    head = f"class-map type qos {matching} a\n"
    policy = (
        "policy-map type qos p\n class a\n  set qos-group 2\nsystem qos\n service-policy type "
        "qos input p\n"
    )
    section, _ = import_nxos(head + conditions + policy + QUEUES.format(action=STEP))
    return [rule for rule in section.switch["classify"] if rule["class"] == 2]


@pytest.mark.parametrize(
    ("listed", "values"),
    [
        ("46,af41", [46, 34]),
        ("af41,46", [34, 46]),
        ("8-10,EF", [8, 9, 10, 46]),
        ("cs1 10,ef", [8, 10, 46]),
    ],
)
def test_code_points_may_be_named_and_numbered_in_one_list(listed: str, values: list[int]) -> None:
    assert rules(f" match dscp {listed}\n") == [{"dscp": values, "class": 2}]


def test_a_name_that_is_no_code_point_leaves_no_rule() -> None:
    assert rules(" match dscp 46,af99\n") == []


def test_a_condition_that_is_written_twice_is_one() -> None:
    twice = " match cos 3\n match cos 3\n"
    assert rules(twice, "match-all") == [{"pcp": [3], "class": 2}]
    assert rules(f"{twice} match dscp 26\n", "match-all") == [
        {"pcp": [3], "dscp": [26], "class": 2}
    ]
    assert rules(" match cos 3\n match cos 4\n", "match-all") == []


ROUTES = """route-map out permit 10
  match ip address prefix-list private
  match as-path 7
  set local-preference 200
  set ip next-hop 10.0.0.1
"""


def test_conditions_of_routes_are_no_conditions_of_classes() -> None:
    assert told(QUEUES.format(action=STEP) + ROUTES, "not-modelled") == []
    assert [remark.words for remark in told(ROUTES, "no-effect")] == ["routing"] * 5
    [rtp] = told(
        QUEUES.format(action=STEP) + "class-map type qos match-any a\n  match ip rtp 16384-32767\n",
        "not-modelled",
    )
    assert rtp.words == "unsupported condition of a class"
