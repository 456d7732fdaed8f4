"""What cannot be run on real kernels in virtual time is refused before anything starts, with file
and line."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lab import SOUND, sound
from tailrace.errors import ScenarioError
from tailrace.exact.refuse import ignored, refuse
from tailrace.scenario.loading import load_scenario

RATES = {"read_rate": "1000GB/s", "write_rate": "1000GB/s", "queue_depth": 64, "servers": 64}


def refusals(changes: Mapping[str, object] | None = None) -> list[str]:
    """Every refusal of the sound scenario with changes."""
    loaded = load_scenario(sound(**(changes or {})))
    try:
        refuse(loaded, loaded.arms)
    except ScenarioError as error:
        return [str(problem).removeprefix("scenario: ") for problem in error.problems]
    return []


def test_a_scenario_of_databases_and_streams_can_be_run() -> None:
    assert refusals() == []
    assert refusals({"workloads__orders__priority": 3}) == []


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        (
            {"network__framing": {"overhead": "12B"}},
            "network.framing: frames of exact runs have the sizes of Ethernet",
        ),
        (
            {"hosts__db": {"nic": {"link_pause": True}}},
            "hosts.db.nic.link_pause: the interface of a host in an exact",
        ),
        (
            {"hosts__db": {"nic": {"qcn": {}}}},
            "hosts.db.nic.qcn: the interface of a host in an exact run does not",
        ),
        (
            {"hosts__db": {"nic": {"gro": "9000B"}}},
            "hosts.db.nic.gro: not adjustable in exact runs: Linux merges up to",
        ),
        (
            {"hosts__db": {"tcp": {"rto_max": "60s"}}},
            "hosts.db.tcp.rto_max: not adjustable in exact runs: Linux",
        ),
        (
            {"hosts__db": {"tcp": {"delayed_ack": "0s"}}},
            "hosts.db.tcp.delayed_ack: not adjustable in exact runs",
        ),
        (
            {"hosts__db": {"tcp": {"small_queue_bound": "line"}}},
            "hosts.db.tcp.small_queue_bound: not adjustable",
        ),
        (
            {"hosts__db": {"tcp": {"slow_start_exit": "none"}}},
            "hosts.db.tcp.slow_start_exit: not adjustable in exact",
        ),
    ],
)
def test_what_a_kernel_does_not_have_is_refused(
    changes: Mapping[str, object], refusal: str
) -> None:
    [found] = refusals(changes)
    assert found.startswith(refusal)


def test_the_hosts_of_an_exact_run_are_bounded() -> None:
    def of(count: int) -> list[str]:
        hosts = ["client", "db", "bulk", *(f"h{number}" for number in range(count - 3))]
        return refusals({"network__topology__hosts": hosts})

    assert of(250) == []
    [found] = of(251)
    assert found.startswith("network: it has 251 hosts")


def test_connections_beyond_the_ports_of_a_host_are_refused_with_the_key_and_the_limit() -> None:
    def of(users: int, others: int) -> list[str]:
        copy = {"kind": "stream", "source": "client", "destination": "db", "connections": others}
        return refusals({"workloads__orders__users": users, "workloads__zcopy": copy})

    assert of(32_767, 1) == []
    [found] = of(32_769, 1)
    assert found.startswith(
        "workloads.orders.users: host client would have 32769 client ports, and a kernel has 32768"
    )
    assert "write at most 32768)" in found
    [found] = of(32_000, 800)
    assert found.startswith(
        "workloads.zcopy.connections: host client would have 32800 client ports"
    )
    assert "with 32000 of other workloads" in found
    assert "write at most 768)" in found


def test_receive_offload_is_the_kernels_or_off() -> None:
    assert refusals({"hosts__db": {"nic": {"gro": "0B"}}}) == []
    assert refusals({"hosts__db": {"nic": {"gro": "64kB"}}}) == []


def test_flows_and_datagrams_of_any_distribution_can_be_run() -> None:
    web = {"kind": "flows", "sizes": "exponential(10kB)", "load": "10%"}
    ends = {"source": "bulk", "destination": "client"}
    pings = {"kind": "datagrams", **ends, "sizes": "1kB", "interarrival": "exponential(1ms)"}
    assert refusals({"workloads__web": web, "workloads__pings": pings}) == []


def test_what_has_no_effect_is_told() -> None:
    loaded = load_scenario(
        sound(hosts__db={"cpu": {"per_packet": "1us", "program_cores": 2, "time_slice": "1ms"}})
    )
    told = [str(problem).removeprefix("scenario: ") for problem in ignored(loaded, loaded.arms)]
    assert told == [
        "hosts.db.cpu.per_packet: ignored in an exact run: a kernel takes no time of a processor"
    ]


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        (
            {"load_generator": "hammerdb"},
            "load_generator: exact runs do not have hammerdb (hint: write one of: pgbench, "
            "sysbench; or omit it",
        ),
        (
            {"load_generator": "pgbench", "gap_from": "start"},
            "gap_from: pgbench starts the gap at the end of a transaction",
        ),
        (
            {"database": "postgresql", "dscp": "ef"},
            "dscp: the packets of pgbench have no code point of their own in an exact run "
            "(hint: omit database",
        ),
        (
            {"load_generator": "pgbench", "client_ports": "40000-40999"},
            "client_ports: the kernel chooses the ports of the clients of pgbench (hint: omit "
            "load_generator",
        ),
    ],
)
def test_a_program_that_cannot_do_a_workload_is_refused(
    changes: Mapping[str, object], refusal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tailrace.exact.refuse.path_of", lambda needed: Path("/usr/bin") / needed.program
    )
    [found] = refusals({f"workloads__orders__{key}": value for key, value in changes.items()})
    assert found.startswith(f"workloads.orders.{refusal}")


def test_a_real_server_has_one_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tailrace.exact.refuse.path_of", lambda needed: Path("/usr/bin") / needed.program
    )
    orders = SOUND["workloads"]["orders"] | {"load_generator": "pgbench"}
    more = {"workloads__orders": orders, "workloads__more": orders | {"port": 5433}}
    [found] = refusals(more)
    assert found.startswith(
        "workloads.more.port: postgresql on 'db' listens at port 5432, where workload 'orders'"
    )
    assert (
        refusals(more | {"workloads__more": SOUND["workloads"]["orders"] | {"port": 5433}}) == []
    ), "it is none"


def test_subsystems_of_one_port_have_capsules_of_one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tailrace.exact.refuse.path_of", lambda needed: Path("/usr/bin") / needed.program
    )
    ram = {"devices": {"ram": dict.fromkeys(("read_latency", "write_latency"), "10us") | RATES}}
    one = {
        "kind": "storage",
        "initiators": ["client"],
        "target": "db",
        "protocol": "nvme-tcp",
        "device": "ram",
    }
    other = one | {"nvme_tcp": {"in_capsule": "8KiB"}}
    assert refusals(ram | {"workloads__one": one, "workloads__two": one}) == []
    [found] = refusals(ram | {"workloads__one": one, "workloads__two": other})
    assert found.startswith(
        "workloads.two.nvme_tcp.in_capsule: another workload asks port 4420 of 'db' with other"
    )
    assert refusals(ram | {"workloads__one": one, "workloads__two": other | {"port": 4421}}) == []


def test_a_program_that_is_not_installed_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tailrace.exact.refuse.path_of", lambda _needed: None)
    assert refusals() == [], "nobody asks for it"
    found = refusals({"workloads__orders__load_generator": "pgbench"})
    assert [line.split(" (hint")[0] for line in found] == [
        "workloads.orders.load_generator: pgbench is not installed",
        "workloads.orders.load_generator: postgres is not installed",
    ]
    assert all("install the package postgresql, or omit it" in line for line in found)
