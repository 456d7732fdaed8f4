"""`tailrace check RUN` and `list`: whether a run directory is as the run has written it."""

import json
import os
import re
from pathlib import Path

import pytest

from fake_run import FakeRun
from lab import sound
from tailrace.cli.checking import check_run_directory, is_run
from tailrace.cli.listing import find_runs
from tailrace.errors import TailraceError
from tailrace.experiment.options import Options
from tailrace.experiment.run import ExperimentRun
from tailrace.folder import Folder
from tailrace.outcome.journal import CHANGED
from tailrace.results import RunDirectoryError
from tailrace.results.check import check_run
from tailrace.results.large.lines import Line, Lines
from tailrace.scenario.loading import load_scenario

NOT_COMPARED = {"journal.jsonl", "run.lock", "result.json", "report.html"}
"""Files of a run directory that nothing reads as results, and the journal itself."""


@pytest.fixture
def run(tmp_path: Path, fake: None) -> Path:
    """A run directory."""
    out = tmp_path / "runs" / "first"
    ExperimentRun(
        load_scenario(sound(experiment__trials=2, experiment__solo=True)), Options(out=out, jobs=1)
    ).run()
    return out


def test_a_run_as_it_was_written_is_said_to_be_that(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert is_run([run])
    check_run_directory(run, json_=False)
    assert "6 trials, 24 tables and " in capsys.readouterr().out
    check_run_directory(run, json_=True)
    assert json.loads(capsys.readouterr().out)["problems"] == []


def test_every_damaged_file_is_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run / "trials" / "fifo" / "1.json"
    first.write_bytes(first.read_bytes().replace(b'"end_ps": ', b'"end_ps": 1'))
    (run / "trials" / "dpp" / "2.queue_depth.parquet").unlink()
    (run / "trials" / "solo-orders" / "1.json").unlink()
    (run / "plans" / "dpp.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RunDirectoryError) as error:
        check_run_directory(run, json_=True)
    told = json.loads(capsys.readouterr().out)
    assert not told["valid"]
    assert [problem.partition(": ")[0].removeprefix(f"{run}/") for problem in told["problems"]] == [
        "trials/dpp/2.queue_depth.parquet",
        "trials/fifo/1.json",
        "trials/solo-orders/1.json",
        "plans/dpp.json",
    ]
    assert "(hint: run the same command again: it repeats the trials that are damaged" in str(
        error.value
    )


def test_a_changed_byte_of_each_kind_of_file_is_told(run: Path) -> None:
    files = {file: file.relative_to(run) for file in sorted(run.rglob("*")) if file.is_file()}
    kinds = {(name.parts[0], name.name.partition(".")[2]): file for file, name in files.items()}
    kept = {kind: file for kind, file in kinds.items() if kind[0] not in NOT_COMPARED}
    assert {end for _, end in kept} >= {"json", "queue_depth.parquet", "transactions.parquet"}
    for file in kept.values():
        content = file.read_bytes()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(
            RunDirectoryError, match=rf"{re.escape(str(files[file]))}: {re.escape(CHANGED)}"
        ):
            check_run_directory(run, json_=False)
        file.write_bytes(content)
    check_run_directory(run, json_=False)


def test_a_run_of_an_earlier_version_is_read_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = FakeRun(trials=1).write(tmp_path / "run")
    check_run_directory(path, json_=False)
    assert "an earlier version made the run, which kept no SHA-256" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["manifest.json", "journal.jsonl"])
@pytest.mark.parametrize("damage", ["lost", "empty", "a pipe", "a link", "a folder"])
def test_a_run_without_a_sound_manifest_or_journal_is_refused_and_not_taken_for_a_scenario(
    run: Path, name: str, damage: str
) -> None:
    file = run / name
    file.unlink()
    match damage:
        case "empty":
            file.touch()
        case "a pipe":
            os.mkfifo(file)
        case "a link":
            file.symlink_to("nowhere")
        case "a folder":
            file.mkdir()
        case _:
            assert not file.exists()
    assert is_run([run])
    with pytest.raises(TailraceError) as error:
        check_run_directory(run, json_=False)
    told = str(error.value)
    assert told.startswith(str(run / ("manifest.json" if damage == "empty" else name))), (
        "the file that is at fault"
    )
    assert "run the same command again" not in told, "which refuses such a directory"


def test_a_journal_that_is_lost_is_not_taken_for_an_earlier_version(run: Path) -> None:
    (run / "journal.jsonl").unlink()
    with pytest.raises(
        RunDirectoryError, match=r"journal\.jsonl: no such file, and the run has written one"
    ):
        check_run(run)


def test_a_journal_that_ends_within_a_line_costs_that_line_alone(run: Path) -> None:
    journal = run / "journal.jsonl"
    content = journal.read_bytes()
    journal.write_bytes(content + b'\n{"stem":"trials/fifo/9","sha')
    assert check_run(run).problems == []


@pytest.mark.parametrize("content", ["{", "[]", '{"name": "x"}'])
def test_a_run_whose_manifest_is_damaged_is_listed_as_that(run: Path, content: str) -> None:
    (run / "manifest.json").write_text(content, encoding="utf-8")
    assert [(row["path"], row["state"]) for row in find_runs(run.parent)] == [(str(run), "damaged")]


def read_or_refused(lines: Lines) -> list[dict[tuple[int, str, int], Line]] | None:
    """What the lines hold; None where one is refused."""
    try:
        return list(lines.read())
    except TailraceError:
        return None


def test_a_line_of_a_large_sweep_has_an_identity(tmp_path: Path) -> None:
    lines = Lines(Folder(tmp_path))
    lines.add(Line(7, "dpp", 1, "ok", figures={"orders": {"completion_s": 1.5}}))
    [found] = lines.read()
    file = tmp_path / "trials" / "000000.jsonl"
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert read_or_refused(lines) in ([found], [{}], None), place
