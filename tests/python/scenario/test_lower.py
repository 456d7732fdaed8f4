"""From scenario to plan: every unit, every default, and what the hash stands for."""

from typing import Any

import pytest

from lab import load
from tailrace.errors import ScenarioError
from tailrace.scenario.experiment import trial_seed
from tailrace.scenario.lowering.plan import lower, plan_hash
from tailrace.scenario.text.units import RATE, parse
from tailrace.scenario.workloads.planned import planned_workloads

pytestmark = pytest.mark.smoke


def plan_of(arm: str = "dpp", trial: int = 1, **changes: object) -> dict[str, Any]:
    return lower(load(**changes).arms[arm], arm, trial)


def workload(plan: dict[str, Any], name: str) -> dict[str, Any]:
    return next(own.flat for own in planned_workloads(plan) if own.name == name)


def test_a_host_is_a_linux_server_with_a_10g_nic_unless_it_says_otherwise() -> None:
    host = plan_of()["hosts"][0]
    assert host == {
        "name": "client",
        "mtu_bytes": 1500,
        "nic": {
            "queue_bytes": 16_000_000,
            "tso_bytes": 64_000,
            "gro_bytes": 64_000,
            "rx_coalesce_ps": 8_000_000,
            "rx_jitter": {"exponential": {"mean": 2_000_000}},
            "rx_ring_frames": 4096,
        },
        "cpu": {
            "per_packet_ps": 0,
            "per_byte_fs": 0,
            "program_cores": 0,
            "time_slice_ps": 3 * 10**9,
        },
        "tcp": {
            "congestion_control": "cubic",
            "slow_start_exit": "hystart",
            "initial_window_segments": 10,
            "window_cap_bytes": 0,
            "ecn": False,
            "sack": True,
            "tail_loss_probe": True,
            "rto_min_ps": 200 * 10**9,
            "rto_max_ps": 120 * 10**12,
            "delayed_ack_ps": 40 * 10**9,
            "slow_start_after_idle": True,
            "small_queue_ps": 10**9,
            "small_queue_by_pace": True,
            # Memory for two initial windows of 1448 bytes; a first window of 64 KiB.
            "send_buffer": {"initial_bytes": 2 * 10 * (4_096 + 256), "maximum_bytes": 4 * 2**20},
            "receive_buffer": {"initial_bytes": 65_536, "maximum_bytes": 6 * 2**20},
        },
    }


def test_with_bbr_the_send_buffer_begins_with_the_memory_of_three_windows() -> None:
    tcp = plan_of(hosts={"defaults": {"tcp": {"congestion_control": "bbr"}}})["hosts"][0]["tcp"]
    assert tcp["congestion_control"] == "bbr"
    assert tcp["send_buffer"]["initial_bytes"] == 3 * 10 * (4_096 + 256)


def test_a_fixed_buffer_starts_at_its_maximum() -> None:
    tcp = plan_of(hosts={"defaults": {"tcp": {"send_buffer": "200kB"}}})["hosts"][0]["tcp"]
    assert tcp["send_buffer"] == {"initial_bytes": 200_000, "maximum_bytes": 200_000}


@pytest.mark.parametrize(
    ("tcp", "lowered"),
    [
        ({}, "hystart"),
        ({"congestion_control": "new-reno"}, "none"),
        ({"congestion_control": "dctcp"}, "none"),
        (
            {"congestion_control": "new-reno", "slow_start_exit": "hystart-plus-plus"},
            "hystart-plus-plus",
        ),
        ({"slow_start_exit": "none"}, "none"),
    ],
)
def test_slow_start_ends_by_hystart_with_cubic_alone(tcp: dict[str, str], lowered: str) -> None:
    assert (
        plan_of(hosts={"defaults": {"tcp": tcp}})["hosts"][0]["tcp"]["slow_start_exit"] == lowered
    )


def test_dctcp_negotiates_ecn() -> None:
    assert (
        plan_of(hosts={"defaults": {"tcp": {"congestion_control": "dctcp"}}})["hosts"][0]["tcp"][
            "ecn"
        ]
        is True
    )


def test_a_policy_becomes_queues_in_order_and_a_map_of_priorities() -> None:
    policies = {
        "dpp": {
            "queues": {
                "express": {"strict": 1, "limit": "500kB"},
                "gold": {
                    "share": "60%",
                    "limit": "100 frames",
                    "aqm": {"kind": "step", "threshold": "30kB"},
                },
                "rest": {"limit": "dynamic(0.5)"},
            },
            "priorities": {5: "rest", 7: "express"},
            "dpp": {"max_packets": 20, "age": "2ms"},
        }
    }
    policy = plan_of(policies=policies)["switches"][0]["policy"]
    assert policy["queues"] == [
        {"name": "express", "service": {"strict": 1}, "limit": {"bytes": 500_000}, "aqm": "none"},
        {
            "name": "gold",
            "service": {"dwrr": 600},
            "limit": {"frames": 100},
            "aqm": {"step": {"threshold_bytes": 30_000}},
        },
        {"name": "rest", "service": {"dwrr": 400}, "limit": {"alpha-milli": 500}, "aqm": "none"},
    ]
    assert policy["queue_of_priority"] == [1, 1, 1, 1, 1, 2, 1, 0]
    assert policy["dpp"] == {
        "max_packets": 20,
        "age_ps": 2 * 10**9,
        "express_queue": 0,
        "reset": "order-safe",
        "table_entries": 65_536,
        "when_full": "evict-oldest",
    }


def test_queue_management_has_the_words_of_the_plan() -> None:
    queues = {
        "a": {
            "aqm": {
                "kind": "red",
                "minimum": "30kB",
                "maximum": "90kB",
                "probability": "10%",
                "ecn": True,
            }
        },
        "b": {"aqm": {"kind": "codel"}},
    }
    raw = plan_of(policies={"dpp": {"queues": queues, "priorities": {1: "b"}}})["switches"][0][
        "policy"
    ]["queues"]
    assert raw[0]["aqm"] == {
        "red": {
            "minimum_bytes": 30_000,
            "maximum_bytes": 90_000,
            "probability_milli": 100,
            "weight_exponent": 9,
            "ecn": True,
        }
    }
    assert raw[1]["aqm"]["codel"]["target_ps"] == 5 * 10**9
    assert [queue["service"] for queue in raw] == [{"dwrr": 500}, {"dwrr": 500}]


def test_a_port_can_have_a_policy_of_its_own() -> None:
    switch = plan_of(switches__leaf__ports={"db": "fifo"})["switches"][0]
    assert [(port["towards"], port["policy"]["dpp"]) for port in switch["port_policies"]] == [
        ("db", None)
    ]


def test_statements_repeat_and_rates_become_time_per_byte() -> None:
    trips = [
        {"request": "100B", "response": "1kB", "repeat": 2},
        {"response": "8kB", "produce_rate": "8Gbit/s", "consume_rate": "4Gbit/s", "write": "1kB"},
        {
            "response": "32MB",
            "build_rate": "2Gbit/s",
            "unpack_rate": "1Gbit/s",
            "server_work": "60us",
        },
    ]
    raw = workload(plan_of(workloads__orders__round_trips=trips), "orders")["round_trips"]
    assert [trip["response_bytes"] for trip in raw] == [1000, 1000, 8000, 32_000_000]
    assert (raw[2]["produce_fs_per_byte"], raw[2]["consume_fs_per_byte"]) == (10**6, 2 * 10**6)
    assert (raw[0]["produce_fs_per_byte"], raw[2]["write_bytes"]) == (0, 1000)
    assert (raw[3]["build_fs_per_byte"], raw[3]["unpack_fs_per_byte"]) == (4 * 10**6, 8 * 10**6)
    assert raw[3]["server_work_ps"] == 60 * 10**6
    unused = {"build_fs_per_byte", "unpack_fs_per_byte", "server_work_ps"}
    assert not unused & set(raw[0]), "a plan that does not use them keeps its hash"


def test_users_connect_for_their_first_transaction_unless_told_otherwise() -> None:
    assert "connects_early" not in workload(plan_of(), "orders")
    assert workload(plan_of(workloads__orders__connect="early"), "orders")["connects_early"] is True


def test_users_start_spread_over_one_gap_unless_told_otherwise() -> None:
    assert workload(plan_of(), "orders")["start"] == {"uniform": {"low": 0, "high": 7 * 10**9}}
    assert workload(plan_of(workloads__orders__start="1ms"), "orders")["start"] == {
        "constant": 10**9
    }


def test_what_has_no_number_runs_until_the_end() -> None:
    plan = plan_of(workloads__orders__transactions=...)
    assert (workload(plan, "orders")["transactions"], workload(plan, "backup")["bytes"]) == (0, 0)


def test_a_load_is_a_share_of_the_links_of_the_sources() -> None:
    flows = {
        "kind": "flows",
        "sources": ["db", "bulk"],
        "destinations": ["client"],
        "sizes": "1MB",
        "load": "50%",
    }
    raw = workload(plan_of(workloads__web=flows), "web")
    # Two links of 10 Gbit/s at half load are 10 Gbit/s: one flow of 8 Mbit every 800 us.
    assert raw["interarrival"] == {"exponential": {"mean": 800 * 10**6}}


def test_the_ports_where_queues_form_are_observed() -> None:
    assert plan_of()["observe"]["ports"] == [["leaf", "client"]]
    assert plan_of(observe={"ports": ["leaf > db"]})["observe"]["ports"] == [["leaf", "db"]]


def test_trials_differ_in_name_and_seed_alone_and_arms_share_seeds() -> None:
    first, second = plan_of(trial=1), plan_of(trial=2)
    assert {key for key in first if first[key] != second[key]} == {"name", "seed"}
    assert plan_of("fifo", 2)["seed"] == second["seed"]
    assert plan_hash(first) == plan_hash(second) != plan_hash(plan_of("fifo"))
    assert second["name"] == "sound/dpp/trial-2"


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_seeds_fit_the_plan_and_are_apart(seed: int) -> None:
    seeds = {trial_seed(seed, trial) for trial in range(1, 100)}
    assert len(seeds) == 99
    assert max(seeds) < 2**63


@pytest.mark.parametrize(
    ("rate", "connections", "write_bytes"),
    [("2Gbit/s", 1, 131_072), ("400Mbit/s", 4, 12_500), ("1Mbit/s", 1, 1024)],
)
def test_a_stream_with_a_rate_writes_what_a_connection_sends_in_a_millisecond(
    rate: str, connections: int, write_bytes: int
) -> None:
    plain = planned_workloads(lower(load().scenario, "fifo", 1))[1].body
    assert "rate_bps" not in plain
    scenario = load(
        workloads__backup__rate=rate, workloads__backup__connections=connections
    ).scenario
    paced = planned_workloads(lower(scenario, "fifo", 1))[1].body
    assert (paced["rate_bps"], paced["write_bytes"]) == (parse(rate, RATE), write_bytes)


def test_a_rate_too_low_for_its_connections_is_refused() -> None:
    with pytest.raises(
        ScenarioError, match="100 bit/s is less than 1 kbit/s for each of its 2 connections"
    ):
        load(workloads__backup__rate="100bit/s", workloads__backup__connections=2)
