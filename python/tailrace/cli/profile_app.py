"""`tailrace profile` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.commands import Commands
from tailrace.cli.options import ResultJson

profile_app = Commands(rich_markup_mode=None)


@profile_app.command()
def profile(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A pcap or pcapng file (also gzip or zstd), a run directory, or with --for an "
            "interface of --netns.",
            metavar="FILE|RUN|INTERFACE",
        ),
    ] = None,
    *,
    line: Annotated[
        str | None,
        typer.Option(
            "--line",
            metavar="RATE",
            help="Speed of the line; default: what the capture says of it.",
        ),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="TIME", help="Only frames from this time on after the first one."
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until", metavar="TIME", help="Only frames before this time after the first one."
        ),
    ] = None,
    anonymise: Annotated[
        bool,
        typer.Option("--anonymise", help="Replace addresses; those that share a prefix still do."),
    ] = False,
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="HEX",
            help="With --anonymise: 32 hexadecimal digits, for the same addresses each time; "
            "default: a random key.",
        ),
    ] = None,
    length: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="TIME",
            help="Observe an interface for this time (as root, at most an hour).",
        ),
    ] = None,
    netns: Annotated[
        str | None, typer.Option("--netns", metavar="NAME", help="Namespace of the interface.")
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(
            "--interface", metavar="NAME", help="An interface of this machine, or of --netns."
        ),
    ] = None,
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
    from tailrace.cli.profiling import ProfileArguments, profile_file

    profile_file(
        ProfileArguments(
            path=file,
            line=line,
            from_=from_,
            until=until,
            is_anonymous=anonymise,
            key=key,
            interface=interface,
            netns=netns,
            length=length,
        ),
        out=out,
        json_=json_,
    )
