"""`tailrace explain` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.options import ResultJson
from tailrace.cli.trial_arguments import ExplainArguments


def explain(
    run_directory: Annotated[
        Path,
        typer.Argument(help="Directory of a simulated run, or of `run --live`.", metavar="RUN"),
    ],
    *,
    arguments: ExplainArguments,
    json_: ResultJson = False,
) -> None:
    """Simulate or replay trials of a run, and tell where the time of every transaction went.

    Of live runs it is what the fabric measured, and the rest as one part.
    """
    from tailrace.cli.explaining import explain_run

    explain_run(run_directory, arguments, json_=json_)
