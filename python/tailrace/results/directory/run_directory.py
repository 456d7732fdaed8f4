"""Reads a run directory into objects.

Layout: `manifest.json`, `journal.jsonl` with the SHA-256 of the others, `scenario.yaml`,
`trials/<arm>/<n>.json` with `trials/<arm>/<n>.<table>.parquet` beside it,
`trials/<arm>/<n>.attempt-<k>.json` of attempts that were repeated, `trials/<arm>/<n>.causes.json`
of explained trials, and optionally `plans/<arm>.json` and `published.yaml`. An arm
`solo:<workload>` is stored under `solo-<workload>`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tailrace.errors import reason_of
from tailrace.outcome.conservation import unaccounted
from tailrace.outcome.journal import LOST
from tailrace.outcome.run_files import ATTEMPT, OUTCOME, TRIALS, RunFiles, TrialFiles, is_trial
from tailrace.outcome.stored import Planned, Status, StoredTrial, read_stored
from tailrace.outcome.types import Host, Outcome, Port, Workload
from tailrace.plan.types import Plan
from tailrace.results.directory.kept import RunDirectoryError, read_manifest, read_plan, read_text
from tailrace.results.directory.manifest import Manifest
from tailrace.results.directory.names import is_name, outcome_fault
from tailrace.results.summary.sweep import PlannedSweep
from tailrace.scenario.experiment import SOLO, folder_of, trial_seed
from tailrace.scenario.workloads.kinds import KINDS

FINISHED = "finished"
"""State of a run of which every planned trial has an outcome on disk."""
_AGAIN = "run the same command again to repeat the trial"
_REPEAT = f"remove the file and {_AGAIN}"


@dataclass(frozen=True)
class Trial:
    """One trial of one arm."""

    arm: str
    number: int
    status: Status
    reason: str
    outcome_or_none: Outcome | None = field(repr=False)
    """The outcome; None unless the trial ended and its figures are valid."""
    files: TrialFiles = field(repr=False, compare=False)

    @property
    def has_outcome(self) -> bool:
        """Whether it ended and its figures are valid."""
        return self.outcome_or_none is not None

    @property
    def is_unfinished(self) -> bool:
        """Whether it is invalid only because workloads did not finish: a censored result."""
        return self.status == "invalid" and self.has_outcome

    @property
    def outcome(self) -> Outcome:
        """The outcome of a trial that has one."""
        assert self.outcome_or_none is not None, f"{self.arm}/{self.number} has no outcome"
        return self.outcome_or_none

    @cached_property
    def workloads(self) -> dict[str, Workload]:
        """Workloads by name; a solo trial has only its own."""
        return (
            {own.name: own for own in reversed(self.outcome_or_none.workloads)}
            if self.outcome_or_none
            else {}
        )

    @cached_property
    def workload_numbers(self) -> dict[str, int]:
        """By name the index of a workload in the outcome, which is its number in tables."""
        workloads = self.outcome_or_none.workloads if self.outcome_or_none else []
        return {own.name: number for number, own in reversed(list(enumerate(workloads)))}

    def ports(self, name: str | None) -> list[Port]:
        """Switch ports of this name, `node>neighbour` (several of parallel links); all where it is
        None."""
        every = self.outcome_or_none.ports if self.outcome_or_none else []
        return (
            every if name is None else [every[number] for number in self.port_numbers.get(name, [])]
        )

    @cached_property
    def port_numbers(self) -> dict[str, list[int]]:
        """By name the indices of ports in the outcome, which are their numbers in tables."""
        numbers: dict[str, list[int]] = {}
        for number, port in enumerate(self.outcome_or_none.ports if self.outcome_or_none else []):
            numbers.setdefault(f"{port.node}>{port.towards}", []).append(number)
        return numbers

    @cached_property
    def hosts(self) -> dict[str, Host]:
        """Hosts by name."""
        return (
            {host.name: host for host in self.outcome_or_none.hosts} if self.outcome_or_none else {}
        )

    @property
    def counted_ps(self) -> int:
        """Picoseconds for which switches have counted: from the end of the warm-up to the end of
        the trial."""
        return self.outcome.end_ps - (self.outcome.counted_from_ps or 0)

    @property
    def is_counted_whole(self) -> bool:
        """Whether counting began with the trial, without a warm-up."""
        return not (self.outcome_or_none and self.outcome_or_none.counted_from_ps)

    @cached_property
    def kept(self) -> dict[tuple[object, ...], Any]:
        """Cache of values computed from this trial."""
        return {}

    def has_table(self, table: str) -> bool:
        """Whether it has a Parquet table of this name."""
        return self.files.has(table)


@dataclass(frozen=True)
class Run:
    """A run directory. Arms and workloads are in the order of the scenario, solo arms apart."""

    files: RunFiles = field(repr=False, compare=False)
    manifest: Manifest = field(repr=False)
    trials: dict[str, list[Trial]] = field(repr=False)
    repeated: list[Trial] = field(default_factory=list, repr=False)
    """Attempts that the machine invalidated, of trials that were repeated."""
    plans: dict[str, Plan | None] = field(default_factory=dict, repr=False)
    """By arm; None where the run did not keep it."""

    @classmethod
    def read(cls, path: Path) -> "Run":
        """Reads the manifest and every existing trial; the run may be partial."""
        files = RunFiles(Path(path))
        manifest = read_manifest(files)
        names = [*_arm_names(manifest), *_solo_names(files, manifest)]
        plans = {name: read_plan(files, manifest, name) for name in names}
        kept = {name: _Kept(files, manifest, name, plan) for name, plan in plans.items()}
        trials = {name: own.trials() for name, own in kept.items()}
        return cls(
            files,
            manifest,
            trials,
            [trial for own in kept.values() for trial in own.repeated()],
            plans,
        )

    @property
    def path(self) -> Path:
        """Its directory."""
        return self.files.path

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self.path.name if self.manifest.name is None else self.manifest.name

    @property
    def seed(self) -> int:
        """Seed of the experiment."""
        return self.manifest.seed

    @property
    def scale(self) -> float:
        """Share of the transaction counts, bytes and durations that was run: 1 is all of them."""
        return self.manifest.scale

    @property
    def live_scale(self) -> int:
        """Divisor of rates, queues and users (`--live-scale`)."""
        return self.manifest.live_scale

    def scale_of(self, workload: str | None) -> float:
        """Share of one workload's count that was run: 507 transactions at scale 0.05 are 25, not
        25.35."""
        return self.manifest.workload_scale.get(workload or "") or self.scale

    def until(self, trials: int) -> "Run":
        """The run as it was after its first trials."""
        kept = {
            arm: [trial for trial in own if trial.number <= trials]
            for arm, own in self.trials.items()
        }
        return replace(self, trials=kept)

    @cached_property
    def arms(self) -> list[str]:
        """Arms that are compared, in the order of the scenario; in a sweep, each at every point."""
        return [name for name in self.trials if not name.startswith(SOLO)]

    @property
    def named_arms(self) -> list[str]:
        """Arms as the scenario names them."""
        return self.arms if self.sweep is None else list(self.sweep.arms)

    @property
    def baseline(self) -> str | None:
        """Arm that the others are compared with, as the scenario names it: that of the scenario, or
        the first that was run.
        """
        arms, named = self.named_arms, self.manifest.baseline
        return named if named in arms else next(iter(arms), None)

    @property
    def sweep(self) -> PlannedSweep | None:
        """Axes, points and arms of a sweep; None for another run."""
        return self.manifest.sweep

    def arm_at(self, arm: str, label: str) -> str:
        """The name of an arm at one point of a sweep."""
        return f"{arm}@{label}"

    def baseline_of(self, arm: str, baseline: str | None) -> str | None:
        """The arm that this one is compared with: the baseline, in a sweep at the same point; None
        without one."""
        if self.sweep is None or baseline is None:
            return baseline
        found = self.arm_at(baseline, arm.partition("@")[2])
        return found if found in self.trials else None

    @cached_property
    def workloads(self) -> list[str]:
        """Workloads in the order of the scenario."""
        if listed := self.manifest.workloads:
            return listed
        seen: dict[str, None] = {}
        for outcome in (
            trial.outcome_or_none for trials in self.trials.values() for trial in trials
        ):
            seen.update(dict.fromkeys(own.name for own in (outcome.workloads if outcome else [])))
        return list(seen)

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """Members of each group of workloads, by the name of the group."""
        found = self.manifest.groups
        kept = {
            name: [one for one in self.workloads if one in members]
            for name, members in found.items()
        }
        return {name: members for name, members in kept.items() if members}

    def kind_of(self, workload: str) -> str | None:
        """Name of its kind; None where no trial has the workload."""
        found = (
            trial.workloads.get(workload) for trials in self.trials.values() for trial in trials
        )
        return next((own.kind for own in found if own), None)

    def kinds_of(self, workloads: Sequence[str]) -> set[str]:
        """Names of the kinds of workloads that some trial has."""
        return {kind for name in workloads if (kind := self.kind_of(name)) is not None}

    @cached_property
    def kinds(self) -> set[str]:
        """Names of the kinds of all workloads."""
        return self.kinds_of(self.workloads)

    def valid(self, arm: str) -> list[Trial]:
        """Valid trials by number. Invalid trials are listed, but never averaged."""
        return [trial for trial in self.trials.get(arm, []) if trial.status == "ok"]

    def with_outcome(self, arm: str) -> list[Trial]:
        """Valid trials, and trials that are invalid only because workloads did not finish.

        The latter have rates, latencies (including censored ones) and counters, but no completion
        time. Omitting them would bias the result.
        """
        return [
            trial
            for trial in self.trials.get(arm, [])
            if trial.status == "ok" or trial.is_unfinished
        ]

    def workloads_of(self, arm: str) -> list[str]:
        """Workloads of an arm's trials with outcome, in the order of the scenario; an arm `solo:`
        has one of many."""
        held = {
            name
            for trial in self.with_outcome(arm)
            for name in trial.workload_numbers
            if name in self._order
        }
        return (
            self.workloads
            if len(held) == len(self.workloads)
            else sorted(held, key=self._order.__getitem__)
        )

    @cached_property
    def _order(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.workloads)}

    def missing(self, arm: str) -> list[int]:
        """Planned trials of a compared arm that were not run."""
        planned = self.manifest.trials
        if planned is None or arm.startswith(SOLO):
            return []
        there = {trial.number for trial in self.trials[arm]}
        return [number for number in range(1, planned + 1) if number not in there]

    @property
    def is_partial(self) -> bool:
        """Whether trials are missing or the run was interrupted."""
        is_interrupted = self.manifest.state in ("interrupted", "running")
        return is_interrupted or any(self.missing(arm) for arm in self.arms)

    def scenario_text(self) -> str:
        """The scenario file as it was run; empty where the run did not keep it."""
        return read_text(self.files, "scenario.yaml") or ""

    def plan(self, arm: str) -> Plan | None:
        """Plan of an arm, where the run kept it."""
        return self.plans.get(arm)


def _arm_names(manifest: Manifest) -> list[str]:
    return [arm for arm in manifest.arms if not arm.startswith(SOLO)]


def _solo_names(files: RunFiles, manifest: Manifest) -> list[str]:
    """Solo arms in the order of the workloads."""
    folders = {
        *files.folder.folders(TRIALS),
        *(stem.split("/")[1] for stem in files.journal.stems(TRIALS)),
    }
    there = {name.removeprefix("solo-") for name in folders if name.startswith("solo-")}
    if wrong := [name for name in there if not is_name(name)]:
        where = files.path / TRIALS
        raise RunDirectoryError(
            f"{where}: {wrong[0]!r} is no name of a workload (hint: remove the folder)"
        )
    listed = [name for name in manifest.workloads if name in there]
    return [f"{SOLO}{name}" for name in [*listed, *sorted(there - set(listed))]]


@dataclass(frozen=True)
class _Kept:
    """The files of an arm's trials."""

    files: RunFiles
    manifest: Manifest
    arm: str
    plan: Plan | None

    @property
    def folder(self) -> str:
        """That of the arm."""
        return f"{TRIALS}/{folder_of(self.arm)}"

    def trials(self) -> list[Trial]:
        """By number."""
        numbers = [name for name in self._names() if name.isdecimal()]
        if self.manifest.state == FINISHED:
            self._refuse_lost(numbers)
        return [self._trial(name) for name in sorted(numbers, key=int)]

    def repeated(self) -> list[Trial]:
        """By trial and attempt."""
        return [self._trial(name) for name in self._names() if ATTEMPT in name and is_trial(name)]

    def _names(self) -> list[str]:
        names = self.files.folder.names(self.folder)
        return [name.removesuffix(f".{OUTCOME}") for name in names if name.endswith(f".{OUTCOME}")]

    def _refuse_lost(self, there: Sequence[str]) -> None:
        """Raises `RunDirectoryError` where a trial has gone that a run had when it finished."""
        written = {stem.rpartition("/")[2] for stem in self.files.journal.stems(self.folder)}
        if lost := sorted(int(name) for name in written - {*there} if name.isdecimal()):
            path = TrialFiles(self.files, self.folder, str(lost[0])).outcome_path
            raise RunDirectoryError(f"{path}: {LOST} (hint: {_AGAIN})")

    def _trial(self, name: str) -> Trial:
        files = TrialFiles(self.files, self.folder, name)
        stored = self._stored(files)
        status, reason = _judge(stored)
        has_outcome = status == "ok" or (status == "invalid" and bool(stored.unfinished))
        return Trial(
            self.arm, stored.trial, status, reason, stored.outcome if has_outcome else None, files
        )

    def _stored(self, files: TrialFiles) -> StoredTrial:
        """The trial in these files; raises `RunDirectoryError` for a file that is no trial, or
        another one."""
        file, number = files.outcome_path, int(files.name.partition(".")[0])
        planned = Planned(self.arm, number, trial_seed(self.manifest.seed, number), self._workloads)
        try:
            stored = read_stored(files.read_outcome(), planned)
        except (OSError, ValueError) as error:
            raise RunDirectoryError(
                f"{file}: cannot be read: {reason_of(error)} (hint: {_REPEAT})"
            ) from error
        if (self.manifest.plan_hashes or {}).get(self.arm, stored.plan_hash) != stored.plan_hash:
            raise RunDirectoryError(
                f"{file}: it is of another plan of arm '{self.arm}' than this run (hint: {_REPEAT})"
            )
        for kind in {own.kind for own in stored.outcome.workloads} if stored.outcome else ():
            if kind not in KINDS:
                raise RunDirectoryError(
                    f"{file}: there is no kind of workload '{kind}' (hint: {_REPEAT})"
                )
        if stored.outcome is not None and (fault := outcome_fault(stored.outcome)):
            raise RunDirectoryError(f"{file}: {fault} (hint: {_REPEAT})")
        return stored

    @property
    def _workloads(self) -> list[tuple[str, str]] | None:
        """Names and kinds, where the plan is kept."""
        if self.plan is None:
            return None
        return [(own.header.name, kind) for own in self.plan.workloads for kind in own.body]


def _judge(stored: StoredTrial) -> tuple[Status, str]:
    """The recorded status of a trial; one whose frames are not conserved is invalid regardless of
    it."""
    outcome = stored.outcome
    if stored.status == "ok" and outcome is None:
        return "failed", stored.reason or "no outcome was recorded"
    if stored.status == "ok" and outcome is not None and (reason := unaccounted(outcome)):
        return "invalid", reason
    return stored.status, stored.reason
