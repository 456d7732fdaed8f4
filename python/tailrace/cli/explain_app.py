"""`tailrace explain` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.commands import Commands
from tailrace.cli.options import ResultJson

explain_app = Commands(rich_markup_mode=None)


@explain_app.command()
def explain(
    run_directory: Annotated[
        Path,
        typer.Argument(help="Directory of a simulated run, or of `run --live`.", metavar="RUN"),
    ],
    *,
    arm: Annotated[
        list[str] | None,
        typer.Option("--arm", metavar="NAME", help="Only this arm; repeatable; default: all."),
    ] = None,
    trial: Annotated[int, typer.Option("--trial", min=1, help="Number of the trial.")] = 1,
    workload: Annotated[
        list[str] | None,
        typer.Option("--workload", metavar="NAME", help="Only this workload or group; repeatable."),
    ] = None,
    slowest: Annotated[
        int,
        typer.Option(
            "--slowest", min=0, help="Number of transactions that are listed, from the slowest."
        ),
    ] = 10,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Number of concurrent trials; default: one per core."),
    ] = None,
    json_: ResultJson = False,
) -> None:
    """Simulate or replay trials of a run, and tell where the time of every transaction went.

    Of live runs it is what the fabric measured, and the rest as one part.
    """
    from tailrace.cli.explaining import ExplainArguments, explain_run

    explain_run(
        run_directory,
        ExplainArguments(
            arms=arm or [], workloads=workload or [], number=trial, slowest=slowest, jobs=jobs
        ),
        json_=json_,
    )
