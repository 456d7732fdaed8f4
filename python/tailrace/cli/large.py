"""`tailrace run` of a sweep with very many points."""

import time
from pathlib import Path

from msgspec import to_builtins

from tailrace.cli.codes import DONE, INTERRUPTED, INVALID_TRIAL
from tailrace.cli.console import emit, emit_json, emit_table, note
from tailrace.cli.dry import print_dry
from tailrace.cli.reporting import reporting
from tailrace.errors import RunRefusedError
from tailrace.experiment.executor import Executor
from tailrace.experiment.large.run import LargeRun
from tailrace.experiment.options import Options
from tailrace.experiment.reporter import reporter_for, to_go
from tailrace.experiment.run_options import RunOptions
from tailrace.folder import Folder
from tailrace.json_text import json_text
from tailrace.results.large.summary import summarise_large
from tailrace.results.large.text import large_page, large_text
from tailrace.results.summary.large import LargeSummary
from tailrace.scenario.loading import Loaded

PAGE = "sweep.md"
PROBED = 12
"""Points that are simulated for the estimate of a dry run."""


def refuse_large(request: RunOptions) -> None:
    """Raises `RunRefusedError` for options that a large sweep does not have."""
    given = {
        "--live": request.live,
        "--exact": request.exact,
        "--explain": request.explain is True,
    }
    if named := [name for name, is_given in given.items() if is_given]:
        raise RunRefusedError(
            f"{named[0]}: a sweep of so many points keeps figures of simulated trials alone "
            "(hint: list fewer values)"
        )


def run_large(
    request: RunOptions, loaded: Loaded, options: Options, executor: Executor | None
) -> int:
    """Runs a large sweep; returns the exit code."""
    run = LargeRun(loaded, options, reporter_for(json_lines=request.json), executor)
    if request.dry_run:
        _describe(run, request)
        return DONE
    if not request.json:
        note(f"run directory: {run.directory.path}")
    ended = run.run()
    summary = print_large(ended.path, is_json=request.json)
    if ended.is_interrupted:
        note("interrupted: completed trials are kept; run the same command again to resume")
        return INTERRUPTED
    return INVALID_TRIAL if set(summary.statuses) - {"ok"} else DONE


def print_large(path: Path, baseline: str | None = None, *, is_json: bool) -> LargeSummary:
    """Writes table, result and page of a large sweep and prints the result; returns the summary."""
    with reporting(path, reporter_for(json_lines=is_json)):
        summary = summarise_large(path, baseline)
        data = to_builtins(summary)
        folder = Folder(path)
        folder.write("result.json", f"{json_text(data)}\n".encode())
        folder.write(PAGE, large_page(summary).encode())
    if is_json:
        emit_json({**data, "path": str(path), "report": str(path / PAGE)})
    else:
        emit_table(lambda: large_text(summary))
        emit(f"report: {path / PAGE}")
    return summary


def _describe(run: LargeRun, request: RunOptions) -> None:
    """The size of the sweep, and its time by some of its points."""
    probed_s, count, at_once = 0.0, 0, request.execution.at_once(run.jobs)
    for key in run.grid.keys(lambda *_impossible: None):
        began_s = time.monotonic()
        run.engine.trial(run.grid.json(key)).run()
        probed_s, count = probed_s + time.monotonic() - began_s, count + 1
        if count == PROBED:
            break
    estimated_s = run.grid.count * probed_s / count / at_once if count else None
    data = {"points": run.grid.sweep.count, "trials": run.grid.count, "jobs": at_once,
            "out": str(run.directory.path), "estimated_s": estimated_s}  # fmt: skip
    size = (
        f"{data['points']} points, {data['trials']} trials, {at_once} at a time, into {data['out']}"
    )
    print_dry(request, data, f"{size}\n{to_go(estimated_s)}")
