"""NX-OS: lines that change the meaning of others, lines of sessions, and everyday commands."""

import pytest

from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.remarks import Verdict
from tailrace.importers.section import Section

CONFIGURATION = """class-map type qos match-all storage
  match cos 4
policy-map type qos in
  class storage
    set qos-group 4
policy-map type queuing out
  class type queuing c-out-8q-q4
    bandwidth remaining percent 40
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 60
"""
STORAGE = {"class": 4, "pcp": [4]}


def verdicts(text: str, *lines: int) -> list[Verdict]:
    """What is said of lines."""
    return [remark.verdict for remark in import_nxos(text)[1].ordered() if remark.line in lines]


def storage_rule(section: Section) -> dict[str, object]:
    """The first rule of the classification."""
    rule: dict[str, object] = section.switch["classify"][0]
    return rule


@pytest.mark.parametrize(
    "session",
    [
        "leaf(config)# policy-map ?\n  WORD  name of a policy\n  type  its type\n",
        "leaf(config)# policy-map type qos in ?\n  <CR>\n",
        "leaf(config)# policy-map type qos other^C\n",
        "leaf(config)# policy-map type qos other\n                     ^\n% Invalid command at "
        "'^' marker.\n",
        "leaf(config)# policy-map type qos other\nERROR: the map is in use\n",
    ],
    ids=["help", "help below a command", "aborted", "refused", "refused in words"],
)
def test_a_line_of_a_session_that_the_switch_did_not_take_changes_nothing(session: str) -> None:
    section, remarks = import_nxos(CONFIGURATION + session)
    assert storage_rule(section) == STORAGE
    lines = range(11, 11 + session.count("\n"))
    assert set(verdicts(CONFIGURATION + session, *lines)) == {"no-effect"}
    assert remarks.is_complete, remarks.found


def test_lines_below_help_that_are_commands_are_read() -> None:
    text = "leaf(config)# class-map ?\n  WORD  name of a class\n" + CONFIGURATION
    assert storage_rule(import_nxos(text)[0]) == STORAGE


def test_an_empty_class_map_of_a_class_of_the_switch_leaves_its_meaning() -> None:
    text = (
        "class-map type qos class-fcoe\npolicy-map type qos in\n  class class-fcoe\n    set "
        "qos-group 1\n"
        "policy-map type network-qos nq\n  class type network-qos class-fcoe\n    pause no-drop\n"
    )
    section, _ = import_nxos(text)
    assert section.switch["classify"][0] == {"class": 1, "pcp": [3]}
    # The output policy is that of a Nexus 5000 with FCoE, not that of a Nexus 9000.
    policy = section.policies["fcoe-default-out-policy"]
    assert policy["pfc"]["priorities"] == [1]
    assert {name: queue["share"] for name, queue in policy["queues"].items()} == {
        "q1": "50%",
        "q-default": "50%",
    }
    own = import_nxos(text.replace("class-fcoe\np", "class-fcoe\n  match cos 5\np", 1))[0]
    assert own.switch["classify"][0] == {"class": 1, "pcp": [5]}


def test_a_class_of_network_qos_without_a_class_map_is_the_priority_that_it_pauses() -> None:
    text = (
        "policy-map type network-qos nq\n  class type network-qos rdma\n    pause {}\n"
        + CONFIGURATION
    )
    section, _ = import_nxos(text.format("pfc-cos 4"))
    assert section.policies["out"]["pfc"]["priorities"] == [4]
    unknown, remarks = import_nxos(text.format("no-drop"))
    assert not unknown.is_sound
    assert any("no line says which qos-group it is" in remark.words for remark in remarks.found)


def test_a_class_without_conditions_has_no_frames_and_is_told() -> None:
    _, remarks = import_nxos(CONFIGURATION.replace("  match cos 4\n", ""))
    assert any("no frame is in this class" in remark.words for remark in remarks.found)


EVERYDAY = """vdc leaf1 id 1
  limit-resource vlan minimum 16 maximum 4094
feature hsrp
no password strength-check
ip domain-lookup
vlan 10
  name storage
vpc domain 7
  peer-keepalive destination 192.0.2.1 source 192.0.2.2
  delay restore 150
router bgp 65001
  neighbor 192.0.2.9 remote-as 65002
    address-family ipv4 unicast
      soft-reconfiguration inbound always
route-map out permit 10
  match tag 7
  set metric 5
ip access-list management
  10 deny tcp any any eq telnet
interface Vlan10
  no ip redirects
  ip dhcp relay address 192.0.2.7
  hsrp 1
    priority 110
    preempt
interface Ethernet1/1
  no ip redirects
  bandwidth 1000000
  vrf member blue
  spanning-tree port type edge
line vty
  exec-timeout 15
"""


def test_everyday_commands_are_known_to_have_no_effect() -> None:
    _, remarks = import_nxos(CONFIGURATION + EVERYDAY)
    assert remarks.is_complete, [
        r for r in remarks.found if r.verdict in ("not-understood", "not-modelled")
    ]


@pytest.mark.parametrize("line", ["frobnicate 7", "ip qos frobnicate", "no vlan queue 3"])
def test_an_unknown_command_remains_unknown(line: str) -> None:
    text = CONFIGURATION + EVERYDAY + line + "\n"
    (told,) = (remark for remark in import_nxos(text)[1].found if remark.text == line)
    assert told.verdict == "not-understood"


def test_wred_that_drops_in_a_lossless_queue_is_imported_as_it_stands() -> None:
    drops = (
        "    random-detect minimum-threshold 150 kbytes maximum-threshold 900 kbytes "
        "drop-probability 10 weight 0\n"
    )
    text = (
        "policy-map type network-qos nq\n  class type network-qos c-8q-nq4\n    pause pfc-cos 4\n"
        + CONFIGURATION
    )
    section, _ = import_nxos(text.replace("percent 40\n", "percent 40\n" + drops))
    assert section.is_sound
    assert section.policies["out"]["queues"]["q4"]["aqm"]["kind"] == "red"
