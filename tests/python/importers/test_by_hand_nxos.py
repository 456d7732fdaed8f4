"""Ten NX-OS configurations of the corpus, read by a person: what each means, value by value."""

from importers.corpus_cases import case
from importers.meaning import import_file
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section
from tailrace.scenario.policies.aqm.afd import Afd
from tailrace.scenario.policies.aqm.none import NoAqm
from tailrace.scenario.policies.aqm.red import Red
from tailrace.scenario.policies.aqm.step import Step
from tailrace.scenario.policies.limit import Limit
from tailrace.scenario.policies.switch import Policy, Switch

DYNAMIC_9 = Limit(unit="alpha-milli", amount=14_000)


def read(name: str) -> tuple[Policy, Switch, Section, Remarks]:
    """The policy of the switch, the switch, the section and the remarks."""
    section, remarks = import_file("nxos", case("nxos", name).path)
    policies, switch = section.models()
    return policies[switch.policy], switch, section, remarks


def shares(policy: Policy) -> dict[str, float]:
    """Percent of each weighted queue, to a thousandth."""
    return {name: round(share / 10**7, 3) for name, share in policy.shares().items()}


def classes(switch: Switch) -> list[tuple[int, str, list[int]]]:
    """Class, field and values of each rule."""
    stated = [rule.model_dump(by_alias=True, exclude_none=True) for rule in switch.classify]
    return [(rule["class"], key, rule[key]) for rule in stated for key in rule if key != "class"]


def test_the_commonest_template_for_rdma() -> None:
    policy, switch, section, _ = read("hci-roce-step")
    # 1 % of the link is absolute; what is left, 99 %, is divided 50 to 48.
    assert shares(policy) == {"q3": 50.51, "q-default": 48.49, "q7": 1.0}
    assert policy.queues["q3"].aqm == Step.model_validate({"kind": "step", "threshold": "300kB"})
    assert isinstance(policy.queues["q-default"].aqm, NoAqm)
    assert [policy.queue_of(p) for p in range(8)] == [
        *["q-default"] * 3,
        "q3",
        *["q-default"] * 3,
        "q7",
    ]
    assert policy.pfc is not None
    assert (policy.pfc.priorities, policy.pfc.sends, policy.pfc.obeys) == ([3], True, True)
    assert classes(switch) == [(3, "pcp", [3]), (7, "pcp", [7]), (0, "pcp", list(range(8)))]
    assert section.mtu_bytes == 9216
    assert section.switch_name == "hci-tor1"


def test_queues_that_all_have_no_bandwidth_are_served_alike() -> None:
    policy, _, _, remarks = read("storage-cluster-all-zero")
    assert set(shares(policy).values()) == {12.0}
    assert len(policy.queues) == 8
    red = policy.queues["q3"].aqm
    assert isinstance(red, Red)
    assert (red.minimum, red.maximum, red.probability, red.weight_exponent, red.ecn) == (
        150_000,
        1_500_000,
        10**9,
        0,
        True,
    )
    assert isinstance(
        policy.queues["q5"].aqm, NoAqm
    )  # thresholds that the ASIC chooses are not published
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3, 5]
    assert policy.pfc.watchdog is not None
    assert any("thresholds chosen by the ASIC" in remark.words for remark in remarks.found)


def test_a_script_with_a_strict_queue_for_congestion_notifications() -> None:
    policy, switch, _, _ = read("gpu-script-strict-cnp")
    assert policy.queues["q7"].strict == 1
    assert shares(policy) == {"q3": 50.0, "q-default": 50.0}
    red = policy.queues["q3"].aqm
    assert isinstance(red, Red)
    assert (red.minimum, red.maximum, red.probability) == (950_000, 3_000_000, 70_000_000)
    assert classes(switch)[:2] == [(3, "dscp", list(range(24, 32))), (7, "dscp", [48])]
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3]


def test_a_nexus_3000_with_pause_no_drop() -> None:
    policy, switch, section, remarks = read("n3k-rdma-no-drop")
    assert shares(policy) == {"q3": 50.0, "q-default": 50.0}
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3]
    assert section.class_mtus == {0: 9216, 3: 2240}
    assert section.mtu_bytes == 9216
    assert classes(switch)[0] == (3, "pcp", [3])
    assert any("MTU of qos-group 3 only" in remark.words for remark in remarks.found)


def test_thresholds_of_an_input_queue_are_those_of_the_lossless_group() -> None:
    policy, _, _, _ = read("sdn-tor-input-thresholds")
    assert list(policy.queues) == ["q3", "q-default"]
    assert policy.pfc is not None
    own = policy.pfc.thresholds(3)
    # Of 101 920 B, 46 800 B until the pause; the rest is headroom; resumed at 34 320 B.
    assert own.xoff == Limit(unit="bytes", amount=46_800)
    assert (own.headroom, own.xon_offset) == (55_120, 12_480)


def test_an_input_policy_does_not_become_the_output_policy() -> None:
    policy, switch, _, _ = read("ai-lab-ingress-queue")
    assert switch.policy == "nxos"
    assert policy.queues["q7"].strict == 1
    # The output policy is the switch's own: queue 3 has no bandwidth there, and frames of its own.
    assert shares(policy) == {"q-default": 99.9, "q3": 0.1}
    assert policy.pfc is not None
    own = policy.pfc.thresholds(3)
    assert own.xoff == Limit(unit="bytes", amount=12_480)
    assert (own.headroom, own.xon_offset) == (14_976, 0)


def test_comments_behind_commands_and_lines_that_go_on() -> None:
    policy, switch, section, remarks = read("comments-behind-commands")
    assert shares(policy) == {"q3": 80.0, "q-default": 20.0}
    assert policy.queues["q6"].strict == 1
    red = policy.queues["q3"].aqm
    assert isinstance(red, Red)
    assert (red.minimum, red.maximum, red.probability, red.weight_exponent) == (
        150_000,
        1_500_000,
        70_000_000,
        0,
    )
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3]
    assert section.mtu_bytes == 9216
    assert classes(switch)[:2] == [(3, "pcp", [3]), (6, "pcp", [6])]
    assert remarks.is_complete, [
        r for r in remarks.found if r.verdict in ("not-modelled", "not-understood")
    ]


def test_a_switch_with_four_queues_and_its_own_output_policy() -> None:
    policy, _, section, _ = read("four-queues-own-policy")
    assert {name: queue.strict for name, queue in policy.queues.items()} == {
        "q3": 1,
        "q-default": None,
    }
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3]
    assert section.class_mtus == {0: 9216, 3: 2240}


def test_absolute_and_remaining_bandwidth_beside_a_strict_queue() -> None:
    policy, switch, _, _ = read("iscsi-and-fcoe-mixed-bandwidth")
    assert policy.queues["q6"].strict == 1
    # 15 % of the link for storage; the default queue has all of what is left.
    assert shares(policy) == {"q5": 15.0, "q-default": 85.0}
    ports = [
        (rule.class_, rule.protocol, rule.source_port, rule.destination_port)
        for rule in switch.classify[1:3]
    ]
    assert ports == [(5, "tcp", None, (3260, 3260)), (5, "tcp", (3260, 3260), None)]


def test_a_port_with_a_policy_of_its_own() -> None:
    section, _ = import_file("nxos", case("nxos", "two-ports-two-policies").path)
    policies, switch = section.models()
    assert switch.policy == "EVERYWHERE"
    assert switch.ports == {"backup1": "TO-BACKUP"}
    assert shares(policies["EVERYWHERE"]) == {"q2": 20.0, "q-default": 80.0}
    assert shares(policies["TO-BACKUP"]) == {"q2": 70.0, "q-default": 30.0}
    assert policies["TO-BACKUP"].queues["q2"].limit == Limit(unit="bytes", amount=2_000_000)
    assert policies["EVERYWHERE"].queues["q2"].limit == DYNAMIC_9


def test_shapes_limits_and_fair_drop() -> None:
    policy, _, _, _ = read("shapes-and-limits")
    shape = policy.queues["q6"].shape
    assert shape is not None
    assert (shape.min, shape.max) == (100_000_000, 500_000_000)
    assert policy.queues["q6"].limit == Limit(unit="alpha-milli", amount=750)
    assert policy.queues["q5"].limit == Limit(unit="bytes", amount=400_000)
    afd = policy.queues["q-default"].aqm
    assert isinstance(afd, Afd)
    assert (afd.desired, afd.ecn) == (150_000, True)
    assert policy.etrap is not None
    assert policy.etrap.profile == "ultra-burst"
