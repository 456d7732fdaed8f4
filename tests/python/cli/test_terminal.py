"""What a terminal shows: within its width, in colour, with help in groups and completion; pipes get
plain text."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from fake_run import FakeRun
from tailrace.cli import console, terminal
from tailrace.cli.app import app
from tailrace.cli.group import Panel, panels_of
from tailrace.errors import Problem, escaped
from tailrace.experiment.reporter import Plain, Terminal
from tailrace.results import compare, format_compare, format_table, summarise
from tailrace.results.format.columns import align, within

PROGRAM = Path(sys.executable).with_name("tailrace")
WIDTH = 80
LIMIT_S = 60


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return FakeRun(trials=6).write(folder / "a"), FakeRun(trials=6).write(folder / "b")


def test_results_fit_the_terminal_and_no_word_is_broken(runs: tuple[Path, Path]) -> None:
    wide = [format_table(summarise(runs[0])), format_compare(compare(*runs))]
    with within(WIDTH):
        narrow = [format_table(summarise(runs[0])), format_compare(compare(*runs))]
    assert max(len(line) for text in wide for line in text.splitlines()) > WIDTH, (
        "the test has something to show"
    )
    for before, after in zip(wide, narrow, strict=True):
        shown = terminal.fitted(after, WIDTH)
        assert max(map(len, shown.splitlines())) <= WIDTH
        assert set(shown.split()) == set(before.split())


def test_a_path_longer_than_the_line_stays_whole() -> None:
    path = "/".join(["folder"] * 20)
    assert terminal.fitted(f"report: {path}", WIDTH).splitlines() == ["report:", f"  {path}"]


def test_a_verdict_has_a_colour_where_a_person_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "warning: frames pass by\na  1.0  pass\nb  2.0  FAIL\nc  2.0  just FAIL"
    shown = terminal.shown(text, Screen())
    red, green, yellow = (f"\x1b[{code}m" for code in (31, 32, 33))
    assert shown.splitlines() == [
        f"{yellow}warning\x1b[0m: frames pass by",
        f"a  1.0  {green}pass\x1b[0m",
        f"b  2.0  {red}FAIL\x1b[0m",
        f"c  2.0  {red}just FAIL\x1b[0m",
    ]
    assert terminal.shown(terminal.painter(Screen())("x", "worse"), Screen()) == f"{red}x\x1b[0m"
    assert terminal.shown(text, io.StringIO()) == text
    assert terminal.painter(io.StringIO())("x", "worse") == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal.shown(text, Screen()) == text
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert terminal.shown(text, Screen()) == text


def test_a_line_that_fits_but_for_its_colours_stays_whole() -> None:
    line = " ".join(terminal.painted("7.5", terminal.GREEN) for _ in range(WIDTH // 5))
    assert len(line) > WIDTH
    assert terminal.fitted(line, WIDTH) == line


def test_a_pipe_gets_lines_as_they_are() -> None:
    line = "word " * 40
    assert terminal.shown(line, io.StringIO()) == line
    assert max(map(len, terminal.shown(line, Screen()).splitlines())) <= WIDTH


@pytest.mark.parametrize("verb", [[], ["lab"], ["measure"]])
def test_help_says_each_command_in_whole_sentences(verb: list[str]) -> None:
    text = printed(*verb, "--help")
    assert "..." not in text.replace("[ARGS]...", "")
    assert max(map(len, text.splitlines())) <= WIDTH


def test_every_command_is_in_one_panel_of_the_help() -> None:
    root: Any = get_command(app)
    panels = panels_of(root, "")
    assert list(panels) == list(Panel), "each command names its panel"
    assert sorted(name for commands in panels.values() for name in commands) == sorted(
        root.commands
    )
    text = printed("--help")
    for title, commands in panels.items():
        section = text.partition(f"{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines() if line[2:3].strip()] == list(
            commands
        )


def test_bash_completes_commands_and_options() -> None:
    assert completed_in_bash("tailrace", "comp") == {"compare", "completion"}
    assert completed_in_bash("tailrace", "run", "--liv") == {"--live", "--live-scale"}
    assert completed_in_bash("tailrace", "import", "so") == {"sonic"}


@pytest.mark.parametrize(
    ("shell", "asked"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "tailrace comp"}),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": "tailrace comp", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        ),
    ],
)
def test_other_shells_are_answered_too(shell: str, asked: dict[str, str]) -> None:
    script = printed("completion", shell)
    assert f"_TAILRACE_COMPLETE=complete_{shell}" in script
    answer = printed(environment={"_TAILRACE_COMPLETE": f"complete_{shell}", **asked})
    assert "compare" in answer
    assert "completion" in answer
    assert "doctor" not in answer


def completed_in_bash(*words: str) -> set[str]:
    bash = shutil.which("bash")
    assert bash is not None, "the Makefile needs it"
    script = (
        f"source <({PROGRAM} completion bash); COMP_WORDS=({' '.join(words)}); "
        f"COMP_CWORD={len(words) - 1}; "
        f'_tailrace_completion {PROGRAM}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        [bash, "-c", script], capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    return set(done.stdout.split())


def printed(*arguments: str, environment: dict[str, str] | None = None) -> str:
    command = [str(PROGRAM), *arguments]
    variables = os.environ | (environment or {})
    return subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=LIMIT_S, check=True
    ).stdout


def test_a_table_that_is_too_wide_goes_on_below_with_its_first_columns() -> None:
    rows = [["workload", "p50", "p99", "drops"], ["orders", "1.5", "20.25", "7"]]
    assert align(rows).splitlines() == [
        "workload  p50    p99  drops",
        "orders    1.5  20.25      7",
    ]
    with within(20):
        assert align(rows).splitlines() == [
            "workload  p50    p99",
            "orders    1.5  20.25",
            "",
            "workload  drops",
            "orders        7",
        ]


HOSTILE = "a\x1b]0;title\x07\x1b[31mb\x9b2Jc\u202ed\re\x00f\ud800g"
SAFE = "a\\u001b]0;title\\u0007\\u001b[31mb\\u009b2Jc\\u202ed\\u000de\\u0000f\\ud800g"
"""The same, as it is shown."""


@pytest.mark.parametrize("stream", [io.StringIO(), Screen()], ids=["pipe", "terminal"])
def test_what_a_terminal_obeys_is_shown_escaped(stream: io.StringIO) -> None:
    assert terminal.shown(HOSTILE, stream) == SAFE, "also a colour, which is one of verdicts"


def test_a_problem_is_one_line(tmp_path: Path) -> None:
    problem = Problem(f"{tmp_path}/x\n.yaml", 1, HOSTILE, "what\nlab.yaml: valid", "hint\t")
    assert str(problem) == f"{tmp_path}/x\\n.yaml:1: {SAFE}: what\\nlab.yaml: valid (hint: hint\\t)"


def test_json_and_text_for_programs_have_nothing_that_a_terminal_obeys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    console.emit_json({HOSTILE: HOSTILE})
    said = capsys.readouterr().out
    assert json.loads(said) == {HOSTILE: HOSTILE}
    assert escaped(said) == said
    monkeypatch.setattr(sys, "stdout", screen := Screen())
    console.emit_text("a\x1b[31m")
    assert screen.getvalue() == "a\\u001b[31m\n"


def test_progress_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    Plain().say(HOSTILE)
    Terminal().say(HOSTILE)
    assert escaped(said := capsys.readouterr().err) == said
    assert said.count("]0;title") == 2
