"""The check of the commands' help notices help that fails, that is empty, and options without a
text."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

import check_commands


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> typer.Typer:
    """A program with one sound command; details of internal errors are written to the test's
    folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback(help="A program.")(lambda: None)
    made.command("sound", help="Works.")(lambda: None)
    monkeypatch.setattr(check_commands, "app", made)
    return made


def faults(program: typer.Typer) -> list[str]:
    """Of the help of all commands."""
    found = check_commands.commands(typer.main.get_command(program))
    return [fault for path, command in found for fault in check_commands.faults_of(path, command)]


def test_sound_help_has_no_fault(program: typer.Typer) -> None:
    assert not faults(program)


def test_help_that_fails_is_a_fault_of_the_command_that_prints_it(program: typer.Typer) -> None:
    class Failing(typer.core.TyperGroup):
        def format_commands(self, ctx: Any, formatter: Any) -> None:
            formatter.write_dl([])

    inner = typer.Typer(cls=Failing, help="Fails.")
    inner.command("sound", help="Works.")(lambda: None)
    inner.callback()(lambda: None)
    program.add_typer(inner, name="inner")
    [first, second] = faults(program)
    assert first.startswith("tailrace inner --help: exit code 70: internal error: TypeError")
    assert second.startswith("tailrace inner -h: exit code 70")


def test_a_command_and_an_option_without_a_text_are_faults(program: typer.Typer) -> None:
    @program.command()
    def silent(*, fast: Annotated[bool, typer.Option("--fast")] = False) -> None:
        print(fast)  # noqa: T201

    assert faults(program) == [
        "tailrace silent: no help text",
        "tailrace silent: no help text for --fast",
    ]


def test_completion_offers_every_command() -> None:
    assert not list(check_commands.completion_faults([("measure", "drive"), ("run",)]))
    fault = "tailrace measure fly: not offered by completion"
    assert list(check_commands.completion_faults([("measure", "fly")])) == [fault]


def test_help_that_is_empty_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        check_commands, "called", lambda _words: check_commands.Answer(0, " \n", "")
    )
    assert list(check_commands.call_faults(("run", "--help"))) == [
        "tailrace run --help: prints nothing"
    ]


@pytest.mark.parametrize("code", [0, 1])
def test_a_fault_is_told_and_is_the_exit_code(
    program: typer.Typer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    code: int,
) -> None:
    monkeypatch.setattr(check_commands, "completion_faults", lambda _paths: [])
    program.command("other", help="Works." if code == 0 else None)(lambda: None)
    assert check_commands.main() == code
    printed = capsys.readouterr()
    assert printed.out == f"check-commands: 3 commands and groups, {code} faults\n"
    assert printed.err == "tailrace other: no help text\n" * code
