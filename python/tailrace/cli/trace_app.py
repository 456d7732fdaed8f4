"""`tailrace trace` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.commands import Commands

trace_app = Commands(rich_markup_mode=None)


@trace_app.command()
def trace(
    run_directory: Annotated[
        Path,
        typer.Argument(
            help="Directory of a simulated run, or of `run --live --log-ingress`.", metavar="RUN"
        ),
    ],
    *,
    arm: Annotated[
        str | None, typer.Option("--arm", metavar="NAME", help="The arm; default: the first.")
    ] = None,
    trial: Annotated[int, typer.Option("--trial", min=1, help="Number of the trial.")] = 1,
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload", metavar="NAME", help="The workload; default: any that can be traced."
        ),
    ] = None,
    slowest: Annotated[
        int | None,
        typer.Option(
            "--slowest", min=1, max=100, help="So many of the slowest transactions; default: 1."
        ),
    ] = None,
    id_: Annotated[
        int | None,
        typer.Option(
            "--id",
            min=0,
            metavar="N",
            help="The transaction with this number in the order of completion.",
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="TIME", help="The transactions under way at this time, e.g. 1.5s."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The trace; default: RUN/WORKLOAD-ID.perfetto-trace.",
        ),
    ] = None,
    pcapng: Annotated[
        Path | None,
        typer.Option(
            "--pcapng", metavar="FILE", help="Also write the frames as a capture with comments."
        ),
    ] = None,
    port: Annotated[
        str | None,
        typer.Option(
            "--port",
            metavar="NODE>NODE",
            help="Capture at this port instead of at the sending hosts.",
        ),
    ] = None,
    json_: Annotated[
        bool, typer.Option("--json", help="Machine-readable summary on stdout.")
    ] = False,
) -> None:
    """Simulate or replay a trial, and write what happened to single transactions for
    ui.perfetto.dev and Wireshark."""
    from tailrace.cli.tracing import TraceArguments, trace_run

    wanted = TraceArguments(
        arm=arm,
        number=trial,
        workload=workload,
        slowest=slowest,
        id=id_,
        at=at,
        output=out,
        pcapng=pcapng,
        port=port,
    )
    trace_run(run_directory, wanted, json_=json_)
