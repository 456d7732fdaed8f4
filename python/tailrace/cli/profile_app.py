"""`tailrace profile` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.capture_arguments import ProfileArguments
from tailrace.cli.options import ResultJson


def profile(
    arguments: ProfileArguments,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html",
            help="Write one offline page with charts to this file.",
        ),
    ] = None,
    json_: ResultJson = False,
) -> None:
    """Profile a capture: sizes, rates, bursts, flows, TCP, requests and responses."""
    from tailrace.cli.profiling import profile_file

    profile_file(arguments, out=out, json_=json_)
