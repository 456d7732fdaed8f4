"""The Python interface: run a scenario from a program or a notebook."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError, ScenarioWarning
from tailrace.exact.engine import ExactEngine
from tailrace.experiment.engine import Engine
from tailrace.experiment.options import Options
from tailrace.experiment.reporter import reporter_for
from tailrace.experiment.run import ExperimentRun, summarise_and_report
from tailrace.live.engine import LiveEngine
from tailrace.results import Result
from tailrace.scenario.loading import Loaded, Source, load_scenario


def load(scenario: Source, *, set: Mapping[str, Any] | None = None) -> Loaded:  # noqa: A002  the option's name
    """Reads and checks a scenario, from a file or a dictionary; raises `ScenarioError` with every problem."""
    return load_scenario(scenario, set)


def run(
    scenario: Source,
    *,
    arms: str | Sequence[str] | None = None,
    trials: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    scale: float | None = None,
    out: str | Path | None = None,
    live: bool = False,
    exact: bool = False,
    set: Mapping[str, Any] | None = None,  # noqa: A002  the option's name
    progress: bool = False,
) -> Result:
    """Runs every arm and trial of a scenario and returns the result; repeating the call resumes an incomplete run.

    `set` maps dotted paths to values, as `--set` does. The run directory is `out`, or one below `runs/`.
    `live` runs the real programs, which requires root on Linux; `exact` runs real kernels in virtual time. Warnings of
    `tailrace check` are issued as `ScenarioWarning`. An interrupt (Ctrl-C) keeps the finished trials, writes a partial
    result and raises `KeyboardInterrupt`.
    """
    if live and exact:
        raise RunRefusedError("live and exact are two engines (hint: run each, and compare the two)")
    engine = LiveEngine() if live else ExactEngine() if exact else None
    return _run(scenario, arms, trials, seed, jobs, scale, out, dict(set or {}), engine, is_shown=progress)


def sweep(
    scenario: Source,
    axes: Mapping[str, Sequence[Any] | str],
    *,
    paired: bool = False,
    arms: str | Sequence[str] | None = None,
    trials: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    scale: float | None = None,
    out: str | Path | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002  the option's name
    progress: bool = False,
) -> Result:
    """Runs every arm at every point of `axes` and returns the result; finished points are not run again.

    `axes` maps dotted paths to lists of values or to ranges such as `"log(1MB, 64MB, 7)"`. Several axes form a grid;
    with `paired` their values are combined pairwise. `result.summary["sweep"]` holds the curves. The other parameters
    are those of `run`.
    """
    spec = {"axes": dict(axes), "combine": "paired" if paired else "grid"}
    changes = {**(set or {}), "sweep": spec}
    return _run(scenario, arms, trials, seed, jobs, scale, out, changes, None, is_shown=progress)


def _run(
    scenario: Source,
    arms: str | Sequence[str] | None,
    trials: int | None,
    seed: int | None,
    jobs: int | None,
    scale: float | None,
    out: str | Path | None,
    changes: dict[str, Any],
    engine: Engine | None,
    *,
    is_shown: bool,
) -> Result:
    if trials is not None:
        changes["experiment.trials"] = trials
    if seed is not None:
        changes["experiment.seed"] = seed
    loaded = load_scenario(scenario, changes)
    for warning in loaded.warnings:
        warnings.warn(str(warning), ScenarioWarning, stacklevel=2)
    if scale is not None and scale <= 0:
        raise RunRefusedError(f"scale {scale:g} must be greater than zero (hint: 0.05 runs a twentieth of the work)")
    options = Options(
        [arms] if isinstance(arms, str) else arms, jobs, scale or 1.0, Path(out) if out else None, ["tailrace.run"]
    )
    finished = ExperimentRun(loaded, options, reporter_for(json_lines=False, quiet=not is_shown), engine).run()
    summarise_and_report(finished.path)
    if finished.is_interrupted:
        raise KeyboardInterrupt
    return Result(finished.path)
