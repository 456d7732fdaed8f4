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
PORT_TABLES = ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG")
"""Tables with a port in the keys of their rows."""
UNUSED = (
    "TC_TO_QUEUE_MAP",
    "DSCP_TO_TC_MAP",
    "DOT1P_TO_TC_MAP",
    "SCHEDULER",
    "WRED_PROFILE",
    "BUFFER_PROFILE",
)
"""Tables whose rows have an effect only where a port refers to them."""
LINE_CARDS_NAMED_MAX = 3
UP = "up"
ZERO_PROFILE = "_zero_profile"
"""SONiC's buffer templates end the names of profiles of unused ports so."""


@dataclass(frozen=True)
class PortKey:
    """A port in a key. `host` is empty where the key has only the port."""

    host: str
    port: str


def rows_by_port(tables: Tables, remarks: Remarks) -> dict[str, dict[str, dict[int, DatabaseRow]]]:
    """Rows of QUEUE, BUFFER_QUEUE and BUFFER_PG by port, table and queue or priority group."""
    found: dict[str, dict[str, dict[int, DatabaseRow]]] = {}
    own, _ = own_host(tables)
    for table in PORT_TABLES:
        for key, number, row in _port_rows(tables, table, remarks):
            if key.host and key.host != own:
                words = (
                    "a virtual output queue for a port of another line card: set in the "
                    "configuration of that card"
                )
                remarks.add(row.line, f"{table}|{row.key}", "no-effect", words)
                row.has_remark = True
                continue
            found.setdefault(key.port, {}).setdefault(table, {})[number] = row
    return found


def ports_of(row: DatabaseRow) -> list[str]:
    """The ports of a row with queues or priority groups."""
    return row.key.rpartition(KEY_SEPARATOR)[0].rpartition(KEY_SEPARATOR)[2].split(PORTS_SEPARATOR)


def own_host(tables: Tables) -> tuple[str | None, str]:
    """The host name of this line card in keys of system ports, None where no key is of its ports;
    and a hint where the database does not determine it.

    It is the host of the database, the only one, the one whose queues have schedulers (those of
    other cards have none), or any host where all have the same settings.
    """
    metadata = row_of(tables, "DEVICE_METADATA", "localhost")
    name = metadata.take("hostname") if metadata else None
    hosts = _hosts(tables)
    if name in hosts or not hosts:
        return name, ""
    first, *others = hosts
    scheduled = [
        host
        for host, rows in hosts.items()
        if any("scheduler" in dict(fields) for _, _, fields in rows)
    ]
    if len(scheduled) == 1 or (not others and name is None):
        return (scheduled or [first])[0], ""
    if not scheduled and (
        name is not None or any(table == "QUEUE" for rows in hosts.values() for table, _, _ in rows)
    ):
        return None, ""
    if all(hosts[other] == hosts[first] for other in others):
        return first, ""
    shown = ", ".join(sorted(hosts)[:LINE_CARDS_NAMED_MAX])
    return (
        None,
        f"keys name the line cards {shown}; add the name of one as hostname of "
        "DEVICE_METADATA|localhost",
    )


Settings = set[tuple[str, int, frozenset[tuple[str, str]]]]
"""Tables, queues and fields of rows."""


def _hosts(tables: Tables) -> dict[str, Settings]:
    """Hosts in keys of system ports, and the settings of their queues."""
    found: dict[str, Settings] = {}
    for table in PORT_TABLES:
        for key, number, row in _port_rows(tables, table, Remarks()):
            if key.host:
                found.setdefault(key.host, set()).add(
                    (table, number, frozenset(row.fields.items()))
                )
    return found


def why_refused(tables: Tables) -> str:
    """Why the database says nothing about the queues of a port; empty where it does."""
    if any(tables.get(table) for table in ("PORT_QOS_MAP", *PORT_TABLES)):
        return own_host(tables)[1]
    rows = "PORT_QOS_MAP, QUEUE, BUFFER_QUEUE and BUFFER_PG have no row"
    if unused := [table for table in UNUSED if tables.get(table)]:
        return f"no port uses {', '.join(unused)}: {rows}; dump the whole database"
    return (
        f"{rows}; dump the whole database"
        if tables.get("PORT")
        else "expected sonic tables; none is one"
    )


def active_ports(tables: Tables, ports: list[str]) -> list[str]:
    """Ports in use: with buffers, with a classification, with a neighbour, or up; all ports where
    no table states it."""
    mapped = {
        port for key in tables.get("PORT_QOS_MAP", {}) for port in key.split(PORTS_SEPARATOR)
    } - {GLOBAL}
    neighbours = set(tables.get("DEVICE_NEIGHBOR", {}))
    up = {
        port
        for port, row in tables.get("PORT", {}).items()
        if row.fields.get("admin_status", "").lower() == UP
    }
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
    return {
        port
        for port, names in profiles.items()
        if all(name.endswith(ZERO_PROFILE) for name in names)
    }


def _port_rows(
    tables: Tables, table: str, remarks: Remarks
) -> Iterator[tuple[PortKey, int, DatabaseRow]]:
    for row in tables.get(table, {}).values():
        names, bar, numbers = row.key.rpartition(KEY_SEPARATOR)
        found = indices(numbers)
        parts = names.split(KEY_SEPARATOR)
        if not bar or found is None or len(parts) not in (1, SYSTEM_PORT_PARTS):
            words = (
                "expected a key PORT|QUEUE or HOST|ASIC|PORT|QUEUE with queues 0 to 7, such as "
                "Ethernet0|3-4"
            )
            remarks.add(row.line, f"{table}|{row.key}", "not-understood", words)
            continue
        host = parts[0] if len(parts) == SYSTEM_PORT_PARTS else ""
        for port in parts[-1].split(PORTS_SEPARATOR):
            for number in found:
                yield PortKey(host, port.strip()), number, row
