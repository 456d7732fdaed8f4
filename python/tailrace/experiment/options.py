"""Options of a run, resolved for an engine and a scenario."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.errors import RunRefusedError, known_arm
from tailrace.experiment.cores import refuse_one_core
from tailrace.experiment.engine import Engine
from tailrace.experiment.machine import available_cores


@dataclass(frozen=True)
class Options:
    """Options of a run."""

    arms: Sequence[str] | None = None
    """Arms to run; all when empty."""
    jobs: int | None = None
    """Concurrent trials; None for one per core."""
    scale: float = 1.0
    """Factor for every count, size and duration."""
    out: Path | None = None
    """Run directory; None for one below `runs/` named after the scenario and its plans."""
    command: Sequence[str] = field(default_factory=lambda: list(sys.argv))
    """The command line, recorded in the manifest."""
    live_scale: int = 1
    """Rates, queues and users are divided by this; see `experiment.divide`."""
    time_budget_s: float | None = None
    """Trials that would end later are not started, and live ones that the machine invalidated are
    repeated until then; None to limit the attempts instead."""
    cores: int | None = None
    """Cores of each trial; None for a share of the machine's where several are faster."""


def jobs_of(asked: int | None, engine: Engine, cores: int | None = None) -> int:
    """Number of concurrent trials, each with this many cores; raises `RunRefusedError` when the
    engine cannot run that many."""
    if engine.has_one_core:
        refuse_one_core(cores, engine.name)
    jobs = max(1, available_cores() // (cores or 1)) if asked is None else asked
    if jobs < 1:
        raise RunRefusedError(
            f"--jobs {jobs}: jobs must be at least 1 (hint: omit --jobs for one job per core)"
        )
    most = engine.jobs_max
    if asked is not None and most is not None and asked > most:
        raise RunRefusedError(
            f"{asked} {engine.name} trials at the same time would disturb each other (hint: "
            "omit --jobs)"
        )
    return jobs if most is None else min(jobs, most)


def chosen_arms(asked: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    if not asked:
        return list(known)
    for arm in asked:
        known_arm(arm, known)
    return [arm for arm in known if arm in asked]


def refuse_baseline(baseline: str | None, arms: Sequence[str] | None) -> None:
    """Raises `RunRefusedError` for a baseline that is not among the requested arms."""
    if baseline is not None and arms and baseline not in arms:
        raise RunRefusedError(
            f"--baseline {baseline}: the arm does not run (hint: add --arm {baseline}; finished "
            "trials are not run again)"
        )
