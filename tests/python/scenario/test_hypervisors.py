"""Hypervisors: what is refused, and what stands in a plan."""

from typing import Any

import pytest

from lab import load, problems, sound
from tailrace.errors import ScenarioError
from tailrace.exact.refuse import refuse as refuse_exact
from tailrace.live.refuse import refuse as refuse_live
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.network.hypervisor import MACHINE_LINK_BPS, SWITCH_CYCLES, Hypervisor

SWITCH = "leaf"
"""The switch of the sound scenario, to which all of its hosts are linked."""


def changes(own: dict[str, Any]) -> dict[str, Any]:
    return {"hypervisors": {SWITCH: {"cores": 4} | own}}


def plan_of(own: dict[str, Any], cores: int = 0) -> dict[str, Any]:
    loaded = load(hosts__db={"cpu": {"cores": cores}}, **changes(own))
    return lower(loaded.scenario, "base", 1)


@pytest.mark.parametrize(
    ("own", "key", "what"),
    [
        ({"cores": 0}, "cores", "write at least 1"),
        ({"cores": 257}, "cores", "write at most 256"),
        ({"switch": "dpdk"}, "switch", "not one of the choices"),
        (
            {"polling_cores": [4], "switch": "ovs-dpdk"},
            "polling_cores.0",
            "there is no core 4: the hypervisor has 4 cores",
        ),
        (
            {"polling_cores": [1, 1], "switch": "ovs-dpdk"},
            "polling_cores.1",
            "core 1 stands here twice",
        ),
        (
            {"polling_cores": [0, 1, 2, 3], "switch": "ovs-dpdk"},
            "polling_cores",
            "every core polls",
        ),
        ({"irq_cores": [7]}, "irq_cores.0", "there is no core 7"),
        ({"clock": "0GHz"}, "clock", "must be greater than zero"),
        ({"slice": "0ms"}, "slice", "must be greater than zero"),
        ({"ring": "0 frames"}, "ring", "must hold at least one frame"),
        ({"page_factor": 0.5}, "page_factor", "write at least 1"),
        ({"profile": "none"}, "profile", "nothing costs anything"),
        ({"exit": "2ms"}, "exit", "must be at most 1ms"),
        ({"copy_byte": "1us"}, "copy_byte", "must be at most 100ns"),
        ({"coalesce": "1000s"}, "coalesce", "must be at most 10ms"),
        ({"halt_poll": "1s"}, "halt_poll", "must be at most 10ms"),
        ({"tick": "0s"}, "tick", "must be 1ms to 10ms"),
        (
            {"pins": {"nobody": {"cores": [1]}}},
            "pins.nobody",
            "'nobody' is no virtual machine of this hypervisor",
        ),
        ({"pins": {"db": {"cores": [1, 2, 3]}}}, "pins.db.cores", "3 cores for 2 virtual cores"),
        ({"pins": {"db": {"vhost": [9]}}}, "pins.db.vhost.0", "there is no core 9"),
        ({"neighbours": {"busy": {"tasks": 5000}}}, "neighbours.busy.tasks", "write at most 4096"),
        ({"neighbours": {"busy": {"cores": [8]}}}, "neighbours.busy.cores.0", "there is no core 8"),
        (
            {"neighbours": {"busy": {"wait": "1ms"}}},
            "neighbours.busy.wait",
            "is a key of the kind disk",
        ),
        (
            {"neighbours": {"busy": {"kind": "disk", "wait": "0s"}}},
            "neighbours.busy.wait",
            "must be greater than zero",
        ),
    ],
)
def test_nonsense_is_refused(own: dict[str, Any], key: str, what: str) -> None:
    found = problems(sound(hosts__db={"cpu": {"cores": 2}}, **changes(own)))
    assert any(
        f"hypervisors.{SWITCH}.{key}: " in problem and what in problem for problem in found
    ), found


def test_a_hypervisor_is_around_a_switch() -> None:
    [problem] = problems(sound(hypervisors={"leav": {"cores": 4}}))
    assert "hypervisors.leav: there is no switch 'leav' (hint: did you mean 'leaf'?)" in problem


def test_a_virtual_machine_has_no_steal_of_its_own() -> None:
    found = problems(
        sound(hosts__db={"cpu": {"cores": 2, "steal": {"share": "10%"}}}, **changes({}))
    )
    assert any("its hypervisor decides what is stolen" in problem for problem in found)


def test_engines_with_real_kernels_refuse_it() -> None:
    loaded = load_scenario(sound(**changes({})))
    for refuse in (refuse_exact, refuse_live):
        with pytest.raises(
            ScenarioError,
            match=f"hypervisors.{SWITCH}: (exact|live) runs do not have virtual machines",
        ):
            refuse(loaded, loaded.arms)


def test_without_hypervisors_a_plan_says_nothing_of_them() -> None:
    assert "hypervisors" not in lower(load().scenario, "base", 1)


def test_links_of_virtual_machines_are_not_wires() -> None:
    plan = plan_of({})
    assert {(link["rate_bps"], link["delay_ps"]) for link in plan["links"]} == {
        (MACHINE_LINK_BPS, 0)
    }
    assert plan["switches"][0]["latency_ps"] == 0


def test_polling_cores_are_kept_free_and_pins_are_used_in_turn() -> None:
    pins = {"db": {"cores": [1, 2]}}
    [own] = plan_of({"switch": "ovs-dpdk", "polling_cores": [0], "pins": pins}, cores=3)[
        "hypervisors"
    ]
    [db] = [machine for machine in own["machines"] if machine["host"] == "db"]
    assert (db["cores"], db["vhost_cores"]) == ([[1], [2], [1]], [1, 2, 3])
    assert (own["switching"], own["polling_cores"]) == ("polling", [0])
    [shared] = plan_of({"switch": "ovs-dpdk", "isolate": False})["hypervisors"]
    assert shared["machines"][0]["vhost_cores"] == [0, 1, 2, 3]


def test_without_offloads_machines_send_single_frames() -> None:
    plan = plan_of({"offloads": False})
    assert {host["nic"]["tso_bytes"] for host in plan["hosts"]} == {0}
    assert plan["hypervisors"][0]["merge_bytes"] == 0


@pytest.mark.parametrize(
    ("kind", "mega_frames"), [("bridge", 1.11), ("ovs", 1.88), ("ovs-dpdk", 11.31)]
)
def test_the_profile_is_what_was_measured(kind: Any, mega_frames: float) -> None:
    """Emmerich and others, at 3.3 GHz."""
    own = Hypervisor(cores=1, switch=kind)
    assert own.cost("switch_frame") == SWITCH_CYCLES[kind] * 10**12 // 3_300_000_000
    assert 10**6 / own.cost("switch_frame") == pytest.approx(mega_frames, rel=0.01)


def test_small_pages_make_polling_dearer_and_nothing_else() -> None:
    usual, small = (
        Hypervisor(cores=1, switch="ovs-dpdk", page_factor=factor) for factor in (1, 1.5)
    )
    assert small.cost("switch_frame") == usual.cost("switch_frame") * 3 // 2
    assert small.cost("exit") == usual.cost("exit")
    kernel = Hypervisor(cores=1, page_factor=1.5)
    assert kernel.cost("switch_frame") == Hypervisor(cores=1).cost("switch_frame")


KEYS_OF_KINDS = [
    ("ovs-dpdk", "ovs", {"polling_cores": [1]}, "polling_cores"),
    ("ovs-dpdk", "bridge", {"isolate": False}, "isolate"),
    ("ovs-dpdk", "ovs", {"page_factor": 1.5}, "page_factor"),
    ("ovs-dpdk", "ovs", {"poll": "200ns"}, "poll"),
    ("ovs", "ovs-dpdk", {"irq_cores": [1]}, "irq_cores"),
    ("bridge", "ovs-dpdk", {"backlog": "300 frames"}, "backlog"),
    ("ovs", "ovs-dpdk", {"coalesce": "4us"}, "coalesce"),
    ("ovs", "ovs-dpdk", {"merge_frame": "1us"}, "merge_frame"),
    ("ovs", "ovs-dpdk", {"vhost_frame": "1us"}, "vhost_frame"),
    ("ovs", "ovs-dpdk", {"pins": {"db": {"vhost": [1]}}}, "pins.db.vhost"),
]


@pytest.mark.parametrize(("kind", "other", "own", "key"), KEYS_OF_KINDS)
def test_a_key_of_another_kind_of_switch_is_a_warning_unless_an_arm_uses_it(
    kind: str, other: str, own: dict[str, Any], key: str
) -> None:
    def told(**more: Any) -> list[str]:
        base = changes(own | {"switch": other})
        found = load(hosts__db={"cpu": {"cores": 2}}, **base, **more).warnings
        return [str(one) for one in found if "has an effect only with" in str(one)]

    [warning] = told()
    assert (
        f"hypervisors.{SWITCH}.{key}: `{key.rpartition('.')[2]}` has an effect only with" in warning
    )
    assert told(arms={"base": {}, "two": {"hypervisors.leaf.cores": 5}}) == [warning], "told once"
    assert told(arms={"base": {}, "two": {"hypervisors.leaf.switch": kind}}) == []
    assert not load(hosts__db={"cpu": {"cores": 2}}, **changes(own | {"switch": kind})).warnings


def test_work_pinned_to_a_core_that_polls_is_a_warning() -> None:
    own = {
        "switch": "ovs-dpdk",
        "pins": {"db": {"cores": [1, 0]}},
        "neighbours": {"busy": {"cores": [0]}},
    }
    found = [str(one) for one in load(hosts__db={"cpu": {"cores": 2}}, **changes(own)).warnings]
    assert sum("core 0 polls" in one for one in found) == 2
    assert any("hypervisors.leaf.pins.db.cores.1" in one for one in found)
    for more in ({"isolate": False}, {"switch": "ovs"}, {"polling_cores": [3]}):
        found = [
            str(one)
            for one in load(hosts__db={"cpu": {"cores": 2}}, **changes(own | more)).warnings
        ]
        assert not any("polls" in one for one in found)
