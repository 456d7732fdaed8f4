"""Help that groups commands by purpose and gives the full summary of each."""

from collections.abc import Iterator, Mapping
from typing import Any

import typer.core

from tailrace.cli.console import note
from tailrace.cli.start import INTERRUPTED

SUMMARY_CHARACTERS_MAX = 1000
"""Longer than any summary, so that none is cut off."""
PANELS: Mapping[str, tuple[str, ...]] = {
    "Scenarios": ("init", "check", "run", "explain", "trace", "compare", "report"),
    "Ask": ("advise", "search", "sensitivity", "whatif"),
    "Bring your own": ("import", "export", "fit", "profile"),
    "Measure": ("measure", "blast"),
    "Live lab": ("lab",),
    "Runs, and for developers": ("list", "show", "plan", "schema", "completion"),
}
"""Commands of the program in the order in which its help shows them. A group lists its own under
one title."""


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
        panels = (
            _panels(summaries) if ctx.parent is None else [("Commands", list(summaries.items()))]
        )
        for title, rows in panels:
            with formatter.section(title):
                formatter.write_dl(rows)


def _panels(summaries: Mapping[str, str]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each panel of the program."""
    for title, names in PANELS.items():
        yield title, [(name, summaries[name]) for name in names]
