"""`tailrace show` and its options."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.commands import Commands
from tailrace.cli.options import ResultJson

show_app = Commands(rich_markup_mode=None)


class Shown(StrEnum):
    """Tables that `show` can print."""

    QUEUES = "queues"
    INTERFACES = "interfaces"


@show_app.command()
def show(
    what: Annotated[
        Shown,
        typer.Argument(
            help="queues: counters in the layout of 'show queuing interface'; interfaces: those "
            "of 'netstat -i'."
        ),
    ],
    run_directory: Annotated[
        Path | None,
        typer.Argument(
            help="Run directory; for interfaces without one, a fabric that is up.", metavar="RUN"
        ),
    ] = None,
    *,
    arm: Annotated[
        str | None, typer.Option("--arm", metavar="NAME", help="Arm; default: the first.")
    ] = None,
    trial: Annotated[int, typer.Option("--trial", min=1, help="Number of the trial.")] = 1,
    port: Annotated[
        str | None,
        typer.Option(
            "--port",
            metavar="SWITCH>NODE",
            help="Only this port; for interfaces also a host or a switch.",
        ),
    ] = None,
    fabric: Annotated[
        str | None,
        typer.Option("--fabric", metavar="NAME", help="Fabric that is up; default: the only one."),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            metavar="TIME",
            help="Interfaces again and again: of a fabric; of a run with `observe.interfaces`, "
            "as recorded.",
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", min=1, help="With --interval: number of readings; default: no end."
        ),
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option(
            "--since",
            metavar="FILE",
            help="Interfaces of a fabric before, after and between: FILE is an earlier output "
            "with --json.",
        ),
    ] = None,
    json_: ResultJson = False,
) -> None:
    """Show the counters of one trial, or of a fabric that is up, under the names used by switch
    vendors and netstat."""
    from tailrace.cli.interfaces import InterfacesArguments, show_interfaces
    from tailrace.cli.showing import refuse_queues, show_queues

    if what is Shown.INTERFACES:
        wanted = InterfacesArguments(
            run=run_directory,
            arm=arm,
            trial=trial,
            interface=port,
            fabric=fabric,
            interval=interval,
            count=count,
            since=since,
        )
        show_interfaces(wanted, json_=json_)
        return
    show_queues(
        refuse_queues(run_directory, fabric, interval, count, since), arm, trial, port, json_=json_
    )
