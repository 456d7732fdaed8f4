"""`tailrace advise` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.options import Json, OutDirectory, Set

advise_app = typer.Typer(rich_markup_mode=None)


@advise_app.command()
def advise(
    scenario: Annotated[
        list[Path],
        typer.Argument(
            help="Scenario files or a folder with one, of which later ones take precedence; "
            "directory of a run; or a"
            " capture.",
            metavar="SCENARIO... | RUN | CAPTURE",
        ),
    ],
    *,
    goal: Annotated[
        str | None,
        typer.Option(
            "--goal",
            metavar="GOAL",
            help="What should hold, e.g. 'shop.p99 < 5ms' or 'backup.goodput > 4Gbit/s'; "
            "without a bound as good as"
            " possible; default: the 99th percentile of the slowest workload.",
        ),
    ] = None,
    arm: Annotated[
        str | None,
        typer.Option("--arm", metavar="NAME", help="The present; default: the baseline."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Only this candidate; repeatable."),
    ] = None,
    trials_max: Annotated[
        int,
        typer.Option(
            "--trials-max", min=6, help="Trials of each candidate that is followed, at most."
        ),
    ] = 16,
    screening: Annotated[
        int, typer.Option("--screening", min=1, help="Short trials of every candidate before that.")
    ] = 2,
    scale: Annotated[
        float,
        typer.Option("--scale", help="Factor for all counts, sizes and durations, e.g. 0.05."),
    ] = 1.0,
    set_: Set = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Number of concurrent trials; default: one per core."),
    ] = None,
    out: OutDirectory = None,
    json_: Json = False,
) -> None:
    """Simulate what may help a workload, rank it, and print the configuration to apply."""
    from tailrace.advice.advise import Wanted
    from tailrace.advice.trying import Effort
    from tailrace.cli.advising import advise_on

    wanted = Wanted(goal, arm, only or [], out, screening, trials_max, Effort(jobs, scale))
    advise_on(scenario, set_, wanted, json_=json_)
