"""MTU of ports: from PORT, and of members of a port channel from PORTCHANNEL."""

from tailrace.errors import few
from tailrace.importers.port_mtus import PortMtu, write_mtus
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import PORTS_NAMED_MAX, Section, usable_name
from tailrace.importers.sonic.ports import active_ports
from tailrace.importers.sonic.read import KEY_SEPARATOR, DatabaseRow, Tables
from tailrace.importers.sonic.tables import row_of

MTU_DEFAULT = 9100
"""Of a port without `mtu` (sonic-net/sonic-swss, cfgmgr/portmgr.cpp, `portDefaultConfig`)."""
INTERNAL = frozenset(("Int", "Inb", "Rec"))
"""Roles of ports that lead to no other node: to another ASIC of the switch, in-band, recirculation
(sonic-net/sonic-buildimage, sonic_py_common/multi_asic.py).
"""


def read_mtus(
    tables: Tables, section: Section, host_mtus: dict[str, int], remarks: Remarks
) -> None:
    """Sets the MTU of the switch and of its ports in use, if one of them states an MTU."""
    front = {
        key: row for key, row in tables.get("PORT", {}).items() if row.take("role") not in INTERNAL
    }
    stated = {key: _stated(tables, key, front[key]) for key in active_ports(tables, list(front))}
    for row in front.values():
        row.number("mtu", 1)
    if all(found is None for found in stated.values()):
        return
    silent = [key for key, found in stated.items() if found is None]
    if silent:
        words = f"{few(silent, PORTS_NAMED_MAX)} without mtu: {MTU_DEFAULT} bytes, the default"
        remarks.add(0, "PORT", "assumed", words)
    ports = [
        PortMtu(key, MTU_DEFAULT, _neighbour(tables, key))
        if found is None
        else PortMtu(key, found[0], _neighbour(tables, key), found[1].line)
        for key, found in stated.items()
    ]
    write_mtus(section, ports, host_mtus, remarks)


def _stated(tables: Tables, port: str, row: DatabaseRow) -> tuple[int, DatabaseRow] | None:
    """The MTU that is in force, and its row: a member has that of its port channel
    (cfgmgr/teammgr.cpp)."""
    for key in tables.get("PORTCHANNEL_MEMBER", {}):
        channel, _, member = key.partition(KEY_SEPARATOR)
        if member == port and (own := row_of(tables, "PORTCHANNEL", channel)) is not None:
            mtu = own.number("mtu", 1)
            return (MTU_DEFAULT if mtu is None else mtu), own
    mtu = row.number("mtu", 1)
    return None if mtu is None else (mtu, row)


def _neighbour(tables: Tables, port: str) -> str | None:
    row = row_of(tables, "DEVICE_NEIGHBOR", port)
    name = row.take("name") if row else None
    return usable_name(name, port) if name else None
