"""`tailrace measure`: its commands with their options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.group import Group
from tailrace.cli.live_app import FabricKind

measure_app = typer.Typer(
    cls=Group,
    help="Measure a switch by the procedures of the IETF.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@measure_app.callback()
def _measure() -> None:
    """With a callback, a single command keeps its name."""


@measure_app.command()
def switch(
    scenario: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Scenario files whose network is measured; default: two hosts at one switch.", metavar="SCENARIO..."
        ),
    ] = None,
    *,
    fabric: Annotated[
        FabricKind | None,
        typer.Option("--fabric", help="Measure a switch of this machine (as root), not a simulated one."),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option("--sizes", metavar="BYTES", help="Sizes of frames with the check sequence: 64,512,1518."),
    ] = None,
    tests: Annotated[
        str | None,
        typer.Option(
            "--tests", metavar="TESTS", help="Of throughput,latency,loss,back-to-back,mlrsearch; default: all."
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option("--duration", metavar="TIME", help="Length of a trial; default: 2s, simulated 50ms.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Lengths and repetitions of RFC 2544: 60 s, 20 times 120 s, 50 bursts.")
    ] = False,
    rate: Annotated[
        str | None,
        typer.Option("--rate", metavar="RATE", help="Without a scenario, rate of the lines; default: 10Gbit/s."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="HOST", help="Host of the scenario that sends; default: the first."),
    ] = None,
    destination: Annotated[
        str | None, typer.Option("--destination", metavar="HOST", help="Host that receives; default: the next.")
    ] = None,
    arm: Annotated[str | None, typer.Option("--arm", metavar="NAME", help="Arm; default: the baseline.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a value by its dotted path; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Directory of the results; default: below runs/."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout.")] = False,
) -> None:
    """Throughput, latency, loss and bursts of a switch (RFC 2544, RFC 9004), and MLRsearch."""
    from tailrace.cli.measuring import Request, measure_switch

    request = Request(scenario, fabric, sizes, tests, duration, full, rate, source, destination, arm, set_, out, json_)
    raise typer.Exit(measure_switch(request))
