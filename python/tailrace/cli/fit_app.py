"""`tailrace fit` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.commands import Commands
from tailrace.cli.options import ResultJson

fit_app = Commands(rich_markup_mode=None)


@fit_app.command()
def fit(
    file: Annotated[
        Path,
        typer.Argument(
            help="A pcap or pcapng file, also compressed with gzip or zstd.", metavar="FILE"
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="SCENARIO",
            help="The scenario to write; default: FILE's name with .yaml.",
        ),
    ] = None,
    line: Annotated[
        str | None,
        typer.Option(
            "--line", metavar="RATE", help="Rate of the links; default: from the busiest host."
        ),
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(
            "--delay",
            metavar="TIME",
            help="Delay of each link; default: from the shortest round trip.",
        ),
    ] = None,
    vantage: Annotated[
        str | None,
        typer.Option(
            "--vantage",
            help="Point of capture: client, server or switch; default: from the round trips.",
        ),
    ] = None,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay",
            help="Keep every request over TCP, with its size and times, in files beside SCENARIO.",
        ),
    ] = False,
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
    from tailrace.cli.fitting import FitArguments, fit_file

    raise typer.Exit(
        fit_file(
            FitArguments(
                path=file, out=out, line=line, delay=delay, vantage=vantage, is_replay=replay
            ),
            json_=json_,
            is_strict=strict,
        )
    )
