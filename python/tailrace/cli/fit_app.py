"""`tailrace fit` and its options."""

from pathlib import Path
from typing import Annotated

import typer

fit_app = typer.Typer(rich_markup_mode=None)


@fit_app.command()
def fit(
    capture: Annotated[Path, typer.Argument(help="A pcap or pcapng file, also compressed.", metavar="FILE")],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the scenario there; default: stdout.")
    ] = None,
    line: Annotated[
        str | None, typer.Option("--line", metavar="RATE", help="Rate of the links, e.g. 10Gbit/s; default: estimated.")
    ] = None,
    delay: Annotated[
        str | None, typer.Option("--delay", metavar="TIME", help="Delay of each link, e.g. 2us; default: estimated.")
    ] = None,
    anonymise: Annotated[bool, typer.Option("--anonymise", help="Replace addresses in the comments.")] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Number of concurrent trials; default: one per core.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout.")] = False,
) -> None:
    """Make a scenario from a capture, and simulate it to see how well it fits."""
    from tailrace.cli.fitting import Wanted, fit_file

    fit_file(capture, Wanted(out, line, delay, anonymise, jobs), json_=json_)
