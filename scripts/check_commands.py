"""`make check-commands`: calls `--help` of every command and group, in one process, and prints what
is wrong.

Help must be printed with exit code 0, say what the command does, and explain each option and
argument. The completion scripts and the candidates that the program gives to the shells are called
too.
"""

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import typer.main

from tailrace.cli.app import app
from tailrace.cli.codes import DONE
from tailrace.cli.completion import PROGRAM, VARIABLE, Shell, prepare_answer
from tailrace.cli.console import guarded

Path = tuple[str, ...]
HELP_FLAGS = ("--help", "-h")


@dataclass(frozen=True)
class Answer:
    """What a command line printed, and its exit code."""

    code: int
    out: str
    err: str


def main() -> int:
    """Calls all, prints the faults and the number of commands. Exit code 1 for any fault."""
    paths = list(commands(typer.main.get_command(app)))
    faults = [fault for path, command in paths for fault in faults_of(path, command)]
    faults += completion_faults([path for path, _ in paths])
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"check-commands: {len(paths)} commands and groups, {len(faults)} faults")
    return 1 if faults else 0


def commands(command: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every group and command below `command`, hidden ones included, with the words that call
    it."""
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


def faults_of(path: Path, command: Any) -> Iterator[str]:
    """What is wrong with the help of one command."""
    for flag in HELP_FLAGS:
        yield from call_faults((*path, flag))
    title = " ".join((PROGRAM, *path))
    if not command.get_short_help_str():
        yield f"{title}: no help text"
    for parameter in command.params:
        if not getattr(parameter, "help", None):
            yield f"{title}: no help text for {parameter.opts[0]}"


def call_faults(words: Path) -> Iterator[str]:
    """What is wrong with what a command line prints."""
    answer = called(words)
    title = " ".join((PROGRAM, *words))
    if answer.code != DONE:
        yield f"{title}: exit code {answer.code}: {answer.err.strip()}"
    elif not answer.out.strip():
        yield f"{title}: prints nothing"


def completion_faults(paths: list[Path]) -> Iterator[str]:
    """What is wrong with completion: its scripts, and the commands that it offers in each group."""
    for shell in Shell:
        yield from call_faults(("completion", shell.value))
    for path in paths:
        if path and path[-1] not in candidates(path[:-1], path[-1]):
            yield f"{' '.join((PROGRAM, *path))}: not offered by completion"


def candidates(group: Path, word: str) -> list[str]:
    """What the program offers to bash for `word` after the words of a group."""
    words = " ".join((PROGRAM, *group, word))
    request = {VARIABLE: "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(group) + 1)}
    with patch.dict(os.environ, request):
        prepare_answer()
        return called(()).out.splitlines()


def called(words: Path) -> Answer:
    """Calls the program in this process, as its entry point does."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", [PROGRAM, *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = guarded(lambda: app(prog_name=PROGRAM))
    return Answer(code, out.getvalue(), err.getvalue())


if __name__ == "__main__":
    sys.exit(main())
