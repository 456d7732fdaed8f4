"""What of the program's answers is a finding: exit codes are judged, and what is accepted is
simulated."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tailrace
from check_commands import Answer
from fuzzing import formats, program
from tailrace.cli import codes
from tailrace.errors import TailraceError


@pytest.mark.parametrize("code", [70, 5, -11])
def test_an_exit_code_that_is_no_answer_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    assert code not in (codes.DONE, *program.REFUSED)
    monkeypatch.setattr(program, "called", lambda _words: Answer(code, "", "x.yaml"))
    with pytest.raises(program.FindingError, match=f"check: exit code {code}"):
        program.answered(Path("x.yaml"), "check", "x.yaml")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The trials that were simulated, of scenarios that are all valid."""
    found: list[Any] = []
    scenario = SimpleNamespace(arms={"base": "a scenario"})
    monkeypatch.setattr(formats, "answered", lambda *_words: "0 ")
    monkeypatch.setattr(formats, "load_scenario", lambda _file: scenario)
    monkeypatch.setattr(formats, "lower", lambda *_words: {})
    monkeypatch.setattr(formats, "make_trial", lambda _text: SimpleNamespace(cancel=lambda: None))
    monkeypatch.setattr(formats, "run_or_cancel", found.append)
    return found


@pytest.mark.parametrize("name", ["scenario", "recording", "plan"])
def test_what_is_accepted_is_simulated(simulated: list[Any], tmp_path: Path, name: str) -> None:
    file = tmp_path / "input"
    file.touch()
    formats.format_of(name).read(file)
    assert len(simulated) == 1


@pytest.mark.parametrize("name", ["scenario", "recording"])
def test_a_valid_scenario_with_a_plan_that_is_refused_is_a_finding(
    simulated: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refuse(_text: str) -> None:
        raise TailraceError("no host")

    monkeypatch.setattr(formats, "make_trial", refuse)
    with pytest.raises(program.FindingError, match="valid, and its plan is not: no host"):
        formats.format_of(name).read(tmp_path / "input")
    assert simulated == []


def test_nothing_is_tried_without_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tailrace, "_native", raising=False)
    monkeypatch.setitem(sys.modules, "tailrace._native", None)
    with pytest.raises(TailraceError, match="the simulator is not built"):
        formats.format_of("plan")
