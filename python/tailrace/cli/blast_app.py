"""`tailrace blast`: the command with its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.options import ResultJson


def blast(
    file: Annotated[
        Path,
        typer.Argument(
            help="Frames: hexadecimal with comments, a packet of trafgen, or a hex dump.",
            metavar="FILE",
        ),
    ],
    *,
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="HOST", help="Host of a fabric that is up, which sends."),
    ] = None,
    fabric: Annotated[
        str | None,
        typer.Option(
            "--fabric", metavar="NAME", help="With --host: the fabric; default: the only one."
        ),
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(
            "--interface",
            metavar="NAME",
            help="Interface that sends, in --netns or of this machine (--yes).",
        ),
    ] = None,
    netns: Annotated[
        str | None,
        typer.Option("--netns", metavar="NAME", help="Network namespace of --interface (as root)."),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Send by an interface of this machine: frames can leave it."),
    ] = False,
    threads: Annotated[
        int, typer.Option("--threads", min=1, max=64, help="Threads that send.")
    ] = 1,
    delay: Annotated[
        str | None,
        typer.Option(
            "--delay", metavar="TIME", help="Pause of each thread after each frame, e.g. 1ms."
        ),
    ] = None,
    rate: Annotated[
        int | None,
        typer.Option(
            "--rate",
            metavar="N",
            min=1,
            max=10**9,
            help="Frames a second of all threads; default: all they can.",
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", metavar="N", min=1, help="End after so many frames of all threads."
        ),
    ] = None,
    length: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="End after this time; default: 10s.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="BYTES",
            help="Send the frames with each of these sizes, without the check sequence: "
            "60,512,1514 or 64-1514/50.",
        ),
    ] = None,
    syntax: Annotated[
        str | None,
        typer.Option(
            "--syntax",
            metavar="NAME",
            help="plain, trafgen or hexdump; default: what the file looks like.",
        ),
    ] = None,
    queued: Annotated[
        bool, typer.Option("--queued", help="Send by the queue of the interface (tc), not past it.")
    ] = False,
    json_: ResultJson = False,
) -> None:
    """Send raw Ethernet frames from a file, and say how many were sent, refused, and per second."""
    from tailrace.cli.blasting import BlastArguments, blast_frames

    wanted = BlastArguments(
        file=file,
        host=host,
        fabric=fabric,
        interface=interface,
        netns=netns,
        is_yes=yes,
        threads=threads,
        delay=delay,
        rate=rate,
        count=count,
        length=length,
        sizes=sizes,
        syntax=syntax,
        is_queued=queued,
    )
    raise typer.Exit(blast_frames(wanted, json_=json_))
