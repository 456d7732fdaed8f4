"""`pg_stat_statements`, exported as CSV with its header."""

import csv
from dataclasses import dataclass, field

from tailrace.importers.postgres.sessions import OVERHEAD_BYTES
from tailrace.importers.records.lines import LINE_BYTES_MAX, Record
from tailrace.importers.records.sample import Sample

TIMES = ("total_exec_time", "total_time")
"""Milliseconds of all calls: since PostgreSQL 13, and before."""
MILLISECOND_NS = 10**6
CALLS_MAX = 1e15


@dataclass
class Statements:
    """The stored facts about the view."""

    calls: float = 0
    total_ms: float = 0.0
    rows: float = 0
    durations: Sample = field(default_factory=Sample)
    requests: Sample = field(default_factory=Sample)
    rows_each: Sample = field(default_factory=Sample)


def is_view(header: str) -> bool:
    """Whether a first line is the header of the view."""
    names = {name.strip().strip('"').lower() for name in header.split(",")}
    return {"calls", "rows"} <= names and bool(names & set(TIMES))


def statements_of(record: Record) -> Statements:
    """All statements, weighted by their calls."""
    found = Statements()
    lines = record.read()
    names = [name.strip().lower() for name in next(csv.reader([next(lines)]))]
    record.say("understood", "the names of the columns", ",".join(names))
    time = next(name for name in TIMES if name in names)
    before = csv.field_size_limit(LINE_BYTES_MAX)
    try:
        begun = record.lines + 1
        for columns in csv.reader((line + "\n" for line in lines), strict=True):
            line, begun = begun, record.lines + 1
            if not columns:
                record.say("no-effect", "an empty line", "", line)
                continue
            if len(columns) != len(names):
                record.refuse(
                    f"{len(columns)} columns, not {len(names)} as in line 1",
                    "the file is truncated",
                    line,
                )
            row = dict(zip(names, columns, strict=True))
            _add(found, record, row, time, line)
    except csv.Error as error:
        record.refuse(f"damaged csv: {error}", "the file is truncated or damaged", begun)
    finally:
        csv.field_size_limit(before)
    return found


def _add(found: Statements, record: Record, row: dict[str, str], time: str, line: int) -> None:
    calls, total_ms, rows = (_number(record, row, name, line) for name in ("calls", time, "rows"))
    lines = record.lines - line + 1
    text = row.get("query", "")
    if not calls:
        record.say("no-effect", "no calls", text, record.lines, lines)
        return
    found.calls += calls
    found.total_ms += total_ms
    found.rows += rows
    found.durations.add(round(total_ms / calls * MILLISECOND_NS), calls)
    found.requests.add(len(text.encode("utf-8", "replace")) + OVERHEAD_BYTES, calls)
    found.rows_each.add(round(rows / calls), calls)
    record.say(
        "understood",
        "a statement with its calls, mean duration and rows",
        text,
        record.lines,
        lines,
    )


def _number(record: Record, row: dict[str, str], name: str, line: int) -> float:
    try:
        value = float(row[name])
    except ValueError:
        value = -1.0
    if not 0 <= value <= CALLS_MAX:
        record.refuse(
            f"{name} is '{row[name][:40]}'", "write a number that is not negative", line, name
        )
    return value
