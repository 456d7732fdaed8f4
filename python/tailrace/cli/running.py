"""`tailrace run` and `tailrace report`."""

import sys
from dataclasses import replace
from pathlib import Path

from msgspec import to_builtins

from tailrace.cli.codes import DONE, EXPECTATION_FAILED, INTERRUPTED, INVALID_TRIAL
from tailrace.cli.console import emit, emit_table, emit_text, note, overrides, warn
from tailrace.cli.dry import print_dry
from tailrace.cli.explaining import refuse_explain
from tailrace.cli.large import print_large, refuse_large, run_large
from tailrace.cli.reporting import SUMMARY_LATER, reporting
from tailrace.cli.scenarios import loaded_of, scenario_paths
from tailrace.cli.terminal import painter
from tailrace.errors import RunRefusedError
from tailrace.exact import refuse
from tailrace.exact.engine import ExactEngine
from tailrace.experiment.dry_run import describe
from tailrace.experiment.engine import LIVE, Simulated
from tailrace.experiment.execution import LOCAL
from tailrace.experiment.executor import Executor, refuse_elsewhere
from tailrace.experiment.explain import explain_run
from tailrace.experiment.options import Options, refuse_baseline
from tailrace.experiment.reporter import Reporter, reporter_for
from tailrace.experiment.run import ExperimentRun, Finished, summarise_and_report
from tailrace.experiment.run_options import RunOptions
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
from tailrace.scenario.loading import Given, Loaded
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


def run_scenario(scenario: list[Path], options: RunOptions) -> int:
    """Runs a scenario; returns the exit code."""
    refuse_scale(options.scale)
    options.execution.refuse_unsound()
    engine = _engine(options)
    refuse_elsewhere(engine or Simulated(), options.execution.on)
    if options.execution.on == LOCAL or options.dry_run:
        return _run_on(scenario, options, engine, None)
    with options.execution.opened(note, options.jobs) as executor:
        return _run_on(scenario, options, engine, executor)


def _run_on(
    scenario: list[Path],
    options: RunOptions,
    engine: LiveEngine | ExactEngine | None,
    executor: Executor | None,
) -> int:
    reporter = reporter_for(json_lines=options.json)
    loaded = _load(scenario, options, reporter)
    settings = _settings(options)
    _refuse_explanations(loaded, options, engine)
    if loaded.is_large:
        return run_large(options, loaded, settings, executor)
    with working(reporter, "making plans"):
        experiment = ExperimentRun(loaded, settings, reporter, engine, executor)
    _warn_of_choices(experiment, loaded, engine)
    if options.dry_run:
        listing = describe(experiment, options.execution.at_once(experiment.jobs))
        print_dry(options, listing.data, listing.text)
        return DONE
    if not options.json:
        note(f"run directory: {experiment.directory.path}")
    finished = _explain(experiment, _run_trials(experiment, engine), options, reporter)
    return _conclude(finished, reporter, is_json=options.json, is_full=options.full)


def _load(scenario: list[Path], options: RunOptions, reporter: Reporter) -> Loaded:
    """The scenario with the values of the options; raises `RunRefusedError` for options that it
    does not allow."""
    paths = scenario_paths(scenario)
    measured = host_parameters(options.calibrated, paths) if options.calibrated else {}
    given = overrides(
        options.set,
        trials=options.trials,
        seed=options.seed,
        baseline=options.baseline,
        sweep=options.sweep,
        is_paired=options.paired,
    )
    calibrated = {key: Given("--calibrated", value) for key, value in measured.items()}
    loaded = loaded_of(paths, {**calibrated, **given}, reporter)
    refuse_baseline(options.baseline, options.arms)
    if loaded.is_large:
        refuse_large(options)
    return loaded


def _settings(options: RunOptions) -> Options:
    """The options as the experiment takes them."""
    return Options(
        arms=options.arms,
        jobs=options.jobs,
        cores=options.execution.trial_cores,
        scale=options.scale,
        live_scale=options.live_scale,
        time_budget_s=_budget_s(options),
        out=options.out,
        command=["tailrace", *sys.argv[1:]],
    )


def _refuse_explanations(
    loaded: Loaded, options: RunOptions, engine: LiveEngine | ExactEngine | None
) -> None:
    """Raises `RunRefusedError` where `--explain` explains nothing; notes that explanations have one
    core."""
    if not options.explain:
        return
    refuse_explain(loaded, engine)
    cores = options.execution.trial_cores
    if cores is not None and cores > 1:
        note(f"--cores {cores}: trials have {cores} cores, their explanations one")


def _warn_of_choices(
    experiment: ExperimentRun, loaded: Loaded, engine: LiveEngine | ExactEngine | None
) -> None:
    """Notes a baseline that does not run, and warns of the keys that the engine ignores."""
    if loaded.scenario.baseline not in experiment.chosen:
        first = experiment.chosen[0]
        note(
            f"the baseline, {loaded.scenario.baseline}, does not run: "
            f"arms are compared with {first}"
        )
    chosen = {arm: loaded.arms[arm] for arm in experiment.arms if arm in loaded.arms}
    if isinstance(engine, LiveEngine):
        warn(kinds.ignored(engine.kind, loaded, chosen))
    if isinstance(engine, ExactEngine):
        warn(refuse.ignored(loaded, chosen))


def _run_trials(experiment: ExperimentRun, engine: LiveEngine | ExactEngine | None) -> Finished:
    finished = experiment.run()
    if isinstance(engine, ExactEngine):
        _note_uncaptured(experiment, engine)
    return finished


def _explain(
    experiment: ExperimentRun, finished: Finished, options: RunOptions, reporter: Reporter
) -> Finished:
    """Explains a trial of each arm; the run is interrupted if this is."""
    if not finished.is_interrupted:
        is_interrupted = explain_run(experiment, is_asked=options.explain)
        finished = replace(finished, is_interrupted=is_interrupted)
    is_live = experiment.engine.name == LIVE
    if is_live and options.explain is not False and not finished.is_interrupted:
        with working(reporter, "explaining by the fabric's log"):
            explain_live_finished(finished.path, note)
    return finished


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


def _budget_s(options: RunOptions) -> float | None:
    """The time budget in seconds; raises `RunRefusedError` when it is not a time."""
    if options.time_budget is None:
        return None
    try:
        budget_ps = parse(options.time_budget, TIME)
    except QuantityError as error:
        raise RunRefusedError(f"--time-budget: {error.what} (hint: {error.hint})") from None
    if budget_ps <= 0:
        raise RunRefusedError("--time-budget must be greater than zero (hint: for example 15min)")
    return budget_ps / PS_PER_S


def _engine(options: RunOptions) -> LiveEngine | ExactEngine | None:
    """The engine that the options choose; None for the simulator."""
    if options.live and options.exact:
        raise RunRefusedError(
            "--live and --exact are two engines (hint: run each, and `tailrace compare` the two)"
        )
    if options.captures and not options.exact:
        raise RunRefusedError(
            "--capture requires --exact (hint: of a standing fabric, `tailrace lab capture`)"
        )
    if options.live:
        return LiveEngine(log_ingress=options.log_ingress, say=note, kind=options.fabric or TAP)
    if options.fabric is not None:
        raise RunRefusedError("--fabric requires --live (hint: add --live)")
    if options.log_ingress:
        raise RunRefusedError("--log-ingress requires --live (hint: add --live)")
    return ExactEngine(options.captures, note) if options.exact else None


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
    if finished.is_interrupted and not finished.statuses:  # no trial has ended
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
