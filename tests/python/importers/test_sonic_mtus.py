"""SONiC: the MTU of the switch is that of most ports in use, and of the others that of their
neighbours."""

import json
from typing import Any

import pytest

from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section
from tailrace.importers.sonic.importer import import_sonic

PORTS = [f"Ethernet{4 * number}" for number in range(4)]


def imported(
    mtus: list[str | None], host_mtus: dict[str, int] | None = None, **tables: Any
) -> tuple[Section, Remarks]:
    """Four ports in use with these MTUs; the last one leads to db9."""
    rows = {
        port: {} if mtu is None else {"mtu": mtu} for port, mtu in zip(PORTS, mtus, strict=True)
    }
    database = {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}},
        "PORT": rows,
        "PORT_QOS_MAP": {",".join(PORTS): {"pfc_enable": "3"}},
        "DEVICE_NEIGHBOR": {
            port: {"name": f"db{6 + number}"} for number, port in enumerate(PORTS) if number
        },
    } | tables
    return import_sonic(json.dumps(database), host_mtus)


def test_ports_that_agree_are_the_switch() -> None:
    section, remarks = imported(["9216"] * 4)
    assert section.switch["mtu"] == "9216B"
    assert "port_mtu" not in section.switch
    assert remarks.is_complete


def test_a_port_that_differs_has_an_mtu_of_its_own() -> None:
    section, remarks = imported(["9100", "9100", "9100", "1500"])
    assert (section.switch["mtu"], section.switch["port_mtu"]) == ("9100B", {"db9": "1500B"})
    assert section.is_sound
    assert remarks.is_complete


def test_ports_that_differ_without_a_neighbour_are_told_with_the_line_of_the_first() -> None:
    rows = {
        port: {"mtu": mtu}
        for port, mtu in zip(PORTS, ("9100", "9100", "1500", "1500"), strict=True)
    }
    rows["Ethernet16"] = {"mtu": "9100"}
    text = json.dumps({"PORT": rows, "PORT_QOS_MAP": {"global": {"pfc_enable": "3"}}}, indent=1)
    section, remarks = import_sonic(text)
    assert (section.switch["mtu"], section.switch.get("port_mtu")) == ("9100B", None)
    (told,) = (one for one in remarks.found if one.verdict == "not-modelled")
    assert (told.line, told.text) == (1 + text.splitlines().index('  "Ethernet8": {'), "Ethernet8")
    assert told.words == (
        "the MTU of Ethernet8, Ethernet12 is 1500 bytes, and no neighbour is named: "
        "write switches.switch.port_mtu: {NEIGHBOUR: 1500B}"
    )


def test_a_port_without_mtu_has_the_default_where_others_state_one() -> None:
    section, remarks = imported(["9216", "9216", "9216", None])
    assert section.switch["port_mtu"] == {"db9": "9100B"}
    assert [
        one.words for one in remarks.found if one.verdict == "assumed" and one.text == "PORT"
    ] == ["Ethernet12 without mtu: 9100 bytes, the default"]


def test_no_mtu_is_stated_where_no_port_states_one() -> None:
    section, _ = imported([None] * 4)
    assert "mtu" not in section.switch


def test_members_of_a_port_channel_have_its_mtu() -> None:
    channel: dict[str, Any] = {
        "PORTCHANNEL": {"PortChannel1": {"mtu": "4000"}, "PortChannel2": {}},
        "PORTCHANNEL_MEMBER": {f"PortChannel1|{PORTS[3]}": {}, f"PortChannel2|{PORTS[2]}": {}},
    }
    section, _ = imported(["9216"] * 4, **channel)
    assert section.switch["port_mtu"] == {"db8": "9100B", "db9": "4000B"}


@pytest.mark.parametrize("field", [{"role": "Rec"}, {"admin_status": "down"}])
def test_ports_that_lead_nowhere_have_no_say(field: dict[str, str]) -> None:
    used = {port: {"mtu": "9216", "admin_status": "up"} for port in PORTS[:1]}
    rows = used | {port: {"mtu": "1500", "admin_status": "up", **field} for port in PORTS[1:]}
    section, _ = imported([None] * 4, PORT=rows)
    assert section.switch["mtu"] == "9216B"
    assert "port_mtu" not in section.switch


@pytest.mark.parametrize("mtu", ["68", "65535"])
def test_an_mtu_that_a_scenario_cannot_have_is_told(mtu: str) -> None:
    section, remarks = imported([mtu] * 4)
    assert "mtu" not in section.switch
    assert any(f"mtu {mtu}" == one.text and one.verdict == "not-modelled" for one in remarks.found)
    section, remarks = imported(["9100", "9100", "9100", mtu])
    assert section.switch.get("port_mtu", {}) == {}
    assert any("Ethernet12 is omitted" in one.words for one in remarks.found)


def test_two_ports_to_one_neighbour_with_two_mtus_are_told() -> None:
    towards = {port: {"name": f"db{min(9, 7 + number)}"} for number, port in enumerate(PORTS)}
    section, remarks = imported(["9100", "9100", "1500", "4000"], DEVICE_NEIGHBOR=towards)
    assert section.switch["port_mtu"] == {"db9": "1500B"}
    assert any(
        one.text == "Ethernet12 mtu 4000" and "has 1500B" in one.words for one in remarks.found
    )


def test_hosts_with_more_than_the_least_port_are_a_contradiction() -> None:
    _, remarks = imported(["9100", "9100", "9100", "1500"], {"client": 9000})
    (told,) = (one for one in remarks.found if one.verdict == "contradiction")
    assert (told.text, "configured for 1500" in told.words) == ("Ethernet12 mtu 1500", True)
