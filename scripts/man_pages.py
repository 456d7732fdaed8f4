"""`make man`: a manual page for the program and for each command, from the application itself.

    man_pages.py [FOLDER]

writes `tailrace.1`, `tailrace-run.1`, `tailrace-lab-up.1` and so on into FOLDER, by default
target/man; `man -l target/man/tailrace-run.1` shows one.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from check_commands import commands
from tailrace import _native
from tailrace.cli.app import app
from tailrace.cli.completion import PROGRAM
from tailrace.cli.group import SUMMARY_CHARACTERS_MAX

FOLDER = Path(__file__).resolve().parent.parent / "target" / "man"
SECTION = 1
"""Of commands (man-pages(7))."""
UNFILLED = "\b\n"
"""Typer's mark of a paragraph whose lines stay."""


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of each page."""
    root: Any = typer.main.get_command(app)
    for words, command in commands(root):
        if not command.hidden:
            context = typer.Context(
                command, info_name=" ".join((PROGRAM, *words)), **root.context_settings
            )
            name = "-".join((PROGRAM, *words))
            yield f"{name}.{SECTION}", page(name, command, context)


def page(name: str, command: Any, context: Any) -> str:
    """One page in the macros of man(7)."""
    lines = [
        f'.TH "{name.upper()}" "{SECTION}" "" "{PROGRAM} {_native.version()}"',
        ".SH NAME",
        f"{text(name)} \\- {text(command.get_short_help_str(SUMMARY_CHARACTERS_MAX).rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {text(context.info_name)}",
        text(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *paragraphs(command.help or ""),
    ]
    for title, kind in (("ARGUMENTS", "argument"), ("OPTIONS", "option")):
        found = [one for one in command.params if one.param_type_name == kind and not one.hidden]
        if kind == "option":
            found.append(command.get_help_option(context))
        if found:
            lines += [f".SH {title}", *(line for one in found for line in item(one, context))]
    if own := getattr(command, "commands", {}):
        lines.append(".SH COMMANDS")
        for each, below in own.items():
            lines += [".TP", f".BR {text(f'{name}-{each}')} ({SECTION})"]
            lines.append(text(below.get_short_help_str(SUMMARY_CHARACTERS_MAX)))
    if command.epilog:
        lines += [".SH NOTES", *paragraphs(command.epilog)]
    return "\n".join(lines) + "\n"


def item(parameter: Any, context: Any) -> Iterator[str]:
    """An argument or an option with its help, as the program prints it."""
    label, words = parameter.get_help_record(context)
    yield from (".TP", f".B {text(label)}", text(words))


def paragraphs(help_text: str) -> Iterator[str]:
    """Paragraphs of a help text; lines of those that Typer leaves as they are stay apart."""
    for part in help_text.strip().split("\n\n"):
        yield ".PP"
        if part.startswith(UNFILLED):
            yield from (".nf", *(text(line) for line in part[len(UNFILLED) :].splitlines()), ".fi")
        else:
            yield text(" ".join(part.split()))


def text(words: str) -> str:
    """Words as roff reads them: hyphens as the user types them, and no line that begins as a
    request."""
    safe = words.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe


def main(arguments: list[str]) -> int:
    """Writes every page."""
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    made = dict(pages())
    for name, content in made.items():
        (folder / name).write_text(content, encoding="utf-8")
    print(f"man: {len(made)} pages in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
