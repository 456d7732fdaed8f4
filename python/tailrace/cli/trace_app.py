"""`tailrace trace` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.trial_arguments import TraceArguments


def trace(
    run_directory: Annotated[
        Path,
        typer.Argument(
            help="Directory of a simulated run, or of `run --live --log-ingress`.", metavar="RUN"
        ),
    ],
    *,
    arguments: TraceArguments,
    json_: Annotated[
        bool, typer.Option("--json", help="Machine-readable summary on stdout.")
    ] = False,
) -> None:
    """Simulate or replay a trial, and write what happened to single transactions for
    ui.perfetto.dev and Wireshark."""
    from tailrace.cli.tracing import trace_run

    trace_run(run_directory, arguments, json_=json_)
