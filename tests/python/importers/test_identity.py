"""The import of an export is what was exported, and what a vendor cannot say is told."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counts import cases
from importers.policies import Drawn, switches
from tailrace.importers.nxos.export import export_nxos
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section, normal
from tailrace.importers.sonic.export import export_sonic
from tailrace.importers.sonic.importer import import_sonic
from tailrace.scenario.policies.switch import Policy, Switch

Exporter = Callable[[str, Switch, Policy], tuple[str, Remarks]]
Importer = Callable[[str], tuple[Section, Remarks]]

VENDORS: dict[str, tuple[Exporter, Importer]] = {
    "nxos": (export_nxos, import_nxos),
    "sonic": (export_sonic, import_sonic),
}


@settings(max_examples=cases(150, 50))
@given(vendor=st.shared(st.sampled_from(sorted(VENDORS)), key="vendor"), data=st.data())
def test_the_import_of_an_export_is_the_identity(vendor: str, data: st.DataObject) -> None:
    policy, switch = data.draw(switches(vendor))
    write, read = VENDORS[vendor]
    text, told = write("leaf1", switch, policy)
    section, remarks = read(text)
    # No command of a Nexus sets the size of its memory.
    expected = ["switches.buffer"] if vendor == "nxos" else []
    assert [remark.text for remark in told.found] == expected, text
    policies, switch_back = section.models()
    assert list(policies) == [switch.policy]
    assert normal(policies[switch.policy]) == normal(policy)
    assert list(policies[switch.policy].queues) == list(policy.queues) or vendor == "sonic"
    assert (switch_back.policy, switch_back.classify) == (switch.policy, switch.classify)
    assert (switch_back.mtu, switch_back.port_mtu) == (switch.mtu, switch.port_mtu)
    assert section.switch_name == "leaf1"
    assert [r for r in remarks.data() if r["verdict"] in ("not-understood", "not-modelled")] == []
    if vendor == "sonic":
        assert switch_back.buffer == switch.buffer


@settings(max_examples=cases(60, 30))
@given(drawn=switches("nxos"))
def test_an_export_of_an_import_is_stable(drawn: Drawn) -> None:
    policy, switch = drawn
    text, _ = export_nxos("leaf1", switch, policy)
    policies, again = import_nxos(text)[0].models()
    assert (
        export_nxos(
            "leaf1", again.model_copy(update={"buffer": switch.buffer}), policies[switch.policy]
        )[0]
        == text
    )


@pytest.mark.parametrize("vendor", sorted(VENDORS))
@pytest.mark.parametrize(
    ("queue", "path"),
    [
        ({"aqm": {"kind": "codel"}}, "queues.q.aqm"),
        ({"aqm": {"kind": "step", "threshold": "30kB"}}, "queues.q.aqm"),
        ({"qcn": {}}, "queues.q.qcn"),
        ({"limit": "dynamic(7.5)"}, "queues.q.limit"),
    ],
)
def test_what_a_vendor_has_no_words_for_is_told(
    vendor: str, queue: dict[str, object], path: str
) -> None:
    policy = Policy.model_validate({"queues": {"q": queue}})
    write, _ = VENDORS[vendor]
    _, told = write("leaf1", Switch(policy="p"), policy)
    assert [r.text for r in told.found] == [f"policies.p.{path}"]


def test_rules_that_name_hosts_are_told() -> None:
    switch = Switch.model_validate(
        {"policy": "p", "classify": [{"destination": "db1", "class": 3}]}
    )
    policy = Policy.model_validate({"queues": {"q": {}}})
    for write, _ in VENDORS.values():
        _, told = write("leaf1", switch, policy)
        assert any("classify" in remark.text for remark in told.found)
