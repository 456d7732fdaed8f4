"""The commands and their options."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.completion import Shell
from tailrace.cli.group import Group
from tailrace.cli.live_app import FabricKind, fabric_app, live_app

EXAMPLES = """
Examples:

\b
  tailrace init lab.yaml && tailrace run lab.yaml
  tailrace run reproductions/cisco-dpp --scale 0.05
  tailrace run examples/dpp.yaml --arm dpp --set workloads.bulk.connections=8

Exit codes: 0 done, 1 an expectation failed, 2 usage or scenario error, 3 a trial is invalid, 130 interrupted.
"""


app = typer.Typer(
    name="tailrace",
    cls=Group,
    help="What would a switch feature, an MTU or a bigger buffer do to the transactions of your databases?",
    epilog=EXAMPLES,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(live_app)
app.add_typer(fabric_app, name="fabric")

File = Annotated[Path, typer.Argument(help="Scenario file, or a folder with a scenario.yaml.", metavar="SCENARIO")]
Files = Annotated[
    list[Path],
    typer.Argument(
        help="Scenario file, or a folder with a scenario.yaml; several are merged, later ones win.",
        metavar="SCENARIO...",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a value by its dotted path; repeatable."),
]
Sweep = Annotated[
    list[str] | None,
    typer.Option(
        "--sweep",
        metavar="KEY=VALUES",
        help="Repeat everything for each value: 1MB,2MB,4MB or log(1,64,7); several make a grid.",
    ),
]
Paired = Annotated[bool, typer.Option("--paired", help="Take the values of several --sweep together, not in a grid.")]
Arms = Annotated[list[str] | None, typer.Option("--arm", metavar="NAME", help="Only this arm; repeatable.")]
Trials = Annotated[int | None, typer.Option("--trials", min=1, help="Trials of each arm.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the experiment.")]
Scale = Annotated[
    float, typer.Option("--scale", help="Share of all counts, sizes and durations, e.g. 0.05; rates stay.")
]
Calibrated = Annotated[
    Path | None,
    typer.Option("--calibrated", metavar="FILE", help="Host parameters that `tailrace calibrate` wrote."),
]
Fabric = Annotated[
    FabricKind | None,
    typer.Option("--fabric", help="With --live: our own switch, tap, or another one to compare it with."),
]
LiveScale = Annotated[
    int,
    typer.Option(
        "--live-scale",
        metavar="N",
        help="Divide rates, queues and users by N and keep the ratios, for machines that do not hold the rates.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout, progress as NDJSON on stderr.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="File to write; stdout if left out.")]


class Vendor(StrEnum):
    """Whose configurations can be read and written."""

    NXOS = "nxos"
    SONIC = "sonic"


class Shown(StrEnum):
    """What can be shown of a run."""

    QUEUES = "queues"


@app.callback(invoke_without_command=True)
def _root(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False
) -> None:
    if version:
        from tailrace.cli.inspect import print_version

        print_version()
        raise typer.Exit


@app.command()
def init(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("scenario.yaml"),
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
) -> None:
    """Write a commented scenario to start from."""
    from tailrace.cli.inspect import write_starter

    write_starter(path, force=force)


@app.command()
def check(
    scenario: Files, *, set_: Set = None, sweep: Sweep = None, paired: Paired = False, json_: Json = False
) -> None:
    """Check a scenario: every problem with its line, and a hint."""
    from tailrace.cli.inspect import check_scenario

    check_scenario(scenario, set_, sweep, is_paired=paired, json_=json_)


@app.command()
def plan(
    scenario: Files,
    *,
    arm: Annotated[str | None, typer.Option("--arm", metavar="NAME", help="Arm; the baseline if left out.")] = None,
    trial: Annotated[int, typer.Option("--trial", min=1, help="Number of the trial.")] = 1,
    set_: Set = None,
    seed: Seed = None,
    scale: Scale = 1.0,
) -> None:
    """Print the plan of one trial: what the simulator gets."""
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
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Trials at the same time; one on each core if left out.")
    ] = None,
    scale: Scale = 1.0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Run directory; below runs/ if left out.")
    ] = None,
    json_: Json = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the trials and the estimated time, run nothing.")
    ] = False,
    calibrated: Calibrated = None,
    live: Annotated[
        bool, typer.Option("--live", help="With real programs on hosts of this machine, as root; not simulated.")
    ] = False,
    log_ingress: Annotated[
        bool, typer.Option("--log-ingress", help="With --live: log what enters the switches, for `tailrace replay`.")
    ] = False,
    fabric: Fabric = None,
    live_scale: LiveScale = 1,
    time_budget: Annotated[
        str | None,
        typer.Option(
            "--time-budget",
            metavar="TIME",
            help="With --live: try spoilt trials again until each arm has its valid ones, for so long, e.g. 15min.",
        ),
    ] = None,
) -> None:
    """Run every arm and trial, print the table, write the report. The same command again resumes."""

    from tailrace.cli.running import Request, run_scenario

    request = Request(
        scenario,
        set_,
        arm,
        trials,
        seed,
        jobs,
        scale,
        out,
        json_,
        dry_run,
        calibrated,
        live,
        log_ingress,
        fabric,
        live_scale,
        time_budget,
        sweep,
        paired,
    )
    raise typer.Exit(run_scenario(request))


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="Run directory.")],
    b: Annotated[Path, typer.Argument(help="Run directory.")],
    *,
    page: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Of a simulated and a live run: a page of plots.")
    ] = None,
    json_: Json = False,
) -> None:
    """Compare two runs workload by workload; a simulated and a live one also with the published figures."""
    from tailrace.cli.inspect import print_comparison

    print_comparison(a, b, page, json_=json_)


@app.command()
def report(
    run_directory: Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")],
    *,
    json_: Json = False,
) -> None:
    """Write the result and the report of a run again, also of a partial one."""
    from tailrace.cli.running import report_run

    raise typer.Exit(report_run(run_directory, json_=json_))


@app.command("list")
def list_(
    *,
    runs: Annotated[Path, typer.Option("--runs", metavar="DIR", help="Where the run directories are.")] = Path("runs"),
    json_: Json = False,
) -> None:
    """List runs, and the scenarios that are here."""
    from tailrace.cli.inspect import print_list

    print_list(runs, json_=json_)


@app.command("import")
def import_(
    vendor: Annotated[Vendor, typer.Argument(help="Whose configuration it is.")],
    file: Annotated[Path, typer.Argument(help="Running configuration, or config_db.json.")],
    *,
    out: Out = None,
    scenario: Annotated[
        Path | None, typer.Option("--scenario", metavar="SCENARIO", help="Compare the MTU of its hosts.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of the switch and its policy; its own if left out."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 unless every line is understood.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="A remark for each line, not for each kind of line.")
    ] = False,
    json_: Json = False,
) -> None:
    """Turn a switch's configuration into a scenario's switch section; remarks about its lines go to stderr."""
    from tailrace.cli.vendors import import_file

    code = import_file(vendor, file, out, scenario, is_strict=strict, is_json=json_, is_verbose=verbose, name=name)
    raise typer.Exit(code)


@app.command("export")
def export_(
    vendor: Annotated[Vendor, typer.Argument(help="Whose configuration to write.")],
    scenario: File,
    *,
    switch: Annotated[
        str | None, typer.Option("--switch", metavar="NAME", help="Switch; the first if left out.")
    ] = None,
    arm: Annotated[str | None, typer.Option("--arm", metavar="NAME", help="Arm; the baseline if left out.")] = None,
    out: Out = None,
    set_: Set = None,
) -> None:
    """Write the policy of a switch as a configuration; what the vendor has no words for goes to stderr."""
    from tailrace.cli.vendors import export_scenario

    export_scenario(vendor, scenario, switch, arm, out, set_)


@app.command()
def show(
    what: Annotated[Shown, typer.Argument(help="queues: counters in the layout of 'show queuing interface'.")],
    run_directory: Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN")],
    *,
    arm: Annotated[str | None, typer.Option("--arm", metavar="NAME", help="Arm; the first if left out.")] = None,
    trial: Annotated[int, typer.Option("--trial", min=1, help="Number of the trial.")] = 1,
    port: Annotated[str | None, typer.Option("--port", metavar="SWITCH>NODE", help="Only this port.")] = None,
    json_: Json = False,
) -> None:
    """Show the counters of one trial under the names that switches use."""
    from tailrace.cli.showing import show_queues

    assert what is Shown.QUEUES, "there is one thing to show"
    show_queues(run_directory, arm, trial, port, json_=json_)


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from tailrace.cli.inspect import print_schema

    print_schema()


@app.command()
def completion(
    shell: Annotated[Shell, typer.Argument(help="Shell to complete in.")],
) -> None:
    """Print a script that completes commands, options and files in bash, zsh or fish."""
    from tailrace.cli.completion import print_completion

    print_completion(shell)
