"""Arguments of the commands that read a capture: `tailrace profile` and `tailrace fit`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tailrace.option import Option


@dataclass(frozen=True, kw_only=True)
class ProfileArguments:
    """The arguments of `tailrace profile`, as written."""

    path: Annotated[
        Path | None,
        Option(
            help="A pcap or pcapng file (also gzip or zstd), a run directory, or with --for an "
            "interface of --netns.",
            metavar="FILE|RUN|INTERFACE",
        ),
    ] = None
    line: Annotated[
        str | None,
        Option(
            "--line",
            metavar="RATE",
            help="Speed of the line; default: what the capture says of it.",
        ),
    ] = None
    from_: Annotated[
        str | None,
        Option("--from", metavar="TIME", help="Only frames from this time on after the first one."),
    ] = None
    until: Annotated[
        str | None,
        Option("--until", metavar="TIME", help="Only frames before this time after the first one."),
    ] = None
    is_anonymous: Annotated[
        bool,
        Option("--anonymise", help="Replace addresses; those that share a prefix still do."),
    ] = False
    key: Annotated[
        str | None,
        Option(
            "--key",
            metavar="HEX",
            help="With --anonymise: 32 hexadecimal digits, for the same addresses each time; "
            "default: a random key.",
        ),
    ] = None
    length: Annotated[
        str | None,
        Option(
            "--for",
            metavar="TIME",
            help="Observe an interface for this time (as root, at most an hour).",
        ),
    ] = None
    netns: Annotated[
        str | None, Option("--netns", metavar="NAME", help="Namespace of the interface.")
    ] = None
    interface: Annotated[
        str | None,
        Option("--interface", metavar="NAME", help="An interface of this machine, or of --netns."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class FitArguments:
    """The arguments of `tailrace fit`, as written."""

    path: Annotated[
        Path,
        Option(help="A pcap or pcapng file, also compressed with gzip or zstd.", metavar="FILE"),
    ]
    out: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            metavar="SCENARIO",
            help="The scenario to write; default: FILE's name with .yaml.",
        ),
    ] = None
    line: Annotated[
        str | None,
        Option("--line", metavar="RATE", help="Rate of the links; default: from the busiest host."),
    ] = None
    delay: Annotated[
        str | None,
        Option(
            "--delay",
            metavar="TIME",
            help="Delay of each link; default: from the shortest round trip.",
        ),
    ] = None
    vantage: Annotated[
        str | None,
        Option(
            "--vantage",
            help="Point of capture: client, server or switch; default: from the round trips.",
        ),
    ] = None
    is_replay: Annotated[
        bool,
        Option(
            "--replay",
            help="Keep every request over TCP, with its size and times, in files beside SCENARIO.",
        ),
    ] = False
