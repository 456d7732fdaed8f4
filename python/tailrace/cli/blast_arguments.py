"""Arguments of `tailrace blast`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tailrace.option import Option


@dataclass(frozen=True, kw_only=True)
class BlastArguments:
    """The arguments of `tailrace blast`, as written."""

    file: Annotated[
        Path,
        Option(
            help="Frames: hexadecimal with comments, a packet of trafgen, or a hex dump.",
            metavar="FILE",
        ),
    ]
    host: Annotated[
        str | None,
        Option("--host", metavar="HOST", help="Host of a fabric that is up, which sends."),
    ] = None
    fabric: Annotated[
        str | None,
        Option("--fabric", metavar="NAME", help="With --host: the fabric; default: the only one."),
    ] = None
    interface: Annotated[
        str | None,
        Option(
            "--interface",
            metavar="NAME",
            help="Interface that sends, in --netns or of this machine (--yes).",
        ),
    ] = None
    netns: Annotated[
        str | None,
        Option("--netns", metavar="NAME", help="Network namespace of --interface (as root)."),
    ] = None
    is_yes: Annotated[
        bool,
        Option("--yes", help="Send by an interface of this machine: frames can leave it."),
    ] = False
    threads: Annotated[int, Option("--threads", min=1, max=64, help="Threads that send.")] = 1
    delay: Annotated[
        str | None,
        Option("--delay", metavar="TIME", help="Pause of each thread after each frame, e.g. 1ms."),
    ] = None
    rate: Annotated[
        int | None,
        Option(
            "--rate",
            metavar="N",
            min=1,
            max=10**9,
            help="Frames a second of all threads; default: all they can.",
        ),
    ] = None
    count: Annotated[
        int | None,
        Option("--count", metavar="N", min=1, help="End after so many frames of all threads."),
    ] = None
    length: Annotated[
        str | None, Option("--for", metavar="TIME", help="End after this time; default: 10s.")
    ] = None
    sizes: Annotated[
        str | None,
        Option(
            "--sizes",
            metavar="BYTES",
            help="Send the frames with each of these sizes, without the check sequence: "
            "60,512,1514 or 64-1514/50.",
        ),
    ] = None
    syntax: Annotated[
        str | None,
        Option(
            "--syntax",
            metavar="NAME",
            help="plain, trafgen or hexdump; default: what the file looks like.",
        ),
    ] = None
    is_queued: Annotated[
        bool, Option("--queued", help="Send by the queue of the interface (tc), not past it.")
    ] = False
