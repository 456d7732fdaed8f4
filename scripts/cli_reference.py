"""`docs/cli-reference.md` from what the program itself prints for `--help`."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.main import get_command

from tailrace.cli.app import app
from tailrace.cli.group import panels_of

PROGRAM = Path(__file__).resolve().parent.parent / ".venv" / "bin" / "tailrace"
PRINT_LIMIT_S = 30
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

INTRODUCTION = """# Command-line reference

What `tailrace --help` and `tailrace VERB --help` print, written by `make docs`.

Exit codes: 0 done, 1 an expectation failed, 2 usage or scenario error, 3 a trial is invalid, 130 interrupted.
"""  # noqa: E501


def render(help_of: Callable[[list[str]], str]) -> str:
    """The whole page; `help_of` gives the help text of a command line without `--help`."""
    sections = [INTRODUCTION, section("tailrace", help_of([]))]
    sections += [section(" ".join(["tailrace", *words]), help_of(words)) for words in commands()]
    return "\n".join(sections)


def commands() -> list[list[str]]:
    """Every command in the order of the program's help, as its words; a group is followed by its
    own."""
    root: Any = get_command(app)
    found = []
    for panel in panels_of(root, "").values():
        for name, command in panel.items():
            found += [[name], *([name, own] for own in getattr(command, "commands", ()))]
    return found


def section(title: str, text: str) -> str:
    """One command with its help as it stands."""
    lines = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


def printed(arguments: list[str]) -> str:
    """What the program prints on a terminal of 100 columns without colours."""
    environment = os.environ | {
        "COLUMNS": "100",
        "TERMINAL_WIDTH": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    command = [str(PROGRAM), *arguments]
    answer = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True, timeout=PRINT_LIMIT_S
    )
    return COLOUR.sub("", answer.stdout)
