"""Rows of a log: of `csvlog` and `jsonlog`, with the names of their fields."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from tailrace.importers.records.lines import LINE_BYTES_MAX, Record

COLUMNS_LEAST = 23
"""Of csvlog: 23 from 9.0, 24 from 13, 26 from 14; later versions may append more."""
LOG_TIME, SESSION, TAG, MESSAGE = 0, 5, 7, 13
TIME_CHARACTERS = 23
"""`2026-11-30 12:00:00.123`: the zone is the same in a log."""
EPOCH = datetime(2000, 1, 1)
US_PER_S = 10**6
HINT = (
    "PostgreSQL writes such files with logging_collector = on, "
    "log_destination = 'csvlog' or 'jsonlog'"
)


@dataclass(frozen=True)
class Row:
    """One message of a session."""

    at_us: int
    session: str
    tag: str
    message: str
    line: int
    """Its first line."""


def rows_of(record: Record) -> Iterator[Row]:
    """All rows; refuses a file in neither format."""
    lines = record.read()
    first = next(lines)
    while not first.strip():
        record.say("no-effect", "an empty line", first)
        following = next(lines, None)
        if following is None:
            record.refuse("only empty lines", HINT)
        first = following
    if first.startswith("{"):
        return _json(record, first, lines)
    columns = next(csv.reader([first]), [])
    if _time(columns[LOG_TIME] if columns else "") is not None and _is_csv(first, columns):
        return _csv(record, first, lines)
    what = "neither csvlog nor jsonlog"
    if " LOG: " in first or ("[" in first[:60] and ": " in first):
        what = "PostgreSQL's plain log, whose prefix is not known: neither csvlog nor jsonlog"
    raise record.refused(f"'{first[:50]}' is {what}", HINT)


def _is_csv(first: str, columns: list[str]) -> bool:
    """Whether the first line is one of csvlog, or the begin of one with a value of several
    lines."""
    return len(columns) >= COLUMNS_LEAST or (len(columns) > MESSAGE and first.count('"') % 2 == 1)


def _csv(record: Record, first: str, rest: Iterator[str]) -> Iterator[Row]:
    before = csv.field_size_limit(LINE_BYTES_MAX)
    try:
        begun, width = record.lines, 0
        for columns in csv.reader(_with_ends(first, rest), strict=True):
            line, begun = begun, record.lines + 1
            width = width or len(columns)
            if len(columns) != width or width < COLUMNS_LEAST:
                if (
                    record.lines > line
                ):  # a quote that opens and never closes takes the rest of the file
                    record.refuse(
                        "a quoted value that does not end", "the file is truncated or damaged", line
                    )
                record.refuse(
                    f"{len(columns)} columns, not {max(width, COLUMNS_LEAST)}",
                    "the file is truncated or damaged",
                    line,
                )
            at_us = _time(columns[LOG_TIME])
            if at_us is None:
                record.refuse(f"'{columns[LOG_TIME][:40]}' is no time", HINT, line)
            yield Row(at_us, columns[SESSION], columns[TAG], columns[MESSAGE], line)
    except csv.Error as error:
        record.refuse(f"damaged csv: {error}", "the file is truncated or damaged", line=begun)
    finally:
        csv.field_size_limit(before)


def _with_ends(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first + "\n"
    for line in rest:
        yield line + "\n"


def _json(record: Record, first: str, rest: Iterator[str]) -> Iterator[Row]:
    line: str | None = first
    while line is not None:
        if not line.strip():
            record.say("no-effect", "an empty line", line)
        else:
            row = _object(record, line)
            if row is not None:
                yield row
        line = next(rest, None)


def _object(record: Record, line: str) -> Row | None:
    try:
        found = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        record.refuse("damaged JSON", "the file is truncated or damaged: one object in each line")
    if isinstance(found, dict) and isinstance(found.get("record"), dict):  # operators wrap the row
        found = found["record"]
    if not isinstance(found, dict):
        record.refuse("no object", HINT)
    text = found.get("timestamp", found.get("log_time"))
    at_us = _time(text) if isinstance(text, str) else None
    if at_us is None:
        record.say("no-effect", "an object without the time of a row of PostgreSQL", line)
        return None
    session, tag, message = (found.get(key) or "" for key in ("session_id", "ps", "message"))
    if tag == "":
        tag = found.get("command_tag") or ""
    return Row(at_us, str(session), str(tag), str(message), record.lines)


def _time(text: str) -> int | None:
    """Microseconds of a time of a log, which has milliseconds or seconds."""
    shown = text[:TIME_CHARACTERS].rstrip()
    if len(shown) == TIME_CHARACTERS and shown[19] != ".":
        shown = shown[:19]
    try:
        found = datetime.fromisoformat(shown)
    except ValueError:
        return None
    since = found.replace(tzinfo=None) - EPOCH
    return (since.days * 86_400 + since.seconds) * US_PER_S + since.microseconds
