"""Settings of one scenario that are run one after the other, each in a run directory of its own
below one folder.

How many trials a setting needs is not known before: the same directory continues with more of them.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tailrace.errors import ScenarioError
from tailrace.experiment.engine import Simulated
from tailrace.experiment.estimate import TimeEstimate
from tailrace.experiment.executor import Executor, Local
from tailrace.experiment.native import Failed, Ran
from tailrace.experiment.options import Options, jobs_of
from tailrace.experiment.pool import Running
from tailrace.experiment.reporter import Reporter, Silent
from tailrace.experiment.run import ExperimentRun
from tailrace.experiment.schedule import TrialKey
from tailrace.experiment.stages import working
from tailrace.folder import Folder
from tailrace.results.directory.run_directory import Run
from tailrace.scenario.loading import Loaded, load_document, try_changes
from tailrace.scenario.text.document import Document

POINTS = "points"
AHEAD_MAX = 64
"""Settings whose trials run as one list, at most: each has its plans in memory and its directory
locked."""
LEFT_OUT: dict[str, Any] = {"sweep": None, "expect": [], "published": None, "assumptions": []}
"""Sections about points other than the running one."""


class ProgressOnly:
    """Reports the progress of trials; messages about one of many runs are omitted."""

    def __init__(self, reporter: Reporter) -> None:
        self.say = Silent().say
        self.begin, self.tick = reporter.begin, reporter.tick
        self.finished, self.end = reporter.finished, reporter.end


class _Together:
    """Trials of several experiments in one list."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._of: dict[TrialKey, tuple[ExperimentRun, TrialKey]] = {}
        self._executor: Executor | None = None
        self._estimate = TimeEstimate([], 1)

    def add(self, label: str, experiment: ExperimentRun, key: TrialKey) -> None:
        """One trial of the experiment with this label."""
        self._of[TrialKey(f"{label}/{key.arm}", key.number)] = experiment, key

    def run(self, executor: Executor) -> bool:
        """Runs all of them; returns whether it was interrupted."""
        if not self._of:
            return False
        keys = list(self._of)
        self._executor, self._estimate = executor, TimeEstimate(keys, executor.slots)
        self._reporter.begin("trials of several points", self._estimate)
        try:
            return executor.run_all(keys, self._plan_of, self)
        finally:
            self._reporter.end()

    def tick(self, running: Sequence[Running]) -> None:
        """From the executor."""
        assert self._executor is not None, "it runs"
        self._estimate.observe(self._executor.slots)
        self._reporter.tick(running)

    def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
        """From the executor."""
        experiment, own = self._of[key]
        self._estimate.finished(key, wall_s)
        experiment.finished(own, ended, wall_s)

    def _plan_of(self, key: TrialKey) -> str:
        experiment, own = self._of[key]
        return experiment.plans.json(own)


@dataclass(frozen=True)
class Points:
    """The scenario, and where and how its settings are run."""

    document: Document
    arms: Sequence[str]
    """Arms that every setting is run with."""
    folder: Path
    reporter: Reporter
    jobs: int | None = None
    scale: float = 1.0
    executor: Executor | None = None
    """Where trials run; None for threads of this process."""
    cores: int | None = None
    """Cores of each trial; None for a share of the machine's where several are faster."""

    def loaded(self, changes: Mapping[str, Any], trials: int) -> Loaded:
        """The scenario with values at dotted paths; raises `ScenarioError` where it is invalid."""
        changed, _, problems = try_changes(self.document, changes)
        if problems:
            raise ScenarioError(problems)
        edit = changed.edited()
        location = (changed.file, 0)
        for section, value in LEFT_OUT.items():
            if section in changed.data:
                edit.set((section,), value, location)
        edit.set(("experiment", "trials"), trials, location)
        edit.set(("experiment", "solo"), False, location)
        return load_document(edit.document())

    def experiment(self, changes: Mapping[str, Any], trials: int, label: str) -> ExperimentRun:
        """The experiment of one setting; nothing is written."""
        out = self.folder / POINTS / label
        options = Options(
            arms=list(self.arms), jobs=self.jobs, cores=self.cores, scale=self.scale, out=out
        )
        return ExperimentRun(
            self.loaded(changes, trials),
            options,
            ProgressOnly(self.reporter),
            executor=self.executor,
        )

    def _experiment(self, changes: Mapping[str, Any], trials: int, label: str) -> ExperimentRun:
        """The experiment of one setting, with its folder. A link to elsewhere is refused."""
        made = self.experiment(changes, trials, label)
        Folder(self.folder).make(f"{POINTS}/{label}")
        return made

    def run_ahead(self, settings: Sequence[tuple[Mapping[str, Any], str]], trials: int) -> None:
        """Runs the missing trials of many settings, given by changes and label, as one list, so
        that all slots are in use. `run` then finds them complete.

        Raises `KeyboardInterrupt` when interrupted; finished trials are kept.
        """
        if self.document.data.get("experiment", {}).get("calibrate") is not None:
            return  # the size of the work is known only when the trials of its calibration have run
        left = iter({label: changes for changes, label in settings}.items())
        while few := list(islice(left, AHEAD_MAX)):
            with ExitStack() as stack:
                together = _Together(self.reporter)
                with working(self.reporter, "making plans"):
                    for label, changes in few:
                        experiment = self._experiment(changes, trials, label)
                        for key in stack.enter_context(experiment.prepared()):
                            together.add(label, experiment, key)
                if together.run(self.executor or self._here()):
                    raise KeyboardInterrupt

    def _here(self) -> Local:
        """Threads of this process."""
        engine = Simulated()
        return Local(jobs_of(self.jobs, engine, self.cores), engine, self.cores)

    def run(self, changes: Mapping[str, Any], trials: int, label: str) -> Run:
        """Runs the missing trials of one setting.

        Raises `KeyboardInterrupt` when interrupted; finished trials are kept.
        """
        finished = self._experiment(changes, trials, label).run()
        if finished.is_interrupted:
            raise KeyboardInterrupt
        return Run.read(finished.path)
