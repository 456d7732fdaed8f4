"""PostgreSQL's csvlog and jsonlog with durations, and pg_stat_statements."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from counts import cases
from tailrace.errors import Problem, ScenarioError
from tailrace.importers.postgres.durations import duration_of
from tailrace.importers.postgres.importer import import_postgres
from tailrace.importers.postgres.sessions import Sessions
from tailrace.importers.records import sample
from tailrace.importers.remarks import Remarks
from tailrace.importers.whole import WholeScenario
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.text.distribution import parse_distribution
from tailrace.scenario.text.units import TIME

MS_PS = 10**9
VIEW = (
    'userid,query,calls,total_exec_time,rows\n10,SELECT $1,900,90.0,900\n10,"UPDATE t\nSET a = '
    '$1",100,210.0,0\n'
)


def csv_row(at_ms: int, session: str, tag: str, message: str) -> str:
    time = f"2026-11-30 12:{at_ms // 60_000:02}:{at_ms % 60_000 / 1000:06.3f} UTC"
    quoted = message.replace('"', '""')
    return (
        f'{time},"u","d",1,"127.0.0.1:1",{session},1,"{tag}",2026-11-30 12:00:00 '
        f'UTC,3/0,0,LOG,00000,"{quoted}"'
        ',,,,,,,,,"psql","client backend",,0\n'
    )


def json_row(at_ms: int, session: str, tag: str, message: str) -> str:
    time = f"2026-11-30 12:{at_ms // 60_000:02}:{at_ms % 60_000 / 1000:06.3f} UTC"
    return (
        json.dumps({"timestamp": time, "session_id": session, "ps": tag, "message": message}) + "\n"
    )


def load(row: Any, sessions: int = 2, seconds: int = 10) -> str:
    """Each session has 10 statements of 2 ms in a second."""
    return "".join(
        row(
            100 * number + 50 + session,
            f"s{session}",
            "SELECT",
            "duration: 2.000 ms  statement: SELECT abalance FROM t",
        )
        for number in range(10 * seconds)
        for session in range(sessions)
    )


def transactions(row: Any) -> str:
    """50 transactions of one session: BEGIN, UPDATE of 3 ms, COMMIT."""
    text = ""
    for number in range(50):
        at = 100 * number
        for after, tag, ms in ((10, "BEGIN", 0.1), (15, "UPDATE", 3.0), (20, "COMMIT", 1.0)):
            text += row(at + after, "s", tag, f"duration: {ms:.3f} ms  statement: {tag}")
    return text


def imported(folder: Path, text: str, **variables: str) -> tuple[WholeScenario, Remarks]:
    file = folder / "log.csv"
    file.write_text(text)
    scenario, remarks = import_postgres(file, variables)
    assert scenario is not None
    return scenario, remarks


def refusal(folder: Path, text: str, **variables: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        imported(folder, text, **variables)
    [problem] = caught.value.problems
    assert problem.hint
    return str(problem)


def mean_ms(value: Any) -> float:
    return parse_distribution(value, TIME).mean / MS_PS


@pytest.mark.parametrize("row", [csv_row, json_row])
def test_statements_per_second_durations_and_users_are_those_of_the_log(
    row: Any, tmp_path: Path
) -> None:
    scenario, remarks = imported(tmp_path, load(row))
    keys = scenario.workloads["statements"]
    assert (keys["kind"], keys["users"], keys["server_time"]) == ("requests", 2, "2ms")
    assert mean_ms(keys["gap"]) == pytest.approx(98, rel=0.02)
    assert keys["request"] == f"{len('SELECT abalance FROM t') + 6}B"
    words = next(one.words for one in remarks.found if "statements in" in one.words)
    assert words.startswith("200 statements in 9.903 s: 20.19")
    assert "mean duration 2 ms" in words


@pytest.mark.parametrize("row", [csv_row, json_row])
def test_transactions_with_the_same_statements_are_oltp(row: Any, tmp_path: Path) -> None:
    scenario, _ = imported(tmp_path, transactions(row))
    keys = scenario.workloads["transactions"]
    assert (keys["kind"], keys["users"]) == ("oltp", 1)
    assert [trip["server_time"] for trip in keys["round_trips"]] == ["100us", "3ms", "1ms"]
    assert mean_ms(keys["gap"]) + 4.1 == pytest.approx(100, rel=0.02)


def test_parsing_and_binding_belong_to_the_execution(tmp_path: Path) -> None:
    text = ""
    for number in range(20):
        for step, ms in (("parse <unnamed>", 1), ("bind <unnamed>", 2), ("execute <unnamed>", 3)):
            text += csv_row(
                50 * number + 10, "s", "SELECT", f"duration: {ms}.000 ms  {step}: SELECT $1"
            )
    scenario, remarks = imported(tmp_path, text)
    assert scenario.workloads["statements"]["server_time"] == "6ms"
    assert any("20 statements in" in one.words for one in remarks.found)


@pytest.mark.parametrize(
    ("message", "ms", "is_step", "text"),
    [
        ("duration: 0.123 ms  statement: SELECT 1", 0.123, False, "SELECT 1"),
        ("duration: 0.123 ms  bind S_1/C_2: SELECT 1", 0.123, True, "SELECT 1"),
        ("Dauer: 0.123 ms  Anweisung: SELECT 1", 0.123, False, "SELECT 1"),
        ("Dauer: 0.123 ms  Parsen <unnamed>: SELECT 1", 0.123, True, "SELECT 1"),
        ("Dauer: 0.123 ms  Binden <unnamed>: SELECT 1", 0.123, True, "SELECT 1"),
        ("durée : 1.5 ms, instruction : SELECT 1", 1.5, False, "SELECT 1"),
        ("durée : 1.5 ms, lien <unnamed> : SELECT 1", 1.5, True, "SELECT 1"),
        ("duración: 2 ms  sentencia: SELECT 1", 2, False, "SELECT 1"),
        ("продолжительность: 2.0 мс, оператор: SELECT 1", 2, False, "SELECT 1"),
        ("продолжительность: 2.0 мс, сообщение Bind <unnamed>: SELECT 1", 2, True, "SELECT 1"),
        ("期間: 2.0 ミリ秒  文: SELECT 1", 2, False, "SELECT 1"),
        ("期間: 2.0 ミリ秒  パース<unnamed> : SELECT 1", 2, True, "SELECT 1"),
        ("duration: 0.1 ms", 0.1, False, ""),
    ],
)
def test_durations_are_read_in_every_language(
    message: str, ms: float, is_step: bool, text: str
) -> None:
    found = duration_of(message)
    assert found is not None
    assert (found.ms, found.is_step, found.text) == (ms, is_step, text)


def test_other_messages_have_no_duration() -> None:
    assert duration_of("checkpoint complete: wrote 3 buffers") is None
    assert duration_of('automatic analyze of table "a"') is None


def test_the_view_needs_its_time_and_has_rates_durations_and_rows(tmp_path: Path) -> None:
    assert "seconds: the view does not say in which time" in refusal(tmp_path, VIEW)
    assert "--define seconds=3600" in refusal(tmp_path, VIEW)
    assert "seconds=0 is no time" in refusal(tmp_path, VIEW, seconds="0")
    scenario, remarks = imported(tmp_path, VIEW, seconds="10")
    keys = scenario.workloads["statements"]
    assert keys["arrivals"] == "exponential(10ms)"
    assert keys["server_time"] == {
        "cdf": [["100us", "0%"], ["100us", "90%"], ["2100us", "90%"], ["2100us", "100%"]]
    }
    assert keys["response"] == {
        "cdf": [["100B", "0%"], ["100B", "10%"], ["200B", "10%"], ["200B", "100%"]]
    }
    assert any(
        "1000 statements in 10 s: 100/s, mean duration 0.3 ms" in one.words for one in remarks.found
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (load(csv_row)[:-40], "damaged csv|a quoted value that does not end|columns, not 26"),
        (load(json_row)[:-40], "damaged JSON"),
        (
            "2026-11-30 12:00:00.000 UTC [7] LOG:  Dauer: 1.0 ms  Anweisung: SELECT 1\n",
            "PostgreSQL's plain log",
        ),
        ("a,b,c\n1,2,3\n", "neither csvlog nor jsonlog"),
        ("", "the file is empty"),
        ("\0\0", "NUL bytes"),
        (VIEW.replace("900,90.0", "many,90.0"), "calls is 'many'"),
    ],
)
def test_bad_input_is_refused_with_file_line_fault_and_hint(
    text: str, problem: str, tmp_path: Path
) -> None:
    import re

    said = refusal(tmp_path, text, seconds="1")
    assert re.search(problem, said), said
    assert said.startswith(f"{tmp_path / 'log.csv'}:")


def test_a_log_without_durations_has_nothing_and_says_why(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(csv_row(1, "s", "", "database system is ready"))
    scenario, remarks = import_postgres(file, {})
    assert scenario is None
    assert [one.verdict for one in remarks.found] == ["no-effect"]


def test_every_line_has_one_fate(tmp_path: Path) -> None:
    from tailrace.importers.postgres.importer import _read
    from tailrace.importers.records.lines import Record

    text = (
        load(csv_row, 1, 1)
        + csv_row(5_000, "s", "SELECT", "duration: 1 ms  statement: SELECT\n1\n+ 1")
        + "".join(csv_row(6_000, "s", "", 'some "other" message') for _ in range(3))
    )
    (tmp_path / "log.csv").write_text(text)
    record = Record(tmp_path / "log.csv")
    _read(record)
    assert (
        sum(kind.lines for kind in record.kinds.values()) == record.lines == len(text.splitlines())
    )


@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 10**6),
            st.sampled_from(["s1", "s2", ""]),
            st.sampled_from(["SELECT", "BEGIN", "COMMIT", "", "ROLLBACK"]),
            st.sampled_from(
                [
                    "duration: 1.0 ms  statement: x",
                    "duration: 999999999.0 ms",
                    "Dauer: 0.0 ms  Binden x: y",
                    "no",
                ]
            )
            | st.text(max_size=30),
        ),
        max_size=12,
    ),
    is_json=st.booleans(),
    cut=st.integers(0, 60),
)
@settings(max_examples=cases(300, 80))
def test_any_log_is_imported_or_refused(
    rows: list[tuple[int, str, str, str]],
    is_json: bool,
    cut: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    text = "".join((json_row if is_json else csv_row)(*row) for row in rows)
    file = tmp_path_factory.getbasetemp() / "any.log"
    file.write_text(text[: len(text) - cut] if cut < 20 else text)
    scenario = None
    refusals: tuple[Problem, ...] = ()
    try:
        scenario, _ = import_postgres(file, {})
    except ScenarioError as error:
        refusals = error.problems
    assert not any("cannot contain" in one.what for one in refusals), refusals
    if scenario is not None:
        load_scenario(YAML(typ="safe").load(scenario.text("any.log")))


def test_the_span_begins_with_the_statement_that_begins_first() -> None:
    sessions = Sessions()
    sessions.statement("a", 2_000_000, 100.0, "SELECT", "SELECT 1")
    sessions.statement("b", 3_000_000, 2_500.0, "SELECT", "SELECT 2")
    assert (sessions.begin_us, sessions.span_us) == (500_000, 2_500_000)


def test_classes_of_a_sample_keep_weights_and_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "EXACT_MAX", 2)
    found = sample.Sample()
    weighted = [(100, 3), (200, 1), (300, 2), (1000, 5)]
    for value, weight in weighted:
        found.add(value, weight)
    assert found.values() == weighted
