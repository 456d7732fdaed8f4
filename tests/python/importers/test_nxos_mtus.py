"""MTUs of NX-OS configurations: of the switch, of its ports, and what contradicts them."""

import pytest

from tailrace.importers.nxos.export import export_nxos
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.sonic.export import export_sonic
from tailrace.importers.sonic.importer import import_sonic
from tailrace.scenario.policies.switch import Policy, Switch

CLASS = """policy-map type network-qos jumbo
  class type network-qos class-default
    mtu {}
system qos
  service-policy type network-qos jumbo
"""
PORT = "interface Ethernet1/{}\n  description {}\n  mtu {}\n"


@pytest.mark.parametrize(
    ("text", "mtu", "of_ports"),
    [
        (CLASS.format(9216), "9216B", None),
        (CLASS.format(9216) + "system jumbomtu 9216\n", "9216B", None),
        ("system jumbomtu 9000\nhostname x\n", None, None),
        (CLASS.format(9216) + PORT.format(1, "to db1", 1500), "9216B", {"db1": "1500B"}),
        (CLASS.format(9216) + PORT.format(1, "db1", 9216), "9216B", None),
        (PORT.format(1, "db1", 9000) + PORT.format(2, "db2", 1500), "9000B", {"db2": "1500B"}),
        # A port that no neighbour names speaks for the switch: nothing is set where it contradicts
        # the class.
        (CLASS.format(9216) + PORT.format(1, "rack 1", 1500), None, None),
        (CLASS.format(9252), None, None),
    ],
)
def test_the_mtu_of_the_default_class_is_that_of_the_switch_and_ports_have_their_own(
    text: str, mtu: str | None, of_ports: dict[str, str] | None
) -> None:
    section, _ = import_nxos(text)
    assert (section.switch.get("mtu"), section.switch.get("port_mtu")) == (mtu, of_ports)
    assert section.is_sound


def test_a_contradiction_is_told_and_a_port_with_a_neighbour_is_none() -> None:
    _, remarks = import_nxos(CLASS.format(9216) + PORT.format(1, "to db1", 1500))
    assert remarks.count("contradiction") == 0, remarks.found
    assert any("port_mtu: {db1: 1500B}" in remark.words for remark in remarks.found)
    _, remarks = import_nxos(CLASS.format(9216) + PORT.format(1, "rack 1", 1500))
    assert remarks.count("contradiction") == 2, remarks.found
    assert any(
        "write switches.switch.port_mtu: {NEIGHBOUR: 1500B}" in remark.words
        for remark in remarks.found
    )


def test_an_mtu_of_1500_and_that_of_a_port_are_written_where_the_switch_states_them() -> None:
    policy = Policy.model_validate({"queues": {"q": {}}})
    switch = Switch.model_validate({"policy": "p", "mtu": "1500B", "port_mtu": {"db1": "9000B"}})
    text, remarks = export_nxos("leaf1", switch, policy, 9000)
    assert [remark.text for remark in remarks.found] == [], text
    assert "    mtu 1500\n" in text
    assert "  description db1\n  mtu 9000\n" in text
    assert "mtu" not in export_nxos("leaf1", Switch(policy="p"), policy)[0]
    text, remarks = export_sonic("leaf1", switch, policy, 9000)
    assert '"mtu": "1500"' in text
    assert [remark.text for remark in remarks.found] == [], text
    assert import_sonic(text)[0].switch["port_mtu"] == {"db1": "9000B"}
    assert "mtu" not in export_sonic("leaf1", Switch(policy="p"), policy)[0]


@pytest.mark.parametrize(
    "name", ["Vlan7", "Tunnel1", "loopback0", "mgmt0", "nve1", "Ethernet1/1.100"]
)
def test_an_interface_that_is_no_port_has_no_mtu_in_the_section(name: str) -> None:
    section, remarks = import_nxos(
        CLASS.format(9216) + f"interface {name}\n  description store1\n  mtu 1500\n"
    )
    assert (section.switch["mtu"], section.switch.get("port_mtu")) == ("9216B", None)
    assert remarks.is_complete
    assert any("is no port of the switch" in remark.words for remark in remarks.found)


def test_a_port_without_mtu_has_1500_bytes() -> None:
    text = PORT.format(1, "db1", 9216) + "interface Ethernet1/2\n  description db2\n  switchport\n"
    section, remarks = import_nxos(text)
    assert (section.switch["mtu"], section.switch["port_mtu"]) == ("1500B", {"db1": "9216B"})
    assert any(
        "interface Ethernet1/2 without mtu: 1500 bytes" in remark.words for remark in remarks.found
    )
    most = import_nxos(text + PORT.format(3, "db3", 9216))[0]
    assert (most.switch["mtu"], most.switch["port_mtu"]) == ("9216B", {"db2": "1500B"})
    unused = import_nxos(text.replace("switchport", "shutdown") + "interface Ethernet1/9\n")[0]
    assert (unused.switch["mtu"], unused.switch.get("port_mtu")) == ("9216B", None)
