"""Traffic classes above 7, which SONiC allows (saitypes.h: a class is any byte) and a scenario does
not have.

Their frames get another class that is treated alike: one of the same queue and priority group at
every port, or one that no map uses, which then gets queue and group of the extra class.
"""

from collections.abc import Iterator

from tailrace.importers.remarks import Remarks
from tailrace.importers.section import PRIORITIES
from tailrace.importers.sonic.read import DatabaseRow, Tables
from tailrace.importers.sonic.tables import row_of

CLASS_MAX = 255
"""The largest traffic class."""
CLASSIFICATIONS = (("dscp_to_tc_map", "DSCP_TO_TC_MAP"), ("dot1p_to_tc_map", "DOT1P_TO_TC_MAP"))
TREATMENTS = (("tc_to_queue_map", "TC_TO_QUEUE_MAP"), ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"))


def fold_classes(tables: Tables, remarks: Remarks) -> None:
    """Replaces every class above 7 in the maps that ports use."""
    classifying = [row for names in CLASSIFICATIONS for row in _used(tables, *names)]
    treating = [row for names in TREATMENTS for row in _used(tables, *names)]
    stated = {value for row in classifying for value in row.fields.values()}
    for extra in sorted(value for value in stated if _is_extra(value)):
        own = _like(extra, treating)
        if own is None:
            own = next((str(p) for p in PRIORITIES if str(p) not in stated), None)
            if own is None:
                continue
            for row in treating:
                row.fields |= {own: row.fields[extra]} if extra in row.fields else {}
        stated.add(own)
        for row in classifying:
            if extra in row.fields.values():
                row.fields = {
                    key: own if value == extra else value for key, value in row.fields.items()
                }
                words = (
                    f"a scenario has classes 0 to 7: frames of traffic class {extra} are in "
                    f"class {own}, treated alike"
                )
                remarks.add(row.line, f"{row.key}", "assumed", words)
    for row in treating:
        row.fields = {key: value for key, value in row.fields.items() if not _is_extra(key)}


def _used(tables: Tables, field: str, table: str) -> Iterator[DatabaseRow]:
    """The rows of a map that ports refer to."""
    names = dict.fromkeys(row.reference(field) for row in tables.get("PORT_QOS_MAP", {}).values())
    for name in names:
        row = row_of(tables, table, name)
        if row is not None:
            yield row


def _like(extra: str, treating: list[DatabaseRow]) -> str | None:
    """The first class of 0 to 7 that every map treats as the extra one."""
    stating = [row for row in treating if extra in row.fields]
    alike = (
        str(p)
        for p in PRIORITIES
        if all(row.fields.get(str(p)) == row.fields[extra] for row in stating)
    )
    return next(alike, None)


def _is_extra(text: str) -> bool:
    return (
        text.isascii()
        and text.isdecimal()
        and len(text) < 4
        and max(PRIORITIES) < int(text) <= CLASS_MAX
    )
