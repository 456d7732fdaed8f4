"""Help that groups commands by purpose and gives the full summary of each."""

from collections.abc import Iterator, Mapping
from typing import Any

import typer.core

from tailrace.cli.console import note
from tailrace.cli.start import INTERRUPTED

SUMMARY_CHARACTERS_MAX = 1000
"""Longer than any summary, so that none is cut off."""
PANELS: Mapping[str, tuple[str, ...]] = {
    "Scenarios and simulated runs": (
        *("init", "check", "plan", "run", "report", "compare", "list", "show"),
        *("schema", "completion"),
    ),
    "Switches, paths and drives": ("measure", "probe", "blast", "disk"),
    "Live runs": ("doctor", "calibrate", "replay", "clean", "fabric", "exec", "top"),
    "Switch configurations and storage tests": ("import", "export"),
}
"""Commands of the program in the order in which its help shows them. A group lists its own under one title."""


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
        summaries = {
            name: command.get_short_help_str(SUMMARY_CHARACTERS_MAX)
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None and not command.hidden
        }
        panels = _panels(summaries) if ctx.parent is None else [("Commands", list(summaries.items()))]
        for title, rows in panels:
            with formatter.section(title):
                formatter.write_dl(rows)


def _panels(summaries: Mapping[str, str]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each panel of the program; commands without a panel have a title of their own."""
    placed = {name for names in PANELS.values() for name in names}
    for title, names in PANELS.items():
        yield title, [(name, summaries[name]) for name in names if name in summaries]
    if others := [(name, text) for name, text in summaries.items() if name not in placed]:
        yield "Other commands", others
