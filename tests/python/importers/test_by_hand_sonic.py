"""Ten SONiC databases of the corpus, read by a person: what each means, value by value."""

from fractions import Fraction

from importers.corpus_cases import case
from importers.meaning import import_file
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section
from tailrace.scenario.policies.aqm.none import NoAqm
from tailrace.scenario.policies.aqm.red import Red
from tailrace.scenario.policies.aqm.step import Step
from tailrace.scenario.policies.limit import Limit
from tailrace.scenario.policies.switch import Policy, Switch
from tailrace.scenario.policies.weights import weights


def read(name: str) -> tuple[Policy, Switch, Section, Remarks]:
    """The policy of the switch, the switch, the section and the remarks."""
    section, remarks = import_file("sonic", case("sonic", name).path)
    policies, switch = section.models()
    return policies[switch.policy], switch, section, remarks


def parts(policy: Policy, whole: int) -> dict[str, int]:
    """Shares as parts of a whole number of weights."""
    return {name: round(Fraction(share, 10**9) * whole) for name, share in policy.shares().items()}


def red(policy: Policy, name: str) -> tuple[int, int, int, bool]:
    """Minimum, maximum, probability in parts per billion and marking of a queue."""
    aqm = policy.queues[name].aqm
    assert isinstance(aqm, Red)
    return aqm.minimum, aqm.maximum, aqm.probability, aqm.ecn


def test_the_usual_switch_of_a_rack() -> None:
    policy, switch, _, _ = read("tor-14-15")
    # Five queues of 14, two of 15, and queue 7, which has no scheduler and the default weight 1.
    assert parts(policy, 101) == {
        f"q{n}": 15 if n in (3, 4) else 1 if n == 7 else 14 for n in range(8)
    }
    assert red(policy, "q3") == (1_048_576, 2_097_152, 50_000_000, True)
    assert isinstance(policy.queues["q0"].aqm, NoAqm)
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3, 4]
    assert [policy.queue_of(p) for p in range(8)] == [f"q{p}" for p in range(8)]
    said = {rule.class_: rule.dscp for rule in switch.classify}
    assert (said[3], said[4], said[2], said[0], said[5], said[6]) == (
        [3],
        [4],
        [5],
        [8],
        [46],
        [48],
    )


def test_shares_of_a_weight_of_seventy_among_tens_are_exact() -> None:
    policy, _, section, remarks = read("eight-queues-one-heavy")
    assert parts(policy, 15) == {
        "q0": 1,
        "q1": 1,
        "q2": 1,
        "q3": 2,
        "q4": 1,
        "q5": 1,
        "q6": 7,
        "q7": 1,
    }
    lowered = weights(tuple(policy.shares().values()))
    assert [weight * 15 for weight in lowered] == [
        sum(lowered) * part for part in parts(policy, 15).values()
    ]
    assert not any("round" in remark.words for remark in remarks.found)
    # One port pauses nobody: it has a policy of its own.
    assert list(section.policies) == ["M", "M-Ethernet512"]
    assert "pfc" not in section.policies["M-Ethernet512"]


def test_eight_schedulers_of_which_the_last_is_strict() -> None:
    policy, switch, _, _ = read("eight-schedulers-last-strict")
    assert parts(policy, 50) == {"q0": 1, "q1": 2, "q2": 3, "q3": 4, "q4": 5, "q5": 10, "q6": 25}
    assert policy.queues["q7"].strict == 1
    assert policy.pfc is None
    assert [rule.dscp for rule in switch.classify] == [
        list(range(8 * n, 8 * n + 8)) for n in range(8)
    ]


def test_uplinks_and_downlinks_have_policies_of_their_own() -> None:
    policy, switch, section, remarks = read("two-tors-uplinks-and-downlinks")
    policies, _ = section.models()
    assert switch.policy == "M"
    assert switch.ports == {"spine1": "M_UP"}
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3, 4]
    uplink = policies["M_UP"]
    assert uplink.pfc is not None
    assert uplink.pfc.priorities == [2, 3, 4, 6]
    # Classes 2 and 6 share queue 1 on the way down and have queues of their own on the way up.
    assert [policy.queue_of(p) for p in (1, 2, 6)] == ["q1"] * 3
    assert [uplink.queue_of(p) for p in (1, 2, 6)] == ["q1", "q2", "q6"]
    assert remarks.count("not-understood") == 0


def test_a_switch_with_most_ports_idle_has_the_policy_of_the_port_in_use() -> None:
    policy, _, section, remarks = read("most-ports-idle")
    assert list(section.policies) == ["M"]
    assert parts(policy, 114) == {f"q{n}": 15 if n in (3, 4) else 14 for n in range(8)}
    assert policy.queues["q3"].limit == Limit(unit="alpha-milli", amount=128_000)
    assert policy.queues["q0"].limit == Limit(unit="alpha-milli", amount=8_000)
    assert policy.pfc is not None
    assert policy.pfc.lossy == Limit(unit="alpha-milli", amount=8_000)
    assert any("1 of 5 ports are in use" in remark.words for remark in remarks.found)


def test_keys_of_a_chassis_name_host_asic_and_port() -> None:
    policy, _, section, remarks = read("chassis-own-card")
    assert list(section.policies) == ["M"]
    assert parts(policy, 101) == {
        f"q{n}": 15 if n in (3, 4) else 1 if n == 7 else 14 for n in range(8)
    }
    assert red(policy, "q4") == (2_000_000, 10_000_000, 50_000_000, True)
    others = [remark for remark in remarks.found if "port of another line card" in remark.words]
    assert {remark.text.partition("|")[0] for remark in others} == {"QUEUE"}
    assert not remarks.count("not-understood")


def test_a_step_of_lossless_queues_and_of_others() -> None:
    policy, _, _, _ = read("step-in-lossless-queues")
    assert policy.queues["q3"].aqm == Step.model_validate({"kind": "step", "threshold": "184128B"})
    # Elsewhere the same thresholds drop what cannot be marked.
    assert red(policy, "q0") == (184_128, 184_128, 10**9, True)
    assert isinstance(policy.queues["q5"].aqm, NoAqm)


def test_a_flat_dump_has_rows_at_its_top_level() -> None:
    policy, switch, section, _ = read("flat-dump-of-buffers")
    assert switch.buffer == 16_777_152
    assert list(section.policies) == [
        "sonic",
        "sonic-Ethernet12",
    ]  # a longer cable has more headroom
    assert policy.pfc is not None
    own = policy.pfc.thresholds(3)
    # The size of 36 864 B is xon and xoff together: half of it is headroom.
    assert (own.headroom, own.reserved) == (18_432, 18_432)
    assert own.xoff == Limit(unit="alpha-milli", amount=1_000)
    assert policy.queues["q3"].limit == Limit(unit="alpha-milli", amount=128_000)
    assert (policy.queues["q0"].limit, policy.queues["q0"].reserved) == (
        Limit(unit="alpha-milli", amount=8_000),
        4_096,
    )


def test_xon_of_a_static_lossless_group_is_where_pauses_end() -> None:
    policy, _, _, remarks = read("static-lossless-group")
    assert policy.pfc is not None
    own = policy.pfc.thresholds(4)
    assert own.xoff == Limit(unit="bytes", amount=500_000)
    assert (own.headroom, own.reserved) == (100_096, 1_792)
    # Full at 1 792 + 500 000 B, resumed at 20 480 B.
    assert own.xon_offset == 501_792 - 20_480
    assert not any("xon" in remark.words for remark in remarks.found)


def test_references_in_brackets_and_a_static_output_limit() -> None:
    policy, switch, _, _ = read("references-in-brackets")
    assert switch.buffer == 35_621_248 + 7_847_424
    assert policy.queues["q3"].limit == Limit(unit="bytes", amount=43_468_672)
    assert policy.queues["q0"].reserved == 1_518
    assert policy.pfc is not None
    own = policy.pfc.thresholds(3)
    assert (own.headroom, own.xon_offset, own.reserved) == (177_632, 2_288, 1_248)
    assert own.xoff == Limit(unit="alpha-milli", amount=125)


def test_headroom_that_the_switch_computes_has_the_stated_alpha() -> None:
    policy, _, _, _ = read("computed-headroom")
    assert policy.pfc is not None
    own = policy.pfc.thresholds(3)
    assert own.headroom == "auto"
    assert own.xoff == Limit(unit="alpha-milli", amount=1_000)
    assert policy.pfc.cable == 300_000
