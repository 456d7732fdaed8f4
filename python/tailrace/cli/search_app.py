"""`tailrace search` and its options."""

import typer

from tailrace.cli.console import note
from tailrace.cli.options import Files
from tailrace.experiment.remote.address import refuse_absent
from tailrace.search.options import SearchOptions


def search(scenario: Files, *, options: SearchOptions) -> None:
    """Find the smallest or largest value that meets a goal."""
    refuse_absent(options.execution.on, note)
    from tailrace.cli.searching import search_for

    raise typer.Exit(search_for(scenario, options))
