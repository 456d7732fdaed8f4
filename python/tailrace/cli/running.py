"""`tailrace run` and `tailrace report`."""

import sys
from dataclasses import replace
from pathlib import Path

from msgspec import to_builtins

from tailrace.cli.console import (
    DONE,
    EXPECTATION_FAILED,
    INVALID_TRIAL,
    emit,
    emit_table,
    emit_text,
    note,
    overrides,
    warn,
)
from tailrace.cli.dry import print_dry
from tailrace.cli.explaining import refuse_explain
from tailrace.cli.large import print_large, refuse_large, run_large
from tailrace.cli.reporting import SUMMARY_LATER, reporting
from tailrace.cli.request import RunArguments
from tailrace.cli.scenarios import loaded_of, scenario_paths
from tailrace.cli.start import INTERRUPTED
from tailrace.cli.terminal import painter
from tailrace.errors import RunRefusedError
from tailrace.exact import refuse
from tailrace.exact.engine import ExactEngine
from tailrace.experiment.dry_run import describe
from tailrace.experiment.engine import Simulated
from tailrace.experiment.executor import Executor, Local, refuse_elsewhere
from tailrace.experiment.explain import explain_run
from tailrace.experiment.options import Options, refuse_baseline
from tailrace.experiment.remote.executors import opened, refuse_executor
from tailrace.experiment.reporter import Reporter, reporter_for
from tailrace.experiment.run import ExperimentRun, Finished, summarise_and_report
from tailrace.experiment.scale import SCALE_MIN
from tailrace.experiment.stages import working
from tailrace.experiment.storage import RunDirectory, outcome_bytes
from tailrace.json_text import json_text
from tailrace.live.engine import LiveEngine
from tailrace.live.lab import kinds
from tailrace.results.compare.fidelity import TAP
from tailrace.results.large.summary import is_large
from tailrace.results.summary.summary import Summary
from tailrace.scenario.calibrated import host_parameters
from tailrace.scenario.loading import Given
from tailrace.scenario.text.units import TIME, QuantityError, parse
from tailrace.timeline.explained import explain_live_finished

PS_PER_S = 10**12
SCALE_MAX = 1000.0
"""A larger factor is taken for a typing error."""
SUMMARY_BYTES_MAX = 1_000_000
"""Of plans and outcomes in JSON: a run that was interrupted and has more is not summarised, which
takes a second for every ten megabytes; a command ends within a second of Ctrl-C.
"""
KEPT = "completed trials are kept; run the same command again to resume"


def run_scenario(request: RunArguments) -> int:
    """Runs a scenario; returns the exit code."""
    refuse_scale(request.scale)
    refuse_executor(request.on, request.jobs_of_slurm, credentials=request.credentials)
    refuse_elsewhere(_engine(request) or Simulated(), request.on)
    if request.on == Local.name or request.is_dry:
        return _run_on(request, None)
    with opened(
        request.on, request.jobs_of_slurm, note, request.jobs, request.credentials
    ) as executor:
        return _run_on(request, executor)


def _run_on(request: RunArguments, executor: Executor | None) -> int:
    paths = scenario_paths(request.scenario)
    measured = host_parameters(request.calibrated, paths) if request.calibrated else {}
    measured = {key: Given("--calibrated", value) for key, value in measured.items()}
    given = overrides(
        request.assignments,
        trials=request.trials,
        seed=request.seed,
        baseline=request.baseline,
        sweep=request.sweep,
        is_paired=request.is_paired,
    )
    reporter = reporter_for(json_lines=request.is_json)
    loaded = loaded_of(paths, {**measured, **given}, reporter)
    refuse_baseline(request.baseline, request.arms)
    if loaded.is_large:
        refuse_large(request)
    options = Options(
        arms=request.arms,
        jobs=request.jobs,
        cores=request.cores,
        scale=request.scale,
        live_scale=request.live_scale,
        time_budget_s=_budget_s(request),
        out=request.out,
        command=["tailrace", *sys.argv[1:]],
    )
    engine = _engine(request)
    if request.is_explained:
        refuse_explain(loaded, engine)
        if request.cores is not None and request.cores > 1:
            note(
                f"--cores {request.cores}: trials have {request.cores} cores, their "
                "explanations one"
            )
    if loaded.is_large:
        return run_large(request, loaded, options, executor)
    with working(reporter, "making plans"):
        experiment = ExperimentRun(loaded, options, reporter, engine, executor)
    chosen = {arm: loaded.arms[arm] for arm in experiment.arms if arm in loaded.arms}
    if loaded.scenario.baseline not in experiment.chosen:
        first = experiment.chosen[0]
        note(
            f"the baseline, {loaded.scenario.baseline}, does not run: "
            f"arms are compared with {first}"
        )
    if isinstance(engine, LiveEngine):
        warn(kinds.ignored(engine.kind, loaded, chosen))
    if isinstance(engine, ExactEngine):
        warn(refuse.ignored(loaded, chosen))
    if request.is_dry:
        listing = describe(experiment, request.at_once(experiment.jobs))
        print_dry(request, listing.data, listing.text)
        return DONE
    if not request.is_json:
        note(f"run directory: {experiment.directory.path}")
    finished = experiment.run()
    if isinstance(engine, ExactEngine):
        _note_uncaptured(experiment, engine)
    if not finished.is_interrupted:
        finished = replace(
            finished, is_interrupted=explain_run(experiment, is_asked=request.is_explained)
        )
    if (
        isinstance(engine, LiveEngine)
        and request.is_explained is not False
        and not finished.is_interrupted
    ):
        with working(reporter, "explaining by the fabric's log"):
            explain_live_finished(finished.path, note)
    return _conclude(finished, reporter, is_json=request.is_json, is_full=request.is_full)


def _note_uncaptured(experiment: ExperimentRun, engine: ExactEngine) -> None:
    """Notes how many trials were complete before a capture was asked for."""
    trials = experiment.keys()
    held = (experiment.directory.finished(key) for key in trials)
    if count := sum(
        engine.lacks_captures(one.outcome) for one in held if one is not None and one.outcome
    ):
        note(
            f"--capture: {count} trial(s) had been run without it, and are not run again "
            "(hint: choose another --out)"
        )


def _budget_s(request: RunArguments) -> float | None:
    """The time budget in seconds; raises `RunRefusedError` when it is not a time."""
    if request.time_budget is None:
        return None
    try:
        budget_ps = parse(request.time_budget, TIME)
    except QuantityError as error:
        raise RunRefusedError(f"--time-budget: {error.what} (hint: {error.hint})") from None
    if budget_ps <= 0:
        raise RunRefusedError("--time-budget must be greater than zero (hint: for example 15min)")
    return budget_ps / PS_PER_S


def _engine(request: RunArguments) -> LiveEngine | ExactEngine | None:
    """The engine that the options choose; None for the simulator."""
    if request.is_live and request.is_exact:
        raise RunRefusedError(
            "--live and --exact are two engines (hint: run each, and `tailrace compare` the two)"
        )
    if request.captures and not request.is_exact:
        raise RunRefusedError(
            "--capture requires --exact (hint: of a standing fabric, `tailrace lab capture`)"
        )
    if request.is_live:
        return LiveEngine(log_ingress=request.is_logged, say=note, kind=request.fabric or TAP)
    if request.fabric is not None:
        raise RunRefusedError("--fabric requires --live (hint: add --live)")
    if request.is_logged:
        raise RunRefusedError("--log-ingress requires --live (hint: add --live)")
    return ExactEngine(request.captures or [], note) if request.is_exact else None


def report_run(path: Path, baseline: str | None = None, *, json_: bool, full: bool = False) -> int:
    """Writes the result and report of a run directory again; returns the exit code."""
    if is_large(RunDirectory(path).manifest()):
        print_large(path, baseline, is_json=json_)
        return DONE
    with reporting(path, reporter_for(json_lines=json_)):
        summary, report = summarise_and_report(path, baseline)
    _print(summary, path, report, is_json=json_, is_full=full)
    return DONE


def refuse_scale(scale: float) -> None:
    """Raises `RunRefusedError` when the scale is out of range."""
    if not SCALE_MIN <= scale <= SCALE_MAX:
        raise RunRefusedError(
            f"--scale {scale:g} is outside {SCALE_MIN:g} to {SCALE_MAX:g} (hint: 0.05 runs a "
            "twentieth of the work)"
        )


def _conclude(
    finished: Finished, reporter: Reporter, *, is_json: bool, is_full: bool = False
) -> int:
    if finished.is_interrupted and not finished.statuses:  # nothing to tell of
        note(f"interrupted: {KEPT}")
        return INTERRUPTED
    if finished.is_interrupted and outcome_bytes(finished.path) > SUMMARY_BYTES_MAX:
        note(f"interrupted: {KEPT}; {SUMMARY_LATER.format(finished.path)}")
        return INTERRUPTED
    with reporting(finished.path, reporter):
        summary, report = summarise_and_report(finished.path)
    _print(summary, finished.path, report, is_json=is_json, is_full=is_full)
    if finished.is_interrupted:
        note(f"interrupted: {KEPT}")
        return INTERRUPTED
    if finished.lacks:
        what = "; ".join(lack.sentence for lack in finished.lacks)
        note(f"the time budget is used up: {what}; run the same command again to resume")
    if finished.is_out_of_time:
        note("the time budget is used up before the next look; run the same command again to go on")
    if not finished.is_valid:
        bad = [str(key) for key, status in finished.statuses.items() if status != "ok"]
        if bad:
            note(f"{len(bad)} invalid or failed trial(s): {', '.join(bad)}")
        return INVALID_TRIAL
    asked = [verdict for verdict in summary.expectations if verdict.is_run]
    judged = [verdict.passed for verdict in asked]
    if undecided := sum(verdict.end == "undecided" for verdict in asked):
        note(
            f"{undecided} expectation(s) are undecided, which does not pass: the table says "
            "what would decide them"
        )
    if unknown := judged.count(None):
        note(
            f"{unknown} expectation(s) cannot be judged: the trials of "
            "their arm do not have this figure"
        )
    return DONE if all(judged) else EXPECTATION_FAILED


def _print(summary: Summary, path: Path, report: Path, *, is_json: bool, is_full: bool) -> None:
    from tailrace import results

    if is_json:
        # As it is written to result.json: indenting that of a thousand points takes longer than all
        # the rest.
        emit_text(json_text({**to_builtins(summary), "path": str(path), "report": str(report)}))
        return
    emit_table(lambda: results.format_result(summary, painter(sys.stdout), is_full=is_full))
    emit(f"report: {report}")
