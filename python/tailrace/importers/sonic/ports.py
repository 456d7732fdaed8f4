"""Ports in the keys of rows: `PORT|3-4`, lists of ports, and `HOST|ASIC|PORT|3-4` of a chassis."""

from collections.abc import Iterator
from dataclasses import dataclass

from tailrace.importers.remarks import Remarks
from tailrace.importers.sonic.flat import reference
from tailrace.importers.sonic.read import KEY_SEPARATOR, PORTS_SEPARATOR, DatabaseRow, Tables
from tailrace.importers.sonic.tables import indices, row_of

GLOBAL = "global"
"""The row of PORT_QOS_MAP for ports without a row."""
SYSTEM_PORT_PARTS = 3
"""Host, ASIC and port: a port of any line card, for which this card has virtual output queues."""
UP = "up"
ZERO_PROFILE = "_zero_profile"
"""SONiC's buffer templates end the names of profiles of unused ports so."""


@dataclass(frozen=True)
class Place:
    """A port in a key. `host` is empty where the key has only the port."""

    host: str
    port: str


def rows_by_port(tables: Tables, remarks: Remarks) -> dict[str, dict[str, dict[int, DatabaseRow]]]:
    """Rows of QUEUE, BUFFER_QUEUE and BUFFER_PG by port, table and queue or priority group."""
    found: dict[str, dict[str, dict[int, DatabaseRow]]] = {}
    own = own_host(tables)
    for table in ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG"):
        for place, number, row in _placed(tables, table, remarks):
            if place.host and place.host != own:
                words = "a virtual output queue for a port of another line card: set in the configuration of that card"
                remarks.add(row.line, f"{table}|{row.key}", "no-effect", words)
                row.is_told = True
                continue
            found.setdefault(place.port, {}).setdefault(table, {})[number] = row
    return found


def ports_of(row: DatabaseRow) -> list[str]:
    """The ports of a row with queues or priority groups."""
    return row.key.rpartition(KEY_SEPARATOR)[0].rpartition(KEY_SEPARATOR)[2].split(PORTS_SEPARATOR)


def own_host(tables: Tables) -> str | None:
    """The host name of this line card in keys of system ports: that of the database, or the only one with
    schedulers.
    """
    metadata = row_of(tables, "DEVICE_METADATA", "localhost")
    name = metadata.take("hostname") if metadata else None
    scheduled = [
        parts[0]
        for row in tables.get("QUEUE", {}).values()
        if "scheduler" in row.fields and len(parts := row.key.split(KEY_SEPARATOR)) == SYSTEM_PORT_PARTS + 1
    ]
    return name if name or not scheduled else max(set(scheduled), key=scheduled.count)


def has_queues(tables: Tables) -> bool:
    """Whether any port has queue settings; unused schedulers and profiles do not count."""
    return any(tables.get(table) for table in ("PORT_QOS_MAP", "QUEUE", "BUFFER_QUEUE", "BUFFER_PG"))


def active_ports(tables: Tables, ports: list[str]) -> list[str]:
    """Ports in use: with buffers, with a classification, with a neighbour, or up; all ports where no table tells."""
    mapped = {port for key in tables.get("PORT_QOS_MAP", {}) for port in key.split(PORTS_SEPARATOR)} - {GLOBAL}
    neighbours = set(tables.get("DEVICE_NEIGHBOR", {}))
    up = {port for port, row in tables.get("PORT", {}).items() if row.fields.get("admin_status", "").lower() == UP}
    active = ports
    for sign in (set(ports) - _without_buffers(tables), up, mapped, neighbours):
        active = [port for port in active if port in sign] or active
    return active


def _without_buffers(tables: Tables) -> set[str]:
    """Ports all of whose queues have been left without memory, because nothing uses the port."""
    profiles: dict[str, set[str]] = {}
    for row in tables.get("BUFFER_QUEUE", {}).values():
        for port in ports_of(row):
            profiles.setdefault(port, set()).add(reference(row.fields.get("profile", "")))
    return {port for port, names in profiles.items() if all(name.endswith(ZERO_PROFILE) for name in names)}


def _placed(tables: Tables, table: str, remarks: Remarks) -> Iterator[tuple[Place, int, DatabaseRow]]:
    for row in tables.get(table, {}).values():
        names, bar, numbers = row.key.rpartition(KEY_SEPARATOR)
        found = indices(numbers)
        parts = names.split(KEY_SEPARATOR)
        if not bar or found is None or len(parts) not in (1, SYSTEM_PORT_PARTS):
            words = "expected a key PORT|QUEUE or HOST|ASIC|PORT|QUEUE with queues 0 to 7, such as Ethernet0|3-4"
            remarks.add(row.line, f"{table}|{row.key}", "not-understood", words)
            continue
        host = parts[0] if len(parts) == SYSTEM_PORT_PARTS else ""
        for port in parts[-1].split(PORTS_SEPARATOR):
            for number in found:
                yield Place(host, port.strip()), number, row
