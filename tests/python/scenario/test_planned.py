"""Workloads of plans are read in one place, whatever the version of the plan."""

from lab import load
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.planned import planned_workloads


def test_a_workload_of_a_plan_has_a_header_and_a_body() -> None:
    scenario = load(workloads__backup__vlan=7, workloads__backup__start="1ms").scenario
    orders, backup = planned_workloads(lower(scenario, "fifo", 1))
    assert (orders.name, orders.kind, orders.vlan) == ("orders", "oltp", 0)
    assert backup.header == {
        "name": "backup",
        "priority": 0,
        "port": 5201,
        "vlan": 7,
        "start_ps": 10**9,
    }
    assert not {"name", "priority", "vlan", "start_ps"} & backup.body.keys()


def test_the_choice_of_a_live_program_stands_in_the_header() -> None:
    scenario = load(workloads__orders__load_generator="hammerdb").scenario
    orders, _ = planned_workloads(lower(scenario, "fifo", 1))
    assert orders.header["live"] == {"load_generator": "hammerdb"}
    assert orders.flat["load_generator"] == "hammerdb"


def test_plans_of_version_1_are_understood() -> None:
    own = {
        "name": "backup",
        "source": "db",
        "destination": "app",
        "bytes": 5,
        "connections": 2,
        "vlan": 7,
        "start_ps": 3,
    }
    [found] = planned_workloads({"version": 1, "workloads": [{"stream": own}]})
    assert (found.name, found.kind, found.vlan, found.work) == ("backup", "stream", 7, 10)
    assert found.header == {"name": "backup", "vlan": 7, "start_ps": 3}
    assert (found.ends.senders, found.ends.receivers) == (["db"], ["app"])
