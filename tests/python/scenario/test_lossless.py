"""A lossless class that can lose frames is refused where that is certain, and warned of where it is
possible."""

from typing import Any

import pytest

from lab import load, problems, sound
from scenario_files import SCENARIOS
from tailrace.scenario.loading import load_scenario

DROPPING: dict[str, dict[str, Any]] = {
    "red": {"kind": "red", "minimum": "10kB", "maximum": "40kB"},
    "afd": {"kind": "afd", "desired": "30kB"},
    "codel": {"kind": "codel"},
}
OBEYING = {"defaults": {"nic": {"pfc": {"priorities": [3]}}}}
DEAF_BULK = {**OBEYING, "bulk": {"nic": {"pfc": {"priorities": [4]}}}}
LINK_PAUSE: dict[str, Any] = {"pfc": None, "link_pause": {}, "priorities": {3: "san", 0: "lan"}}


def star(policy: dict[str, Any] | None = None, **changes: object) -> dict[str, Any]:
    """Three hosts that send in priority 3, which is lossless, through one switch; nothing is
    wrong."""
    usual = {
        "queues": {"san": {"share": "50%"}, "lan": {}},
        "priorities": {3: "san"},
        "pfc": {"priorities": [3]},
    }
    return sound(
        **{
            "policies": {"p": usual | (policy or {})},
            "switches__leaf": {"policy": "p", "buffer": "4MB"},
            "hosts": OBEYING,
            "arms": {},
            "workloads__orders__priority": 3,
            "workloads__backup__priority": 3,
            **changes,
        }
    )


def warnings(data: dict[str, Any]) -> list[str]:
    """Every warning of a scenario, without the file's name."""
    return [str(warning).removeprefix("scenario: ") for warning in load_scenario(data).warnings]


def queues(**san: object) -> dict[str, Any]:
    """The queues with other keys of the lossless one."""
    return {"queues": {"san": {"share": "50%", **san}, "lan": {}}}


def test_a_lossless_class_of_which_nothing_is_wrong_has_no_warning() -> None:
    assert warnings(star()) == []


@pytest.mark.parametrize("kind", sorted(DROPPING))
def test_management_that_drops_warns_in_a_lossless_queue_and_nowhere_else(kind: str) -> None:
    found = warnings(star(queues(aqm=DROPPING[kind])))
    assert f"policies.p.queues.san.aqm: {kind} drops frames of the lossless queue 'san'" in found[0]
    assert (
        warnings(star({"queues": {"san": {"share": "50%"}, "lan": {"aqm": DROPPING[kind]}}})) == []
    )


def test_a_queue_of_a_lossless_and_another_priority_is_accepted_with_a_warning() -> None:
    shared = star({"priorities": {3: "san", 2: "san"}})
    assert problems(shared) == []
    (found,) = warnings(shared)
    assert (
        "lossless priority 3 shares queue 'san' with priority 2: a pause of one stops both" in found
    )


def test_a_step_drops_nothing_and_is_welcome() -> None:
    assert warnings(star(queues(aqm={"kind": "step", "threshold": "30kB"}))) == []


@pytest.mark.parametrize("kind", sorted(DROPPING))
def test_management_that_marks_warns_of_senders_without_ecn(kind: str) -> None:
    marking = queues(aqm=DROPPING[kind] | {"ecn": True})
    (found,) = warnings(star(marking))
    assert (
        f"{kind} drops frames of this lossless queue that cannot be marked: those of orders, backup"
        in found
    )
    assert (
        warnings(star(marking, hosts={"defaults": OBEYING["defaults"] | {"tcp": {"ecn": True}}}))
        == []
    )


@pytest.mark.parametrize("part", ["police", "dpp"])
def test_policer_and_prioritisation_are_for_other_priorities(part: str) -> None:
    usual: dict[str, Any] = {"police": {"rate": "1Gbit/s"}, "dpp": {}}[part]
    more = {
        "queues": {"express": {"strict": 1}, **queues()["queues"]},
        "priorities": {3: "san", 7: "express"},
    }
    (found,) = problems(star(more | {part: usual}))
    assert f"policies.p.{part}.priorities" in found
    assert f"(hint: {part}: {{priorities: [0, 1, 2, 4, 5, 6, 7]}})" in found
    assert problems(star(more | {part: usual | {"priorities": [0, 1]}})) == []


def test_pauses_last_until_they_have_been_renewed() -> None:
    # The renewal goes at the half and may wait for a frame of 1538 bytes: 2 * 1538 / 64 = 48.06
    # quanta.
    (found,) = problems(star({"pfc": {"priorities": [3], "quanta": 48}}))
    assert "policies.p.pfc.quanta: pauses of 48 quanta expire before" in found
    assert "write 49 or more" in found
    assert problems(star({"pfc": {"priorities": [3], "quanta": 49}})) == []


@pytest.mark.parametrize(
    ("limit", "pfc", "is_small"),
    [
        ("180kB", {"xoff": "80kB", "headroom": "20kB"}, True),  # two other ports, 100 kB each
        ("200kB", {"xoff": "80kB", "headroom": "20kB"}, False),
        ("132 frames", {"xoff": "80kB", "headroom": "20kB"}, True),
        ("133 frames", {"xoff": "80kB", "headroom": "20kB"}, False),
        ("dynamic(0.1)", {"xoff": "dynamic(1)"}, True),
        ("dynamic(8)", {"xoff": "dynamic(1)"}, False),
    ],
)
def test_a_queue_holds_what_all_other_ports_may_hold(
    limit: str, pfc: dict[str, str], *, is_small: bool
) -> None:
    found = warnings(star({**queues(limit=limit), "pfc": {"priorities": [3], **pfc}}))
    assert [("lossless queue 'san' drops above" in warning) for warning in found] == [
        True
    ] * is_small


def test_headroom_below_what_may_still_come_is_warned_of() -> None:
    (found,) = warnings(star({"pfc": {"priorities": [3], "headroom": "2kB"}}))
    assert "policies.p.pfc.headroom: headroom of 2 kB is less than the 11.3 kB" in found


def test_interfaces_that_do_not_obey_are_named() -> None:
    (found,) = warnings(star(hosts={}))
    assert "switch 'leaf' pauses priority 3, but client, db, bulk ignore its pauses" in found
    (found,) = warnings(star(hosts=DEAF_BULK))
    assert "hosts.bulk.nic.pfc" in found
    # What sends nothing in the class need not obey.
    assert warnings(star(hosts=DEAF_BULK, workloads__backup__priority=0)) == []


def test_a_pause_of_the_link_needs_interfaces_that_obey_it() -> None:
    (found,) = warnings(star(LINK_PAUSE))
    assert "pauses the link, but client, db, bulk ignore its pauses" in found
    assert warnings(star(LINK_PAUSE, hosts={"defaults": {"nic": {"link_pause": True}}})) == []


def test_a_class_by_code_point_is_sent_in_the_same_priority() -> None:
    switch = {"policy": "p", "buffer": "4MB", "classify": [{"dscp": ["af31"], "class": 3}]}
    (found,) = warnings(
        star(switches__leaf=switch, workloads__backup__dscp="af31", workloads__backup__priority=0)
    )
    assert "workloads.backup.priority: its frames have class 3 at switch 'leaf'" in found


def test_an_arm_is_named_where_not_all_have_the_warning() -> None:
    arms = {"obeys": {}, "deaf": {"hosts.bulk.nic.pfc.priorities": [4]}}
    (found,) = warnings(star(arms=arms))
    assert "in arm deaf: switch 'leaf'" in found


@pytest.mark.parametrize("path", SCENARIOS, ids=str)
def test_no_scenario_of_ours_is_warned_of_without_reason(path: Any) -> None:
    of_arms = {warning.what.partition(":")[0] for warning in load_scenario(path).warnings}
    assert of_arms == (
        {"in arm disobedient", "in arm too-small"} if path.name == "pfc.yaml" else set()
    )


def test_other_scenarios_have_none() -> None:
    assert load().warnings == ()
