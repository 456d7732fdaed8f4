"""The live engine of an experiment: real programs on hosts that the fabric creates."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

from tailrace.errors import RunRefusedError, TailraceError
from tailrace.experiment.cores import ONE, Cores
from tailrace.experiment.engine import LIVE, EngineTrial, Warn, read_plan
from tailrace.experiment.native import Cancelled, Ran
from tailrace.files import require_plain
from tailrace.folder import Folder
from tailrace.live import neighbours
from tailrace.live.lab import fabric, kinds
from tailrace.live.lab.clean import clean_before
from tailrace.live.lab.lab import PLAIN_HINT
from tailrace.live.machine import limits
from tailrace.live.machine.doctor import require, versions
from tailrace.live.refuse import Machine, refuse, refuse_machine
from tailrace.live.registry import choice, needs_of
from tailrace.live.trial import effect, validity
from tailrace.live.trial.live_trial import LiveTrial
from tailrace.live.trial.replay import INGRESS
from tailrace.outcome.types import Fabric, Outcome
from tailrace.results.compare.fidelity import TAP
from tailrace.scenario.experiment import Experiment
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario

FOLDER = "live"
"""Folder in the run directory for templates during the run, and for logs of failed trials."""
TEMPLATES = "templates"
KEPT_BYTES_MAX = 400_000_000
"""Maximum bytes of the ingress logs that a run keeps unless all are requested: those of its first
trials, which explain it. 100 000 frames a second take 7 MB."""


class LiveEngine:
    """One trial at a time: two would share the cores on which both are measured."""

    name = LIVE
    jobs_max: int | None = 1
    has_one_core = True
    # The one percent within which calibrated workloads must come; repeated live trials differ by
    # about as much.
    calibration_error = 0.01

    def __init__(
        self,
        *,
        log_ingress: bool = False,
        say: Callable[[str], None] = lambda _text: None,
        kind: str = TAP,
    ) -> None:
        """`say` receives messages about steps that take time before the first trial; `kind` names
        the fabric."""
        self._say = say
        self.kind = kinds.kind_of(kind)
        if log_ingress and self.kind.is_foreign:
            raise RunRefusedError(
                f"--log-ingress: frames of --fabric {kind} do not pass the built-in switch "
                "(hint: use --fabric tap)"
            )
        self._frames_per_s_max: float | None = None
        self.log_ingress = log_ingress
        self._folder = Path(FOLDER)
        self._last_s = 0.0
        self.warn = Warn(say)

    def build(self) -> str:
        """Results of two builds of the fabric are never mixed."""
        return f"live-{fabric.build()}"

    def versions(self) -> dict[str, str]:
        """Versions of the programs that take part."""
        return versions(self.kind)

    def facts(self) -> dict[str, Any]:
        """The switch between the hosts."""
        return {"fabric": self.kind.name}

    def terms(self, spec: Experiment) -> list[Any]:
        """The bounds for trials, and the fabric: results with different ones are never mixed.

        The number of attempts is excluded, as it does not change results.
        """
        bounds = spec.live.model_dump(exclude={"attempts"})
        return [bounds, *([self.kind.name] if self.kind.is_foreign else [])]

    def refuse(self, loaded: Loaded, arms: Mapping[str, Scenario]) -> None:
        """Raises `ScenarioError` with everything that this machine or the real programs do not
        support."""
        refuse(loaded, arms)
        kinds.refuse(self.kind, loaded, arms)
        chosen = [choice(one.kind, one) for arm in arms.values() for one in arm.running.values()]
        found = require([*needs_of(chosen), *neighbours.needs_of(arms.values())])
        clean_before(self._say)
        kinds.require(self.kind, found)
        self._frames_per_s_max = limits.frames_per_s_max(self._say, self.kind.name)
        refuse_machine(loaded, arms, Machine.of(found, self._frames_per_s_max))

    def open(self, folder: Path) -> None:
        """Sets the folder of templates and logs, below the run directory."""
        require_plain("the run directory", folder, f"{PLAIN_HINT}, with --out")
        self._folder = folder / FOLDER
        run = Folder(folder)
        run.make(FOLDER)
        run.remove_folder(f"{FOLDER}/{TEMPLATES}")  # programs are run on those of this call alone

    def close(self) -> None:
        """Removes the templates, which are large and can be recreated."""
        own = Folder(self._folder)
        if self._folder.is_dir():
            own.remove_folder(TEMPLATES)
            if not (own.names() or own.folders()):
                Folder(self._folder.parent).remove_folder(FOLDER)

    def trial(self, plan_json: str, _cores: Cores = ONE, /) -> EngineTrial:
        """Makes a trial with a new lab."""
        plan = read_plan(plan_json)
        folder = self._folder / re.sub(r"[^A-Za-z0-9_-]+", "-", plan["name"])
        options = ["--kind", self.kind.name] if self.kind.is_foreign else []
        options += [] if self.kind.is_foreign else ["--log-ingress"]
        if not self.log_ingress and not self.kind.is_foreign:
            options += ["--log-bytes-max", str(effect.LOG_BYTES_MAX)]
        if self._frames_per_s_max is not None:
            options += ["--frames-per-second-max", str(round(self._frames_per_s_max))]
        trial = LiveTrial(
            plan, plan_json, folder, self._folder / TEMPLATES, lambda: self._last_s, options
        )
        return _Kept(trial, folder, self)

    def reasons(self, outcome: Outcome, scenario: Scenario) -> list[str]:
        """Reasons for which the machine invalidates a trial."""
        return validity.reasons(outcome, scenario.experiment.live)

    def took(self, wall_s: float) -> None:
        """Records the wall time of a trial, which is expected of the next one."""
        self._last_s = wall_s


class _Kept:
    """A trial whose folder is removed after success, and kept after a failure."""

    def __init__(self, trial: LiveTrial, folder: Path, engine: LiveEngine) -> None:
        self._trial = trial
        self._folder = folder
        self._engine = engine
        self._run, self._name = Folder(folder.parents[1]), f"{FOLDER}/{folder.name}"

    def run(self) -> Ran | Cancelled:
        """Runs the trial; the reason of a failure names the folder with the logs."""
        self._run.make_empty(self._name)  # it may be of an attempt that failed
        started_s = time.monotonic()
        try:
            ended = self._trial.run()
        except (TailraceError, OSError) as error:
            raise TailraceError(f"{error} (hint: logs in {self._folder})") from error
        self._engine.took(time.monotonic() - started_s)
        if isinstance(ended, Ran):
            ended = replace(ended, outcome=self._with_effect(ended.outcome))
            self._engine.warn(ended.outcome.live.warnings if ended.outcome.live else [])
            ended = replace(ended, outcome=self._with_kept_log(ended.outcome))
        self._run.remove_folder(self._name)
        return ended

    def _with_effect(self, outcome: Outcome) -> Outcome:
        """Replays the ingress log, and adds the effect of lateness to the outcome."""
        fabric, live = outcome.fabric, outcome.live
        if fabric is None or live is None or not fabric.replay_log:
            return outcome
        found = effect.of_log(self._folder / "plan.json", self._folder / fabric.replay_log, outcome)
        if found is not None:
            return structs.replace(outcome, fabric=structs.replace(fabric, effect=found))
        why = fabric.log_error or "it cannot be replayed"
        text = f"the effect of lateness was not judged in every trial: ingress log: {why}"
        return structs.replace(outcome, live=structs.replace(live, warnings=[*live.warnings, text]))

    def _with_kept_log(self, outcome: Outcome) -> Outcome:
        """Moves the ingress log, with its plan, to the folder where `tailrace lab replay` finds
        it."""
        fabric = outcome.fabric
        if fabric is None or not fabric.replay_log:
            return outcome
        kept = self._moved_log(fabric.replay_log) if self._may_keep(fabric) else None
        return structs.replace(outcome, fabric=structs.replace(fabric, replay_log=kept))

    def _may_keep(self, fabric: Fabric) -> bool:
        """Whether a log is requested, or is complete and fits beside the kept ones."""
        if self._engine.log_ingress:
            return True
        name, below = self._own(str(fabric.replay_log)), f"{FOLDER}/{INGRESS}"
        others = [f"{below}/{trial}/{Path(name).name}" for trial in self._run.folders(below)]
        kept = sum(
            status.st_size for other in others if (status := self._run.status(other)) is not None
        )
        log = self._run.status(f"{self._name}/{name}")
        return not fabric.log_error and log is not None and kept + log.st_size <= KEPT_BYTES_MAX

    def _own(self, made: str) -> str:
        """A file of the trial, as the fabric names it, relative to the folder of the trial."""
        return (self._folder / made).relative_to(self._folder).as_posix()

    def _moved_log(self, made: str) -> str:
        kept = f"{FOLDER}/{INGRESS}/{self._folder.name}"
        log = f"{kept}/{Path(made).name}"
        self._run.move(f"{self._name}/{self._own(made)}", log)
        self._run.write(f"{kept}/plan.json", self._run.read(f"{self._name}/plan.json"))
        return log

    def progress(self) -> float:
        """Share of the trial that is done, 0 to 1."""
        return self._trial.progress()

    def cancel(self) -> None:
        """Requests `run` to return early."""
        self._trial.cancel()
