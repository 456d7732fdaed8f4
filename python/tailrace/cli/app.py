"""The commands and their options."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.advise_app import advise
from tailrace.cli.blast_app import blast
from tailrace.cli.commands import Commands
from tailrace.cli.completion import Shell
from tailrace.cli.console import note
from tailrace.cli.explain_app import explain
from tailrace.cli.fit_app import fit
from tailrace.cli.group import Group, Panel
from tailrace.cli.import_app import export_, import_
from tailrace.cli.lab_app import lab_app
from tailrace.cli.measure_app import measure_app
from tailrace.cli.options import Files
from tailrace.cli.profile_app import profile
from tailrace.cli.search_app import search
from tailrace.cli.sensitivity_app import sensitivity
from tailrace.cli.show_app import show
from tailrace.cli.trace_app import trace
from tailrace.cli.whatif_app import whatif
from tailrace.experiment.remote.address import refuse_absent
from tailrace.experiment.run_options import Baseline, Full, Paired, RunOptions, RunScale, Sweep
from tailrace.option import Json, OfArm, Seed, Set

EXAMPLES = """
Examples:

\b
  tailrace init lab.yaml && tailrace run lab.yaml
  tailrace run reproductions/cisco-dpp --scale 0.05
  tailrace run examples/dpp.yaml --arm dpp --set workloads.bulk.connections=8

Exit codes: 0 done, 1 an expectation failed, 2 usage or scenario error, 3 a trial is invalid, 130 interrupted.
"""  # noqa: E501


app = Commands(
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


def init(
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("scenario.yaml"),
    *,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a commented scenario to start from."""
    from tailrace.cli.inspect import write_starter

    write_starter(path, force=force)


def check(
    scenario: Files,
    *,
    set_: Set = None,
    sweep: Sweep = (),
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


def plan(
    scenario: Files,
    *,
    arm: OfArm = None,
    trial: Annotated[int, typer.Option("--trial", min=1, help="Number of the trial.")] = 1,
    set_: Set = None,
    seed: Seed = None,
    scale: RunScale = RunOptions.scale,
) -> None:
    """Print the plan of one trial, which is the input of the simulator."""
    from tailrace.cli.inspect import print_plan

    print_plan(scenario, arm, trial, set_, seed, scale)


def run(
    scenario: Files,
    *,
    options: RunOptions,
) -> None:
    """Run every arm and trial, print the result and write the report. Running the command again
    resumes."""

    if not options.dry_run:
        refuse_absent(options.execution.on, note)
    from tailrace.cli.running import run_scenario

    raise typer.Exit(run_scenario(scenario, options))


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


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from tailrace.cli.inspect import print_schema

    print_schema()


def completion(
    shell: Annotated[Shell, typer.Argument(help="Shell.")],
) -> None:
    """Print a script that completes commands, options and files in bash, zsh or fish."""
    from tailrace.cli.completion import print_completion

    print_completion(shell)


COMMANDS: Mapping[Panel, tuple[Callable[..., None], ...]] = {
    Panel.SCENARIOS: (init, check, run, explain, trace, compare, report),
    Panel.ASK: (advise, search, sensitivity, whatif),
    Panel.FILES: (import_, export_, fit, profile),
    Panel.MEASURE: (blast,),
    Panel.RUNS: (list_, show, plan, schema, completion),
}
"""The commands beside the groups, in the order of the help."""
app.add_typer(measure_app, name="measure", rich_help_panel=Panel.MEASURE)
app.add_typer(lab_app, name="lab", rich_help_panel=Panel.LAB)
for panel, functions in COMMANDS.items():
    for function in functions:
        app.command(function.__name__.rstrip("_"), rich_help_panel=panel)(function)
