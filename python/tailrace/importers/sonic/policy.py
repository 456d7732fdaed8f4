"""The policy of each port, from the rows that refer to it."""

from dataclasses import dataclass, field
from typing import Any

from tailrace.importers.remarks import Remarks
from tailrace.importers.section import PRIORITIES, time, usable_name
from tailrace.importers.sonic.buffers import group_thresholds, queue_limit, watchdog_of
from tailrace.importers.sonic.ports import GLOBAL, active_ports, ports_of, rows_by_port
from tailrace.importers.sonic.read import DatabaseRow, Tables
from tailrace.importers.sonic.schedulers import MARK, NAMED, service, shares, wred
from tailrace.importers.sonic.tables import indices, row_of
from tailrace.importers.step import steps_of_lossless_queues
from tailrace.scenario.policies.headroom import delay_ps

LIMIT_DEFAULT = "dynamic(sonic:3)"
"""Limit of a queue without a profile: alpha 8, as in SONiC's buffer templates for lossy queues
[K]."""
QUEUE_DEFAULT = 0
"""Queue of a traffic class that no map lists (SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP, saiport.h)."""
CABLE_DIGITS_MAX = 6
"""Digits of a cable's length in metres, at most."""
DIGITS = tuple(str(number) for number in PRIORITIES)

Yaml = dict[str, Any]


@dataclass
class PortPolicy:
    """A policy and the name of its queue map."""

    name: str | None
    data: Yaml = field(default_factory=dict)


def port_policies(tables: Tables, remarks: Remarks) -> dict[str, PortPolicy]:
    """The policy of every port that a queue table names; when there is none, the policy of one
    port."""
    rows = rows_by_port(tables, remarks)
    mapped = [
        port for key in tables.get("PORT_QOS_MAP", {}) for port in key.split(",") if port != GLOBAL
    ]
    ports = list(dict.fromkeys([*rows, *mapped])) or list(tables.get("PORT", {}))[:1] or [""]
    active = active_ports(tables, ports)
    if len(active) < len(ports):
        words = (
            f"only {len(active)} of {len(ports)} ports are in use (with memory, mapped, up or with "
            "a neighbour): the others are omitted"
        )
        remarks.add(0, "", "assumed", words)
    for port in (port for port in rows if port not in active):
        for table, own in rows[port].items():
            for row in own.values():
                row.has_remark = row.has_remark or not any(one in active for one in ports_of(row))
                if row.has_remark:
                    remarks.add(
                        row.line, f"{table}|{row.key}", "no-effect", "the port is not in use"
                    )
    return {port: _Port(port, tables, rows.get(port, {}), remarks).policy() for port in active}


class _Port:
    """A port under construction, while its rows are read."""

    def __init__(
        self, port: str, tables: Tables, rows: dict[str, dict[int, DatabaseRow]], remarks: Remarks
    ) -> None:
        self.port, self.tables, self.rows, self.remarks = port, tables, rows, remarks
        own = [row for key, row in tables.get("PORT_QOS_MAP", {}).items() if port in key.split(",")]
        everywhere = row_of(tables, "PORT_QOS_MAP", GLOBAL)
        self.maps = [*own, *([everywhere] if everywhere else [])]

    def policy(self) -> PortPolicy:
        queue_of = self.map("tc_to_queue_map", "TC_TO_QUEUE_MAP")
        named = set(self.rows.get("QUEUE", {})) | set(self.rows.get("BUFFER_QUEUE", {}))
        lossless = self.lossless()
        if not queue_of:
            # Every port has eight queues; rows only set their limits and service.
            own = named | set(lossless)
            if own - {QUEUE_DEFAULT}:
                words = (
                    f"{self.port}: without a map, a traffic class uses the queue of its number if "
                    f"a row or a lossless group names it, and queue {QUEUE_DEFAULT} otherwise"
                )
                self.remarks.add(0, "TC_TO_QUEUE_MAP", "assumed", words)
            queue_of = {p: p for p in PRIORITIES if p in own}
        queue_of = {p: queue_of.get(p, QUEUE_DEFAULT) for p in PRIORITIES}
        used = sorted(set(queue_of.values()))
        for number in sorted(named - set(used)):
            words = f"{self.port}: no traffic class is mapped to queue {number}: it is omitted"
            self.remarks.add(0, "TC_TO_QUEUE_MAP", "assumed", words)
        names = self.names(used)
        queues = {number: self.queue(number) for number in used}
        pfc = self.pfc(lossless, queue_of)
        steps_of_lossless_queues(queues, {queue_of[priority] for priority in lossless})
        data: Yaml = {
            "queues": {names[number]: queue for number, queue in queues.items()},
            "priorities": {p: names[queue_of[p]] for p in PRIORITIES},
        }
        shares(data["queues"], self.port, self.remarks)
        data |= pfc
        return PortPolicy(self.reference("tc_to_queue_map"), data)

    def reference(self, name: str) -> str | None:
        found = [text for row in self.maps if (text := row.reference(name)) is not None]
        return found[0] if found else None

    def map(self, name: str, table: str) -> dict[int, int]:
        """A map of small numbers, such as traffic class to queue."""
        row = row_of(self.tables, table, self.reference(name))
        if row is None:
            if self.reference(name) is not None:
                words = f"{table} has no such row"
                self.remarks.add(0, f"{name}: {self.reference(name)}", "contradiction", words)
            return {}
        found: dict[int, int] = {}
        for key in row.fields:
            value = row.take(key) or ""
            if not (
                key.isdecimal()
                and value.isdecimal()
                and int(key[:3]) in PRIORITIES
                and int(value[:3]) in PRIORITIES
            ):
                self.remarks.add(
                    row.line,
                    f"{table}|{row.key}",
                    "not-understood",
                    f"{key}: {value} maps 0-7 to 0-7",
                )
            else:
                found[int(key[:3])] = int(value[:3])
        return found

    def names(self, used: list[int]) -> dict[int, str]:
        """Names of queues: from the name of the scheduler where the exporter wrote it, otherwise
        such as `q3`."""
        names: dict[int, str] = {}
        for number in used:
            row = self.rows.get("QUEUE", {}).get(number)
            scheduler = (row.reference("scheduler") if row else None) or ""
            wanted = (
                scheduler.removeprefix(NAMED).partition(MARK)[0]
                if scheduler.startswith(NAMED)
                else f"q{number}"
            )
            name = usable_name(wanted, f"q{number}")
            names[number] = name if name not in names.values() else f"{name}-{number}"
        return names

    def queue(self, number: int) -> Yaml:
        made: Yaml = {}
        row = self.rows.get("QUEUE", {}).get(number)
        if row is not None:
            made |= service(row, number, self.tables, self.remarks) | wred(
                row, self.tables, self.remarks
            )
        row = self.rows.get("BUFFER_QUEUE", {}).get(number)
        if row is not None:
            made |= queue_limit(row, self.tables, self.remarks)
        made.setdefault("limit", LIMIT_DEFAULT)
        return made

    def lossless(self) -> list[int]:
        """The paused priorities."""
        enabled = next(
            (text for row in self.maps if (text := row.take("pfc_enable")) is not None), ""
        )
        for row in self.maps:
            row.take("pfcwd_sw_enable")
        lossless = indices(enabled) if enabled else self.with_headroom()
        if lossless is None:
            self.remarks.add(
                0,
                f"pfc_enable: {enabled}",
                "not-understood",
                "expected a list of priorities 0 to 7, such as 3,4",
            )
            lossless = []
        return sorted(set(lossless))

    def pfc(self, lossless: list[int], queue_of: dict[int, int]) -> Yaml:
        group_of = self.map("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP") or {
            p: p for p in PRIORITIES
        }
        self.pauses("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", lossless, queue_of)
        self.pauses("pfc_to_pg_map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", lossless, group_of)
        thresholds: dict[int, Yaml] = {}
        lossy: dict[str, int] = {}
        for group, row in sorted(self.rows.get("BUFFER_PG", {}).items()):
            is_lossless, found = group_thresholds(row, self.tables, self.remarks)
            members = [p for p in PRIORITIES if group_of.get(p, 0) == group]
            if is_lossless and not set(members) & set(lossless):
                words = (
                    f"priority group {group} has headroom, but pfc_enable "
                    "lists none of its priorities"
                )
                self.remarks.add(row.line, f"BUFFER_PG|{row.key}", "contradiction", words)
            for priority in members:
                if priority in lossless:
                    thresholds[priority] = found
            if not set(members) & set(lossless) and "xoff" in found:
                lossy[found["xoff"]] = group
        return self.assembled(lossless, thresholds, lossy)

    def with_headroom(self) -> list[int]:
        """Groups with headroom, where no table lists the paused priorities (a dump of the buffer
        tables only)."""
        if self.tables.get("PORT_QOS_MAP"):
            return []
        groups = self.rows.get("BUFFER_PG", {}).items()
        found = [
            number for number, row in groups if group_thresholds(row, self.tables, Remarks())[0]
        ]
        if found:
            words = (
                "no PORT_QOS_MAP lists the paused priorities: those whose groups have "
                f"headroom are used, {found}"
            )
            self.remarks.add(0, "PORT_QOS_MAP", "assumed", words)
        return found

    def pauses(self, name: str, table: str, lossless: list[int], ours: dict[int, int]) -> None:
        """Maps of pauses are supported where each priority is the traffic class of the same
        number."""
        stated = self.map(name, table)
        row = row_of(self.tables, table, self.reference(name))
        for priority in (p for p in lossless if p in stated and stated[p] != ours.get(p, 0)):
            assert row is not None, "a map with entries has a row"
            noun = "queue" if table.endswith("QUEUE") else "priority group"
            words = (
                f"a pause of priority {priority} stops {noun} {stated[priority]}; in the scenario "
                f"it stops {noun} {ours.get(priority, 0)}, that of traffic class {priority}"
            )
            self.remarks.add(row.line, f"{table}|{row.key}", "not-modelled", words)
            row.has_remark = True

    def assembled(
        self, lossless: list[int], thresholds: dict[int, Yaml], lossy: dict[str, int]
    ) -> Yaml:
        watchdog = watchdog_of(self.port, self.tables, self.remarks)
        if not lossless:
            if lossy:
                words = (
                    f"{self.port}: limits of lossy priority groups have an effect only where "
                    "another group is lossless"
                )
                self.remarks.add(0, "BUFFER_PG", "not-modelled", words)
            return {}
        made: Yaml = {"priorities": lossless, **watchdog}
        stated = {p: found for p, found in thresholds.items() if found}
        if len(stated) == len(lossless) and all(
            found == stated[lossless[0]] for found in stated.values()
        ):
            made |= stated[lossless[0]]
        elif stated:
            made["per_priority"] = stated
        cable = self.cable()
        if not any("headroom" in found for found in stated.values()) and cable is not None:
            made["cable"] = cable
        if lossy:
            made["lossy"] = next(iter(lossy))
        if len(lossy) > 1:
            words = (
                f"{self.port}: lossy priority groups have different limits; together they get "
                f"{made['lossy']}"
            )
            self.remarks.add(0, "BUFFER_PG", "not-modelled", words)
        return {"pfc": made}

    def cable(self) -> str | None:
        for row in self.tables.get("CABLE_LENGTH", {}).values():
            text = row.take(self.port) if self.port in row.fields else None
            metres = (text or "0").removesuffix("m")
            if not (metres.isascii() and metres.isdecimal() and len(metres) <= CABLE_DIGITS_MAX):
                row.refused[self.port] = f"{self.port}: '{text}' is not a length such as 40m"
            elif int(metres):
                delay = time(delay_ps(1000 * int(metres)))
                words = (
                    f"{self.port}: set the delay of this link to that of the cable "
                    f"(network.links: delay: {delay})"
                )
                self.remarks.add(row.line, f"CABLE_LENGTH|{row.key}", "assumed", words)
                return f"{int(metres)}m"
        return None
