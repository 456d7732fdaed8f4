"""SONiC: queues without rows, traffic classes above 7, keys of a chassis, maps that no port
uses."""

import json
from typing import Any

import pytest

from tailrace.importers.sonic.importer import import_sonic

LOSSLESS = {"pool": "p", "size": "36000", "xon": "18000", "xoff": "18000", "dynamic_th": "0"}
BUFFERS: dict[str, Any] = {
    "BUFFER_POOL": {"p": {"type": "both", "mode": "dynamic", "size": "9000000"}},
    "BUFFER_PROFILE": {
        "lossless": LOSSLESS,
        "low": {"pool": "p", "size": "0", "dynamic_th": "-3"},
        "high": {"pool": "p", "size": "0", "dynamic_th": "2"},
    },
}
SCHEDULED = {"SCHEDULER": {"s": {"type": "DWRR", "weight": "10"}}}


def policy_of(**tables: Any) -> dict[str, Any]:
    """The only policy of a database, which a scenario can contain."""
    section, remarks = import_sonic(json.dumps(tables))
    assert section.is_sound, remarks.found
    assert not section.refused
    (policy,) = section.policies.values()
    return policy


def test_a_lossless_group_has_a_queue_without_a_row() -> None:
    policy = policy_of(**BUFFERS, BUFFER_PG={"Ethernet4|2-3": {"profile": "lossless"}})
    assert policy["pfc"]["priorities"] == [2, 3]
    assert [policy["priorities"][p] for p in range(8)] == [
        "q0",
        "q0",
        "q2",
        "q3",
        "q0",
        "q0",
        "q0",
        "q0",
    ]


def test_a_class_without_a_row_is_not_in_the_queue_of_a_lossless_one() -> None:
    rows = {"Ethernet4|2-3": {"profile": "high"}}
    policy = policy_of(
        **BUFFERS, BUFFER_PG={"Ethernet4|2-3": {"profile": "lossless"}}, BUFFER_QUEUE=rows
    )
    assert policy["priorities"][0] == "q0"
    assert {name: queue["limit"] for name, queue in policy["queues"].items()} == {
        "q0": "dynamic(sonic:3)",
        "q2": "dynamic(sonic:2)",
        "q3": "dynamic(sonic:2)",
    }


def classified(
    queues: dict[str, str], classes: dict[str, str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The policy and the rules of a port with these maps."""
    maps = {"dscp_to_tc_map": "M", "tc_to_queue_map": "M"}
    rows = {f"Ethernet4|{n}": {"scheduler": "s"} for n in sorted(set(queues.values()))}
    section, remarks = import_sonic(
        json.dumps(
            {
                "DSCP_TO_TC_MAP": {"M": classes},
                "TC_TO_QUEUE_MAP": {"M": queues},
                "PORT_QOS_MAP": {"Ethernet4": maps},
                "QUEUE": rows,
                **SCHEDULED,
            }
        )
    )
    assert section.is_sound, remarks.found
    assert remarks.count("not-understood") == 0, remarks.found
    return section.policies["M"], section.switch["classify"]


def test_a_traffic_class_above_7_is_one_of_the_same_queue() -> None:
    _, rules = classified(
        {"0": "0", "1": "1", "2": "2", "8": "2"}, {"0": "0", "10": "1", "34": "8"}
    )
    assert {"dscp": [34], "class": 2} in rules


def test_a_traffic_class_above_7_of_another_queue_takes_a_class_that_no_map_uses() -> None:
    policy, rules = classified({"0": "0", "1": "1", "8": "6"}, {"0": "0", "10": "1", "34": "8"})
    (extra,) = (rule["class"] for rule in rules if rule.get("dscp") == [34])
    assert extra not in (0, 1)
    assert policy["priorities"][extra] == "q6"


CARDS = {
    f"{card}|asic0|Ethernet4|{q}": {"profile": own}
    for card in ("c1", "c2")
    for q, own in (("0", "low"), ("3", "high"))
}


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ({key: row for key, row in CARDS.items() if key.startswith("c2")}, ""),
        (CARDS, ""),
        (CARDS | {"c2|asic0|Ethernet4|3": {"profile": "low"}}, "line cards c1, c2"),
    ],
    ids=["one card", "cards alike", "cards that differ"],
)
def test_keys_of_a_chassis_without_metadata(rows: dict[str, Any], hint: str) -> None:
    section, _ = import_sonic(json.dumps({**BUFFERS, "BUFFER_QUEUE": rows}))
    assert hint in section.refused
    assert bool(section.refused) == bool(hint)
    if not hint:
        (policy,) = section.policies.values()
        assert [policy["queues"][q]["limit"] for q in ("q0", "q3")] == [
            "dynamic(sonic:-3)",
            "dynamic(sonic:2)",
        ]


def test_maps_that_no_port_uses_are_told_as_such() -> None:
    section, _ = import_sonic(
        json.dumps({"TC_TO_QUEUE_MAP": {"M": {"3": "3"}}, **SCHEDULED, "PORT_QOS_MAP": {}})
    )
    assert section.refused.startswith(
        "no port uses TC_TO_QUEUE_MAP, SCHEDULER: PORT_QOS_MAP, QUEUE"
    )
    assert (
        import_sonic('{"VLAN": {"Vlan1": {"vlanid": "1"}}}')[0].refused
        == "expected sonic tables; none is one"
    )
    unused = import_sonic('{"PORT": {"Ethernet0": {"speed": "100000"}}}')[0].refused
    assert (
        unused
        == "PORT_QOS_MAP, QUEUE, BUFFER_QUEUE and BUFFER_PG have no row; dump the whole database"
    )


def test_a_list_of_tables_is_a_database() -> None:
    parts: list[dict[str, Any]] = [
        {"QUEUE_TABLE:Ethernet4:3": {"scheduler": "s"}, "OP": "SET"},
        SCHEDULED,
    ]
    section, remarks = import_sonic(json.dumps(parts))
    assert list(next(iter(section.policies.values()))["queues"]) == ["q0", "q3"]
    assert remarks.is_complete, remarks.found
