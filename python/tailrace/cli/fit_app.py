"""`tailrace fit` and its options."""

from typing import Annotated

import typer

from tailrace.cli.capture_arguments import FitArguments
from tailrace.cli.options import ResultJson


def fit(
    arguments: FitArguments,
    *,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit with code 1 if a statistic of the simulation is off by more than 50 %.",
        ),
    ] = False,
    json_: ResultJson = False,
) -> None:
    """Fit a scenario to a capture, and compare a simulated run of it with the capture."""
    from tailrace.cli.fitting import fit_file

    raise typer.Exit(fit_file(arguments, json_=json_, is_strict=strict))
