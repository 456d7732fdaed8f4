"""`tailrace sensitivity` and its options."""

from pathlib import Path
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
from tailrace.cli.options import Files, Json, OutDirectory, Set, Vary

sensitivity_app = typer.Typer(rich_markup_mode=None)


@sensitivity_app.command()
def sensitivity(
    scenario: Files,
    *,
    assumptions: Annotated[
        bool,
        typer.Option(
            "--assumptions",
            help="Vary every assumed or fitted value, and defaults without a source.",
        ),
    ] = False,
    vary: Vary = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="FIGURE",
            help="A figure such as shop.p99; repeatable. Default: published ones, or the main "
            "one of each workload.",
        ),
    ] = None,
    arm: Annotated[
        list[str] | None, typer.Option("--arm", metavar="NAME", help="Only this arm; repeatable.")
    ] = None,
    trials: Annotated[
        int, typer.Option("--trials", min=1, help="Trials of each arm at each point.")
    ] = 1,
    trajectories: Annotated[
        int, typer.Option("--trajectories", min=2, help="Trajectories of the screening.")
    ] = 6,
    samples: Annotated[
        int,
        typer.Option(
            "--samples",
            min=0,
            help="Samples of the shares of variance, a power of two; 0 for none.",
        ),
    ] = 16,
    factors: Annotated[
        int,
        typer.Option(
            "--factors", min=1, help="Assumptions whose shares of variance are estimated."
        ),
    ] = 4,
    checks: Annotated[
        int,
        typer.Option(
            "--checks", min=0, help="New points in the region where the conclusions hold."
        ),
    ] = 16,
    scale: Annotated[
        float,
        typer.Option("--scale", help="Factor for all counts, sizes and durations, e.g. 0.05."),
    ] = 1.0,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Seed of the experiment and of the designs.")
    ] = None,
    set_: Set = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Number of concurrent trials; default: one per core."),
    ] = None,
    out: OutDirectory = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help="Write the page here too, with its plot (.svg) beside it.",
        ),
    ] = None,
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
    """Vary every assumption over its range, and tell which assumptions decide each figure."""
    reach(on)
    from tailrace.cli.studying import StudyArguments, study_scenario
    from tailrace.experiment.remote.credentials import Credentials
    from tailrace.experiment.remote.slurm import Jobs

    cores_of_job, cores_of_trial = cores_of(cores, on)
    request = StudyArguments(
        scenario=scenario,
        assumptions=assumptions,
        vary=vary or [],
        figure=figure or [],
        arms=arm or [],
        trials=trials,
        trajectories=trajectories,
        samples=samples,
        factors=factors,
        checks=checks,
        scale=scale,
        seed=seed,
        assignments=set_,
        jobs=jobs,
        out=out,
        page=page,
        is_json=json_,
        on=on,
        jobs_of_slurm=Jobs(partition, time, cores_of_job, max_workers),
        credentials=Credentials(tls_ca, tls_cert, tls_key),
        cores=cores_of_trial,
    )
    study_scenario(request)
