"""Arguments of the commands about trials of a run: `tailrace explain`, `trace`, `show`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tailrace.option import Option


@dataclass(frozen=True, kw_only=True)
class ExplainArguments:
    """The arguments of `tailrace explain`, as written."""

    arms: Annotated[
        Sequence[str],
        Option("--arm", metavar="NAME", help="Only this arm; repeatable; default: all."),
    ] = ()
    number: Annotated[int, Option("--trial", min=1, help="Number of the trial.")] = 1
    workloads: Annotated[
        Sequence[str],
        Option("--workload", metavar="NAME", help="Only this workload or group; repeatable."),
    ] = ()
    slowest: Annotated[
        int,
        Option(
            "--slowest", min=0, help="Number of transactions that are listed, from the slowest."
        ),
    ] = 10
    jobs: Annotated[
        int | None,
        Option("--jobs", min=1, help="Number of concurrent trials; default: one per core."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TraceArguments:
    """The arguments of `tailrace trace`, as written."""

    arm: Annotated[
        str | None, Option("--arm", metavar="NAME", help="The arm; default: the first.")
    ] = None
    number: Annotated[int, Option("--trial", min=1, help="Number of the trial.")] = 1
    workload: Annotated[
        str | None,
        Option("--workload", metavar="NAME", help="The workload; default: any that can be traced."),
    ] = None
    slowest: Annotated[
        int | None,
        Option(
            "--slowest", min=1, max=100, help="So many of the slowest transactions; default: 1."
        ),
    ] = None
    id: Annotated[
        int | None,
        Option(
            "--id",
            min=0,
            metavar="N",
            help="The transaction with this number in the order of completion.",
        ),
    ] = None
    at: Annotated[
        str | None,
        Option("--at", metavar="TIME", help="The transactions under way at this time, e.g. 1.5s."),
    ] = None
    output: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The trace; default: RUN/WORKLOAD-ID.perfetto-trace.",
        ),
    ] = None
    pcapng: Annotated[
        Path | None,
        Option(
            "--pcapng", metavar="FILE", help="Also write the frames as a capture with comments."
        ),
    ] = None
    port: Annotated[
        str | None,
        Option(
            "--port",
            metavar="NODE>NODE",
            help="Capture at this port instead of at the sending hosts.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class InterfacesArguments:
    """The arguments of `tailrace show interfaces`, as written."""

    run: Annotated[
        Path | None,
        Option(
            help="Run directory; for interfaces without one, a fabric that is up.", metavar="RUN"
        ),
    ] = None
    arm: Annotated[str | None, Option("--arm", metavar="NAME", help="Arm; default: the first.")] = (
        None
    )
    trial: Annotated[int, Option("--trial", min=1, help="Number of the trial.")] = 1
    interface: Annotated[
        str | None,
        Option(
            "--port",
            metavar="SWITCH>NODE",
            help="Only this port; for interfaces also a host or a switch.",
        ),
    ] = None
    fabric: Annotated[
        str | None,
        Option("--fabric", metavar="NAME", help="Fabric that is up; default: the only one."),
    ] = None
    interval: Annotated[
        str | None,
        Option(
            "--interval",
            metavar="TIME",
            help="Interfaces again and again: of a fabric; of a run with `observe.interfaces`, "
            "as recorded.",
        ),
    ] = None
    count: Annotated[
        int | None,
        Option("--count", min=1, help="With --interval: number of readings; default: no end."),
    ] = None
    since: Annotated[
        Path | None,
        Option(
            "--since",
            metavar="FILE",
            help="Interfaces of a fabric before, after and between: FILE is an earlier output "
            "with --json.",
        ),
    ] = None
