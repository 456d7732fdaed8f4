"""What cannot be run live is refused before anything starts, with file and line."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lab import sound
from tailrace.errors import ScenarioError
from tailrace.live.refuse import Machine, refuse, refuse_machine
from tailrace.scenario.loading import load_scenario

ORDERS = {
    "kind": "oltp",
    "client": "client",
    "server": "db",
    "users": 1,
    "round_trips": [{"response": "1kB"}],
}


def refusals(
    frames_per_s_max: float | None, changes: Mapping[str, object] | None = None
) -> list[str]:
    """Every refusal of the sound scenario with changes."""
    loaded = load_scenario(sound(**(changes or {})))
    try:
        refuse(loaded, loaded.arms)
        refuse_machine(loaded, loaded.arms, Machine(frames_per_s_max, frozenset({"cubic", "reno"})))
    except ScenarioError as error:
        return [str(problem).removeprefix("scenario: ") for problem in error.problems]
    return []


def test_a_scenario_of_databases_and_streams_can_be_run() -> None:
    assert refusals(1e9) == []


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        (
            {"workloads__web": {"kind": "flows", "sizes": "10kB", "load": "10%"}},
            "workloads.web.kind: no real program",
        ),
        (
            {"workloads__orders__gap_from": "start"},
            "workloads.orders.gap_from: pgbench starts the gap at the end",
        ),
        (
            {"workloads__orders__gap": "erlang(7ms, 40)"},
            "workloads.orders.gap: pgbench cannot draw it: a shape of 40",
        ),
        (
            {"hosts__db": {"tcp": {"rto_min": "500us"}}},
            "hosts.db.tcp.rto_min: Linux counts it in milliseconds",
        ),
        (
            {"hosts__db": {"tcp": {"rto_max": "60s"}}},
            "hosts.db.tcp.rto_max: not adjustable in live runs: Linux always uses 120s",
        ),
        (
            {"hosts__db": {"tcp": {"congestion_control": "dctcp"}}},
            "hosts.db.tcp.congestion_control: this kernel has no dctcp (hint: available: "
            "cubic, reno)",
        ),
        (
            {"hosts__db": {"tcp": {"congestion_control": "bbr"}}},
            "hosts.db.tcp.congestion_control: this kernel has no bbr "
            "(hint: available: cubic, reno)",
        ),
        (
            {"network__framing": {"overhead": "12B"}},
            "network.framing: frames of live runs have the sizes of Ethernet",
        ),
        (
            {
                "workloads__backup": {
                    "kind": "datagrams",
                    "source": "bulk",
                    "destination": "client",
                    "sizes": "1kB",
                    "interarrival": "exponential(1ms)",
                }
            },
            "workloads.backup.interarrival: iperf3 sends datagrams of one size at even gaps",
        ),
        (
            {
                "workloads__more": ORDERS | {"priority": 3},
            },
            "workloads.more.priority: the server on 'db' already responds to another workload "
            "with priority 0",
        ),
        (
            {"workloads__more": ORDERS | {"port": 5433}},
            "workloads.more.port: postgresql on 'db' listens at port 5432, where workload "
            "'orders' asks it",
        ),
        (
            {
                "workloads__orders": ORDERS | {"load_generator": "sysbench", "database": "mariadb"},
                "workloads__more": ORDERS | {"load_generator": "sysbench", "database": "galera"},
                "workloads__other": ORDERS
                | {"load_generator": "sysbench", "database": "galera", "server": "bulk"},
            },
            "workloads.more.port: host 'db' would have two servers at port 3306: mariadb of "
            "workload 'orders', and",
        ),
        (
            {"workloads__orders__client_ports": "40000-40999"},
            "workloads.orders.client_ports: the kernel chooses the ports of the clients of pgbench",
        ),
        (
            {"workloads__backup__client_ports": "40000-40999"},
            "workloads.backup.client_ports: the kernel chooses the ports of the clients of iperf3",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_it_is_refused_where_it_stands(changes: dict[str, object], refusal: str) -> None:
    [found] = refusals(None, changes)
    assert found.startswith(refusal)
    assert "(hint: " in found


def test_what_linux_calls_by_another_name_is_known() -> None:
    assert refusals(None, {"hosts__db": {"tcp": {"congestion_control": "new-reno"}}}) == []


def test_the_traffic_program_has_the_ports_of_clients_that_a_workload_names() -> None:
    blocks = {
        "kind": "blocks",
        "preset": "awr-example",
        "nodes": ["db", "bulk"],
        "users": 2,
        "gap": "5ms",
    }
    blocks |= {"client_ports": "40000-40999"}
    assert refusals(None, {"workloads__blocks": blocks}) == []


def test_marks_storms_and_vlans_can_be_run() -> None:
    assert refusals(None, {"workloads__orders__dscp": "ef"}) == []
    assert refusals(None, {"workloads__orders__vlan": 10, "workloads__backup__vlan": 20}) == []
    storm = {"pfc": {"priorities": [3]}, "storm": {"priorities": [3], "end": "1s"}}
    assert refusals(None, {"hosts__db": {"nic": storm}}) == []


def test_a_marked_datagram_has_no_other_priority() -> None:
    blast = {
        "kind": "datagrams",
        "source": "bulk",
        "destination": "client",
        "sizes": "1kB",
        "interarrival": "1ms",
    }
    marked = {"workloads__backup": blast | {"dscp": "ef"}}
    assert refusals(None, marked) == []
    [found] = refusals(None, marked | {"workloads__orders__priority": 3})
    assert found.startswith(
        "workloads.backup.dscp: Linux gives a marked datagram the priority of its code point"
    )


def test_a_live_network_has_so_many_vlans() -> None:
    stream = {"kind": "stream", "source": "bulk", "destination": "client"}
    many = {f"workloads__s{vlan}": stream | {"vlan": vlan} for vlan in range(1, 180)}
    [found] = refusals(None, many)
    assert found.startswith("workloads: the workloads use 179 VLANs (hint: use at most 178")
    del many["workloads__s179"]
    assert refusals(None, many) == []


def test_what_a_route_can_set_is_not_refused() -> None:
    assert refusals(None, {"hosts__db": {"tcp": {"rto_min": "5ms", "initial_window": 32}}}) == []


def test_frames_are_counted_where_the_bulk_arrives() -> None:
    # 10 Gbit/s of frames of 1538 bytes, and half as many acknowledgements: 1.2 million a second.
    [found] = refusals(1_200_000)
    assert found.startswith(
        "network.link.rate: its ports carry up to 1 219 116 frames/s, but this machine "
        "sustains 1 200 000"
    )
    assert refusals(1_220_000) == []


def test_the_line_of_the_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "tailrace: 1\nname: s\nnetwork: {topology: {kind: star, hosts: [a, b]}}\n"
        "workloads:\n  web: {kind: flows, sizes: 10kB, load: 10%}\nexperiment: {duration: 1s}\n",
        encoding="utf-8",
    )
    loaded = load_scenario(file)
    with pytest.raises(ScenarioError, match=r"s\.yaml:5: workloads\.web\.kind"):
        refuse(loaded, loaded.arms)


BLAST = {
    "kind": "datagrams",
    "source": "bulk",
    "destination": "db",
    "sizes": "1kB",
    "interarrival": "1ms",
    "dscp": "ef",
}
VERSION_2 = "control groups of version 2, which this machine or user does not have"


@pytest.mark.parametrize(
    ("changes", "refusals_expected"),
    [
        (
            {"workloads__orders__priority": 3},
            [f"workloads.orders.priority: priorities of programs need {VERSION_2}"],
        ),
        (
            {
                "workloads__orders__dscp": "ef",
                "workloads__backup__dscp": "af11",
                "workloads__blast": BLAST,  # iperf3 marks its datagrams itself
            },
            [
                f"workloads.backup.dscp: code points of connections need {VERSION_2}",
                f"workloads.orders.dscp: code points of connections need {VERSION_2}",
            ],
        ),
    ],
    ids=["priority", "dscp"],
)
def test_what_needs_control_groups_is_refused_where_there_are_none(
    changes: dict[str, object], refusals_expected: list[str]
) -> None:
    loaded = load_scenario(sound(hosts__db={"cpu": {"program_cores": 1}}, **changes))

    def told(machine: Machine) -> list[str]:
        try:
            refuse_machine(loaded, loaded.arms, machine)
        except ScenarioError as error:
            return sorted(
                str(problem).removeprefix("scenario: ").partition(" (hint: ")[0]
                for problem in error.problems
            )
        return []

    cores, *others = told(
        Machine.of({"cgroup_usable": False, "cpu_limits": False, "priorities": False}, 1e9)
    )
    assert (
        cores == "hosts.db.cpu.program_cores: limits of CPU time need a control group,"
        " which this machine or user does not have"
    )
    assert others == refusals_expected
    assert told(Machine.of({"cgroup_usable": False, "cpu_limits": False}, 1e9)) == [cores, *others]
    # Version 2 of a machine whose cpu controller is in use by version 1.
    assert told(
        Machine.of({"cgroup_usable": True, "cpu_limits": False, "priorities": True}, 1e9)
    ) == [cores]
    # A machine with version 1 alone.
    assert (
        told(Machine.of({"cgroup_usable": True, "cpu_limits": True, "priorities": False}, 1e9))
        == others
    )
    assert told(Machine.of({"cgroup_usable": True, "cpu_limits": True}, 1e9)) == []
    assert told(Machine()) == []
