"""The whole switch in a scenario: what it becomes in the plan, and what is refused."""

import json
from typing import Any

import pytest

from lab import load, problems, sound
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.policies import headroom

QUEUES: dict[str, Any] = {"storage": {"share": "50%"}, "lan": {}, "fast": {"strict": 1}}
PFC: dict[str, Any] = {
    "queues": QUEUES,
    "priorities": {3: "storage", 5: "fast"},
    "pfc": {"priorities": [3]},
}


def lossless(**pfc: object) -> dict[str, Any]:
    """The lossless policy with other values of `pfc`."""
    return PFC | {"pfc": {"priorities": [3], **pfc}}


def plan(policy: dict[str, Any], **changes: object) -> dict[str, Any]:
    """The plan of a star whose switch has this policy on every port."""
    usual: dict[str, object] = {
        "policies__p": policy,
        "switches__leaf": {"policy": "p", "buffer": "4MB"},
        "arms": {},
    }
    loaded = load(**usual | changes)
    return lower(loaded.arms["base"], "base", 1)


def policy_of(policy: dict[str, Any], **changes: object) -> dict[str, Any]:
    """The lowered policy of most ports."""
    lowered: dict[str, Any] = plan(policy, **changes)["switches"][0]["policy"]
    return lowered


def test_what_a_scenario_does_not_use_is_not_in_its_plan() -> None:
    made = plan({"queues": {"q": {}}})
    assert set(made["switches"][0]) == {
        "name",
        "switching",
        "latency_ps",
        "buffer_bytes",
        "policy",
        "port_policies",
    }
    assert set(made["switches"][0]["policy"]) == {"queues", "queue_of_priority", "dpp"}
    assert set(made["switches"][0]["policy"]["queues"][0]) == {"name", "service", "limit", "aqm"}
    assert "lossless" not in made["hosts"][0]["nic"]
    assert "dscp" not in json.dumps(made["workloads"])


def test_a_queue_reserves_shapes_and_notifies() -> None:
    queue = {
        "reserved": "20kB",
        "shape": {"min": "1Gbit/s", "max": "4Gbit/s"},
        "qcn": {"weight": 3},
    }
    (made,) = policy_of({"queues": {"q": queue}})["queues"]
    assert made["reserved_bytes"] == 20_000
    assert (made["shape_min_bps"], made["shape_max_bps"]) == (10**9, 4 * 10**9)
    assert made["qcn"] == {"set_point_bytes": 26_000, "weight": 3}


def test_afd_brings_the_elephant_trap_of_its_profile() -> None:
    afd = {"q": {"aqm": {"kind": "afd", "desired": "150kB"}}}
    made = policy_of({"queues": afd})
    assert made["queues"][0]["aqm"] == {"afd": {"desired_bytes": 150_000, "ecn": False}}
    assert made["etrap"] == {
        "byte_count": 1_048_555,
        "age_ps": 50_000_000,
        "bandwidth_threshold_bytes": 500,
        "table_entries": 65_536,
        "afd_period_ps": 25_000_000,
    }
    made = policy_of({"queues": afd, "etrap": {"profile": "mesh", "age": "30us"}})
    assert (made["etrap"]["age_ps"], made["etrap"]["afd_period_ps"]) == (30_000_000, 10_000_000)


def test_wred_has_thresholds_of_its_own_for_what_cannot_be_marked() -> None:
    other = {"minimum": "5kB", "maximum": "8kB", "probability": "10%"}
    red = {"kind": "red", "minimum": "10kB", "maximum": "20kB", "ecn": True, "not_capable": other}
    assert policy_of({"queues": {"q": {"aqm": red}}})["queues"][0]["aqm"]["red"]["not_capable"] == [
        5000,
        8000,
        100,
    ]


def test_wred_is_gentle_where_it_is_asked_to_be() -> None:
    """Switches strike everything from the maximum on; a plan says so where one does not. A step is
    one of them."""
    red = {
        "kind": "red",
        "minimum": "300kB",
        "maximum": "300kB",
        "probability": "100%",
        "weight_exponent": 0,
    }
    made = [
        policy_of({"queues": {"q": {"aqm": red | more}}})["queues"][0]["aqm"]["red"]
        for more in ({}, GENTLE)
    ]
    assert ["gentle" in plain for plain in made] == [False, True]


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("dynamic(nxos:9)", 14_000),
        ("dynamic(nxos:4)", 1125),
        ("dynamic(nxos-nfe:9)", 4000),
        ("dynamic(nxos-nfe:0)", 8),
        ("dynamic(sonic:-3)", 125),
        ("dynamic(sonic:3)", 8000),
        ("dynamic(sonic:8)", 256_000),
    ],
)
def test_vendors_numbers_of_dynamic_thresholds_are_known(text: str, milli: int) -> None:
    assert policy_of({"queues": {"q": {"limit": text}}})["queues"][0]["limit"] == {
        "alpha-milli": milli
    }


def test_headroom_counts_what_is_still_on_its_way() -> None:
    # 10 Gbit/s, 300 m: 3 788 bytes on the cable, 67 quanta of 64 bytes, three frames; no pipelines
    # here.
    round_trip_ps = 2 * headroom.delay_ps(300_000)
    response_ps = headroom.response_ps(10**10)
    assert response_ps == 67 * 51_200
    computed = headroom.headroom_bytes(
        10**10, 9216, round_trip_ps=round_trip_ps, peer_response_ps=response_ps
    )
    assert abs(computed - (3 * 9216 + 3788 + 67 * 64)) <= 1


@pytest.mark.parametrize(
    ("rate_bps", "quanta"),
    [(10**9, 2), (10**10, 67), (25 * 10**9, 80), (10**11, 394), (10**13, 905)],
)
def test_the_response_to_a_pause_depends_on_the_rate(rate_bps: int, quanta: int) -> None:
    assert headroom.response_quanta(rate_bps) == quanta


def test_a_lossless_priority_is_a_group_of_its_own_and_the_others_share_one() -> None:
    made = policy_of(lossless(watchdog={}))
    own, rest = made["groups"]
    assert (own["priorities"], own["limit"]) == (0b1000, {"alpha-milli": 125})
    # Three frames of 1514 B; 500 ns of cable each way and 1 us of pipeline; 67 quanta.
    assert own["lossless"] == {
        "xon_offset_bytes": 18_432,
        "headroom_bytes": 3 * 1514 + 2500 + 67 * 64,
    }
    assert rest == {"priorities": 0b1111_0111, "reserved_bytes": 0, "limit": {"bytes": 4_000_000}}
    assert made["pause"] == {
        "obeys": 0b1000,
        "obeys_link_pause": False,
        "response_ps": 3_430_400,
        "quanta": 65_535,
        "sends_link_pause": False,
        "watchdog": {"detection_ps": 200 * 10**9, "restoration_ps": 400 * 10**9},
    }
    assert made["queue_of_priority"] == [1, 1, 1, 0, 1, 2, 1, 1]


def test_automatic_headroom_follows_each_ports_cable_rate_and_peer() -> None:
    links = [
        {"between": ["db", "leaf"], "delay": "5us"},
        {"between": ["bulk", "leaf"], "rate": "1Gbit/s"},
    ]
    slow = {"client": {"nic": {"pfc": {"priorities": [3]}, "pause_response": "100us"}}}
    switch = plan(PFC, network__links=links, hosts=slow)["switches"][0]
    ports = {port["towards"]: port["policy"] for port in switch["port_policies"]}

    def room(policy: dict[str, Any]) -> int:
        found: int = policy["groups"][0]["lossless"]["headroom_bytes"]
        return found

    assert room(switch["policy"]) == 3 * 1514 + 2500 + 125_000
    assert room(ports["db"]) == 3 * 1514 + 13_750 + 67 * 64
    assert room(ports["bulk"]) == 3 * 1514 + 250 + 2 * 64
    # Frames of a VLAN may carry a tag of 4 bytes.
    tagged = plan(PFC, network__links=links, hosts=slow, workloads__backup__vlan=10)["switches"][0]
    assert room(tagged["policy"]) == room(switch["policy"]) + 3 * 4
    assert ports["bulk"]["pause"]["response_ps"] == 2 * 512_000


@pytest.mark.parametrize(
    ("cable", "on_the_way_bytes"), [("0m", 13_750), ("100m", 13_750), ("99km", 1_251_250)]
)
def test_headroom_counts_the_longer_of_cable_and_link(cable: str, on_the_way_bytes: int) -> None:
    # 5 us each way on the link and 1 us of pipeline; 99 km are 500 us each way.
    changes: dict[str, Any] = {
        "network__link": {"delay": "5us"},
        "switches__leaf": {"policy": "p", "buffer": "12MB"},
    }
    room = policy_of(lossless(cable=cable), **changes)["groups"][0]["lossless"]["headroom_bytes"]
    assert room == 3 * 1514 + 67 * 64 + on_the_way_bytes


def test_ports_that_pause_nobody_account_too_where_others_do() -> None:
    data = sound(
        policies__p=PFC,
        switches__leaf={"policy": "fifo", "buffer": "4MB", "ports": {"db": "p"}},
        arms={},
    )
    assert problems(data) == []
    switch = plan(PFC, switches__leaf={"policy": "fifo", "buffer": "4MB", "ports": {"db": "p"}})[
        "switches"
    ][0]
    assert switch["policy"]["groups"] == [
        {"priorities": 255, "reserved_bytes": 0, "limit": {"bytes": 4_000_000}}
    ]


def test_a_link_pause_is_for_everything() -> None:
    made = policy_of(
        {"queues": {"q": {}}, "link_pause": {"xoff": "100kB", "headroom": "50kB", "obeys": False}}
    )
    (group,) = made["groups"]
    assert (group["priorities"], group["limit"]) == (255, {"bytes": 100_000})
    assert (
        made["pause"]["sends_link_pause"],
        made["pause"]["obeys_link_pause"],
        made["pause"]["obeys"],
    ) == (
        True,
        False,
        0,
    )


def test_a_nic_takes_part_in_bridging_when_it_says_so() -> None:
    nic = {"pfc": {"priorities": [3, 4]}, "qcn": {}}
    hosts = {host["name"]: host for host in plan(PFC, hosts={"db": {"nic": nic}})["hosts"]}
    assert hosts["db"]["nic"]["lossless"] == {
        "obeys": 0b1_1000,
        "obeys_link_pause": False,
        "response_ps": 3_430_400,
        "qcn": {
            "timer_ps": 15 * 10**9,
            "byte_counter": 150_000,
            "active_increase_bps": 5_000_000,
            "hyper_increase_bps": 50_000_000,
            "rate_min_bps": 10_000_000,
        },
    }
    assert "lossless" not in hosts["client"]["nic"]


def test_a_storm_reaches_the_plan() -> None:
    nic = {"storm": {"priorities": [3], "start": "1ms", "end": "5ms"}}
    hosts = {host["name"]: host for host in plan(PFC, hosts={"db": {"nic": nic}})["hosts"]}
    assert hosts["db"]["nic"]["lossless"]["storm"] == {
        "priorities": 8,
        "from_ps": 10**9,
        "until_ps": 5 * 10**9,
    }


def test_traffic_classes_reach_the_plan() -> None:
    tcp = {"priorities": [1, 0], "share": "20%"}
    ets = {"tcp": tcp, "udp": {"priorities": [3]}, "san": {"priorities": [6], "strict": 1}}
    hosts = {host["name"]: host for host in plan(PFC, hosts={"db": {"nic": {"ets": ets}}})["hosts"]}
    assert hosts["db"]["nic"]["lossless"]["classes"] == [
        {"name": "tcp", "priorities": 0b11, "service": {"dwrr": 200}},
        {"name": "udp", "priorities": 0b1000, "service": {"dwrr": 800}},
        {"name": "san", "priorities": 0b100_0000, "service": {"strict": 1}},
    ]


def test_rules_and_code_points_reach_the_plan() -> None:
    rule = {
        "destination": "db",
        "protocol": "tcp",
        "destination_port": "5000-5432",
        "dscp": ["ef", 8],
        "class": 3,
    }
    switch = {"policy": "dpp", "buffer": "4MB", "classify": [rule, {"ingress": "bulk", "class": 1}]}
    loaded = load(switches__leaf=switch, workloads__orders__dscp="af41", arms={})
    made = lower(loaded.arms["base"], "base", 1)
    expected = {
        "destination": "db",
        "protocol": 6,
        "destination_port": [5000, 5432],
        "dscp": [46, 8],
        "class": 3,
    }
    assert made["switches"][0]["classify"] == [expected, {"ingress": "bulk", "class": 1}]
    assert made["workloads"][0]["header"]["dscp"] == 34


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (lossless(priorities=[3, 3]), "named twice"),
        (lossless(per_priority={4: {"xoff": "1kB"}}), "priority 4 is not lossless"),
        (lossless(headroom="5MB"), "may hold 5 MB, but the switch has a buffer of 4 MB"),
        (
            lossless(headroom="1.4MB"),
            "the headroom of all ports of switch 'leaf' is 4.2 MB together",
        ),
        (lossless(headroom="0B"), "`headroom` must be greater than zero"),
        (lossless(headroom=5), "5 has no unit"),
        (lossless(xoff="100 frames"), "count bytes, not frames"),
        (lossless(xoff="18kB"), "18.4 kB is not less than xoff, 18 kB"),
        (lossless(cable="3"), "has no unit"),
        (lossless(quanta=0), "write at least 1"),
        (lossless(sends=False, obeys=False), "`sends` and `obeys` are both false"),
        (
            lossless(watchdog={"detection": "0s"}),
            "detection and restoration must be greater than zero",
        ),
        (PFC | {"link_pause": {}}, "either priorities (pfc) or the whole link"),
        (
            lossless(xoff="100kB", headroom="50kB")
            | {"queues": QUEUES | {"storage": {"limit": "120kB"}}},
            "lossless queue 'storage' of policy 'p' drops above 120 kB",
        ),
        (
            {"queues": {"q": {"shape": {"min": "4Gbit/s", "max": "1Gbit/s"}}}},
            "`min` must not exceed `max`",
        ),
        ({"queues": {"q": {"shape": {"max": "0bit/s"}}}}, "`max` must be greater than zero"),
        ({"queues": {"q": {"shape": {}}}}, "neither min nor max"),
        ({"queues": {"q": {"reserved": "5MB"}}}, "reserves 5 MB"),
        ({"queues": {"q": {"qcn": {"set_point": "50B"}}}}, "write at least 100"),
        (
            {"queues": {"q": {"aqm": {"kind": "afd", "desired": "0B"}}}},
            "`desired` must be greater than zero",
        ),
        ({"queues": {"q": {}}, "etrap": {}}, "no queue uses the elephant trap"),
        (
            {"queues": {"q": {}}, "etrap": {"bandwidth_threshold": "0B"}},
            "`bandwidth_threshold` must be greater than zero",
        ),
        (
            {
                "queues": {"q": {"aqm": {"kind": "afd", "desired": "1kB"}}},
                "etrap": {"table_entries": 3},
            },
            "3 is not a power of two",
        ),
        (
            {
                "queues": {
                    "q": {
                        "aqm": {
                            "kind": "red",
                            "minimum": "1kB",
                            "maximum": "2kB",
                            "probability": "101%",
                        }
                    }
                }
            },
            "101 % is not a probability",
        ),
        (
            {"queues": {"a": {"strict": 1}, "b": {"strict": 1}, "c": {}}, "dpp": {"express": "a"}},
            "queue 'b' is not served after the express queue",
        ),
        ({"queues": {"q": {}}, "police": {"rate": "0bit/s"}}, "`rate` must be greater than zero"),
        (
            {"queues": {"q": {}}, "police": {"rate": "1Gbit/s", "burst": "10B"}},
            "is smaller than one frame",
        ),
        ({"queues": {"q": {"limit": "dynamic(nxos:11)"}}}, "write 0 to 10"),
        ({"queues": {"q": {"limit": "dynamic(arista:1)"}}}, "unknown vendor 'arista'"),
    ],
)
def test_policies_that_make_no_sense_are_refused(policy: dict[str, Any], words: str) -> None:
    found = problems(
        sound(policies__p=policy, switches__leaf={"policy": "p", "buffer": "4MB"}, arms={})
    )
    assert any(words in problem for problem in found), found


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"class": 1}, "the rule has no condition"),
        ({"class": 8, "pcp": [1]}, "write at most 7"),
        ({"pcp": [1]}, "classify.0.class: it is missing"),
        ({"class": 1, "dscp": ["af51"]}, "'af51' is not a code point"),
        ({"class": 1, "dscp": []}, "an empty list matches nothing"),
        ({"class": 1, "destination": "dbb"}, "did you mean 'db'?"),
        ({"class": 1, "ingress": "x"}, "no link joins 'leaf' and 'x'"),
        ({"class": 1, "destination_port": "9-1"}, "the lower one first"),
        ({"class": 1, "protocol": "icmp"}, "(hint: one of tcp, udp)"),
        ({"class": 1, "dcsp": [1]}, "did you mean 'dscp'?"),
    ],
)
def test_rules_that_make_no_sense_are_refused(rule: dict[str, Any], words: str) -> None:
    found = problems(sound(switches__leaf__classify=[rule]))
    assert any(words in problem for problem in found), found


@pytest.mark.parametrize(
    ("nic", "words"),
    [
        ({"pfc": {"priorities": [3]}, "link_pause": True}, "or of the link"),
        ({"pfc": {"priorities": []}}, "at least 1"),
        ({"qcn": {"timer": "0s"}}, "greater than zero"),
        (
            {"storm": {"priorities": [3], "start": "2s", "end": "1s"}},
            "`end` must be later than `start`",
        ),
        (
            {"ets": {"a": {"priorities": [1]}, "b": {"priorities": [2, 1]}}},
            "priority 1 is in class 'a' already",
        ),
        (
            {
                "ets": {
                    "a": {"priorities": [1], "share": "60%"},
                    "b": {"priorities": [2], "share": "50%"},
                }
            },
            "add up to 110 %",
        ),
        (
            {"ets": {"a": {"priorities": [1], "share": "100%"}, "b": {"priorities": [2]}}},
            "left without a share",
        ),
        (
            {"ets": {"a": {"priorities": [1], "share": "60%", "strict": 1}}},
            "either strict or has a share",
        ),
        ({"ets": {"a": {"priorities": []}}}, "at least 1"),
        ({"ets": {"a": {"priorities": [1], "strict": 9}}}, "8"),
    ],
)
def test_nics_that_make_no_sense_are_refused(nic: dict[str, Any], words: str) -> None:
    found = problems(sound(hosts={"db": {"nic": nic}}))
    assert any(words in problem for problem in found), found


JUMBO = {"hosts": {"db": {"mtu": "9000B"}}}
GENTLE = {"gentle": True}
RED = {"kind": "red", "minimum": "5MB", "maximum": "6MB"}


@pytest.mark.parametrize(
    ("policy", "changes", "words"),
    [
        (
            {"queues": {"q": {}}, "police": {"rate": "1Gbit/s", "burst": "1513B"}},
            {},
            "police.burst: the burst of 1.51 kB",
        ),
        ({"queues": {"q": {}}, "police": {"rate": "1Gbit/s", "burst": "1514B"}}, {}, ""),
        (
            {"queues": {"q": {}}, "police": {"rate": "1Gbit/s", "burst": "9kB"}},
            JUMBO,
            "write 9014B or more",
        ),
        (
            {"queues": {"q": {"limit": "1513B"}}},
            {},
            "queues.q.limit: the queue of 1.51 kB is smaller than one frame",
        ),
        ({"queues": {"q": {"limit": "1514B"}}}, {}, ""),
        (
            {"queues": {"q": {"aqm": {"kind": "afd", "desired": "5MB"}}}},
            {},
            "aqm.desired: desired of 5 MB is never",
        ),
        (
            {"queues": {"q": {"aqm": {"kind": "step", "threshold": "5MB"}}}},
            {},
            "threshold of 5 MB is never reached",
        ),
        ({"queues": {"q": {"aqm": {"kind": "step", "threshold": "4MB"}}}}, {}, ""),
        ({"queues": {"q": {"aqm": RED}}}, {}, "minimum of 5 MB is never reached"),
        (
            {"queues": {"q": {"qcn": {"set_point": "5MB"}}}},
            {},
            "qcn.set_point: set_point of 5 MB is never reached",
        ),
        (
            {"queues": {"q": {"aqm": {"kind": "codel", "interval": "0s"}}}},
            {},
            "`interval` must be greater than zero",
        ),
        (
            {"queues": {"q": {"aqm": {"kind": "codel", "target": "0s"}}}},
            {},
            "`target` must be greater than zero",
        ),
        (lossless(xon_offset="99TB"), {}, "pfc.xon_offset: xon_offset of 99 TB is never reached"),
    ],
)
def test_sizes_fit_the_frames_and_the_buffer(
    policy: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    found = problems(
        sound(
            policies__p=policy, switches__leaf={"policy": "p", "buffer": "4MB"}, arms={}, **changes
        )
    )
    assert [words in problem for problem in found] == [True] * bool(words), found
