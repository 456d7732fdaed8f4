"""Completion in bash, zsh and fish: the script obtains its candidates from the program itself and
needs no network."""

import os
from enum import StrEnum

from tailrace.cli.console import emit_text

PROGRAM = "tailrace"
VARIABLE = "_TAILRACE_COMPLETE"
"""Set by the script when it requests candidates."""


class Shell(StrEnum):
    """Shells with completion."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def print_completion(shell: Shell) -> None:
    """Prints the completion script of a shell."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # the module has no __all__

    emit_text(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value))


def prepare_answer() -> None:
    """Answers a completion request of a shell."""
    if os.environ.get(VARIABLE):
        from typer.completion import completion_init  # type: ignore[attr-defined]  # the module has no __all__

        completion_init()
