"""`tailrace measure`: switches, paths and drives, with the options of each."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.commands import Commands
from tailrace.cli.group import Group
from tailrace.cli.measure_arguments import DriveArguments, PathArguments, SwitchArguments
from tailrace.cli.options import ResultJson

measure_app = Commands(
    cls=Group,
    help="Measure a switch, a path or a drive.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@measure_app.command()
def switch(
    arguments: SwitchArguments,
) -> None:
    """Throughput, latency, loss and bursts of a switch (RFC 2544, RFC 9004), and MLRsearch."""
    from tailrace.cli.switch import measure_switch

    raise typer.Exit(measure_switch(arguments))


@measure_app.command()
def path(
    arguments: PathArguments,
    *,
    json_: ResultJson = False,
) -> None:
    """Find the largest packet that a path carries, and where a larger one ends; exit code 1 below
    --expect."""
    from tailrace.cli.path import probe_mtu

    raise typer.Exit(probe_mtu(arguments, json_=json_))


@measure_app.command()
def drive(
    arguments: DriveArguments,
) -> None:
    """Measure a drive beside its specification, and name what limits it; reads only, unless told
    otherwise."""
    from tailrace.cli.drive import disk_measure

    raise typer.Exit(disk_measure(arguments))


@measure_app.command()
def split(
    drive_path: Annotated[
        Path, typer.Argument(help="A block device, or a file on one.", metavar="DEV|FILE")
    ],
    *,
    bs: Annotated[str, typer.Option("--bs", metavar="SIZE", help="Size of a request.")] = "1MiB",
    prove: Annotated[
        bool,
        typer.Option(
            "--prove", help="Read from it, and compare with what the kernel counts (as root)."
        ),
    ] = False,
    json_: ResultJson = False,
) -> None:
    """Tell into how many requests one is split, and by which limit; exit code 1 if --prove sees
    something else."""
    from tailrace.cli.split import disk_inspect

    raise typer.Exit(disk_inspect(drive_path, bs, is_proof=prove, json_=json_))


@measure_app.command()
def specs(
    name: Annotated[
        str | None,
        typer.Argument(help="One of them, or a file; default: list all.", metavar="NAME|FILE"),
    ] = None,
    *,
    as_scenario: Annotated[
        bool, typer.Option("--as-scenario", help="Print it as a device of scenarios (YAML).")
    ] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of specifications.")
    ] = False,
    json_: ResultJson = False,
) -> None:
    """List the specifications of drives that come with tailrace, with their sources."""
    from tailrace.cli.drive import disk_specs

    raise typer.Exit(disk_specs(name, is_scenario=as_scenario, is_schema=schema, json_=json_))
