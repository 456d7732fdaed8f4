"""`tailrace blast`: the command with its options."""

import typer

from tailrace.cli.blast_arguments import BlastArguments
from tailrace.cli.options import ResultJson


def blast(
    arguments: BlastArguments,
    *,
    json_: ResultJson = False,
) -> None:
    """Send raw Ethernet frames from a file, and say how many were sent, refused, and per second."""
    from tailrace.cli.blasting import blast_frames

    raise typer.Exit(blast_frames(arguments, json_=json_))
