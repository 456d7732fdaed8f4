"""Policers: a switch has one for each class, a scenario one for each qos-group."""

from tailrace.importers.nxos.export import export_nxos
from tailrace.importers.nxos.importer import import_nxos
from tailrace.scenario.policies.switch import Policy, Switch

TWO_CLASSES = """class-map type qos match-any A
  match dscp 10
class-map type qos match-any B
  match dscp 12
policy-map type qos p
  class A
    set qos-group 1
    police cir 1 gbps
  class B
    set qos-group {group}
system qos
  service-policy type qos input p
"""


def test_a_policer_that_would_reach_another_class_is_told_with_both_lines() -> None:
    _, remarks = import_nxos(TWO_CLASSES.format(group=1))
    (found,) = (remark for remark in remarks.found if remark.verdict == "not-modelled")
    assert found.line == 8
    assert "'A' (line 6)" in found.words
    assert "also contains 'B' (line 9); that class has no policer" in found.words


def test_a_policer_of_a_class_alone_in_its_group_needs_no_words() -> None:
    _, remarks = import_nxos(TWO_CLASSES.format(group=2))
    assert remarks.is_complete, remarks.found


def test_every_class_of_a_policed_group_is_policed_and_that_is_told() -> None:
    switch = Switch.model_validate(
        {
            "policy": "p",
            "classify": [
                {"dscp": [10], "class": 1},
                {"vlan": [7], "class": 1},
                {"dscp": [46], "class": 5},
            ],
        }
    )
    policy = Policy.model_validate(
        {"queues": {"q": {}}, "police": {"rate": "1Gbit/s", "priorities": [1]}}
    )
    text, told = export_nxos("leaf1", switch, policy)
    assert text.count("police cir 1 gbps") == 2
    (found,) = (remark for remark in told.found if remark.text == "policies.p.police")
    assert "2 classes of qos-group 1" in found.words


def test_a_burst_that_is_a_time_is_what_the_rate_carries_meanwhile() -> None:
    text = TWO_CLASSES.format(group=2).replace("police cir 1 gbps", "police cir 100 mbps bc 200 ms")
    section, remarks = import_nxos(text)
    assert remarks.is_complete, remarks.found
    assert "2500kB" in str(section) or "2.5MB" in str(section), section
