"""The tables that are imported, and the meanings of the others."""

from difflib import get_close_matches

from tailrace.importers.remarks import Remarks
from tailrace.importers.sonic.read import PORTS_SEPARATOR, DatabaseRow, Tables

READ = frozenset(
    (
        "DEVICE_METADATA",
        "DEVICE_NEIGHBOR",
        "PORT",
        "PORTCHANNEL",
        "PORTCHANNEL_MEMBER",
        "CABLE_LENGTH",
        "PORT_QOS_MAP",
        "DSCP_TO_TC_MAP",
        "DOT1P_TO_TC_MAP",
        "TC_TO_QUEUE_MAP",
        "TC_TO_PRIORITY_GROUP_MAP",
        "MAP_PFC_PRIORITY_TO_QUEUE",
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
        "QUEUE",
        "SCHEDULER",
        "WRED_PROFILE",
        "BUFFER_POOL",
        "BUFFER_PROFILE",
        "BUFFER_PG",
        "BUFFER_QUEUE",
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
        "PFC_WD",
    )
)
NOT_MODELLED = {
    "TC_TO_DSCP_MAP": "marking of frames: set dscp of workloads",
    "TC_TO_DOT1P_MAP": "marking of frames: set priority of workloads",
    "MPLS_TC_TO_TC_MAP": "classification by MPLS",
    "POLICER": "control-plane policers: set police",
    "ACL_RULE": "classification by address: set classify",
    "ACL_TABLE": "classification by address: set classify",
    "PORT_STORM_CONTROL": "storm control: set police",
    "LOSSLESS_TRAFFIC_PATTERN": "computed headroom is the default: pfc.headroom: auto",
    "BUFFER_PORT_INGRESS_PROFILE_LIST": "limits of a whole port",
    "BUFFER_PORT_EGRESS_PROFILE_LIST": "limits of a whole port",
}
"""Queue tables that are not imported, with the reason or the corresponding key."""
QUEUES = range(8)
LIKENESS_MIN = 0.85
"""Similarity above which an unknown table name is taken for a misspelt known one."""


def remark_on_tables(tables: Tables, remarks: Remarks) -> None:
    """Adds a remark about every table that is not imported."""
    for name, rows in tables.items():
        if name in READ:
            continue
        line = min((row.line for row in rows.values()), default=0)
        if name in NOT_MODELLED:
            remarks.add(line, name, "not-modelled", NOT_MODELLED[name])
        elif near := get_close_matches(
            name.upper(), sorted((*READ, *NOT_MODELLED)), n=1, cutoff=LIKENESS_MIN
        ):
            remarks.add(
                line, name, "not-understood", f"unknown table (hint: did you mean '{near[0]}'?)"
            )
        else:
            remarks.add(line, name, "no-effect", "not a known queue table")


def remark_on_rows(tables: Tables, remarks: Remarks) -> None:
    """Adds remarks about the fields of every row of the imported tables."""
    for name in (name for name in tables if name in READ):
        for row in tables[name].values():
            for words in row.refused.values():
                remarks.add(row.line, f"{name}|{row.key}", "not-understood", words)
            if row.has_remark or row.refused:
                continue
            if name in (
                "PORT",
                "PORTCHANNEL",
                "PORTCHANNEL_MEMBER",
                "DEVICE_METADATA",
                "DEVICE_NEIGHBOR",
                "CABLE_LENGTH",
            ):
                remarks.add(
                    row.line, f"{name}|{row.key}", "understood" if row.taken else "no-effect", ""
                )
                continue
            if not row.taken and row.fields:
                remarks.add(row.line, f"{name}|{row.key}", "no-effect", "no row refers to it")
                continue
            left = sorted(set(row.fields) - row.taken)
            if left:
                remarks.add(row.line, f"{name}|{row.key}", "not-modelled", ", ".join(left))
            else:
                remarks.add(row.line, f"{name}|{row.key}", "understood", "")


def row_of(tables: Tables, table: str, key: str | None) -> DatabaseRow | None:
    """A row by its key."""
    return None if key is None else tables.get(table, {}).get(key)


def indices(text: str) -> list[int] | None:
    """`3-4`, `0,2` or `5` as queues or priority groups; None when it is none."""
    found: list[int] = []
    for piece in text.split(PORTS_SEPARATOR):
        first, dash, last = piece.strip().partition("-")
        if (
            not first.isdecimal()
            or (dash and not last.isdecimal())
            or len(first) > 3
            or len(last) > 3
        ):
            return None
        low, high = int(first), int(last or first)
        if low not in QUEUES or high not in QUEUES or high < low:
            return None
        found += range(low, high + 1)
    return found
