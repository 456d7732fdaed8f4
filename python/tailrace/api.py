"""The Python interface: run a scenario from a program or a notebook."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tailrace.errors import RunRefusedError, ScenarioWarning
from tailrace.exact.engine import ExactEngine
from tailrace.experiment.engine import LIVE, Engine
from tailrace.experiment.explain import explain_run
from tailrace.experiment.options import Options, refuse_baseline
from tailrace.experiment.remote.executors import opened, refuse_executor
from tailrace.experiment.remote.slurm import Jobs
from tailrace.experiment.reporter import reporter_for
from tailrace.experiment.run import ExperimentRun, summarise_and_report
from tailrace.live.engine import LiveEngine
from tailrace.results import Result
from tailrace.scenario.loading import Loaded, Source, load_scenario
from tailrace.scenario.sweep import text_of
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
    arms: str | Sequence[str] | None = None,
    baseline: str | None = None,
    trials: int | Literal["auto"] | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    scale: float | None = None,
    out: str | Path | None = None,
    live: bool = False,
    exact: bool = False,
    explain: bool | None = None,
    on: str = "local",
    set: Mapping[str, Any] | None = None,  # noqa: A002  the option's name
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
    if live and exact:
        raise RunRefusedError(
            "live and exact are two engines (hint: run each, and compare the two)"
        )
    engine = LiveEngine() if live else ExactEngine() if exact else None
    changes = dict(set or {})
    return _run(
        scenario,
        arms,
        baseline,
        trials,
        seed,
        jobs,
        scale,
        out,
        changes,
        engine,
        on,
        explain,
        is_shown=progress,
    )


def sweep(
    scenario: Source,
    axes: Mapping[str, Sequence[Any] | str],
    *,
    paired: bool = False,
    arms: str | Sequence[str] | None = None,
    baseline: str | None = None,
    trials: int | Literal["auto"] | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    scale: float | None = None,
    out: str | Path | None = None,
    on: str = "local",
    set: Mapping[str, Any] | None = None,  # noqa: A002  the option's name
    progress: bool = False,
) -> Result:
    """Runs every arm at every point of `axes` and returns the result; finished points are not run
    again.

    `axes` maps dotted paths to lists of values or to ranges such as `"log(1MB..64MB, 7)"`. Several
    axes form a grid; with `paired` their values are combined pairwise. `result.summary.sweep` holds
    the curves. The other parameters are those of `run`. A sweep of more than 2000 points is
    refused: `tailrace run` runs it, and keeps figures alone.
    """
    spec = {"axes": dict(axes), "combine": "paired" if paired else "grid"}
    changes = {**(set or {}), "sweep": spec}
    return _run(
        scenario,
        arms,
        baseline,
        trials,
        seed,
        jobs,
        scale,
        out,
        changes,
        None,
        on,
        None,
        is_shown=progress,
    )


def search_for(
    scenario: Source,
    vary: Mapping[str, Sequence[Any] | str],
    goals: str | Sequence[str],
    *,
    minimise: str | None = None,
    maximise: str | None = None,
    arm: str | None = None,
    precision: float = 0.01,
    confidence: float = 0.95,
    trials_max: int = 16,
    confirm: int = 6,
    sampler: str = "tpe",
    evaluations: int = 60,
    seed: int | None = None,
    jobs: int | None = None,
    scale: float | None = None,
    out: str | Path | None = None,
    on: str = "local",
    set: Mapping[str, Any] | None = None,  # noqa: A002  the option's name
    progress: bool = False,
) -> "Searched":
    """Finds the smallest or largest value with which the goals hold, as `tailrace search` does.

    `vary` maps dotted paths to ranges such as `"1MB..64MB"` or to lists of values; a goal is
    `"shop.p99 < 5ms"`. `precision` and `confidence` are shares from 0 to 1. `found` of the answer
    is None when no setting meets the goals; `search.json` and `search.md` are written to its
    `path`. The other parameters are those of `run`. Raises `RunRefusedError` or `ScenarioError` for
    what makes no sense, and `KeyboardInterrupt` when interrupted: the same call continues.
    """
    from tailrace.search.search import search
    from tailrace.search.text import write_search
    from tailrace.search.wanted import Wanted

    refuse_executor(on, Jobs(), jobs)
    wanted = Wanted(
        _texts(vary),
        [goals] if isinstance(goals, str) else list(goals),
        minimise,
        maximise,
        arm,
        precision,
        confidence,
        trials_max,
        confirm,
        sampler,
        evaluations,
        jobs,
        scale or 1.0,
        Path(out) if out else None,
    )
    loaded = _loaded(scenario, _with_seed(set, seed), scale)
    reporter = reporter_for(json_lines=False, quiet=not progress)
    with opened(on, Jobs(), reporter.say) as executor:
        found = search(loaded, wanted, reporter, executor)
    write_search(found)
    return found


def sensitivity_of(
    scenario: Source,
    vary: Mapping[str, Sequence[Any] | str] | None = None,
    *,
    assumptions: bool = True,
    figures: str | Sequence[str] = (),
    arms: str | Sequence[str] = (),
    trials: int = 1,
    trajectories: int = 6,
    samples: int = 16,
    factors: int = 4,
    checks: int = 16,
    seed: int | None = None,
    jobs: int | None = None,
    scale: float | None = None,
    out: str | Path | None = None,
    on: str = "local",
    set: Mapping[str, Any] | None = None,  # noqa: A002  the option's name
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
    from tailrace.sensitivity.study import Studying, Wanted
    from tailrace.sensitivity.text import write_study

    refuse_executor(on, Jobs(), jobs)
    wanted = Wanted(
        assumptions,
        _texts(vary or {}),
        [figures] if isinstance(figures, str) else list(figures),
        [arms] if isinstance(arms, str) else list(arms),
        trials,
        trajectories,
        samples,
        factors,
        checks,
        jobs,
        scale or 1.0,
        Path(out) if out else None,
    )
    loaded = _loaded(scenario, _with_seed(set, seed), scale)
    reporter = reporter_for(json_lines=False, quiet=not progress)
    with opened(on, Jobs(), reporter.say) as executor:
        study = Studying(loaded, wanted, reporter, executor).run()
    write_study(study, "tailrace.sensitivity_of")
    return study


def _texts(vary: Mapping[str, Sequence[Any] | str]) -> list[str]:
    """As the options of the command line."""
    return [
        f"{path}={values if isinstance(values, str) else ','.join(text_of(value) for value in values)}"  # noqa: E501
        for path, values in vary.items()
    ]


def _with_seed(changes: Mapping[str, Any] | None, seed: int | None) -> dict[str, Any]:
    return {**(changes or {}), **({} if seed is None else {"experiment.seed": seed})}


def _loaded(scenario: Source, changes: Mapping[str, Any], scale: float | None) -> Loaded:
    """The scenario, with its warnings issued."""
    if scale is not None and scale <= 0:
        raise RunRefusedError(
            f"scale {scale:g} must be greater than zero (hint: 0.05 runs a twentieth of the work)"
        )
    loaded = load_scenario(scenario, changes)
    for warning in loaded.warnings:
        warnings.warn(str(warning), ScenarioWarning, stacklevel=3)
    return loaded


def _run(
    scenario: Source,
    arms: str | Sequence[str] | None,
    baseline: str | None,
    trials: int | Literal["auto"] | None,
    seed: int | None,
    jobs: int | None,
    scale: float | None,
    out: str | Path | None,
    changes: dict[str, Any],
    engine: Engine | None,
    on: str,
    explain: bool | None,
    *,
    is_shown: bool,
) -> Result:
    refuse_executor(on, Jobs(), jobs)
    chosen = [arms] if isinstance(arms, str) else arms
    given = {"trials": trials, "seed": seed, "baseline": baseline}
    changes |= {f"experiment.{key}": value for key, value in given.items() if value is not None}
    loaded = _loaded(scenario, changes, scale)
    refuse_baseline(baseline, chosen)
    if loaded.is_large:
        raise RunRefusedError(
            "the sweep has more than 2000 points, of which figures alone are kept (hint: run "
            "it with `tailrace run`,"
            " and read its sweep.csv)"
        )
    options = Options(chosen, jobs, scale or 1.0, Path(out) if out else None, ["tailrace.run"])
    reporter = reporter_for(json_lines=False, quiet=not is_shown)
    with opened(on, Jobs(), reporter.say) as executor:
        experiment = ExperimentRun(loaded, options, reporter, engine, executor)
        finished = experiment.run()
    is_interrupted = finished.is_interrupted or explain_run(experiment, is_asked=explain)
    if experiment.engine.name == LIVE and explain is not False and not is_interrupted:
        explain_live_finished(finished.path, reporter.say)
    summarise_and_report(finished.path)
    if is_interrupted:
        raise KeyboardInterrupt
    return Result(finished.path)
