"""The commands about drives, with their options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.group import Group

disk_app = typer.Typer(
    cls=Group,
    help="Drives of this machine: what they are, and how the block layer splits requests. Nothing is written.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@disk_app.callback()
def _root() -> None:
    """Keeps `disk inspect` a command of its own."""


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
