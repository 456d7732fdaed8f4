"""The whole study: the present, every assumption alone, all together by screening, and the deciding
ones by variance."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.experiment.executor import Executor
from tailrace.experiment.points import Points
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.run import RUNS
from tailrace.files import make_folder
from tailrace.json_text import json_text
from tailrace.results.directory.run_directory import Run
from tailrace.scenario.loading import Loaded
from tailrace.sensitivity.design import Designs, Screened, Shares, refuse_missing
from tailrace.sensitivity.factor import Factor, of_assumptions, of_texts
from tailrace.sensitivity.figures import (
    Conclusion,
    Figure,
    asked,
    chosen_arms,
    of_base,
    of_published,
    of_run,
)
from tailrace.sensitivity.options import SensitivityOptions
from tailrace.sensitivity.region import Box, region
from tailrace.statistics import mean

BASE_TRIALS = 4
"""Trials at present, at least: their spread is the noise that an effect has to exceed."""
FOLDER_DIGITS = 8
TRIALS_MAX = 100_000
NOISE_ERRORS = 2.0
"""An effect must differ from zero by this many errors of a difference of two points."""
Point = tuple[float | None, ...]
"""A share of its range for each factor; None for the present value."""


@dataclass(frozen=True)
class Holding:
    """A conclusion and the region in which it holds; without a conclusion, all of them together."""

    words: str
    at_base: bool
    held: int
    points: int
    box: Box | None
    inside: int
    """Simulated points in the region, all of which hold."""
    checked_held: int = 0
    checked: int = 0
    """New points in the region."""


@dataclass
class Study:
    """The results."""

    scenario: str
    path: Path
    wanted: SensitivityOptions
    seed: int
    arms: list[str]
    factors: list[Factor]
    left: list[tuple[str, str]]
    figures: list[Figure]
    base: dict[Figure, list[float]]
    noise: dict[Figure, float] = field(default_factory=dict)
    """Standard deviation of the mean of a point's trials."""
    alone: dict[tuple[int, float], dict[Figure, float | None]] = field(default_factory=dict)
    """By factor and share of its range: figures where only this factor is changed."""
    screened: dict[Figure, list[Screened]] = field(default_factory=dict)
    deciding: list[int] = field(default_factory=list)
    """Factors whose shares of variance were estimated, the most deciding first."""
    shares: dict[Figure, list[Shares]] = field(default_factory=dict)
    holdings: list[Holding] = field(default_factory=list)
    runs: int = 0
    trials: int = 0
    dropped: list[str] = field(default_factory=list)
    """Figures that at least one point lacks."""
    bounded: dict[Figure, int] = field(default_factory=dict)
    """Points at which a figure is a lower bound."""

    def base_mean(self, figure: Figure) -> float:
        """The figure at present."""
        return mean(self.base[figure])

    def least(self, figure: Figure) -> float:
        """An effect of this size or less may be noise: the mean absolute difference of two
        points."""
        return NOISE_ERRORS * self.noise[figure] * sqrt(2)


class Studying:
    """Runs a study. Finished trials are kept, and the same call continues."""

    def __init__(
        self,
        loaded: Loaded,
        wanted: SensitivityOptions,
        reporter: Reporter,
        executor: Executor | None = None,
    ) -> None:
        self.loaded, self.wanted, self.reporter = loaded, wanted, reporter
        self.arms = chosen_arms(loaded, wanted.arms)
        scenario, document = loaded.scenario, loaded.document
        factors, self.left = of_assumptions(scenario, document) if wanted.assumptions else ([], [])
        self.factors = [*factors, *of_texts(wanted.vary, document)]
        if not self.factors:
            raise RunRefusedError(
                "there is nothing to vary (hint: give --assumptions, and the scenario's "
                "assumptions a `vary`, or --vary network.link.delay=1us..5us)"
            )
        refuse_missing()
        self._refuse_size()
        for factor in self.factors:
            for share in factor.ends:
                factor.applied(document, share)
        self.published, self.conclusions = of_published(loaded, self.arms)
        self.named = asked(wanted.figures, scenario, self.arms)
        self.seed = scenario.experiment.seed
        digest = hashlib.sha256(json_text([document.data, self._decisive()]).encode()).hexdigest()[
            :FOLDER_DIGITS
        ]
        self.folder = wanted.out or RUNS / f"{scenario.name}-sensitivity-{digest}"
        self.points = Points(
            document,
            self.arms,
            self.folder,
            reporter,
            wanted.jobs,
            wanted.scale,
            executor,
            wanted.execution.trial_cores,
        )
        self._refuse_cores()
        self.kept: dict[str, dict[Figure, float | None]] = {}
        self.bounded: dict[Figure, set[str]] = {}
        """By figure the points at which it is a lower bound."""
        self.seen: list[tuple[tuple[float, ...], dict[Figure, float | None]]] = []
        self.figures: list[Figure] = []
        self.trials = 0
        self.planned = 0

    def _decisive(self) -> list[Any]:
        return [self.arms, list(self.wanted.vary), self.wanted.scale, self.wanted.trials]

    @property
    def count(self) -> int:
        """Maximum number of points."""
        wanted, factors = self.wanted, len(self.factors)
        alone = sum(len(factor.ends) for factor in self.factors)
        deciding = min(wanted.factors, factors)
        variance = wanted.samples * (deciding + 2) if deciding else 0
        return 1 + alone + wanted.trajectories * (factors + 1) + variance + wanted.checks

    def _refuse_size(self) -> None:
        trials = self.count * self.wanted.trials * len(self.arms)
        if trials > TRIALS_MAX:
            raise RunRefusedError(
                f"the study has {self.count} points and {trials} trials; the limit is {TRIALS_MAX} "
                "trials (hint: fewer --trajectories, --samples or --trials)"
            )
        if self.wanted.samples & (self.wanted.samples - 1):
            raise RunRefusedError(
                f"--samples {self.wanted.samples} must be a power of two "
                "(hint: 16 or 32; 0 for none)"
            )

    def _refuse_cores(self) -> None:
        """Raises `ScenarioError` where the present, or a factor at an end of its range, cannot have
        so many cores."""
        if (self.wanted.execution.trial_cores or 1) <= 1:
            return
        ends = [
            factor.applied(self.loaded.document, share)[1]
            for factor in self.factors
            for share in factor.ends
        ]
        for changes in ({}, *ends):
            self.points.experiment(changes, 1, _label(changes))

    def run(self) -> Study:
        """Runs all points; raises `KeyboardInterrupt` when interrupted."""
        make_folder(self.folder)
        self.reporter.say(f"sensitivity: {self.count} points at most, {len(self.factors)} factors")
        base = self._base()
        study = Study(
            self.loaded.scenario.name,
            self.folder,
            self.wanted,
            self.seed,
            self.arms,
            self.factors,
            self.left,
            self.figures,
            base,
        )
        for figure in self.figures:
            study.noise[figure] = _deviation(base[figure]) / sqrt(self.wanted.trials)
        self._alone(study)
        self._screen(study)
        self._variance(study)
        conclusions = self.conclusions or of_base(self.figures, base, study.noise)
        study.holdings = list(self._holdings(study, conclusions))
        study.runs, study.trials = len(self.kept), self.trials
        study.bounded = {figure: len(labels) for figure, labels in self.bounded.items()}
        return study

    def _base(self) -> dict[Figure, list[float]]:
        """Runs more trials of the present; they determine the available figures."""
        run = self._run({}, max(BASE_TRIALS, 2 * self.wanted.trials))
        every = self.named or self.published or of_run(run, self.loaded.scenario, self.arms)
        values = {figure: figure.of_trials(run) for figure in every}
        found = {figure: value for figure, value in values.items() if value}
        if not found:
            names = ", ".join(figure.name for figure in every) or "the scenario's metrics"
            raise RunRefusedError(
                f"trials have no such figures: {names} (hint: a longer experiment.duration)"
            )
        self.figures = list(found)
        self._note_bounds(run, _label({}))
        return found

    def _note_bounds(self, run: Run, label: str) -> None:
        for figure in self.figures:
            if figure.is_bound_in(run):
                self.bounded.setdefault(figure, set()).add(label)

    def _run(self, changes: Mapping[str, Any], trials: int) -> Run:
        label = _label(changes)
        self.reporter.say(f"point {len(self.kept) + 1} of {self.count} at most")
        run = self.points.run(changes, trials, label)
        self.trials += sum(len(run.trials[arm]) for arm in self.arms)
        for arm in self.arms:
            for trial in run.trials[arm]:
                if trial.status == "failed":
                    raise RunRefusedError(
                        f"{run.path}: trial {trial.number} failed: {trial.reason}"
                    )
        return run

    def _changes(self, point: Point) -> dict[str, Any]:
        """Changes of the scenario for a point."""
        document = self.loaded.document
        changes: dict[str, Any] = {}
        for factor, share in zip(self.factors, point, strict=True):
            if share is not None:
                document, own = factor.applied(document, share)
                changes |= own
        return changes

    def _at_all(self, points: Sequence[Point]) -> list[dict[Figure, float | None]]:
        """Figures of many points, whose trials run as one list."""
        named = [(changes, _label(changes)) for changes in map(self._changes, points)]
        new = [(changes, label) for changes, label in named if label not in self.kept]
        self.points.run_ahead(new, self.wanted.trials)
        return [self.at(point) for point in points]

    def at(self, point: Point) -> dict[Figure, float | None]:
        """Figures of a point; simulated unless known."""
        changes = self._changes(point)
        label = _label(changes)
        if label not in self.kept:
            run = self._run(changes, self.wanted.trials)
            self._note_bounds(run, label)
            values = {figure: figure.of_trials(run) for figure in self.figures}
            self.kept[label] = {
                figure: mean(known[: self.wanted.trials]) if known else None
                for figure, known in values.items()
            }
        snapped = tuple(
            factor.base if share is None else factor.variation.snapped(share)
            for factor, share in zip(self.factors, point, strict=True)
        )
        self.seen.append((snapped, self.kept[label]))
        return self.kept[label]

    def _alone(self, study: Study) -> None:
        """Each factor alone at the ends of its range, or at every listed value."""
        count = len(self.factors)
        points = {
            (number, share): tuple(share if at == number else None for at in range(count))
            for number, factor in enumerate(self.factors)
            for share in factor.ends
        }
        study.alone |= dict(zip(points, self._at_all(list(points.values())), strict=True))

    def _screen(self, study: Study) -> None:
        if not self.wanted.trajectories:
            return
        designs = Designs([factor.name for factor in self.factors], self.seed)
        points = designs.screening(self.wanted.trajectories)
        values = self._at_all([tuple(point) for point in points])
        for figure in list(study.figures):
            known = [value for one in values if (value := one[figure]) is not None]
            if len(known) < len(values):
                study.dropped.append(figure.name)
                continue
            study.screened[figure] = designs.screened(self.wanted.trajectories, known)

    def _variance(self, study: Study) -> None:
        """Shares of variance of the factors with the largest effects, the others as at present."""
        study.deciding = self._largest(study)[: self.wanted.factors]
        if not self.wanted.samples or not study.deciding:
            return
        designs = Designs([self.factors[number].name for number in study.deciding], self.seed)
        points: list[Point] = []
        for row in designs.variance(self.wanted.samples):
            shares = dict(zip(study.deciding, row, strict=True))
            points.append(tuple(shares.get(number) for number in range(len(self.factors))))
        values = self._at_all(points)
        for figure in study.screened:
            known = [value for one in values if (value := one[figure]) is not None]
            if len(known) == len(values):
                study.shares[figure] = designs.shares(self.wanted.samples, known)

    def _largest(self, study: Study) -> list[int]:
        """Factors in the order of the mean over the figures of their effects, each relative to the
        largest effect on that figure."""
        totals = [0.0] * len(self.factors)
        for figure, effects in study.screened.items():
            largest = max(effect.mu_star for effect in effects)
            for number, effect in enumerate(effects):
                if largest > 0 and effect.mu_star > study.least(figure):
                    totals[number] += effect.mu_star / largest
        order = sorted(range(len(totals)), key=lambda number: (-totals[number], number))
        return [number for number in order if totals[number] > 0]

    def _holdings(self, study: Study, conclusions: Sequence[Conclusion]) -> Iterator[Holding]:
        if not conclusions:
            return
        base = {figure: mean(values) for figure, values in study.base.items()}
        at_base = [factor.base for factor in self.factors]
        judged = [
            (point, [conclusion.holds(values) for conclusion in conclusions])
            for point, values in self.seen_once().items()
        ]
        known = [(point, row) for point, row in judged if None not in row]
        together = [(point, all(row)) for point, row in known]
        box = region([point for point, _ in together], [held for _, held in together], at_base)
        checked = self._checked(conclusions, box)
        every = all(conclusion.holds(base) for conclusion in conclusions)
        yield _holding("all conclusions together", every, together, box, checked)
        for number, conclusion in enumerate(conclusions):
            own = [(point, bool(row[number])) for point, row in known]
            yield _holding(
                conclusion.words, bool(conclusion.holds(base)), own,
                region([point for point, _ in own], [held for _, held in own], at_base), [],
            )  # fmt: skip

    def seen_once(self) -> dict[tuple[float, ...], dict[Figure, float | None]]:
        """Every simulated point."""
        return dict(self.seen)

    def _checked(self, conclusions: Sequence[Conclusion], box: Box | None) -> list[bool]:
        """Runs new points in the region; returns for each whether all conclusions hold."""
        if box is None or not self.wanted.checks:
            return []
        designs = Designs([factor.name for factor in self.factors], self.seed + 1)
        rows = [tuple(box.inside(row)) for row in designs.uniform(self.wanted.checks)]
        return [
            all(conclusion.holds(values) for conclusion in conclusions)
            for values in self._at_all(rows)
        ]


def _holding(
    words: str,
    at_base: bool,
    judged: Sequence[tuple[Sequence[float], bool]],
    box: Box | None,
    checked: Sequence[bool],
) -> Holding:
    inside = sum(box.has(point) for point, _ in judged) if box is not None else 0
    held = sum(held for _, held in judged)
    return Holding(words, at_base, held, len(judged), box, inside, sum(checked), len(checked))


def _deviation(values: Sequence[float]) -> float:
    center = mean(values)
    return sqrt(sum((value - center) ** 2 for value in values) / max(1, len(values) - 1))


def _label(changes: Mapping[str, Any]) -> str:
    if not changes:
        return "present"
    return hashlib.sha256(json_text(dict(sorted(changes.items()))).encode()).hexdigest()[:16]
