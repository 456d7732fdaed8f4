"""Completion in bash, zsh and fish: a script that asks the program itself, and that needs no network."""

import os
from enum import StrEnum

from tailrace.cli.console import emit_text

PROGRAM = "tailrace"
VARIABLE = "_TAILRACE_COMPLETE"
"""Set by the script when it asks."""


class Shell(StrEnum):
    """Shells that can be completed in."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def print_completion(shell: Shell) -> None:
    """Prints the script of a shell."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # it has no __all__

    emit_text(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value))


def prepare_answer() -> None:
    """Makes the program answer a shell that asks."""
    if os.environ.get(VARIABLE):
        from typer.completion import completion_init  # type: ignore[attr-defined]  # it has no __all__

        completion_init()
