"""Processors of hosts: what is refused, and what stands in a plan."""

from typing import Any

import pytest

from lab import load, problems, sound
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.network.cpu import COSTS, PROFILES, Cpu


def plan_of(cpu: dict[str, Any]) -> dict[str, Any]:
    loaded = load(hosts__db={"cpu": cpu})
    raw = lower(loaded.scenario, "base", 1)
    [host] = [host for host in raw["hosts"] if host["name"] == "db"]
    found: dict[str, Any] = host["cpu"]
    return found


@pytest.mark.parametrize(
    ("cpu", "key", "what"),
    [
        ({"cores": 257}, "cores", "write at most 256"),
        (
            {"cores": 4, "program_cores": [1, 4]},
            "program_cores.1",
            "there is no core 4: the host has 4 cores",
        ),
        ({"cores": 4, "program_cores": [1, 1]}, "program_cores.1", "core 1 stands here twice"),
        (
            {"cores": 4, "program_cores": 2},
            "program_cores",
            "a list of core numbers (hint: write program_cores: [0, 1]",
        ),
        (
            {"cores": 1, "irq_cores": [1]},
            "irq_cores.0",
            "there is no core 1: the host has 1 core (hint: write 0)",
        ),
        ({"cores": 4, "irq_cores": [9]}, "irq_cores.0", "there is no core 9"),
        ({"cores": 4, "scheduler": "fcfs"}, "scheduler", "fcfs is the scheduler of hosts without"),
        ({"cores": 4, "time_slice": "1ms"}, "time_slice", "`time_slice` is a setting of fcfs"),
        ({"cores": 4, "slice": "0ms"}, "slice", "must be greater than zero"),
        ({"cores": 4, "clock": "2GHz"}, "clock", "there is none"),
        ({"cores": 4, "clock": "2", "profile": "linux-kernel"}, "clock", "2 has no unit"),
        ({"cores": 4, "profile": "linux"}, "profile", "not one of the choices"),
        ({"cores": 4, "steal": {"share": "100%"}}, "steal.share", "must be from 0.0001% to 95%"),
        (
            {"cores": 4, "steal": {"share": "99.999999%"}},
            "steal.share",
            "must be from 0.0001% to 95%",
        ),
        (
            {"cores": 4, "steal": {"share": "0.0000001%"}},
            "steal.share",
            "must be from 0.0001% to 95%",
        ),
        (
            {"cores": 4, "steal": {"share": "10%", "slice": "1ps"}},
            "steal.slice",
            "must be from 10us to 1s",
        ),
        (
            {"cores": 4, "steal": {"share": "10%", "slice": "10s"}},
            "steal.slice",
            "must be from 10us to 1s",
        ),
        ({"cores": 4, "program_cores": "both"}, "program_cores", "expected a list, not 'both'"),
        ({"cores": 4, "memory_share": "0%"}, "memory_share", "must be above 0%"),
        ({"scheduler": "eevdf"}, "scheduler", "eevdf needs a processor"),
        ({"program_cores": [0]}, "program_cores", "a list of cores needs a processor"),
        (
            {"system_call": "1us"},
            "system_call",
            "has no effect on a host whose processor is not modelled",
        ),
        ({"cores": 1, "per_frame": "2s"}, "per_frame", "must be at most 1ms"),
        ({"cores": 1, "read_byte": "1us"}, "read_byte", "must be at most 100ns"),
        ({"per_packet": "20ms"}, "per_packet", "must be at most 1ms"),
        ({"rx_queues": 0}, "rx_queues", "write at least 1"),
    ],
)
def test_nonsense_is_refused(cpu: dict[str, Any], key: str, what: str) -> None:
    found = problems(sound(hosts__db={"cpu": cpu}))
    assert any(f"hosts.db.cpu.{key}: " in problem and what in problem for problem in found), found


@pytest.mark.parametrize(
    ("group", "key", "what"),
    [
        ({"workloads": ["none"]}, "workloads.0", "there is no workload 'none'"),
        ({"workloads": []}, "workloads", "at least 1"),
        ({"workloads": ["orders"], "cores": [2]}, "cores.0", "there is no core 2"),
        ({"workloads": ["orders"], "nice": 20}, "nice", "write at most 19"),
        ({"workloads": ["orders"], "quota": "0ms"}, "quota", "must be at least 1ms"),
        (
            {"workloads": ["orders"], "quota": "1ps", "period": "10ms"},
            "quota",
            "must be at least 1ms",
        ),
        (
            {"workloads": ["orders"], "quota": "1ms", "period": "1ps"},
            "period",
            "must be at least 1ms",
        ),
        ({"workloads": ["orders"], "quota": "1ms", "period": "2s"}, "period", "must be at most 1s"),
        ({"workloads": ["orders"], "quota": "5ms"}, "quota", "a quota needs a period"),
        (
            {"workloads": ["orders"], "period": "5ms"},
            "period",
            "a period without a quota limits nothing",
        ),
    ],
)
def test_nonsense_about_groups_is_refused(group: dict[str, Any], key: str, what: str) -> None:
    found = problems(sound(hosts__db={"cpu": {"cores": 2, "groups": {"own": group}}}))
    assert any(
        f"hosts.db.cpu.groups.own.{key}: " in problem and what in problem for problem in found
    ), found


def databases(number: int, memory: str | None, *, enabled: bool = True) -> list[str]:
    """Problems of a host with so many databases of 8 GB."""
    orders = sound()["workloads"]["orders"]
    more = {f"db{n}": {**orders, "enabled": enabled} for n in range(1, number + 1)}
    groups = {name: {"workloads": [name], "memory": "8GB"} for name in more}
    host = {"cpu": {"cores": 4, "groups": groups}} | ({"memory": memory} if memory else {})
    return problems(
        sound(hosts__db=host, **{f"workloads__{name}": own for name, own in more.items()})
    )


def test_41_databases_on_memory_for_30_are_refused() -> None:
    [problem] = databases(41, "240GB")
    assert "hosts.db.cpu.groups.db31.memory: " in problem
    assert "41 groups need 328 GB of memory, and the host has 240 GB" in problem
    assert "the first 30 of them fit" in problem
    assert databases(30, "240GB") == []


def test_no_memory_is_refused() -> None:
    [problem] = databases(1, "0B")
    assert "hosts.db.memory: must be greater than zero (hint: write 16GB, or omit it)" in problem
    group = {"workloads": ["orders"], "memory": "0B"}
    [problem] = problems(
        sound(hosts__db={"memory": "1GB", "cpu": {"cores": 4, "groups": {"g": group}}})
    )
    assert "hosts.db.cpu.groups.g.memory: must be greater than zero" in problem


def test_groups_whose_workloads_do_not_run_need_no_memory() -> None:
    assert databases(41, "240GB", enabled=False) == []


def test_memory_of_a_group_is_compared_with_that_of_its_host() -> None:
    [problem] = databases(1, None)
    assert (
        "hosts.db.cpu.groups.db1.memory: memory of a group is not compared with anything" in problem
    )
    [problem] = databases(1, "7GB")
    assert "the group needs 8 GB of memory, and the host has 7 GB (hint: raise it)" in problem


def test_a_group_of_programs_that_are_on_other_hosts_is_refused() -> None:
    found = problems(
        sound(hosts__other={"cpu": {"cores": 2, "groups": {"own": {"workloads": ["orders"]}}}})
    )
    assert any(
        "hosts.other.cpu.groups.own.workloads.0: 'orders' has no program on other" in one
        for one in found
    ), found


def test_profiles_have_a_clock_and_none_costs_less_than_nothing() -> None:
    for name, profile in PROFILES.items():
        assert profile.clock_hz > 0, name
        assert all(getattr(profile, cost) >= 0 for cost in COSTS), name
        if name != "none":
            own = plan_of({"cores": 1, "profile": name})["processor"]
            assert own["system_call_ps"] == profile.system_call


def test_a_workload_belongs_to_one_group() -> None:
    groups = {name: {"workloads": ["orders"]} for name in ("first", "second")}
    [problem] = problems(sound(hosts__db={"cpu": {"cores": 2, "groups": groups}}))
    assert "already belong to the group 'first'" in problem


def test_without_cores_a_plan_has_no_processor() -> None:
    assert plan_of({"per_packet": "1us", "program_cores": 2}) == {
        "per_packet_ps": 10**6,
        "per_byte_fs": 0,
        "program_cores": 2,
        "time_slice_ps": 3 * 10**9,
    }


def test_a_processor_stands_whole_in_its_plan() -> None:
    steal, group = {"share": "10%"}, {"workloads": ["orders"], "quota": "20ms", "period": "100ms"}
    cpu = plan_of(
        {
            "cores": 2,
            "rx_queues": 3,
            "irq_cores": [1, 0],
            "program_cores": [1],
            "steal": steal,
            "groups": {"g": group},
        }
    )
    own = cpu["processor"]
    assert cpu["program_cores"] == 1
    assert (own["cores"], own["slice_ps"], own["irq_cores"], own["program_cores"]) == (
        2,
        1500 * 10**6,
        [1, 0, 1],
        [1],
    )
    assert own["steal"] == {"slice_ps": 10**10, "every_ps": 10**11}
    quota = {"quota_ps": 20 * 10**9, "period_ps": 100 * 10**9}
    assert own["groups"] == [
        {"name": "g", "workloads": ["orders"], "cores": [1], "nice": 0} | quota
    ]


@pytest.mark.parametrize(("cores", "slice_ms"), [(1, 0.75), (2, 1.5), (4, 2.25), (8, 3), (64, 3)])
def test_the_slice_grows_with_the_cores_as_in_linux(cores: int, slice_ms: float) -> None:
    assert Cpu(cores=cores).effective_slice == slice_ms * 10**9


def test_a_profile_gives_costs_at_a_clock_and_keys_override_it() -> None:
    usual = PROFILES["linux-kernel"]
    own = plan_of(
        {"cores": 1, "profile": "linux-kernel", "clock": "1.7GHz", "system_call": "50ns"}
    )["processor"]
    assert (own["per_frame_ps"], own["read_byte_fs"]) == (2 * usual.per_frame, 2 * usual.read_byte)
    assert own["system_call_ps"] == 50_000


def test_less_memory_bandwidth_makes_bytes_dearer_and_nothing_else() -> None:
    own = plan_of({"cores": 1, "profile": "linux-kernel", "memory_share": "50%"})["processor"]
    usual = PROFILES["linux-kernel"]
    assert (own["read_byte_fs"], own["write_byte_fs"]) == (
        2 * usual.read_byte,
        2 * usual.write_byte,
    )
    assert own["per_frame_ps"] == usual.per_frame


def test_the_profile_is_what_was_measured() -> None:
    """Cai and others: 42 Gbit/s for a receiving core, 95 of 190 ps/B in the copy."""
    own = PROFILES["linux-kernel"]
    frames = 65_160 / 8_948
    aggregate = own.per_packet + own.per_send + frames * own.per_frame
    per_byte_fs = own.read_byte + aggregate * 1_000 / 65_160
    assert 8e6 / per_byte_fs == pytest.approx(42, rel=0.02)
    sending_fs = own.write_byte + own.per_send * 1_000 / 65_160
    assert sending_fs == pytest.approx(90_000, rel=0.02)
