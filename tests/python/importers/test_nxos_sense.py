"""NX-OS texts that are run together, commands that take back others, and numbers that no switch
has."""

import pytest

from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.remarks import Remark

QUEUES = """policy-map type queuing o
  class type queuing c-out-8q-q3
    bandwidth remaining percent 30
    {actions}
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 70
"""
RED = "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes weight 0 ecn"
OTHER = "random-detect non-ecn minimum-threshold 1000 kbytes maximum-threshold 4000 kbytes"


def remarks_on(text: str, line: int) -> list[Remark]:
    """What is said of a line."""
    return [remark for remark in import_nxos(text)[1].ordered() if remark.line == line]


def test_a_comment_at_the_head_of_a_run_together_text_does_not_swallow_it() -> None:
    text = (
        "!Command: show running-config !done at 10:00 hostname leaf1 "
        f"{' '.join(QUEUES.format(actions=RED).split())}"
    )
    section, remarks = import_nxos(text)
    assert section.switch_name == "leaf1"
    assert list(section.policies["o"]["queues"]) == ["q3", "q-default"]
    first, second = remarks.ordered()[:2]
    assert (first.text, second.text) == ("!Command: show running-config", "!done at 10:00")
    assert "read as a comment" in first.words


def test_a_comment_of_a_text_of_several_lines_ends_with_its_line() -> None:
    commented = " ".join(QUEUES.format(actions=RED).split())
    section, remarks = import_nxos(f"hostname leaf1\n! {commented}\n")
    assert list(section.policies) == ["nxos"]
    (told,) = (remark for remark in remarks.found if remark.line == 2)
    assert "read as a comment" in told.words


def test_commands_of_two_heads_stay_together_in_a_run_together_text() -> None:
    text = (
        "policy-map type queuing o class type queuing c-out-8q-q-default afd queue-desired 150 "
        "kbytes hardware qos afd profile ultra-burst"
    )
    assert [remark.text for remark in remarks_on(text, 1)][
        -1
    ] == "hardware qos afd profile ultra-burst"
    assert import_nxos(text)[0].policies["o"]["etrap"] == {"profile": "ultra-burst"}


def test_remarks_stand_in_the_order_of_a_run_together_text() -> None:
    text = " ".join(f"hostname leaf1 {QUEUES.format(actions=RED)}".split())
    told = [remark.text for remark in remarks_on(text, 1)]
    places = [text.index(words) for words in told]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "actions", [f"{RED}\n    {OTHER}", f"{OTHER}\n    {RED}"], ids=["after", "before"]
)
def test_thresholds_without_ecn_may_have_a_line_of_their_own(actions: str) -> None:
    section, remarks = import_nxos(QUEUES.format(actions=actions))
    assert remarks.is_complete, remarks.found
    red = section.policies["o"]["queues"]["q3"]["aqm"]
    assert (red["minimum"], red["not_capable"]["minimum"]) == ("150kB", "1MB")


def test_thresholds_without_ecn_need_those_with_it() -> None:
    section, _ = import_nxos(QUEUES.format(actions=OTHER))
    assert "aqm" not in section.policies["o"]["queues"]["q3"]
    assert [remark.verdict for remark in remarks_on(QUEUES.format(actions=OTHER), 4)] == [
        "not-modelled"
    ]


def test_the_watchdog_may_be_switched_on_for_the_whole_switch() -> None:
    text = (
        "policy-map type network-qos n\n class type network-qos c-8q-nq3\n  pause pfc-cos 3\n"
        "policy-map type queuing o\n class type queuing c-out-8q-q3\n  bandwidth remaining "
        "percent 50\n"
        "system qos\n  service-policy type network-qos n\npriority-flow-control "
        "watch-dog-interval on\n"
    )
    section, _ = import_nxos(text)
    assert "watchdog" in section.policies["o"]["pfc"]
    (told,) = remarks_on("priority-flow-control watch-dog-interval on", 1)
    assert told.verdict == "no-effect"


def test_the_switchs_own_policy_is_known_and_wins_over_one_that_nothing_applies() -> None:
    text = (
        QUEUES.format(actions=RED)
        + "system qos\n service-policy type queuing output default-8q-out-policy\n"
    )
    section, remarks = import_nxos(text)
    assert remarks.count("contradiction") == 0
    assert list(section.policies["nxos"]["queues"]) == ["q7", "q-default"]


def test_no_takes_back_what_stands_above_it_or_nothing() -> None:
    (told,) = remarks_on("hostname x\nno system jumbomtu 9000", 2)
    assert told.verdict == "no-effect"
    (told,) = remarks_on("system jumbomtu 9000\nno system jumbomtu 9000", 2)
    assert (told.verdict, "line 1" in told.words) == ("contradiction", True)


THRESHOLDS = """policy-map type queuing i
  class type queuing c-in-q3
    pause buffer-size 20000 pause-threshold 10000 resume-threshold 8000
"""


def test_thresholds_of_an_input_queue_need_a_lossless_class() -> None:
    (told,) = remarks_on(THRESHOLDS, 3)
    assert (told.verdict, "is not lossless" in told.words) == ("no-effect", True)


def test_thresholds_of_an_input_queue_are_those_of_the_lossless_class() -> None:
    lossless = (
        "policy-map type network-qos n\n class type network-qos c-8q-nq3\n  pause pfc-cos 3\n"
    )
    section, _ = import_nxos(
        THRESHOLDS + lossless + "system qos\n service-policy type queuing input i\n"
    )
    assert section.policies["nxos"]["pfc"]["per_priority"] == {
        3: {"xoff": "10kB", "headroom": "10kB", "xon_offset": "2kB"}
    }
    (told,) = remarks_on(THRESHOLDS + lossless, 3)
    assert (told.verdict, "pfc.per_priority.3" in told.words) == ("understood", True)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("queue-limit dynamic 11", "0 to 10"),
        ("bandwidth remaining percent 200", "0 to 100"),
        ("priority level 9", "1 to 8"),
        ("queue-limit 99999999999999999999 bytes", "20 digits"),
    ],
)
def test_a_number_out_of_range_has_that_reason(action: str, words: str) -> None:
    told = remarks_on(f"policy-map type queuing o\n class type queuing c-out-8q-q3\n {action}", 3)
    assert ("not-understood", True) in [(remark.verdict, words in remark.words) for remark in told]


def test_of_two_policies_of_the_whole_switch_the_later_counts() -> None:
    text = "".join(
        f"policy-map type queuing {name}\n  class type queuing c-out-8q-q-default\n    "
        "bandwidth percent 100\n"
        for name in ("first", "second")
    )
    applied = "".join(
        f"  service-policy type queuing output {name}\n" for name in ("first", "second")
    )
    section, _ = import_nxos(f"{text}system qos\n{applied}")
    assert list(section.policies) == ["second"]


def test_ages_without_a_unit_are_microseconds() -> None:
    text = (
        QUEUES.format(actions="afd queue-desired 150 kbytes") + "hardware qos etrap age-period 20\n"
    )
    assert import_nxos(text)[0].policies["o"]["etrap"] == {"age": "20us"}


def test_a_watchdog_waits_for_so_many_intervals() -> None:
    text = (
        "policy-map type network-qos n\n class type network-qos c-8q-nq3\n  pause pfc-cos 3\n"
        "policy-map type queuing o\n class type queuing c-out-8q-q3\n  bandwidth remaining "
        "percent 50\n"
        "system qos\n  service-policy type network-qos n\npriority-flow-control "
        "watch-dog-interval on\n"
        "priority-flow-control watch-dog interval 200\npriority-flow-control watch-dog "
        "shutdown-multiplier 3\n"
        "priority-flow-control watch-dog auto-restore 5\n"
    )
    watchdog = import_nxos(text)[0].policies["o"]["pfc"]["watchdog"]
    assert watchdog == {"detection": "600ms", "restoration": "1s"}


def test_flow_control_of_one_port_is_that_of_the_policy() -> None:
    ports = (
        "interface Ethernet1/1\n  flowcontrol receive on\ninterface Ethernet1/2\n  flowcontrol "
        "receive off\n"
    )
    section, _ = import_nxos(QUEUES.format(actions="") + ports)
    assert section.policies["o"]["link_pause"] == {"sends": False, "obeys": True}
