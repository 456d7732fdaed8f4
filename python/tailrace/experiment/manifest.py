"""The manifest of a run: its scenario, software, machine and progress."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tailrace.experiment.cores import AUTO
from tailrace.experiment.engine import Engine
from tailrace.experiment.executor import Executor, Local
from tailrace.experiment.machine import describe_machine, versions
from tailrace.experiment.options import Options
from tailrace.experiment.recordings import recordings_data, recordings_of
from tailrace.experiment.scale import scaled, workload_scales
from tailrace.outcome.stored import FORMAT
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.sweep import axis_names, text_of


@dataclass(frozen=True)
class Described:
    """The run that a manifest describes."""

    loaded: Loaded
    options: Options
    engine: Engine
    identity: str
    executor: Executor
    chosen: Sequence[str]
    """The requested arms."""
    arms: Sequence[str]
    """The arms that run; in a sweep, each requested arm at every point."""
    scenarios: Mapping[str, Scenario]
    baseline: str
    trials: int
    """Trials per arm, those of earlier calls included."""
    order: Sequence[str]
    auto: Mapping[str, Any] | None = None
    """The rule for the number of trials, and the results of the looks; None where the number is
    given."""


def manifest_of(run: Described, held: Mapping[str, Any] | None) -> dict[str, Any]:
    """The manifest of a run that starts or resumes; `held` is the one in the directory."""
    scenario, options = run.loaded.scenario, run.options
    held = held or {}
    sweep = sweep_of(run.loaded, run.chosen)
    kept = [] if sweep else held.get("arms", [])
    chosen = {*run.arms, *kept}
    arms = [arm for arm in run.scenarios if arm in chosen]
    return {
        "manifest_version": FORMAT,
        "name": scenario.name,
        "description": scenario.description,
        "identity": run.identity,
        "state": "running",
        "engine": run.engine.name,
        **run.engine.facts(),
        "versions": versions() | run.engine.versions(),
        "machine": describe_machine(),
        "seed": scenario.experiment.seed,
        "scale": options.scale,
        "live_scale": options.live_scale,
        "workload_scale": _workload_scales(run),
        **counted(run),
        "arms": arms,
        "baseline": run.baseline,
        "workloads": list(scenario.workloads),
        "groups": scenario.groups,
        "headline": [part.model_dump(exclude_none=True) for part in scenario.headline],
        "overrides": {arm: scenario.arms.get(arm, {}) for arm in run.loaded.arms},
        **({"sweep": sweep} if sweep else {}),
        **({"recordings": recordings_data(kept)} if (kept := recordings_of(run.loaded)) else {}),
        "jobs": max(1, run.executor.slots),
        "cores_per_trial": cores_of_trials(run.executor, run.engine, options, held),
        **({} if run.executor.name == Local.name else {"on": run.executor.name}),
        "command": list(options.command),
        "started": held.get("started", now()),
        "finished": None,
        "plan_hashes": held.get("plan_hashes", {}),
        "calibration": held.get("calibration"),
        "assumptions": [part.model_dump(exclude={"vary"}) for part in scenario.assumptions],
        "expectations": [
            part.model_dump(exclude_none=True, exclude={"goal"}) for part in scenario.expect
        ],
    }


def counted(run: Described) -> dict[str, Any]:
    """The entries that change while a run of `trials: auto` continues."""
    return {
        "trials": run.trials,
        "order": list(run.order),
        **({"auto": run.auto} if run.auto else {}),
    }


def cores_of_trials(
    executor: Executor, engine: Engine, options: Options, held: Mapping[str, Any]
) -> Any:
    """Requested cores of each trial; where earlier calls requested other numbers, a list of all of
    them.

    The file of a trial has its actual number.
    """
    is_one = engine.has_one_core or executor.name != Local.name
    own = 1 if is_one else options.cores or AUTO
    before = held.get("cores_per_trial", own)
    every = list(dict.fromkeys([*(before if isinstance(before, list) else [before]), own]))
    return every if len(every) > 1 else own


def sweep_of(loaded: Loaded, arms: Sequence[str]) -> dict[str, Any] | None:
    """The axes, points and arms of a sweep; None without one."""
    spec = loaded.scenario.sweep
    if spec is None:
        return None
    names = axis_names(list(spec.axes))
    return {
        "axes": [
            {"path": path, "name": names[path], "values": [text_of(value) for value in values]}
            for path, values in spec.axes.items()
        ],
        "combine": spec.combine,
        "points": [
            {
                "label": point.label,
                "values": {path: text_of(value) for path, value in point.values.items()},
            }
            for point in loaded.points
        ],
        "arms": list(arms),
    }


def _workload_scales(run: Described) -> dict[str, float]:
    full, scale = run.loaded.arms[run.baseline], run.options.scale
    return workload_scales(full, scaled(full, scale), scale)


def now() -> str:
    """The current time, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
