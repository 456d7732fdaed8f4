"""`tailrace sensitivity`."""

import shlex
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tailrace.cli.console import emit_json, emit_table, note, overrides
from tailrace.cli.running import refuse_scale
from tailrace.cli.scenarios import loaded_of
from tailrace.errors import RunRefusedError
from tailrace.experiment.remote.credentials import Credentials
from tailrace.experiment.remote.executors import opened, refuse_executor
from tailrace.experiment.remote.slurm import Jobs
from tailrace.experiment.reporter import reporter_for
from tailrace.files import write_text
from tailrace.sensitivity.chart import tornado
from tailrace.sensitivity.study import Studying, Wanted
from tailrace.sensitivity.text import study_data, study_page, study_text, write_study

EXECUTION_OPTIONS = (
    "--out",
    "-o",
    "--jobs",
    "--on",
    "--partition",
    "--time",
    "--cores",
    "--max-workers",
    "--tls-ca",
    "--tls-cert",
    "--tls-key",
)
"""Options that decide where and when trials run, and no figure."""


@dataclass(frozen=True, kw_only=True)
class StudyArguments:
    """The options of `tailrace sensitivity`."""

    scenario: list[Path]
    """Files that are merged in this order."""
    assumptions: bool
    vary: list[str]
    figure: list[str]
    arms: list[str]
    trials: int
    trajectories: int
    samples: int
    factors: int
    checks: int
    scale: float
    seed: int | None
    assignments: list[str] | None
    jobs: int | None
    out: Path | None
    page: Path | None
    is_json: bool
    on: str
    """Where trials run."""
    jobs_of_slurm: Jobs
    credentials: Credentials
    cores: int | None
    """Of each trial; None for `auto`."""


def study_scenario(request: StudyArguments) -> None:
    """Runs the study and prints what decides each figure."""
    refuse_scale(request.scale)
    refuse_executor(request.on, request.jobs_of_slurm, request.jobs, request.credentials)
    if not request.assumptions and not request.vary:
        raise RunRefusedError(
            "--assumptions is needed (hint: or name values: --vary network.link.delay=1us..5us)"
        )
    if request.page is not None and not request.page.parent.is_dir():
        raise RunRefusedError(
            f"--page {request.page}: there is no folder {request.page.parent} (hint: create it)"
        )
    wanted = Wanted(
        is_of_assumptions=request.assumptions,
        vary=request.vary,
        figures=request.figure,
        arms=request.arms,
        trials=request.trials,
        trajectories=request.trajectories,
        samples=request.samples,
        factors=request.factors,
        checks=request.checks,
        jobs=request.jobs,
        scale=request.scale,
        out=request.out,
        cores=request.cores,
    )
    reporter = reporter_for(json_lines=request.is_json)
    loaded = loaded_of(
        request.scenario, overrides(request.assignments, seed=request.seed), reporter
    )
    with opened(
        request.on, request.jobs_of_slurm, note, credentials=request.credentials
    ) as executor:
        study = Studying(loaded, wanted, reporter, executor).run()
    command = shlex.join(["tailrace", *_without_execution_options(sys.argv[1:])])
    write_study(study, command)
    if request.page is not None:
        chart = request.page.with_suffix(".svg")
        write_text(request.page, study_page(study, command, chart.name))
        write_text(chart, tornado(study))
    if request.is_json:
        emit_json({**study_data(study), "path": str(study.path)})
    else:
        emit_table(partial(study_text, study))
        note(f"results: {study.path}")


def _without_execution_options(arguments: list[str]) -> list[str]:
    """The command without what decides no figure: where results go, and where trials run."""
    kept, is_value = [], False
    for one in arguments:
        if is_value:
            is_value = False
        elif one in EXECUTION_OPTIONS:
            is_value = True
        elif one.split("=")[0] not in EXECUTION_OPTIONS and one != "--json":
            kept.append(one)
    return kept
