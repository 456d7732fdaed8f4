"""SONiC databases: what becomes of every row."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import cases
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section
from tailrace.importers.sonic.importer import import_sonic
from tailrace.importers.sonic.read import UnreadableError

TEXT = (Path(__file__).parent / "config_db.json").read_text()
DATA: dict[str, Any] = json.loads(TEXT)


def imported(**changes: Any) -> tuple[Section, Remarks]:
    """The database with values at paths (`__` between keys) replaced; `...` removes a key."""
    data = copy.deepcopy(DATA)
    for path, value in changes.items():
        place = data
        *parents, last = path.split("__")
        for key in parents:
            place = place.setdefault(key, {})
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return import_sonic(json.dumps(data, indent=1))


def test_a_database_becomes_a_policy() -> None:
    section, remarks = import_sonic(TEXT)
    assert [r for r in remarks.data() if r["verdict"] in ("not-understood", "contradiction")] == []
    policies, switch = section.models()
    policy = policies["AZURE"]
    assert (section.switch_name, section.mtu_bytes, switch.buffer) == (
        "leaf-1",
        9100,
        12_766_208 + 4_194_304,
    )
    assert list(policy.queues) == ["q0", "q3", "q4", "q6"]
    assert [queue.strict for queue in policy.queues.values()] == [None, None, None, 2]
    # 14 : 15 : 15 of 44, to the part per billion.
    assert [queue.share for queue in policy.queues.values()] == [
        318_181_818,
        340_909_090,
        340_909_090,
        None,
    ]
    assert [policy.queue_of(p) for p in range(8)] == [
        "q0",
        "q0",
        "q0",
        "q3",
        "q4",
        "q0",
        "q6",
        "q6",
    ]
    assert policy.pfc is not None
    assert policy.pfc.priorities == [3, 4]
    own = policy.pfc.thresholds(3)
    assert (own.headroom, own.xon_offset, own.reserved) == (165_568, 2_496, 56_368)
    assert own.xoff is not None
    assert (own.xoff.unit, own.xoff.amount) == ("alpha-milli", 125)
    assert policy.pfc.watchdog is not None
    assert policy.pfc.watchdog.detection == 200 * 10**9
    assert policy.queues["q3"].aqm.kind == "red"
    said = [rule.model_dump(by_alias=True, exclude_none=True) for rule in switch.classify]
    assert said == [
        {"class": 0, "dscp": [0, 8]},
        {"class": 3, "dscp": [3]},
        {"class": 4, "dscp": [4]},
        {"class": 6, "dscp": [46, 48]},
        {"class": 0, "pcp": list(range(8))},
    ]


def test_ports_that_differ_have_policies_of_their_own() -> None:
    section, _ = imported(
        PFC_WD__Ethernet0={"action": "drop", "detection_time": "400", "restoration_time": "400"}
    )
    policies, switch = section.models()
    assert list(policies) == ["AZURE", "AZURE-Ethernet4"]
    assert switch.ports == {"db2": "AZURE-Ethernet4"}


def test_rows_are_remarked_on_with_their_lines() -> None:
    _, remarks = import_sonic(TEXT)
    lines = TEXT.splitlines()
    placed = [remark for remark in remarks.found if remark.line and "|" in remark.text]
    assert len(placed) > 20
    for remark in placed:
        assert (
            f'"{remark.text.partition("|")[2]}"' in lines[remark.line - 1] or "mtu" in remark.text
        )


@pytest.mark.parametrize(
    ("changes", "verdict", "words"),
    [
        (
            {"QUEUE": {"Ethernet0|9": {"scheduler": "scheduler.0"}}},
            "not-understood",
            "a key PORT|QUEUE",
        ),
        (
            {"QUEUE": {"Ethernet0|3": {"scheduler": "nobody"}}},
            "contradiction",
            "no SCHEDULER 'nobody'",
        ),
        (
            {"BUFFER_PG": {"Ethernet0|3": {"profile": "nobody"}}},
            "contradiction",
            "no BUFFER_PROFILE 'nobody'",
        ),
        ({"DSCP_TO_TC_MAP__AZURE__64": "3"}, "not-understood", "64: 3 maps"),
        ({"PFC_WD__Ethernet0__action": "forward"}, "not-modelled", "action forward"),
        ({"ACL_RULE": {"a|b": {"x": "y"}}}, "not-modelled", "classification by address"),
        ({"SYSLOG_SERVER": {"1.2.3.4": {}}}, "no-effect", "not a known queue table"),
        ({"SCHEDULER__scheduler.0__frobnicate": "1"}, "not-modelled", "frobnicate"),
        ({"SCHEDULER__unused": {"type": "DWRR"}}, "no-effect", "no row refers to it"),
    ],
)
def test_what_goes_nowhere_is_told(changes: dict[str, Any], verdict: str, words: str) -> None:
    _, remarks = imported(**changes)
    assert any(r.verdict == verdict and words in r.words for r in remarks.found), remarks.found


def test_hosts_with_a_larger_mtu_contradict_the_ports() -> None:
    _, remarks = import_sonic(TEXT, {"db": 9200})
    (found,) = (r for r in remarks.found if r.verdict == "contradiction")
    assert "hosts.db of the scenario has an MTU of 9200 bytes" in found.words


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", "{", '{"a": }', "{'a': 1}", "[" * 5000, "\x00", '{"a": {"b": {"c": 1},}}'],
)
def test_what_is_no_database_is_refused_in_words(text: str) -> None:
    with pytest.raises(UnreadableError, match=r"hint|object"):
        import_sonic(text)


def test_a_key_that_is_there_twice_is_a_contradiction() -> None:
    _, remarks = import_sonic('{"QUEUE": {"Ethernet0|3": {}, "Ethernet0|3": {}}, "QUEUE": {}}')
    assert remarks.count("contradiction") == 2


WORDS = st.sampled_from(
    ["", "0", "3", "-3", "9999999999999999999", "3-4", "Ethernet0", "AZURE", "NULL", "²"]
)
KEYS = st.sampled_from(["Ethernet0|3", "profile", "type"])
values = st.recursive(
    WORDS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=cases(200, 60))
@given(data=st.data())
def test_any_database_is_read_or_refused_in_words(data: st.DataObject) -> None:
    tables = copy.deepcopy(DATA)
    for _ in range(data.draw(st.integers(1, 4))):
        place: Any = tables
        while isinstance(place, dict) and place:
            key = data.draw(st.sampled_from(sorted(place)))
            if not isinstance(place[key], dict) or data.draw(st.integers(0, 3)) == 0:
                place[key] = data.draw(values)
                break
            place = place[key]
    section, remarks = import_sonic(json.dumps(tables), {"db": 9000})
    section.text("any")
    told = {remark.text.partition("|")[0].partition(" ")[0] for remark in remarks.found}
    for name, rows in tables.items():
        if isinstance(rows, dict) and rows:
            assert name in told or any(key in told for key in rows), name


@settings(max_examples=cases(100, 40))
@given(text=st.text())
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        import_sonic(text)
    except UnreadableError as error:
        told = str(error)
    else:
        told = "read"
    assert told
