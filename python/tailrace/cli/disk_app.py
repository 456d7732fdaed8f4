"""The commands about drives, with their options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.group import Group

disk_app = typer.Typer(
    cls=Group,
    help="Drives of this machine: what they are, how requests are split, and how fast they are beside their sheet.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@disk_app.command()
def inspect(
    path: Annotated[Path, typer.Argument(help="A block device, or a file on one.", metavar="DEV|FILE")],
    *,
    bs: Annotated[str, typer.Option("--bs", metavar="SIZE", help="Size of a request.")] = "1MiB",
    prove: Annotated[
        bool, typer.Option("--prove", help="Read from it, and compare with what the kernel counts (as root).")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout.")] = False,
) -> None:
    """Tell into how many requests one is split, and by which limit; exit code 1 if --prove sees something else."""
    from tailrace.cli.disk import disk_inspect

    raise typer.Exit(disk_inspect(path, bs, is_proof=prove, json_=json_))


@disk_app.command()
def measure(
    path: Annotated[Path, typer.Argument(help="A block device.", metavar="DEV")],
    *,
    spec: Annotated[
        str | None, typer.Option("--spec", metavar="NAME|FILE", help="Specification to compare with: `disk specs`.")
    ] = None,
    duration: Annotated[str, typer.Option("--duration", metavar="TIME", help="Length of each run.")] = "10s",
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="Runs of each kind.")] = 3,
    depth: Annotated[
        int | None, typer.Option("--depth", metavar="N", help="Requests under way in each job; default: the sheet's.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", help="Threads that ask, each on a core of its own.")] = 1,
    destroy_data: Annotated[
        str | None,
        typer.Option("--destroy-data", metavar="NAME", help="Also write; NAME is the drive's, and its data are lost."),
    ] = None,
    precondition: Annotated[
        bool, typer.Option("--precondition", help="Write the whole drive once before; needs --destroy-data.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Directory of the results; default: below runs/."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout.")] = False,
) -> None:
    """Measure a drive beside its specification, and name what limits it; reads only, unless told otherwise."""
    from tailrace.cli.disk_measure import Request, disk_measure

    request = Request(path, spec, duration, repeats, depth, jobs, destroy_data, precondition, out, json_)
    raise typer.Exit(disk_measure(request))


@disk_app.command()
def specs(
    name: Annotated[
        str | None, typer.Argument(help="One of them, or a file; default: list all.", metavar="NAME|FILE")
    ] = None,
    *,
    as_scenario: Annotated[
        bool, typer.Option("--as-scenario", help="Print it as a device of scenarios (YAML).")
    ] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of specifications.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout.")] = False,
) -> None:
    """List the specifications of drives that come with tailrace, with their sources."""
    from tailrace.cli.disk_measure import disk_specs

    raise typer.Exit(disk_specs(name, is_scenario=as_scenario, is_schema=schema, json_=json_))
