"""Runs an experiment: from a checked scenario to a run directory with summary and report."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.experiment import calibrate
from tailrace.experiment.budget import Budget, Lack, lacks, next_trial
from tailrace.experiment.cores import divided_plans
from tailrace.experiment.divide import divided
from tailrace.experiment.engine import LIVE, Engine, Simulated
from tailrace.experiment.estimate import TimeEstimate
from tailrace.experiment.executor import Executor, Local, refuse_elsewhere
from tailrace.experiment.judge import judged, stored_trial
from tailrace.experiment.looks import Looks
from tailrace.experiment.manifest import Described, counted, manifest_of, now
from tailrace.experiment.native import Failed, Ran
from tailrace.experiment.options import Options, chosen_arms, jobs_of
from tailrace.experiment.plans import Plans, alone, identity
from tailrace.experiment.pool import Running
from tailrace.experiment.published import check_published
from tailrace.experiment.recordings import copy_recordings, data_with, recordings_of, text_with
from tailrace.experiment.reporter import Reporter, Silent
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import Keys, LazyKeys, TrialKey, shuffled
from tailrace.experiment.storage import RunDirectory
from tailrace.files import read_bytes
from tailrace.results.directory.published import PUBLISHED
from tailrace.results.directory.run_directory import FINISHED
from tailrace.results.summary.summary import Summary
from tailrace.scenario.experiment import SOLO, Experiment
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario

RUNS = Path("runs")
"""Default parent of the run directories."""
NAME_HASH_DIGITS = 8
SECONDS_PER_MINUTE = 60
INTERRUPTED = "interrupted"
"""State of a run that has ended before it was `FINISHED`."""
LOST_LISTED_MAX = 5
"""Trials without an outcome that a message names at most."""


@dataclass(frozen=True)
class Finished:
    """A run that has ended or was interrupted."""

    path: Path
    is_interrupted: bool
    statuses: Mapping[TrialKey, str]
    lacks: Sequence[Lack] = ()
    """Arms with fewer valid trials than wanted, where a time budget ended the run."""
    is_out_of_time: bool = False
    """Whether a time budget ended a run of `trials: auto` between two looks."""

    @property
    def is_valid(self) -> bool:
        """Whether all trials that were run are valid and none is missing."""
        return all(status == "ok" for status in self.statuses.values()) and not self.lacks


class ExperimentRun:
    """The plans of a scenario, their trials and the run directory."""

    def __init__(
        self,
        loaded: Loaded,
        options: Options,
        reporter: Reporter | None = None,
        engine: Engine | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.loaded = loaded = divided(loaded, options.live_scale)
        self.options = options
        self.reporter: Reporter = reporter or Silent()
        self.engine: Engine = Simulated() if engine is None else engine
        self.jobs = jobs_of(options.jobs, self.engine, options.cores)
        self.executor: Executor = (
            Local(self.jobs, self.engine, options.cores) if executor is None else executor
        )
        refuse_elsewhere(self.engine, self.executor.name)
        self.chosen = chosen_arms(options.arms, list(loaded.arms))
        at_points = [point.arm(arm) for point in loaded.points for arm in self.chosen]
        self.arms = at_points if loaded.points else self.chosen
        check_published(loaded)
        every = {**loaded.arms, **loaded.swept}
        self.scenarios = {arm: scaled(scenario, options.scale) for arm, scenario in every.items()}
        self.engine.refuse(loaded, {arm: self.scenarios[arm] for arm in self.arms})
        # The points of a sweep are not part of the identity: a finer grid continues in the same
        # directory.
        self.plans = Plans(self.with_solos())
        hashes = {arm: self.plans.hash(arm) for arm in self.scenarios if arm in loaded.arms}
        terms = [
            *self.engine.terms(self._spec),
            *(["sweep"] if loaded.points else []),
            *self._terms_of_solos(),
        ]
        self.identity = identity(hashes, self._spec, self.engine.build(), terms)
        kind = "sweep-" if loaded.points else ""
        name = f"{loaded.scenario.name}-{kind}{self.identity[:NAME_HASH_DIGITS]}"
        self.directory = RunDirectory(
            options.out or RUNS / name, lambda key: self.plans.planned(key)
        )
        self.looks = Looks(self._spec)
        self.notices = self._divided(options.cores)
        self.statuses: dict[TrialKey, str] = {}
        self.estimate = TimeEstimate([], self.jobs)
        self.budget: Budget | None = None
        self._has_run = False

    def _divided(self, cores: int | None) -> list[str]:
        """Raises `ScenarioError` where a trial cannot have this many cores; returns notes about
        smaller numbers."""
        if cores is None or cores == 1:
            return []
        arms = [*self.arms, *self._solos()]
        plans = {arm: partial(self.plans.json, TrialKey(arm, 1)) for arm in arms}
        return [*divided_plans(cores, min(self.jobs, len(self.keys())), self.loaded, plans)]

    @property
    def _spec(self) -> Experiment:
        return self.loaded.scenario.experiment

    @property
    def baseline(self) -> str:
        """The arm of the scenario with which the others are compared."""
        return self.loaded.scenario.baseline

    def _terms_of_solos(self) -> list[str]:
        """The baseline, where workloads run alone in it and it is not the first arm."""
        is_first = self.baseline == next(iter(self.loaded.arms))
        return [] if is_first or not self._spec.has_solo else [f"alone in {self.baseline}"]

    def keys(self, trials: int | None = None) -> list[TrialKey]:
        """Every trial of this run in order of start; `trials` for each arm, default: as many as are
        wanted now."""
        numbers = range(1, (trials or self.looks.trials) + 1)
        keys = shuffled([*self.arms, *self._solos()], numbers, self._spec.seed)
        return [
            key
            for key in keys
            if not key.arm.startswith(SOLO) or key.number <= self._spec.solo_trials
        ]

    def missing_keys(self, trials: int | None = None) -> list[TrialKey]:
        """The trials that have no result yet; `trials` as in `keys`."""
        return [key for key in self.keys(trials) if self.directory.finished(key) is None]

    def advance_looks(self) -> None:
        """Advances to the first incomplete look of `trials: auto`, by the trials in the
        directory."""
        while self._spec.is_auto and not self._loaded(self.keys()) and self._goes_on():
            pass

    def _solos(self) -> list[str]:
        """Arms of one workload alone; an endless workload has no completion time to compare."""
        if not self._spec.has_solo:
            return []
        baseline = self.scenarios[self.baseline]
        return [SOLO + name for name in baseline.workloads if baseline.has_end(name)]

    def run(self) -> Finished:
        """Runs the remaining trials and writes result and report, also after an interrupt."""
        for notice in self.notices:
            self.reporter.say(notice)
        self.directory.open(self.identity)
        with self.directory.locked():
            held = self.directory.open(
                self.identity
            )  # again: another process may have held the directory until now
            was_finished = self._was_finished(held)
            manifest = manifest_of(self.described(held), held)
            cores = manifest["cores_per_trial"]
            if held is not None and was_finished:  # no trial runs with the cores of this call
                manifest["cores_per_trial"] = held.get("cores_per_trial", cores)
            self.engine.open(
                self.directory.path
            )  # it may refuse the directory: nothing of a run is there then
            ended: dict[str, Any]
            try:
                self.directory.write_manifest(manifest)
                self._copy_scenario()
                is_interrupted = not self._calibrate() or self._run_trials()
            except BaseException:
                with suppress(OSError):  # the error that ended the run is the one to report
                    ended = {
                        "state": INTERRUPTED,
                        "finished": now(),
                        **counted(self.described(held)),
                    }
                    self.directory.write_manifest({**manifest, **ended})
                raise
            finally:
                self.engine.close()
            is_open = (
                is_interrupted or self.budget is not None
            )  # a budget may end before every trial has run
            lost = (
                [] if is_open else [key for key in self.keys() if not self.directory.is_there(key)]
            )
            is_whole = not is_interrupted and all(key in self.statuses for key in self.keys())
            state = FINISHED if is_whole and not lost else INTERRUPTED
            calibration = calibrate.recorded(self.directory)
            ended = {"state": state, "finished": was_finished or now()}
            if self._has_run:  # after all: `trials: auto` may want more of a run that had finished
                ended |= {"finished": now(), "cores_per_trial": cores}
            ended |= {
                "plan_hashes": self.plans.hashes,
                "calibration": calibration,
                **counted(self.described(held)),
            }
            self.directory.write_manifest({**manifest, **ended})
        if lost:
            raise RunRefusedError(_lost_words(self.directory.path, lost))
        lacking = lacks(self.keys(), self.statuses) if self.budget is not None else []
        late = self.looks.is_out_of_time
        return Finished(self.directory.path, is_interrupted, dict(self.statuses), lacking, late)

    @contextmanager
    def prepared(self) -> Iterator[list[TrialKey]]:
        """The trials without a result, for a caller that runs them beside those of other runs and
        hands over their outcomes (`finished`); `run` completes the directory afterwards.
        """
        self.directory.open(self.identity)
        with self.directory.locked():
            held = self.directory.open(self.identity)
            missing = self.missing_keys()
            if missing:
                self.directory.write_manifest(
                    {**manifest_of(self.described(held), held), "state": INTERRUPTED}
                )
                for key in {key.arm: key for key in missing}.values():
                    self.directory.write_plan(key, self.plans.raw(key))
            yield missing

    def described(self, held: dict[str, Any] | None) -> Described:
        """The manifest of this run; `held` is the manifest in the directory."""
        trials = self.looks.trials_planned(held or {})
        return Described(
            self.loaded,
            self.options,
            self.engine,
            self.identity,
            self.executor,
            self.chosen,
            self.arms,
            self.scenarios,
            self.baseline,
            trials,
            [str(key) for key in self.keys(trials)],
            self.looks.described(held or {}),
        )

    def _was_finished(self, held: dict[str, Any] | None) -> str | None:
        """When a complete run had finished; repeating its command does not change that time."""
        if held is None or held.get("state") != FINISHED:
            return None
        if self.missing_keys(self.looks.trials_finished(held)):
            return None
        return str(held.get("finished"))

    def _calibrate(self) -> bool:
        if self._spec.calibrate is None:
            return True
        done = calibrate.calibrated(
            self.scenarios, self.baseline, self.directory, self.executor, self.reporter, self.engine
        )
        if done is None:
            return False
        self.scenarios = done
        self.plans = Plans(self.with_solos())
        return True

    def is_calibrated(self) -> bool:
        """Whether the size of every workload is known; loads a calibration from the directory."""
        if self._spec.calibrate is None:
            return True
        return calibrate.recorded(self.directory) is not None and self._calibrate()

    def with_solos(self) -> dict[str, Scenario]:
        """The arms, and the solo runs of workloads in the baseline arm."""
        baseline = self.scenarios[self.baseline]
        return {
            **self.scenarios,
            **{arm: alone(baseline, arm.removeprefix(SOLO)) for arm in self._solos()},
        }

    def _run_trials(self) -> bool:
        """Runs the missing trials, look by look; returns whether it was interrupted."""
        if self.options.time_budget_s is not None:
            self.budget = Budget(self.options.time_budget_s)
        missing = self._loaded(self.keys())
        if done := len(self.keys()) - len(missing):
            self.reporter.say(f"{done} of {len(self.keys())} trials are complete already")
        while not (is_interrupted := self._run_missing(missing)) and self._goes_on():
            missing = self._loaded(self.keys())
        return is_interrupted

    def _goes_on(self) -> bool:
        """Performs the complete look; returns whether more trials are wanted."""
        if not self._spec.is_auto:
            return False
        statuses = [self.statuses.get(key) for key in self.keys()]
        if None in statuses:  # for want of time
            self.looks.back()
            return False
        return "failed" not in statuses and self.looks.goes_on(
            self.directory.path, self.arms, self.reporter
        )

    def _loaded(self, keys: Sequence[TrialKey]) -> list[TrialKey]:
        """Reads the statuses of finished trials; returns the others."""
        missing = []
        for key in keys:
            held = self.directory.finished(key)
            if held is None:
                if problem := self.directory.problem(key):
                    self.reporter.say(f"{problem}; trial {key} runs again")
                missing.append(key)
                continue
            if held.plan_hash != self.plans.hash(key.arm):
                path = self.directory.trial_path(key)
                raise RunRefusedError(
                    f"{path}: it was run with a different plan (hint: choose another --out)"
                )
            self.statuses[key] = held.status
        return missing

    def _run_missing(self, missing: Sequence[TrialKey]) -> bool:
        for key in {key.arm: key for key in self.keys()}.values():
            self.directory.write_plan(key, self.plans.raw(key))
        if self.budget is not None and self.engine.name == LIVE:
            return self._run_within(self.keys(), self.budget)
        is_interrupted = self._run_pool(self.looks.name, self._in_time(missing))
        while (
            not is_interrupted
            and self.budget is None
            and (repeatable := self._repeatable(self.keys()))
        ):
            is_interrupted = self._run_pool(
                "repeating trials that the machine invalidated", repeatable
            )
        return is_interrupted

    def _in_time(self, keys: Sequence[TrialKey]) -> Keys:
        """The trials in their order, as far as the time budget has room."""
        budget = self.budget
        return (
            keys
            if budget is None
            else LazyKeys(lambda: takewhile(budget.has_room, keys), len(keys))
        )

    def _run_within(self, keys: Sequence[TrialKey], budget: Budget) -> bool:
        """Runs trials one after the other until every arm has enough valid ones or the time is
        over."""
        tried: dict[TrialKey, int] = {key: self.directory.attempts(key) for key in keys}

        def may_run(key: TrialKey) -> bool:
            status = self.statuses.get(key)
            is_open = status is None or bool(self._invalidated([key]))
            return is_open and budget.has_room(key)

        self.estimate = TimeEstimate(
            [key for key in keys if self.statuses.get(key) != "ok"], self.executor.slots
        )
        self.reporter.begin(
            f"trials within {budget.limit_s / SECONDS_PER_MINUTE:g} min", self.estimate
        )
        try:
            while (key := next_trial(keys, self.statuses, may_run, tried.__getitem__)) is not None:
                tried[key] += 1
                if self.executor.run_all([key], self.plans.json, self):
                    return True
        finally:
            self.reporter.end()
        return False

    def _run_pool(self, what: str, keys: Keys) -> bool:
        """Runs these trials; returns whether it was interrupted."""
        if not len(keys):
            return False
        self.estimate = TimeEstimate(keys, self.executor.slots)
        self.reporter.begin(what, self.estimate)
        try:
            return self.executor.run_all(keys, self.plans.json, self)
        finally:
            self.reporter.end()

    def _repeatable(self, keys: Sequence[TrialKey]) -> list[TrialKey]:
        """Trials invalidated by the machine that may be repeated."""
        return [
            key
            for key in self._invalidated(keys)
            if self.directory.attempts(key) < self._spec.live.attempts
        ]

    def _invalidated(self, keys: Sequence[TrialKey]) -> list[TrialKey]:
        held = {
            key: self.directory.finished(key) for key in keys if self.statuses.get(key) == "invalid"
        }
        return [
            key for key, stored in held.items() if stored is not None and stored.is_machine_fault
        ]

    def tick(self, running: Sequence[Running]) -> None:
        """From the executor, whose workers may come and go."""
        self.estimate.observe(self.executor.slots)
        self.reporter.tick(running)

    def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
        """Called by the executor: judges and stores the trial."""
        verdict = judged(ended, self.plans.scenarios[key.arm], self.engine)
        stored = stored_trial(key, self.plans.hash(key.arm), ended, verdict)
        self.directory.write_trial(key, stored, ended.tables if isinstance(ended, Ran) else {})
        self.statuses[key] = verdict.status
        self._has_run = True
        if self.budget is not None:
            self.budget.took(key, wall_s)
        if self.budget is None or verdict.status == "ok":  # an invalid attempt is no progress
            self.estimate.finished(key, wall_s)
        self.reporter.finished(
            key, verdict, None if stored.outcome is None else stored.outcome.digest, wall_s
        )

    def _copy_scenario(self) -> None:
        document, files = self.loaded.document, self.directory.files
        source, kept = Path(document.file), recordings_of(self.loaded)
        copy_recordings(kept, files)
        if source.is_file():
            text = read_bytes(source).decode("utf-8")
            files.write("scenario.yaml", text_with(kept, text, document.folder).encode())
        files.write_json("scenario.json", data_with(kept, document.data, document.folder))
        if published := self.loaded.published_path:
            self.directory.copy(published, PUBLISHED)


def summarise_and_report(path: Path, baseline: str | None = None) -> tuple[Summary, Path]:
    """Writes `result.json` and `report.html` of a run directory; returns the summary and the
    report's path.

    `baseline` is the arm with which the others are compared; None for that of the scenario.
    """
    from tailrace import report, results

    run = results.Run.read(path)
    summary = results.summarise_run(run, baseline)
    results.write_summary(run.files.folder, summary)
    if summary.sweep is not None:
        results.write_sweep_files(run.files.folder, summary.sweep)
    return summary, report.write_page(run, summary)


def _lost_words(path: Path, lost: Sequence[TrialKey]) -> str:
    named = ", ".join(str(key) for key in lost[:LOST_LISTED_MAX]) + (
        ", ..." if len(lost) > LOST_LISTED_MAX else ""
    )
    left = f"{len(lost)} trial{'s have' if len(lost) != 1 else ' has'} no outcome: {named}"
    return f"{path}: {left} (hint: run the same command again)"
