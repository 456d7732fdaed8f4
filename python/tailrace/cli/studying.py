"""`tailrace sensitivity`."""

import shlex
import sys
from functools import partial
from pathlib import Path

from tailrace.cli.console import emit_json, emit_table, note, overrides
from tailrace.cli.running import refuse_scale
from tailrace.cli.scenarios import loaded_of
from tailrace.errors import RunRefusedError
from tailrace.experiment.execution import ExecutionOptions
from tailrace.experiment.reporter import reporter_for
from tailrace.files import write_text
from tailrace.option import flags_of
from tailrace.sensitivity.chart import tornado
from tailrace.sensitivity.options import SensitivityOptions
from tailrace.sensitivity.study import Studying
from tailrace.sensitivity.text import study_data, study_page, study_text, write_study

EXECUTION_OPTIONS = frozenset(
    {*flags_of(SensitivityOptions, "out", "jobs"), *flags_of(ExecutionOptions)}
)
"""Options that decide where and when trials run, and no figure."""


def study_scenario(scenario: list[Path], options: SensitivityOptions) -> None:
    """Runs the study and prints the assumptions that decide each figure."""
    refuse_scale(options.scale)
    options.execution.refuse_unsound(options.jobs)
    if not options.assumptions and not options.vary:
        raise RunRefusedError(
            "--assumptions is needed (hint: or name values: --vary network.link.delay=1us..5us)"
        )
    if options.page is not None and not options.page.parent.is_dir():
        raise RunRefusedError(
            f"--page {options.page}: there is no folder {options.page.parent} (hint: create it)"
        )
    reporter = reporter_for(json_lines=options.json)
    loaded = loaded_of(scenario, overrides(options.set, seed=options.seed), reporter)
    with options.execution.opened(note) as executor:
        study = Studying(loaded, options, reporter, executor).run()
    command = shlex.join(["tailrace", *_without_execution_options(sys.argv[1:])])
    write_study(study, command)
    if options.page is not None:
        chart = options.page.with_suffix(".svg")
        write_text(options.page, study_page(study, command, chart.name))
        write_text(chart, tornado(study))
    if options.json:
        emit_json({**study_data(study), "path": str(study.path)})
    else:
        emit_table(partial(study_text, study))
        note(f"results: {study.path}")


def _without_execution_options(arguments: list[str]) -> list[str]:
    """The command without the options that change no figure: output files, and where
    trials run."""
    kept, is_value = [], False
    for one in arguments:
        if is_value:
            is_value = False
        elif one in EXECUTION_OPTIONS:
            is_value = True
        elif one.split("=")[0] not in EXECUTION_OPTIONS and one != "--json":
            kept.append(one)
    return kept
