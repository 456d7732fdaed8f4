"""Converts PostgreSQL's own records to a scenario with `oltp` or `requests`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.importers.postgres.durations import duration_of
from tailrace.importers.postgres.rows import rows_of
from tailrace.importers.postgres.sessions import Sessions, Shape
from tailrace.importers.postgres.statements import Statements, is_view, statements_of
from tailrace.importers.records.lines import Record
from tailrace.importers.records.sample import Sample
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import size, time
from tailrace.importers.storage.values import name_of
from tailrace.importers.whole import WholeScenario, Yaml

CLIENT, SERVER = "client", "database"
SECONDS = "seconds"
"""Variable: the time that a view covers."""
SECONDS_MAX = 10**9
ROW_BYTES = 100
"""Of a row of a response [A]: no record of PostgreSQL has the bytes."""
ANSWER_BYTES = 100
"""Of a response besides its rows: descriptions and completion [A]."""
PS_PER_NS, PS_PER_US, PS_PER_S = 10**3, 10**6, 10**12
DURATION_MAX_PS = 60 * PS_PER_S
"""A trial lasts as long as the log, and no longer than this."""
SPARE_PS = 10 * PS_PER_S // 1000
ALIKE_LEAST = 0.9
"""Share of transactions with the same statements from which they are `oltp`."""
USERS_MAX = 10_000


@dataclass(frozen=True)
class Figures:
    """Properties of a whole record, beside the scenario."""

    statements: int
    active_s: float
    statements_per_s: float
    mean_ms: float
    at_once: float
    """Statements at the same time, on average."""


def import_postgres(path: Path, variables: dict[str, str]) -> tuple[WholeScenario | None, Remarks]:
    """The scenario, and remarks about the lines; None if no line has the duration of a statement.

    Raises `ScenarioError` for a file of another format, a truncated one, and invalid values.
    """
    first = next(Record(path).read())
    record = Record(path)
    scenario = WholeScenario(
        name_of(path.name.split(".")[0], "postgres", ()), hosts=[CLIENT, SERVER]
    )
    if is_view(first):
        remarks = _of_view(scenario, statements_of(record), record, variables)
    else:
        sessions = _read(record)
        if not sessions.statements:
            return None, record.remarks("requests")
        remarks = _of_log(scenario, sessions, record)
    scenario.check(str(path))
    return scenario, remarks


def _read(record: Record) -> Sessions:
    sessions = Sessions()
    for row in rows_of(record):
        lines = record.lines - row.line + 1
        found = duration_of(row.message)
        if found is None:
            record.say("no-effect", "no duration of a statement", row.message, record.lines, lines)
        elif found.is_step:
            sessions.step(row.session, row.at_us, found.ms)
            record.say(
                "understood",
                "parsing or binding: a part of the statement after it",
                row.message,
                0,
                lines,
            )
        else:
            sessions.statement(row.session, row.at_us, found.ms, row.tag, found.text)
            record.say("understood", "a statement", row.message, record.lines, lines)
    sessions.close()
    return sessions


def _of_log(scenario: WholeScenario, sessions: Sessions, record: Record) -> Remarks:
    span_ps = round(sessions.span_us * PS_PER_US)
    users = min(USERS_MAX, sessions.users)
    tags, shape = max(sessions.shapes.items(), key=lambda one: one[1].count)
    is_alike = len(tags) > 1 and shape.count >= ALIKE_LEAST * sessions.transactions
    statements = len(tags) if is_alike else 1
    gap_ps = round(sessions.pause_us * statements * PS_PER_US)
    keys: Yaml = {
        "kind": "oltp" if is_alike else "requests",
        "client": CLIENT,
        "server": SERVER,
        "users": users,
    }
    keys |= (
        _trips(shape)
        if is_alike
        else _exchange(sessions.requests, sessions.durations, size(ANSWER_BYTES + ROW_BYTES))
    )
    keys["gap"] = f"exponential({time(gap_ps)})" if gap_ps else "0s"
    name = "transactions" if is_alike else "statements"
    scenario.workloads = {name: keys}
    served_ns = sum(one.mean for one in shape.durations) if is_alike else sessions.durations.mean
    scenario.duration_ps = _duration_ps(span_ps, served_ns)
    remarks = record.remarks("requests")
    figures = Figures(
        sessions.statements,
        sessions.span_us / 1e6,
        sessions.statements * 1e6 / sessions.span_us,
        sessions.busy_us / 1000 / sessions.statements,
        sessions.busy_us / sessions.span_us,
    )
    _remark(remarks, name, figures)
    remarks.add(
        0,
        f"workloads.{name}.users",
        "understood",
        f"{users} sessions at the same time, on average, of {sessions.sessions}",
    )
    words = (
        "their mean, exponential: times of a log have milliseconds, and statements may be shorter"
    )
    remarks.add(0, f"workloads.{name}.gap", "assumed", f"pauses of the users: {words}")
    if span_ps > DURATION_MAX_PS:
        remarks.add(
            0,
            "experiment.duration",
            "assumed",
            f"the first {DURATION_MAX_PS // PS_PER_S} s of such a load",
        )
    if not is_alike and any(len(one) > 1 for one in sessions.shapes):
        words = "transactions have different statements: each is a request of its own"
        remarks.add(0, f"workloads.{name}", "not-modelled", words)
    if users < sessions.users:
        remarks.add(0, f"workloads.{name}.users", "not-modelled", f"at most {USERS_MAX} users")
    _remark_sizes(remarks, name, "log")
    return remarks


def _duration_ps(span_ps: int, served_ns: float) -> int:
    """The duration of the record, within a bound; longer than the served time."""
    return max(min(span_ps, DURATION_MAX_PS), round(2 * served_ns * PS_PER_NS) + SPARE_PS)


def _trips(shape: Shape) -> Yaml:
    trips = [
        _exchange(requests, durations, size(ANSWER_BYTES + ROW_BYTES))
        for requests, durations in zip(shape.requests, shape.durations, strict=True)
    ]
    return {
        "round_trips": [
            trip | {"request": size(round(one.mean))}
            for trip, one in zip(trips, shape.requests, strict=True)
        ]
    }


def _exchange(requests: Sample, durations: Sample, response: Any) -> Yaml:
    return {
        "request": requests.stated(lambda value: size(max(1, value))),
        "response": response,
        "server_time": durations.stated(lambda value: time(value * PS_PER_NS)),
    }


def _of_view(
    scenario: WholeScenario, found: Statements, record: Record, variables: dict[str, str]
) -> Remarks:
    seconds = _seconds(record, variables)
    if not found.calls:
        record.refuse("no statement has calls", "export the view after a load", line=0)
    keys: Yaml = {"kind": "requests", "client": CLIENT, "server": SERVER}
    keys["arrivals"] = f"exponential({time(max(1, round(seconds * PS_PER_S / found.calls)))})"
    rows = found.rows_each.stated(lambda value: size(ANSWER_BYTES + value * ROW_BYTES))
    keys |= _exchange(found.requests, found.durations, rows)
    scenario.workloads = {"statements": keys}
    scenario.duration_ps = _duration_ps(round(seconds * PS_PER_S), found.durations.mean)
    remarks = record.remarks("requests")
    _remark(
        remarks,
        "statements",
        Figures(
            round(found.calls),
            seconds,
            found.calls / seconds,
            found.total_ms / found.calls,
            found.total_ms / 1000 / seconds,
        ),
    )
    words = "statements arrive by themselves: the view has no sessions"
    remarks.add(0, "workloads.statements.arrivals", "assumed", words)
    remarks.add(
        0,
        "workloads.statements.server_time",
        "assumed",
        "each call lasts as long as the mean of its statement",
    )
    _remark_sizes(remarks, "statements", "view")
    return remarks


def _seconds(record: Record, variables: dict[str, str]) -> float:
    text = variables.get(SECONDS)
    hint = f"tailrace import postgres {record.path} --define {SECONDS}=3600"
    if text is None:
        record.refuse(
            "the view does not say in which time its calls were",
            f"since pg_stat_statements_reset(): {hint}",
            0,
            SECONDS,
        )
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= SECONDS_MAX:
        record.refuse(f"{SECONDS}={text[:40]} is no time", hint, 0, "--define")
    return seconds


def _remark(remarks: Remarks, name: str, figures: Figures) -> None:
    words = (
        f"{figures.statements} statements in {figures.active_s:.6g} s: "
        f"{figures.statements_per_s:.6g}/s, mean duration"
        f" {figures.mean_ms:.6g} ms, {figures.at_once:.4g} at the same time"
    )
    remarks.add(0, f"workloads.{name}", "understood", words)


def _remark_sizes(remarks: Remarks, name: str, source: str) -> None:
    rows = f"{ROW_BYTES} B for each row" if source == "view" else "one row"
    words = f"{ANSWER_BYTES} B and {rows}: a {source} has no bytes of responses"
    remarks.add(0, f"workloads.{name}.response", "assumed", words)
    remarks.add(
        0, f"workloads.{name}.request", "understood", "the text of the statement and its header"
    )
