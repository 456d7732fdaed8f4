"""The manifest of a run: what it is, what made it, and how far it has come."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tailrace.experiment.machine import describe_machine, versions
from tailrace.experiment.scale import scaled, workload_scales
from tailrace.scenario.loading import Loaded
from tailrace.scenario.sweep import axis_names, text_of

if TYPE_CHECKING:
    from tailrace.experiment.run import Experiment

MANIFEST_VERSION = 1


def manifest_of(experiment: "Experiment", held: Mapping[str, Any] | None) -> dict[str, Any]:
    """The manifest as a run begins or goes on; `held` is what the directory has already."""
    scenario, options = experiment.loaded.scenario, experiment.options
    held = held or {}
    sweep = sweep_of(experiment.loaded, experiment.chosen)
    kept = [] if sweep else held.get("arms", [])
    chosen = {*experiment.arms, *kept}
    arms = [arm for arm in experiment.scenarios if arm in chosen]
    trials = max(scenario.experiment.trials, int(held.get("trials", 0)))
    return {
        "manifest_version": MANIFEST_VERSION,
        "name": scenario.name,
        "description": scenario.description,
        "identity": experiment.identity,
        "state": "running",
        "engine": experiment.engine.name,
        **experiment.engine.facts(),
        "versions": versions() | experiment.engine.versions(),
        "machine": describe_machine(),
        "seed": scenario.experiment.seed,
        "scale": options.scale,
        "live_scale": options.live_scale,
        "workload_scale": _workload_scales(experiment),
        "trials": trials,
        "arms": arms,
        "baseline": experiment.baseline,
        "workloads": list(scenario.workloads),
        "groups": scenario.groups,
        "headline": [part.model_dump(exclude_none=True) for part in scenario.headline],
        "overrides": {arm: scenario.arms.get(arm, {}) for arm in experiment.loaded.arms},
        **({"sweep": sweep} if sweep else {}),
        "order": [str(key) for key in experiment.keys(trials)],
        "jobs": experiment.jobs,
        "command": list(options.command),
        "started": held.get("started", now()),
        "finished": None,
        "plan_hashes": held.get("plan_hashes", {}),
        "calibration": held.get("calibration"),
        "assumptions": [part.model_dump() for part in scenario.assumptions],
        "expectations": [part.model_dump(exclude_none=True) for part in scenario.expect],
    }


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
            {"label": point.label, "values": {path: text_of(value) for path, value in point.values.items()}}
            for point in loaded.points
        ],
        "arms": list(arms),
    }


def _workload_scales(experiment: "Experiment") -> dict[str, float]:
    full, scale = experiment.loaded.arms[experiment.baseline], experiment.options.scale
    return workload_scales(full, scaled(full, scale), scale)


def now() -> str:
    """The time of day, for the record."""
    return datetime.now(UTC).isoformat(timespec="seconds")
