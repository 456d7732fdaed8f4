"""SONiC databases that are legal and leave much unsaid, and values that mean nothing."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section
from tailrace.importers.sonic.export import export_sonic
from tailrace.importers.sonic.importer import import_sonic
from tailrace.scenario.loading import load_scenario

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "config_db.json").read_text())
EXAMPLES = Path(__file__).parents[3] / "examples"
ALL_CLASSES = {str(p): str(p) for p in range(8)}


def imported(**tables: Any) -> tuple[Section, Remarks]:
    """The database with these tables."""
    return import_sonic(json.dumps(copy.deepcopy(DATA) | tables, indent=1))


def told(remarks: Remarks, verdict: str) -> str:
    """All words of one verdict, a line for each remark."""
    return "\n".join(
        f"{remark.text}: {remark.words}" for remark in remarks.found if remark.verdict == verdict
    )


@pytest.mark.parametrize("weight", ["-4", "x", "", "0", "--3"])
def test_a_weight_that_means_nothing_is_not_understood(weight: str) -> None:
    scheduler = DATA["SCHEDULER"] | {"scheduler.0": {"type": "DWRR", "weight": weight}}
    section, remarks = imported(SCHEDULER=scheduler)
    assert f"weight: '{weight}' is not a whole number" in told(remarks, "not-understood")
    assert section.is_sound


def test_rates_of_a_scheduler_are_bytes_in_a_second() -> None:
    scheduler = DATA["SCHEDULER"] | {
        "scheduler.0": {"type": "DWRR", "weight": "14", "cir": "125000000", "pir": "250000000"}
    }
    section, _ = imported(SCHEDULER=scheduler)
    shapes = [
        queue["shape"]
        for queue in next(iter(section.policies.values()))["queues"].values()
        if "shape" in queue
    ]
    assert {"min": "1Gbit/s", "max": "2Gbit/s"} in shapes


def test_a_profile_that_neither_drops_nor_marks_is_no_management() -> None:
    profile = DATA["WRED_PROFILE"]["AZURE_LOSSLESS"] | {
        "wred_green_enable": "false",
        "ecn": "ecn_none",
    }
    section, remarks = imported(WRED_PROFILE={"AZURE_LOSSLESS": profile})
    assert not [
        queue
        for policy in section.policies.values()
        for queue in policy["queues"].values()
        if "aqm" in queue
    ]
    assert "WRED and ECN are off" in told(remarks, "not-modelled")


def test_a_size_below_zero_is_not_understood() -> None:
    profiles = copy.deepcopy(DATA["BUFFER_PROFILE"])
    profiles["egress_lossy_profile"]["size"] = "-5"
    _, remarks = imported(BUFFER_PROFILE=profiles)
    assert "BUFFER_PROFILE|egress_lossy_profile: size: '-5'" in told(remarks, "not-understood")


def test_a_table_with_a_slip_in_its_name_is_not_understood() -> None:
    _, remarks = imported(SCHEDULERS={"a": {}}, FROB={"a": {}}, TC_TO_QUEU_MAP={"a": {}})
    assert "did you mean 'SCHEDULER'?" in told(remarks, "not-understood")
    assert "did you mean 'TC_TO_QUEUE_MAP'?" in told(remarks, "not-understood")
    assert "FROB" in told(remarks, "no-effect")


@pytest.mark.parametrize(
    ("field", "table", "noun"),
    [
        ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", "queue"),
        ("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "priority group"),
    ],
)
def test_maps_of_pauses_are_understood_only_where_they_say_what_holds(
    field: str, table: str, noun: str
) -> None:
    maps = {port: row | {field: "AZURE"} for port, row in DATA["PORT_QOS_MAP"].items()}
    _, remarks = imported(PORT_QOS_MAP=maps, **{table: {"AZURE": {"3": "3", "4": "4"}}})
    assert f"{table}|AZURE" in told(remarks, "understood")
    _, remarks = imported(PORT_QOS_MAP=maps, **{table: {"AZURE": {"3": "0", "4": "4"}}})
    assert f"a pause of priority 3 stops {noun} 0; in the scenario it stops {noun} 3" in told(
        remarks, "not-modelled"
    )
    assert f"{table}|AZURE" not in told(remarks, "understood")


@pytest.mark.parametrize(
    ("weights", "shares"),
    [
        (
            {0: 14, 3: 15, 4: 15, 5: None},
            ["31.1111111%", "33.3333333%", "33.3333333%", "2.2222222%"],
        ),
        ({0: 100, 1: 100, 2: 100}, ["33.3333333%", "33.3333333%", "33.3333333%"]),
        ({0: 1, 1: 5000}, ["0.1%", "99.9%"]),
        ({0: 40, 1: 60}, ["40%", "60%"]),
    ],
)
def test_weights_become_shares_of_the_whole(
    weights: dict[int, int | None], shares: list[str]
) -> None:
    schedulers = {
        f"s{n}": {"type": "DWRR", "weight": str(weight)} for n, weight in weights.items() if weight
    }
    queues = {
        f"Ethernet0|{n}": {"scheduler": f"s{n}"} if weight else {} for n, weight in weights.items()
    }
    classes = {str(p): str(min(weights, key=lambda n: abs(n - p))) for p in range(8)}
    data = {
        "QUEUE": queues,
        "SCHEDULER": schedulers,
        "TC_TO_QUEUE_MAP": {"A": classes},
        "PORT_QOS_MAP": {"Ethernet0": {"tc_to_queue_map": "A"}},
    }
    section, remarks = import_sonic(json.dumps(data))
    (policy,) = section.policies.values()
    got = [queue["share"] for queue in policy["queues"].values()]
    assert abs(sum(float(share[:-1]) for share in got) - 100) < 1e-6
    assert sorted(got) == sorted(shares)
    assert section.is_sound, remarks.found
    told = {r.verdict for r in remarks.found if r.text in ("QUEUE", "SCHEDULER")}
    assert ("assumed" in told) == (
        None in weights.values() or max(filter(None, weights.values())) > 1000
    )


def test_a_queue_that_no_class_leads_to_is_left_out_and_told() -> None:
    buffers = DATA["BUFFER_QUEUE"] | {"Ethernet0,Ethernet4|1": {"profile": "egress_lossy_profile"}}
    section, remarks = imported(BUFFER_QUEUE=buffers)
    assert section.is_sound
    assert "q1" not in section.policies["AZURE"]["queues"]
    assert "no traffic class is mapped to queue 1" in told(remarks, "assumed")


def test_what_no_map_names_is_in_class_0() -> None:
    section, remarks = imported()
    assert section.switch["classify"][-1] == {"pcp": list(range(8)), "class": 0}
    assert "frames that no map names are in traffic class 0" in told(remarks, "assumed")
    section, _ = imported(DSCP_TO_TC_MAP={"AZURE": {str(dscp): "3" for dscp in range(64)}})
    assert section.switch["classify"] == [{"dscp": list(range(64)), "class": 3}]


def test_the_length_of_a_cable_asks_for_the_delay_of_the_link() -> None:
    _, remarks = imported(CABLE_LENGTH={"AZURE": {"Ethernet0": "300m", "Ethernet4": "x"}})
    assert (
        "Ethernet0: set the delay of this link to that of the cable "
        "(network.links: delay: 1515152ps)" in told(remarks, "assumed")
    )
    assert "'x' is not a length" in told(remarks, "not-understood")


def test_a_section_that_no_scenario_can_have_is_told() -> None:
    wred = copy.deepcopy(DATA["WRED_PROFILE"])
    wred["AZURE_LOSSLESS"]["green_min_threshold"] = "9999999"
    section, remarks = imported(WRED_PROFILE=wred)
    assert not section.is_sound
    assert "a scenario cannot contain this: the minimum is above the maximum" in told(
        remarks, "contradiction"
    )


@pytest.mark.parametrize(("name", "arm"), [("dpp", "dpp"), ("nexus", "dpp-afd-ecn")])
def test_the_export_of_a_policy_that_sonic_cannot_say_is_a_sound_section(
    name: str, arm: str
) -> None:
    scenario = load_scenario(EXAMPLES / f"{name}.yaml").arms[arm]
    switch = scenario.switch("leaf")
    policy = scenario.policy(switch.policy)
    assert policy is not None
    text, remarks = export_sonic("leaf", switch, policy)
    assert "dpp" in {remark.text.rpartition(".")[2] for remark in remarks.found}
    section, _ = import_sonic(text)
    assert section.is_sound


def test_the_classification_is_that_of_most_ports_not_of_most_rows() -> None:
    maps = {"A": ALL_CLASSES, "B": dict.fromkeys(ALL_CLASSES, "1")}
    row = {"tc_to_queue_map": "AZURE", "pfc_enable": "3,4"}
    ports = {
        "Ethernet0,Ethernet4,Ethernet8": {"dscp_to_tc_map": "A"} | row,
        "Ethernet12": {"dscp_to_tc_map": "B"} | row,
        "Ethernet16": {"dscp_to_tc_map": "B"} | row,
    }
    section, remarks = imported(DSCP_TO_TC_MAP=maps, PORT_QOS_MAP=ports)
    assert {"dscp": [3], "class": 3} in section.switch["classify"]
    assert "DSCP_TO_TC_MAP|B: a switch has only one classification" in told(remarks, "not-modelled")
    assert "DSCP_TO_TC_MAP|B" not in told(remarks, "no-effect"), "rows do refer to it"


def test_queues_that_no_map_gives_to_classes_are_told() -> None:
    row = {
        key: value
        for key, value in DATA["PORT_QOS_MAP"]["Ethernet0,Ethernet4"].items()
        if key != "tc_to_queue_map"
    }
    section, remarks = imported(PORT_QOS_MAP={"Ethernet0,Ethernet4": row})
    (policy,) = section.policies.values()
    assert list(policy["priorities"].values()) == ["q0", "q0", "q0", "q3", "q4", "q0", "q6", "q0"]
    assert (
        "TC_TO_QUEUE_MAP: Ethernet0: without a map, a traffic class uses the queue of its "
        "number if a row or a lossless" in told(remarks, "assumed")
    )
    assert "without a map" not in told(imported()[1], "assumed")


def test_ports_without_memory_do_not_decide_the_policy_of_the_switch() -> None:
    profiles = DATA["BUFFER_PROFILE"] | {
        "egress_lossy_zero_profile": {"size": "0", "dynamic_th": "-8"}
    }
    idle = {
        f"Ethernet{port}|0-7": {"profile": "[BUFFER_PROFILE|egress_lossy_zero_profile]"}
        for port in (8, 12, 16, 20)
    }
    used = {f"Ethernet{port}|0-7": {"profile": "egress_lossy_profile"} for port in (0, 4)}
    text = json.dumps({"BUFFER_PROFILE": profiles, "BUFFER_QUEUE": idle | used})
    section, remarks = import_sonic(text)
    [policy] = section.policies.values()
    [limit] = {queue["limit"] for queue in policy["queues"].values()}
    assert limit != "dynamic(sonic:-8)"
    assert "only 2 of 6 ports are in use" in told(remarks, "assumed")
