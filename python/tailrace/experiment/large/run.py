"""Runs a large sweep: plans are made when they are handed out, and of an outcome its figures are
kept, in a line."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.experiment.cores import divided_plans
from tailrace.experiment.engine import Engine, Simulated
from tailrace.experiment.estimate import TimeEstimate
from tailrace.experiment.executor import Executor, Local
from tailrace.experiment.judge import judged
from tailrace.experiment.large.grid import Grid, parts_of
from tailrace.experiment.machine import describe_machine, versions
from tailrace.experiment.manifest import cores_of_trials, now, sweep_of
from tailrace.experiment.native import Failed, Ran
from tailrace.experiment.options import Options, chosen_arms, jobs_of
from tailrace.experiment.plans import Plans, identity
from tailrace.experiment.pool import Running
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.run import INTERRUPTED, NAME_HASH_DIGITS, RUNS
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import LazyKeys, TrialKey
from tailrace.experiment.storage import RunDirectory
from tailrace.outcome.run_files import TRIALS, TrialFiles
from tailrace.outcome.stored import FORMAT
from tailrace.results.directory.run_directory import FINISHED, Trial
from tailrace.results.large.figures import bounds_of, figures_of
from tailrace.results.large.lines import IMPOSSIBLE, KEPT, Line, Lines
from tailrace.scenario.loading import Loaded

TRIALS_MAX = 100_000_000
"""Trials of one sweep, at most."""
LISTED_BAD_MAX = 20
"""Trials that are not ok are listed up to this number; the others are counted."""


@dataclass(frozen=True)
class Ended:
    """A large sweep that has ended or was interrupted."""

    path: Path
    is_interrupted: bool
    bad: int
    """Trials of this call that are not ok, and impossible points."""


class LargeRun:
    """The trials of a large sweep and their directory."""

    def __init__(
        self, loaded: Loaded, options: Options, reporter: Reporter, executor: Executor | None = None
    ) -> None:
        _refuse(loaded, options)
        self.loaded, self.options, self.reporter = loaded, options, reporter
        self.engine: Engine = Simulated()
        self.jobs = jobs_of(options.jobs, self.engine, options.cores)
        self.executor: Executor = (
            Local(self.jobs, self.engine, options.cores) if executor is None else executor
        )
        self.arms = chosen_arms(options.arms, list(loaded.arms))
        self.grid = Grid(loaded, self.arms, options.scale)
        if self.grid.count > TRIALS_MAX:
            number, most = (f"{one:,}".replace(",", " ") for one in (self.grid.count, TRIALS_MAX))
            raise RunRefusedError(
                f"the sweep has {number} trials; the limit is {most} (hint: fewer --trials)"
            )
        plans = Plans({arm: scaled(loaded.arms[arm], options.scale) for arm in self.arms})
        spec = loaded.scenario.experiment
        axes = {path: list(values) for path, values in self.grid.sweep.axes.items()}
        # Trials are known by the number of their point, so that another grid is another run.
        terms = ["large sweep", axes, self.grid.sweep.combine, spec.trials]
        self.identity = identity(plans.hashes, spec, self.engine.build(), terms)
        if options.cores is not None and options.cores > 1:
            made = {arm: partial(plans.json, TrialKey(arm, 1)) for arm in self.arms}
            for notice in divided_plans(options.cores, self.jobs, loaded, made):
                reporter.say(notice)
        name = f"{loaded.scenario.name}-sweep-{self.identity[:NAME_HASH_DIGITS]}"
        self.directory = RunDirectory(options.out or RUNS / name)
        self.lines = Lines(self.directory.files.folder)
        self.held = 0
        """Trials that had run before."""
        self.bad = 0
        self.estimate = TimeEstimate([], self.jobs)
        self._adding = threading.Lock()

    def run(self) -> Ended:
        """Runs the trials that have not run; raises the executor's errors, with the finished trials
        kept."""
        self.directory.open(self.identity)
        with self.directory.locked():
            held = self.directory.open(self.identity)
            self.lines.mend()
            manifest = self._manifest(held or {})
            self.directory.write_manifest(manifest)
            is_interrupted = True
            try:
                is_interrupted = self._run_trials()
            finally:
                state = INTERRUPTED if is_interrupted else FINISHED
                with suppress(OSError):  # an error that ended the run is the one to report
                    self.directory.write_manifest({**manifest, "state": state, "finished": now()})
        return Ended(self.directory.path, is_interrupted, self.bad)

    def _run_trials(self) -> bool:
        for lines in self.lines.read():
            for line in lines.values():
                if line.status in KEPT and line.arm in self.grid.arms:
                    self.held += self.grid.mark(line.point, line.arm, line.trial)
        if self.held:
            self.reporter.say(f"{self.held} of {self.grid.count} trials are complete already")
        keys = LazyKeys(lambda: self.grid.keys(self._impossible), self.grid.count - self.held)
        if not len(keys):
            return False
        self.estimate = TimeEstimate(keys, self.executor.slots)
        self.reporter.begin(f"trials at {self.grid.sweep.count} points", self.estimate)
        try:
            return self.executor.run_all(keys, self.grid.json, self)
        finally:
            self.reporter.end()

    def tick(self, running: Sequence[Running]) -> None:
        """From the executor."""
        self.estimate.observe(self.executor.slots)
        self.reporter.tick(running)

    def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
        """From the executor: judges the trial and keeps its figures."""
        verdict = judged(ended, self.grid.scenario(key.arm), self.engine)
        point, arm = parts_of(key.arm)
        outcome = ended.outcome if isinstance(ended, Ran) else None
        reported = outcome if verdict.status == "ok" or verdict.unfinished else None
        files = TrialFiles(self.directory.files, TRIALS, str(key.number))
        trial = Trial(
            arm,
            key.number,
            verdict.status,
            verdict.reason,
            reported,
            files,
        )
        figures = figures_of(trial)
        seed, digest = (None, None) if outcome is None else (outcome.seed, outcome.digest)
        line = Line(
            point, arm, key.number, trial.status, trial.reason, seed, digest,
            round(wall_s, 6), figures, bounds_of(trial, figures),
        )  # fmt: skip
        self._add(line)
        self.estimate.finished(key, wall_s)
        if line.status != "ok":
            self._report_bad(
                f"{arm} at {self.grid.sweep.point(point).label}, trial {key.number}: {line.status}",
                line.reason,
            )

    def _impossible(self, point: int, arm: str, reason: str) -> None:
        self._add(Line(point, arm, 0, IMPOSSIBLE, reason))
        self.estimate.skip(self.grid.trials)
        self._report_bad(f"{arm} at {self.grid.sweep.point(point).label}: {IMPOSSIBLE}", reason)

    def _add(self, line: Line) -> None:
        with self._adding:  # a point is made in one thread while a trial ends in another
            self.lines.add(line)

    def _report_bad(self, what: str, reason: str) -> None:
        self.bad += 1
        if self.bad <= LISTED_BAD_MAX:
            more = "; no more of them are listed" if self.bad == LISTED_BAD_MAX else ""
            self.reporter.say(f"{what}: {reason}{more}")

    def _manifest(self, held: dict[str, Any]) -> dict[str, Any]:
        scenario = self.loaded.scenario
        return {
            "manifest_version": FORMAT,
            "name": scenario.name,
            "description": scenario.description,
            "identity": self.identity,
            "state": "running",
            "engine": self.engine.name,
            "versions": versions() | self.engine.versions(),
            "machine": describe_machine(),
            "seed": scenario.experiment.seed,
            "scale": self.options.scale,
            "live_scale": 1,
            "trials": scenario.experiment.trials,
            "arms": self.arms,
            "baseline": scenario.baseline_among(self.arms),
            "workloads": list(scenario.workloads),
            "large": {"points": self.grid.sweep.count, "trials": self.grid.count},
            "sweep": sweep_of(self.loaded, self.arms),
            "jobs": max(1, self.executor.slots),
            "cores_per_trial": cores_of_trials(self.executor, self.engine, self.options, held),
            **({} if self.executor.name == Local.name else {"on": self.executor.name}),
            "command": list(self.options.command),
            "started": held.get("started", now()),
            "finished": None,
        }


def _refuse(loaded: Loaded, options: Options) -> None:
    """Raises `RunRefusedError` for features that a large sweep does not have."""
    spec, sweep = loaded.scenario.experiment, loaded.scenario.sweep
    assert sweep is not None, "a large sweep is a sweep"
    words = {
        "experiment.solo": spec.has_solo,
        "experiment.calibrate": spec.calibrate is not None,
        "--time-budget": options.time_budget_s is not None,
        "--live-scale": options.live_scale != 1,
    }
    if given := [name for name, is_given in words.items() if is_given]:
        raise RunRefusedError(
            f"a sweep of {sweep.count} points keeps figures alone, and has no {given[0]} "
            "(hint: run it without a sweep)"
        )
    if spec.is_auto:
        raise RunRefusedError(
            f"a sweep of {sweep.count} points compares no trials while it runs, by which "
            "experiment.trials: auto would decide (hint: give a number with --trials)"
        )
