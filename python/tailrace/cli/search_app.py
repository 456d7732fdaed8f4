"""`tailrace search` and its options."""

import typer

from tailrace.cli.executor_options import reach
from tailrace.cli.options import Files
from tailrace.search.options import SearchOptions


def search(scenario: Files, *, options: SearchOptions) -> None:
    """Find the smallest or largest value that meets a goal."""
    reach(options.execution.on)
    from tailrace.cli.searching import search_for

    raise typer.Exit(search_for(scenario, options))
