"""Solo calibration: sizes each workload so that alone, in the baseline arm, it takes the target
time.

A probe of each workload alone measures the time of one transaction. From it follows the number of
transactions, or the factor of the gap. A full solo run verifies the choice, and its error corrects
it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from tailrace.errors import RunRefusedError
from tailrace.experiment.engine import Engine
from tailrace.experiment.estimate import TimeEstimate
from tailrace.experiment.executor import Executor
from tailrace.experiment.native import Failed, Ran
from tailrace.experiment.plans import Plans, alone
from tailrace.experiment.pool import Running
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.schedule import TrialKey
from tailrace.experiment.storage import RunDirectory
from tailrace.folder import Folder, IrregularFileError
from tailrace.results.format.numbers import PS_PER_S
from tailrace.scenario.experiment import SOLO, Calibrate
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.base import ClosedLoop

PROBE_SHARE = 0.1
"""Length of a probe, as a share of the target time."""
PROBE_TRANSACTIONS_MIN = 3
"""A probe has at least this many transactions of each user."""
ROUNDS_MAX = 5
"""Verifications before the best choice is taken."""
COARSE = 0.005
"""Relative error from which on the size of one transaction is named as its reason, where it
explains the error."""
GAP_FACTOR_MAX = 1000.0
"""A larger factor is refused: the gap of the scenario would be unrelated to the required one."""
LIMIT_TIMES = 3
"""Time limit of a calibration run, as a multiple of the target time."""
FILE = "calibration.json"
"""File in the run directory with the choices."""
MEASURED = "calibration"
"""Folder with the trials of an incomplete calibration, so that it continues where it was
interrupted."""
NAME_DIGITS = 24


class Alone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The measurements of a workload that ran alone."""

    transactions: int
    completion_ps: int | None
    """None where the end of the trial cut it off."""
    end_ps: int
    """Of the trial."""


@dataclass(frozen=True)
class ChosenCount:
    """The choice for one workload, and its verification."""

    workload: str
    transactions: int
    gap_factor: float
    wanted_ps: int
    alone_ps: int
    """Completion time in the last verification."""
    rounds: int

    @property
    def error(self) -> float:
        """Relative distance from the target time."""
        return self.alone_ps / self.wanted_ps - 1


def recorded(directory: RunDirectory) -> dict[str, Any] | None:
    """The choices of a run's calibration. There are none in a file that is damaged: workloads are
    calibrated again."""
    held = _recorded(directory)
    return (
        None
        if held is None
        else {"choices": [{**asdict(choice), "error": choice.error} for choice in held]}
    )


def _recorded(directory: RunDirectory) -> list[ChosenCount] | None:
    try:
        content = directory.files.read_if_kept(FILE)
        return None if content is None else msgspec.json.decode(content, type=_Choices).choices
    except (IrregularFileError, ValueError, RecursionError):
        return None


class _Choices(msgspec.Struct, frozen=True):
    """The content of the file."""

    choices: list[ChosenCount]


def calibrated(
    scenarios: Mapping[str, Scenario],
    baseline: str,
    directory: RunDirectory,
    executor: Executor,
    reporter: Reporter,
    engine: Engine,
) -> dict[str, Scenario] | None:
    """Every arm with the choices; None when interrupted. Choices in the run directory are
    reused."""
    held = _recorded(directory)
    if held is not None and {choice.workload for choice in held} == {
        *scenarios[baseline].calibrated
    }:
        return _applied(scenarios, held)
    folder = directory.files.folder
    found = _Calibration(scenarios[baseline], folder, executor, reporter, engine).choose()
    if found is None:
        return None
    choices = [{**asdict(choice), "error": choice.error} for choice in found]
    directory.files.write_json(FILE, {"choices": choices})
    folder.remove_folder(MEASURED)
    return _applied(scenarios, found)


def _applied(
    scenarios: Mapping[str, Scenario], choices: Sequence[ChosenCount]
) -> dict[str, Scenario]:
    done = dict(scenarios)
    for choice in choices:
        done = {arm: _with_choice(scenario, choice) for arm, scenario in done.items()}
    return done


def _with_choice(scenario: Scenario, choice: ChosenCount) -> Scenario:
    loop = _loop(scenario, choice.workload)
    gap = loop.gap if choice.gap_factor == 1 else loop.gap.scaled(choice.gap_factor)
    chosen = loop.with_transactions(choice.transactions, gap)
    return scenario.model_copy(
        update={"workloads": {**scenario.workloads, choice.workload: chosen}}
    )


def _loop(scenario: Scenario, name: str) -> ClosedLoop:
    loop = scenario.workloads[name].closed_loop()
    assert loop is not None, "checks refuse other workloads"
    return loop


class _Calibration:
    """Probes and verifications of the workloads of one scenario."""

    def __init__(
        self,
        scenario: Scenario,
        folder: Folder,
        executor: Executor,
        reporter: Reporter,
        engine: Engine,
    ) -> None:
        spec = scenario.experiment.calibrate
        assert spec is not None, "calibration is asked for"
        self.scenario = scenario
        self.spec: Calibrate = spec
        self.folder = folder
        self.executor = executor
        self.reporter = reporter
        self.engine = engine
        self.names = scenario.calibrated
        self.plans = Plans({})
        self.estimate = TimeEstimate([], executor.slots)
        self.ended: dict[str, Alone | Failed] = {}
        self.transactions: dict[str, int] = {}
        """By workload, those of the last trial."""

    def choose(self) -> list[ChosenCount] | None:
        """Choices for every workload; None when interrupted."""
        first = self._probe()
        if first is None:
            return None
        choices, rounds = first, list[list[ChosenCount]]()
        for round_number in range(1, ROUNDS_MAX + 1):
            times = self._measure(
                {c.workload: _with_choice(self.scenario, c) for c in choices}, "calibration"
            )
            if times is None:
                return None
            rounds.append(
                [self._verified(choice, times[choice.workload], round_number) for choice in choices]
            )
            choices = self._corrected(rounds[-1])
            if not choices:
                break
        best = self._best(rounds)
        for choice in best:
            self.reporter.say(_sentence(choice))
        return best

    def _best(self, rounds: Sequence[Sequence[ChosenCount]]) -> list[ChosenCount]:
        """The choices with the smallest error; a shared factor is chosen for all workloads
        together."""
        if self.spec.method == "gap" and self.spec.share_gap:
            return list(min(rounds, key=lambda choices: sum(choice.error**2 for choice in choices)))
        tried = [choice for choices in rounds for choice in choices]
        return [
            min((c for c in tried if c.workload == name), key=lambda c: abs(c.error))
            for name in self.names
        ]

    def _probe(self) -> list[ChosenCount] | None:
        """First choices, from a short run of each workload alone."""
        probes = {name: self._probe_scenario(name) for name in self.names}
        times = self._measure(probes, "calibration, probes")
        if times is None:
            return None
        cycles = {name: self._cycle_ps(name, probes[name], times[name]) for name in self.names}
        if self.spec.method == "gap":
            return self._first_gaps(cycles)
        return [
            ChosenCount(name, max(1, round(self.spec.to / cycles[name])), 1.0, self.spec.to, 0, 0)
            for name in self.names
        ]

    def _probe_scenario(self, name: str) -> Scenario:
        loop = self._loop(name)
        guess_ps = max(1.0, loop.cycle_guess_ps())
        likely = round(self.spec.to * PROBE_SHARE / guess_ps)
        # A probe that the end of its trial cuts off gives the rate of its completed transactions.
        limit = loop.transactions if self.spec.method == "gap" and loop.transactions else likely
        probe = loop.probe(max(PROBE_TRANSACTIONS_MIN, min(likely, limit)))
        return self.scenario.model_copy(update={"workloads": {name: probe}})

    def _cycle_ps(self, name: str, probe: Scenario, completion_ps: int) -> float:
        """Time of one transaction of a user, including the gap; after the last transaction there is
        no gap."""
        loop = _loop(probe, name)
        done = self.transactions[name] / loop.users
        started_ps = loop.first_transaction().mean
        return max(1.0, (completion_ps - started_ps) / float(max(done, 1.0)))

    def _first_gaps(self, cycles: Mapping[str, float]) -> list[ChosenCount]:
        counts = {name: self._counted(name) for name in self.names}
        gaps = {name: self._loop(name).gap.mean for name in self.names}
        # Alone a workload takes count x (cycle without gap + factor x gap). Solved for the factor
        # at the target time.
        work = {name: counts[name] * gaps[name] for name in self.names}
        missing = {
            name: self.spec.to - counts[name] * (cycles[name] - gaps[name]) for name in self.names
        }
        if self.spec.share_gap:
            shared = sum(work[n] * missing[n] for n in self.names) / max(
                1.0, sum(work[n] ** 2 for n in self.names)
            )
            factors = dict.fromkeys(self.names, shared)
        else:
            factors = {name: missing[name] / max(1.0, work[name]) for name in self.names}
        for name, factor in factors.items():
            self._refuse_factor(name, factor)
        return [
            ChosenCount(name, counts[name], factors[name], self.spec.to, 0, 0)
            for name in self.names
        ]

    def _refuse_factor(self, name: str, factor: float) -> None:
        if not 0 <= factor <= GAP_FACTOR_MAX:
            hint = (
                "use fewer transactions, or a longer target time"
                if factor < 0
                else "start with a longer gap"
            )
            what = f"cannot be calibrated by its gap: a factor of {factor:.3g} would be needed"
            raise RunRefusedError(f"workload {name} {what} (hint: {hint})")

    def _counted(self, name: str) -> int:
        count = self._loop(name).transactions
        if count is None:
            raise RunRefusedError(
                f"workload {name} needs `transactions` (hint: calibration by gap keeps that number)"
            )
        return count

    def _verified(self, choice: ChosenCount, alone_ps: int, round_number: int) -> ChosenCount:
        return ChosenCount(**{**asdict(choice), "alone_ps": alone_ps, "rounds": round_number})

    def _corrected(self, verified: Sequence[ChosenCount]) -> list[ChosenCount]:
        """Better choices for the workloads that are not close enough and can be improved."""
        if self.spec.method == "gap" and self.spec.share_gap:
            return self._corrected_together(verified)
        return [
            better for choice in verified if (better := self._corrected_one(choice)) is not None
        ]

    def _corrected_one(self, choice: ChosenCount) -> ChosenCount | None:
        if abs(choice.error) <= self.engine.calibration_error:
            return None
        if self.spec.method == "transactions":
            count = max(1, round(choice.transactions * choice.wanted_ps / choice.alone_ps))
            if count == choice.transactions:
                return None
            return ChosenCount(choice.workload, count, 1.0, choice.wanted_ps, 0, choice.rounds)
        work = choice.transactions * self._loop(choice.workload).gap.mean
        factor = choice.gap_factor + (choice.wanted_ps - choice.alone_ps) / max(1.0, work)
        self._refuse_factor(choice.workload, factor)
        return ChosenCount(
            choice.workload, choice.transactions, factor, choice.wanted_ps, 0, choice.rounds
        )

    def _corrected_together(self, verified: Sequence[ChosenCount]) -> list[ChosenCount]:
        work = [choice.transactions * self._loop(choice.workload).gap.mean for choice in verified]
        missing = [choice.wanted_ps - choice.alone_ps for choice in verified]
        step = sum(w * m for w, m in zip(work, missing, strict=True)) / max(
            1.0, sum(w * w for w in work)
        )
        if abs(step) < self.engine.calibration_error:
            return []
        factor = verified[0].gap_factor + step
        self._refuse_factor(verified[0].workload, factor)
        return [
            ChosenCount(c.workload, c.transactions, factor, c.wanted_ps, 0, c.rounds)
            for c in verified
        ]

    def _loop(self, name: str) -> ClosedLoop:
        return _loop(self.scenario, name)

    def _measure(self, scenarios: Mapping[str, Scenario], stage: str) -> dict[str, int] | None:
        """Completion time of each workload alone, in picoseconds; None when interrupted."""
        arms = {
            SOLO + name: _with_time(alone(scenario, name), self.spec.to)
            for name, scenario in scenarios.items()
        }
        self.plans = Plans(arms)
        keys = [key for arm in arms if not self._is_measured(key := TrialKey(arm, 1))]
        self.estimate = TimeEstimate(keys, self.executor.slots)
        self.reporter.begin(stage, self.estimate)
        try:
            if self.executor.run_all(keys, self.plans.json, self):
                return None
        finally:
            self.reporter.end()
        return {name: self._completion_ps(name) for name in scenarios}

    def _file(self, key: TrialKey) -> str:
        """Where a trial is kept: by its whole plan, which the choices of earlier rounds
        determine."""
        return f"{MEASURED}/{hashlib.sha256(self.plans.json(key).encode()).hexdigest()[:NAME_DIGITS]}.json"  # noqa: E501

    def _is_measured(self, key: TrialKey) -> bool:
        """Whether a trial was run before an interruption; its outcome is known then."""
        try:
            held = msgspec.json.decode(self.folder.read(self._file(key)), type=Alone)
        except (OSError, ValueError):
            return False
        self.ended[key.arm.removeprefix(SOLO)] = held
        return True

    def _completion_ps(self, name: str) -> int:
        alone = self.ended[name]
        if isinstance(alone, Failed):
            raise RunRefusedError(f"calibration of workload {name} failed: {alone.reason}")
        if not alone.transactions:
            raise RunRefusedError(
                f"workload {name} alone completes no transaction within experiment.duration "
                "(hint: increase it)"
            )
        self.transactions[name] = alone.transactions
        return alone.completion_ps or alone.end_ps

    def tick(self, running: Sequence[Running]) -> None:
        """Called by the executor."""
        self.estimate.observe(self.executor.slots)
        self.reporter.tick(running)

    def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
        """Called by the executor."""
        name = key.arm.removeprefix(SOLO)
        if isinstance(ended, Failed):
            self.ended[name] = ended
        else:
            [workload] = ended.outcome.workloads
            alone = Alone(workload.transactions, workload.completion_ps, ended.outcome.end_ps)
            self.ended[name] = alone
            self.folder.write(self._file(key), msgspec.json.encode(alone))
        self.estimate.finished(key, wall_s)


def _with_time(scenario: Scenario, wanted_ps: int) -> Scenario:
    """With time for a first choice that is too long: of a run that is cut off, only the limit would
    be known."""
    limit_ps = max(scenario.experiment.duration, LIMIT_TIMES * wanted_ps)
    experiment = scenario.experiment.model_copy(update={"duration": limit_ps})
    return scenario.model_copy(update={"experiment": experiment})


def _sentence(choice: ChosenCount) -> str:
    gap = "" if choice.gap_factor == 1 else f", gap x {choice.gap_factor:.4g}"
    seconds = choice.alone_ps / PS_PER_S
    chosen = f"{choice.transactions} transactions per user{gap}"
    coarse = (
        ", the nearest whole number" if COARSE < abs(choice.error) < 1 / choice.transactions else ""
    )
    return f"{choice.workload}: {chosen}; alone {seconds:.4g} s ({choice.error:+.2%}{coarse})"
