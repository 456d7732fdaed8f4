"""The commands and their options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.advise_app import advise_app
from tailrace.cli.blast_app import blast
from tailrace.cli.completion import Shell
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
from tailrace.cli.explain_app import explain_app
from tailrace.cli.fit_app import fit_app
from tailrace.cli.group import Group
from tailrace.cli.import_app import import_app
from tailrace.cli.lab_app import FabricKind, lab_app
from tailrace.cli.measure_app import measure_app
from tailrace.cli.options import Files, Json, OfArm, OutDirectory, Set, Sweep
from tailrace.cli.profile_app import profile_app
from tailrace.cli.search_app import search_app
from tailrace.cli.sensitivity_app import sensitivity_app
from tailrace.cli.show_app import show_app
from tailrace.cli.trace_app import trace_app
from tailrace.cli.whatif_app import whatif_app

EXAMPLES = """
Examples:

\b
  tailrace init lab.yaml && tailrace run lab.yaml
  tailrace run reproductions/cisco-dpp --scale 0.05
  tailrace run examples/dpp.yaml --arm dpp --set workloads.bulk.connections=8

Exit codes: 0 done, 1 an expectation failed, 2 usage or scenario error, 3 a trial is invalid, 130 interrupted.
"""  # noqa: E501


app = typer.Typer(
    name="tailrace",
    cls=Group,
    help="Predict what a switch feature, an MTU or a larger buffer does to database "
    "transactions on a shared network.",
    epilog=EXAMPLES,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(show_app)
app.add_typer(explain_app)
app.add_typer(trace_app)
app.add_typer(advise_app)
app.add_typer(whatif_app)
app.add_typer(search_app)
app.add_typer(sensitivity_app)
app.add_typer(profile_app)
app.add_typer(fit_app)
app.add_typer(import_app)
app.add_typer(lab_app, name="lab")
app.add_typer(measure_app, name="measure")
app.command()(blast)

Paired = Annotated[
    bool,
    typer.Option(
        "--paired",
        help="Combine the values of several --sweep options pairwise instead of as a grid.",
    ),
]
Arms = Annotated[
    list[str] | None, typer.Option("--arm", metavar="NAME", help="Only this arm; repeatable.")
]


def _trials(text: str | None) -> str | None:
    if text is None or text == "auto" or (text.isdecimal() and text.strip("0")):
        return text
    raise typer.BadParameter(f"{text} is neither a number of trials, from 1 on, nor auto")


Trials = Annotated[
    str | None,
    typer.Option(
        "--trials",
        metavar="N|auto",
        callback=_trials,
        help="Trials of each arm; auto: as many as decide the comparisons.",
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the experiment.")]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="ARM",
        help="Arm with which the others are compared; default: that of the scenario.",
    ),
]
Scale = Annotated[
    float,
    typer.Option(
        "--scale",
        help="Factor for all counts, sizes and durations, e.g. 0.05; rates are unchanged.",
    ),
]
Calibrated = Annotated[
    Path | None,
    typer.Option(
        "--calibrated", metavar="FILE", help="Host parameters written by `tailrace lab calibrate`."
    ),
]
Fabric = Annotated[
    FabricKind | None,
    typer.Option(
        "--fabric", help="With --live: tap is the built-in switch, the others are for comparison."
    ),
]
LiveScale = Annotated[
    int,
    typer.Option(
        "--live-scale",
        metavar="N",
        help="Divide rates, queues and users by N, for machines that "
        "cannot sustain the full rates.",
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Print every table, not one screen.")]


@app.callback(invoke_without_command=True)
def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True)
    ] = False,
) -> None:
    if version:
        from tailrace.cli.inspect import print_version

        print_version()
        raise typer.Exit


@app.command()
def init(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("scenario.yaml"),
    *,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a commented scenario to start from."""
    from tailrace.cli.inspect import write_starter

    write_starter(path, force=force)


@app.command()
def check(
    scenario: Files,
    *,
    set_: Set = None,
    sweep: Sweep = None,
    paired: Paired = False,
    json_: Json = False,
) -> None:
    """Check a scenario: every problem with its line, and a hint. Of a run directory: whether its
    files are those that the run has written.
    """
    from tailrace.cli.checking import check_run_directory, is_run
    from tailrace.cli.inspect import check_scenario

    if is_run(scenario):
        check_run_directory(scenario[0], json_=json_)
        return
    check_scenario(scenario, set_, sweep, is_paired=paired, json_=json_)


@app.command()
def plan(
    scenario: Files,
    *,
    arm: OfArm = None,
    trial: Annotated[int, typer.Option("--trial", min=1, help="Number of the trial.")] = 1,
    set_: Set = None,
    seed: Seed = None,
    scale: Scale = 1.0,
) -> None:
    """Print the plan of one trial, which is the input of the simulator."""
    from tailrace.cli.inspect import print_plan

    print_plan(scenario, arm, trial, set_, seed, scale)


@app.command()
def run(
    scenario: Files,
    *,
    set_: Set = None,
    sweep: Sweep = None,
    paired: Paired = False,
    arm: Arms = None,
    trials: Trials = None,
    seed: Seed = None,
    baseline: Baseline = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            min=1,
            help="Number of concurrent trials; default: one per core, with --cores N one per N.",
        ),
    ] = None,
    scale: Scale = 1.0,
    out: OutDirectory = None,
    json_: Json = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the trials and the estimated time without running them."
        ),
    ] = False,
    calibrated: Calibrated = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Run real programs on emulated hosts (as root) instead of simulating."
        ),
    ] = False,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Run real Linux kernels in virtual time, with the same traffic as simulated.",
        ),
    ] = False,
    log_ingress: Annotated[
        bool,
        typer.Option(
            "--log-ingress", help="With --live: keep all logs of frames, for `tailrace lab replay`."
        ),
    ] = False,
    fabric: Fabric = None,
    capture: Annotated[
        list[str] | None,
        typer.Option(
            "--capture",
            metavar="NODE>TOWARDS",
            help="With --exact: write what this port sends and receives to "
            "a pcapng file; repeatable.",
        ),
    ] = None,
    live_scale: LiveScale = 1,
    time_budget: Annotated[
        str | None,
        typer.Option(
            "--time-budget",
            metavar="TIME",
            help="Start no trial that would end later, e.g. 15min; with --live, repeat invalid "
            "trials until then.",
        ),
    ] = None,
    explain: Annotated[
        bool | None,
        typer.Option(
            "--explain/--no-explain",
            help="Explain the first trial of each arm whole, or none; default: what takes a "
            "third of the time.",
        ),
    ] = None,
    full: Full = False,
    on: On = "local",
    partition: Partition = None,
    time: JobTime = None,
    cores: TrialCores = None,
    max_workers: MaxWorkers = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Run every arm and trial, print the result and write the report. Running the command again
    resumes."""

    if not dry_run:
        reach(on)
    from tailrace.cli.request import RunArguments
    from tailrace.cli.running import run_scenario
    from tailrace.experiment.remote.credentials import Credentials
    from tailrace.experiment.remote.slurm import Jobs

    cores_of_job, cores_of_trial = cores_of(cores, on)
    request = RunArguments(
        scenario=scenario,
        assignments=set_,
        arms=arm,
        trials=trials,
        seed=seed,
        baseline=baseline,
        jobs=jobs,
        scale=scale,
        out=out,
        is_json=json_,
        is_dry=dry_run,
        calibrated=calibrated,
        is_live=live,
        is_exact=exact,
        is_logged=log_ingress,
        fabric=fabric,
        live_scale=live_scale,
        time_budget=time_budget,
        sweep=sweep,
        is_paired=paired,
        captures=capture,
        is_explained=explain,
        is_full=full,
        on=on,
        jobs_of_slurm=Jobs(partition, time, cores_of_job, max_workers),
        credentials=Credentials(tls_ca, tls_cert, tls_key),
        cores=cores_of_trial,
    )
    raise typer.Exit(run_scenario(request))


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run directories.", metavar="RUN [RUN] [RUN]")],
    *,
    arms: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--arms",
            metavar="ARM ARM",
            help="Two arms of one run: compare the second with the first.",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            "--report",
            metavar="FILE",
            help="For runs of different engines: write a page with charts.",
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Compare two runs, or two arms of one, by workload; runs of different engines, up to three,
    also with the published figures.
    """
    from tailrace.cli.inspect import print_arms, print_comparison

    if arms is not None:
        print_arms(runs, arms, page, json_=json_)
        return
    print_comparison(runs, page, json_=json_)


@app.command()
def report(
    run_directory: Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")],
    *,
    baseline: Baseline = None,
    full: Full = False,
    json_: Json = False,
) -> None:
    """Rewrite the result and the report of a complete or partial run."""
    from tailrace.cli.running import report_run

    raise typer.Exit(report_run(run_directory, baseline, json_=json_, full=full))


@app.command("list")
def list_(
    *,
    runs: Annotated[
        Path, typer.Option("--runs", metavar="DIR", help="Folder with the run directories.")
    ] = Path("runs"),
    json_: Json = False,
) -> None:
    """List runs, and the scenarios in this directory."""
    from tailrace.cli.inspect import print_list

    print_list(runs, json_=json_)


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from tailrace.cli.inspect import print_schema

    print_schema()


@app.command()
def completion(
    shell: Annotated[Shell, typer.Argument(help="Shell.")],
) -> None:
    """Print a script that completes commands, options and files in bash, zsh or fish."""
    from tailrace.cli.completion import print_completion

    print_completion(shell)
