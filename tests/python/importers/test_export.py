"""What an export says of everything that it leaves out, in the words of a scenario."""

from typing import Any

import pytest

from tailrace.importers.nxos.export import export_nxos
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.remarks import Remarks
from tailrace.importers.sonic.export import export_sonic
from tailrace.importers.sonic.importer import import_sonic
from tailrace.importers.wording import words_of
from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.policies.limit import read_limit
from tailrace.scenario.policies.pause import Police
from tailrace.scenario.policies.switch import Policy, Shape, Switch

QUEUE: dict[str, Any] = {"queues": {"q": {}}}


def told(remarks: Remarks) -> dict[str, str]:
    """Words by the place that they are about."""
    return {remark.text: remark.words for remark in remarks.found}


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("buffer", "12MB", "12MB"),
        ("switching", "cut-through", "cut-through"),
        ("latency", "700ns", "700ns"),
        ("bridge_priority", 4096, "4096"),
    ],
)
def test_what_of_a_switch_is_left_out_is_told(key: str, value: object, shown: str) -> None:
    switch = Switch.model_validate({"policy": "p", key: value})
    _, remarks = export_nxos("leaf1", switch, Policy.model_validate(QUEUE))
    assert told(remarks)[f"switches.{key}"].startswith(shown)
    _, remarks = export_sonic("leaf1", switch, Policy.model_validate(QUEUE))
    assert (f"switches.{key}" in told(remarks)) == (key != "buffer")


@pytest.mark.parametrize("mtu_bytes", [1500, 9000, 9216])
def test_the_mtu_of_the_hosts_is_written_and_read_again(mtu_bytes: int) -> None:
    policy = Policy.model_validate(
        {
            "queues": {"q": {}, "r": {}},
            "priorities": {3: "r"},
            "pfc": {"priorities": [3], "sends": True},
        }
    )
    text, _ = export_nxos("leaf1", Switch(policy="p"), policy, mtu_bytes)
    section, remarks = import_nxos(text, {"db": mtu_bytes})
    assert section.mtu_bytes == (None if mtu_bytes == 1500 else mtu_bytes)
    assert text.count(f"mtu {mtu_bytes}") == (0 if mtu_bytes == 1500 else 2)
    assert remarks.is_complete, remarks.found
    text, _ = export_sonic("leaf1", Switch(policy="p"), policy, mtu_bytes)
    assert import_sonic(text)[0].mtu_bytes == (None if mtu_bytes <= 9100 else mtu_bytes)


def test_values_have_the_words_of_a_scenario() -> None:
    assert [words_of(read_limit(text)) for text in ("4MB", "100 frames", "dynamic(0.125)")] == [
        "4MB",
        "100 frames",
        "dynamic(0.125)",
    ]
    assert words_of(Shape.model_validate({"max": "5Gbit/s"})) == "{max: 5Gbit/s}"
    rule = Rule.model_validate(
        {"class": 4, "protocol": "tcp", "source_port": 3260, "destination_port": "1024-2047"}
    )
    assert (
        words_of(rule)
        == "{class: 4, protocol: tcp, source_port: 3260, destination_port: 1024-2047}"
    )
    police = Police.model_validate({"rate": "1Gbit/s", "priorities": [1]})
    assert words_of(police) == "{priorities: [1], rate: 1Gbit/s}"


def test_a_factor_that_the_vendor_lacks_is_told_in_those_words() -> None:
    policy = Policy.model_validate(
        {
            "queues": {"q": {"limit": "dynamic(7.5)", "share": "33.3%"}, "r": {}},
            "priorities": {1: "r"},
        }
    )
    _, remarks = export_nxos("leaf1", Switch(policy="p"), policy)
    found = told(remarks)
    assert (
        found["policies.p.queues.q.limit"]
        == "dynamic(7.5) cannot be expressed; the configuration means dynamic(8)"
    )
    assert (
        found["policies.p.queues.q.share"]
        == "33.3% cannot be expressed; the configuration means 33%"
    )


def test_rules_that_a_vendor_adds_are_told_as_they_are() -> None:
    switch = Switch.model_validate({"policy": "p", "classify": [{"dscp": [10], "class": 1}]})
    for export in (export_nxos, export_sonic):
        _, remarks = export("leaf1", switch, Policy.model_validate(QUEUE))
        assert told(remarks)["switches.classify"].startswith(
            "the configuration also has the rules {class: 0, pcp: [0, 1,"
        )


def test_a_complete_export_has_nothing_to_tell() -> None:
    _, remarks = export_nxos("leaf1", Switch(policy="p"), Policy.model_validate(QUEUE))
    assert remarks.text("lab.yaml", "the policy is written completely") == (
        "lab.yaml: the policy is written completely"
    )
