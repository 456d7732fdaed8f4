"""`tailrace search` and its options."""

from typing import Annotated

import typer

from tailrace.cli.executor_options import (
    JobTime,
    MaxWorkers,
    On,
    Partition,
    TlsCa,
    TlsCert,
    TlsKey,
    TrialCores,
    cores_of,
    reach,
)
from tailrace.cli.options import Files, Json, OfArm, OutDirectory, Set, Vary

search_app = typer.Typer(rich_markup_mode=None)


@search_app.command()
def search(
    scenario: Files,
    *,
    vary: Vary = None,
    goal: Annotated[
        list[str] | None,
        typer.Option(
            "--goal", metavar="GOAL", help="What has to hold, e.g. 'shop.p99 < 5ms'; repeatable."
        ),
    ] = None,
    minimise: Annotated[
        str | None,
        typer.Option(
            "--minimise", metavar="NAME", help="A varied value, or a figure such as shop.p99."
        ),
    ] = None,
    maximise: Annotated[
        str | None,
        typer.Option(
            "--maximise", metavar="NAME", help="A varied value, or a figure such as backup.goodput."
        ),
    ] = None,
    arm: OfArm = None,
    precision: Annotated[
        str,
        typer.Option(
            "--precision", metavar="SHARE", help="Distance of neighbouring values of a range."
        ),
    ] = "1%",
    confidence: Annotated[
        str,
        typer.Option(
            "--confidence", metavar="SHARE", help="Probability that all decisions are right."
        ),
    ] = "95%",
    trials_max: Annotated[
        int, typer.Option("--trials-max", help="Trials of a setting, at most.")
    ] = 16,
    confirm: Annotated[
        int, typer.Option("--confirm", help="Trials of the setting that is found, at least.")
    ] = 6,
    sampler: Annotated[
        str,
        typer.Option("--sampler", metavar="NAME", help="For several values: tpe, random or grid."),
    ] = "tpe",
    evaluations: Annotated[
        int,
        typer.Option(
            "--evaluations", help="For several values: number of settings that are tried."
        ),
    ] = 60,
    scale: Annotated[
        float,
        typer.Option("--scale", help="Factor for all counts, sizes and durations, e.g. 0.05."),
    ] = 1.0,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Seed of the experiment.")
    ] = None,
    set_: Set = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Number of concurrent trials; default: one per core."),
    ] = None,
    out: OutDirectory = None,
    json_: Json = False,
    on: On = "local",
    partition: Partition = None,
    time: JobTime = None,
    cores: TrialCores = None,
    max_workers: MaxWorkers = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Find the smallest or largest value that meets a goal."""
    reach(on)
    from tailrace.cli.searching import SearchArguments, search_for
    from tailrace.experiment.remote.credentials import Credentials
    from tailrace.experiment.remote.slurm import Jobs

    cores_of_job, cores_of_trial = cores_of(cores, on)
    request = SearchArguments(
        scenario=scenario,
        vary=vary or [],
        goal=goal or [],
        minimise=minimise,
        maximise=maximise,
        arm=arm,
        precision=precision,
        confidence=confidence,
        trials_max=trials_max,
        confirm=confirm,
        sampler=sampler,
        evaluations=evaluations,
        scale=scale,
        seed=seed,
        assignments=set_,
        jobs=jobs,
        out=out,
        is_json=json_,
        on=on,
        jobs_of_slurm=Jobs(partition, time, cores_of_job, max_workers),
        credentials=Credentials(tls_ca, tls_cert, tls_key),
        cores=cores_of_trial,
    )
    raise typer.Exit(search_for(request))
