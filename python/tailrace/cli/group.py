"""Help that groups commands by purpose and gives the full summary of each."""

from enum import StrEnum
from typing import Any

import typer.core

from tailrace.cli.codes import INTERRUPTED
from tailrace.cli.console import note

SUMMARY_CHARACTERS_MAX = 1000
"""Longer than any summary, so that none is cut off."""


class Panel(StrEnum):
    """The titles of the program's help, in order. A group lists its own commands under one."""

    SCENARIOS = "Scenarios"
    ASK = "Ask"
    FILES = "Bring your own"
    MEASURE = "Measure"
    LAB = "Live lab"
    RUNS = "Runs, and for developers"


class Group(typer.core.TyperGroup):
    """The group of all commands. Unlike typer's own group, it reports an interrupt."""

    def invoke(self, ctx: Any) -> Any:
        """Runs a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            note("interrupted")
            raise SystemExit(INTERRUPTED) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands of each panel with their summaries."""
        for title, commands in panels_of(self, "Commands").items():
            rows = [
                (name, command.get_short_help_str(SUMMARY_CHARACTERS_MAX))
                for name, command in commands.items()
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


def panels_of(group: Any, title: str) -> dict[str, dict[str, Any]]:
    """The visible commands of a group by their panel (`title` for those without one), in the order
    of the help: in a panel, groups come first."""
    found: dict[str, dict[str, Any]] = {panel: {} for panel in Panel}
    for name, command in sorted(group.commands.items(), key=lambda one: not _is_group(one[1])):
        if not command.hidden:
            found.setdefault(command.rich_help_panel or title, {})[name] = command
    return {panel: commands for panel, commands in found.items() if commands}


def _is_group(command: Any) -> bool:
    return hasattr(command, "commands")
