"""The Python interface: run a scenario from a program or a notebook."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tailrace.errors import RunRefusedError, ScenarioWarning
from tailrace.exact.engine import ExactEngine
from tailrace.experiment.engine import LIVE, Engine
from tailrace.experiment.execution import ExecutionOptions
from tailrace.experiment.explain import explain_run
from tailrace.experiment.options import Options, refuse_baseline
from tailrace.experiment.reporter import reporter_for
from tailrace.experiment.run import ExperimentRun, summarise_and_report
from tailrace.experiment.run_options import RunOptions
from tailrace.live.engine import LiveEngine
from tailrace.option import refuse_out_of_range
from tailrace.results import Result
from tailrace.scenario.loading import Loaded, Source, load_scenario
from tailrace.scenario.sweep import text_of
from tailrace.search.options import SearchOptions
from tailrace.sensitivity.options import SensitivityOptions
from tailrace.timeline.explained import explain_live_finished

if TYPE_CHECKING:
    from tailrace.search.search import Searched
    from tailrace.sensitivity.study import Study


def load(scenario: Source, *, set: Mapping[str, Any] | None = None) -> Loaded:  # noqa: A002  the option's name
    """Reads and checks a scenario, from a file or a dictionary; raises `ScenarioError` with every
    problem."""
    return load_scenario(scenario, set)


def run(
    scenario: Source,
    *,
    arms: str | Sequence[str] | None = RunOptions.arms,
    baseline: str | None = RunOptions.baseline,
    trials: int | Literal["auto"] | None = RunOptions.trials,
    seed: int | None = RunOptions.seed,
    jobs: int | None = RunOptions.jobs,
    scale: float = RunOptions.scale,
    out: str | Path | None = RunOptions.out,
    live: bool = RunOptions.live,
    exact: bool = RunOptions.exact,
    explain: bool | None = RunOptions.explain,
    on: str = ExecutionOptions.on,
    set: Mapping[str, Any] | None = RunOptions.set,  # noqa: A002  the option's name
    progress: bool = False,
) -> Result:
    """Runs every arm and trial of a scenario and returns the result; repeating the call resumes an
    incomplete run.

    The other arms are compared with `baseline`, by default that of the scenario. `set` maps dotted
    paths to values, as `--set` does. The run directory is `out`, or one below `runs/`. `live` runs
    the real programs, which requires root on Linux; `exact` runs real kernels in virtual time.
    Simulated trials run `on` the cores of this machine (`local`), `dask://HOST:PORT`,
    `tls://HOST:PORT` with the certificates of Dask's configuration, or `slurm`; until they have run
    elsewhere, no thread of this process loads a pickle that names a class. Warnings of `tailrace
    check` are issued as `ScenarioWarning`. With `trials="auto"` it runs as many as decide the
    comparisons. One simulated trial of each arm is explained: with `explain` whole or not at all,
    by default as much as takes a third of the time of the run. An interrupt (Ctrl-C) keeps the
    finished trials, writes a partial result and raises `KeyboardInterrupt`.
    """
    options = RunOptions(
        set=set,
        arms=_listed(arms),
        trials=trials,
        seed=seed,
        baseline=baseline,
        jobs=jobs,
        scale=scale,
        out=_path(out),
        live=live,
        exact=exact,
        explain=explain,
        execution=ExecutionOptions(on=on),
    )
    loaded = _loaded(scenario, options, _given(options))
    return _run(loaded, options, is_shown=progress)


def sweep(
    scenario: Source,
    axes: Mapping[str, Sequence[Any] | str],
    *,
    paired: bool = RunOptions.paired,
    arms: str | Sequence[str] | None = RunOptions.arms,
    baseline: str | None = RunOptions.baseline,
    trials: int | Literal["auto"] | None = RunOptions.trials,
    seed: int | None = RunOptions.seed,
    jobs: int | None = RunOptions.jobs,
    scale: float = RunOptions.scale,
    out: str | Path | None = RunOptions.out,
    on: str = ExecutionOptions.on,
    set: Mapping[str, Any] | None = RunOptions.set,  # noqa: A002  the option's name
    progress: bool = False,
) -> Result:
    """Runs every arm at every point of `axes` and returns the result; finished points are not run
    again.

    `axes` maps dotted paths to lists of values or to ranges such as `"log(1MB..64MB, 7)"`. Several
    axes form a grid; with `paired` their values are combined pairwise. `result.summary.sweep` holds
    the curves. The other parameters are those of `run`. A sweep of more than 2000 points is
    refused: `tailrace run` runs it, and keeps figures alone.
    """
    options = RunOptions(
        set={
            **(set or {}),
            "sweep": {"axes": dict(axes), "combine": "paired" if paired else "grid"},
        },
        arms=_listed(arms),
        trials=trials,
        seed=seed,
        baseline=baseline,
        jobs=jobs,
        scale=scale,
        out=_path(out),
        execution=ExecutionOptions(on=on),
    )
    loaded = _loaded(scenario, options, _given(options))
    return _run(loaded, options, is_shown=progress)


def search_for(
    scenario: Source,
    vary: Mapping[str, Sequence[Any] | str],
    goals: str | Sequence[str],
    *,
    minimise: str | None = SearchOptions.minimise,
    maximise: str | None = SearchOptions.maximise,
    arm: str | None = SearchOptions.arm,
    precision: float = SearchOptions.precision,
    confidence: float = SearchOptions.confidence,
    trials_max: int = SearchOptions.trials_max,
    confirm: int = SearchOptions.confirm,
    sampler: str = SearchOptions.sampler,
    evaluations: int = SearchOptions.evaluations,
    seed: int | None = SearchOptions.seed,
    jobs: int | None = SearchOptions.jobs,
    scale: float = SearchOptions.scale,
    out: str | Path | None = SearchOptions.out,
    on: str = ExecutionOptions.on,
    set: Mapping[str, Any] | None = SearchOptions.set,  # noqa: A002  the option's name
    progress: bool = False,
) -> "Searched":
    """Finds the smallest or largest value with which the goals hold, as `tailrace search` does.

    `vary` maps dotted paths to ranges such as `"1MB..64MB"` or to lists of values; a goal is
    `"shop.p99 < 5ms"`. `precision` and `confidence` are shares from 0 to 1. `found` of the answer
    is None when no setting meets the goals; `search.json` and `search.md` are written to its
    `path`. The other parameters are those of `run`. Raises `RunRefusedError` or `ScenarioError` for
    invalid values, and `KeyboardInterrupt` when interrupted: the same call continues.
    """
    from tailrace.search.search import search
    from tailrace.search.text import write_search

    options = SearchOptions(
        vary=_texts(vary),
        goals=_listed(goals),
        minimise=minimise,
        maximise=maximise,
        arm=arm,
        precision=precision,
        confidence=confidence,
        trials_max=trials_max,
        confirm=confirm,
        sampler=sampler,
        evaluations=evaluations,
        seed=seed,
        jobs=jobs,
        scale=scale,
        out=_path(out),
        set=set,
        execution=ExecutionOptions(on=on),
    )
    loaded = _loaded(scenario, options)
    reporter = reporter_for(json_lines=False, quiet=not progress)
    with options.execution.opened(reporter.say) as executor:
        found = search(loaded, options, reporter, executor)
    write_search(found)
    return found


def sensitivity_of(
    scenario: Source,
    vary: Mapping[str, Sequence[Any] | str] | None = None,
    *,
    assumptions: bool = True,
    figures: str | Sequence[str] = SensitivityOptions.figures,
    arms: str | Sequence[str] = SensitivityOptions.arms,
    trials: int = SensitivityOptions.trials,
    trajectories: int = SensitivityOptions.trajectories,
    samples: int = SensitivityOptions.samples,
    factors: int = SensitivityOptions.factors,
    checks: int = SensitivityOptions.checks,
    seed: int | None = SensitivityOptions.seed,
    jobs: int | None = SensitivityOptions.jobs,
    scale: float = SensitivityOptions.scale,
    out: str | Path | None = SensitivityOptions.out,
    on: str = ExecutionOptions.on,
    set: Mapping[str, Any] | None = SensitivityOptions.set,  # noqa: A002  the option's name
    progress: bool = False,
) -> "Study":
    """Varies every assumption, and the values of `vary`, over their ranges: which assumptions
    decide each figure.

    `assumptions` leaves those of the scenario out when false. `trajectories` are those of the
    screening, `samples` of the shares of variance a power of two (0 for none), `factors` the number
    of values that get such shares, `checks` new points in the region where the conclusions hold.
    `sensitivity.json`, `sensitivity.md` and the plot are written to the `path` of the answer. The
    other parameters and errors are those of `search_for`.
    """
    from tailrace.sensitivity.study import Studying
    from tailrace.sensitivity.text import write_study

    options = SensitivityOptions(
        assumptions=assumptions,
        vary=_texts(vary or {}),
        figures=_listed(figures),
        arms=_listed(arms),
        trials=trials,
        trajectories=trajectories,
        samples=samples,
        factors=factors,
        checks=checks,
        seed=seed,
        jobs=jobs,
        scale=scale,
        out=_path(out),
        set=set,
        execution=ExecutionOptions(on=on),
    )
    loaded = _loaded(scenario, options)
    reporter = reporter_for(json_lines=False, quiet=not progress)
    with options.execution.opened(reporter.say) as executor:
        study = Studying(loaded, options, reporter, executor).run()
    write_study(study, "tailrace.sensitivity_of")
    return study


def _texts(vary: Mapping[str, Sequence[Any] | str]) -> list[str]:
    """As the options of the command line."""
    return [
        f"{path}={values if isinstance(values, str) else ','.join(text_of(value) for value in values)}"  # noqa: E501
        for path, values in vary.items()
    ]


def _listed(names: str | Sequence[str] | None) -> Sequence[str]:
    """One name or several, as a list."""
    return [names] if isinstance(names, str) else list(names or ())


def _path(name: str | Path | None) -> Path | None:
    return Path(name) if name else None


def _given(options: RunOptions) -> dict[str, Any]:
    """The options that abbreviate a value of the scenario; None where one is not given."""
    return {"experiment.trials": options.trials, "experiment.baseline": options.baseline}


def _loaded(
    scenario: Source,
    options: RunOptions | SearchOptions | SensitivityOptions,
    given: Mapping[str, Any] | None = None,
) -> Loaded:
    """The scenario with the changes of the options and those of `given`; warnings are issued for
    the caller of the interface. Raises `RunRefusedError` for options that do not fit together."""
    refuse_out_of_range(options)
    options.execution.refuse_unsound(options.jobs)
    if options.scale <= 0:
        raise RunRefusedError(
            f"scale {options.scale:g} must be greater than zero (hint: 0.05 runs a twentieth of "
            "the work)"
        )
    changes = {"experiment.seed": options.seed, **(given or {})}
    changes = {path: value for path, value in changes.items() if value is not None}
    loaded = load_scenario(scenario, {**(options.set or {}), **changes})
    for warning in loaded.warnings:
        warnings.warn(str(warning), ScenarioWarning, stacklevel=3)
    return loaded


def _engine(options: RunOptions) -> Engine | None:
    """The engine that the options choose; None for the simulator."""
    if options.live and options.exact:
        raise RunRefusedError(
            "live and exact are two engines (hint: run each, and compare the two)"
        )
    return LiveEngine() if options.live else ExactEngine() if options.exact else None


def _run(loaded: Loaded, options: RunOptions, *, is_shown: bool) -> Result:
    engine = _engine(options)
    refuse_baseline(options.baseline, options.arms)
    if loaded.is_large:
        raise RunRefusedError(
            "the sweep has more than 2000 points, of which figures alone are kept (hint: run it "
            "with `tailrace run`, and read its sweep.csv)"
        )
    settings = Options(
        arms=options.arms,
        jobs=options.jobs,
        scale=options.scale,
        out=options.out,
        command=["tailrace.run"],
    )
    reporter = reporter_for(json_lines=False, quiet=not is_shown)
    with options.execution.opened(reporter.say) as executor:
        experiment = ExperimentRun(loaded, settings, reporter, engine, executor)
        finished = experiment.run()
    is_interrupted = finished.is_interrupted or explain_run(experiment, is_asked=options.explain)
    if experiment.engine.name == LIVE and options.explain is not False and not is_interrupted:
        explain_live_finished(finished.path, reporter.say)
    summarise_and_report(finished.path)
    if is_interrupted:
        raise KeyboardInterrupt
    return Result(finished.path)
