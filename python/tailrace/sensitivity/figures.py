"""The figures of a run that assumptions may decide, and the conclusions drawn from published
ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tailrace.errors import RunRefusedError, known_arm
from tailrace.results.directory.published import Band, read_published
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.metrics.definitions import bounds_of_trials, metric_of_members
from tailrace.results.metrics.subjects import chosen_metrics
from tailrace.scenario.figures import parse_goal
from tailrace.scenario.goal import BETTER_HIGHER, METRICS, short_of, unit_of
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario
from tailrace.statistics import mean

PS_PER_S = 1e12
ACCELERATION = "acceleration_percent"


@dataclass(frozen=True)
class Figure:
    """A metric of a workload in one arm; with a baseline, by how many percent it is better
    there."""

    subject: str
    members: tuple[str, ...]
    metric: str
    arm: str
    baseline: str | None = None

    @property
    def name(self) -> str:
        """In short words."""
        if self.baseline is not None:
            return f"{self.subject}: {self.arm} better than {self.baseline}"
        return f"{self.subject}.{short_of(self.metric)}, {self.arm}"

    @property
    def unit(self) -> str:
        """Of its values."""
        return "%" if self.baseline is not None else unit_of(self.metric)

    def of_trials(self, run: Run) -> list[float] | None:
        """One value per trial; None where a trial has none."""
        own = _values(run, self.arm, self)
        if self.baseline is None or own is None:
            return own
        before = _values(run, self.baseline, self)
        if before is None or not all(before):
            return None
        sign = 1 if self.metric in BETTER_HIGHER else -1
        return [100 * sign * (after / value - 1) for after, value in zip(own, before, strict=True)]

    def is_bound_in(self, run: Run) -> bool:
        """Whether a trial has a lower bound instead of the figure or of the baseline's figure."""
        arms = [arm for arm in (self.arm, self.baseline) if arm is not None]
        return any(
            bounds_of_trials(run.with_outcome(arm), self.members, self.metric) for arm in arms
        )


def _values(run: Run, arm: str, figure: Figure) -> list[float] | None:
    values = [_value(run, trial, figure) for trial in run.with_outcome(arm)]
    known = [value for value in values if value is not None]
    return known if known and len(known) == len(values) else None


def _value(run: Run, trial: Trial, figure: Figure) -> float | None:
    """A metric at full scale. The end of the trial stands for a completion time that was not
    reached."""
    value = metric_of_members(trial, figure.members, figure.metric)
    if figure.metric != "completion_s":
        return value
    seconds = value if value is not None else trial.outcome.end_ps / PS_PER_S
    return seconds / run.scale_of(figure.members[0])


@dataclass(frozen=True)
class Conclusion:
    """A statement of a document: one figure is below another, or a comparison is above or below
    zero."""

    words: str
    low: Figure
    high: Figure | None
    """The larger figure; None for zero."""
    is_above: bool = False
    """Without a larger figure: whether the figure is above zero."""

    def holds(self, values: Mapping[Figure, float | None]) -> bool | None:
        """Whether it holds for these values; None where one is missing."""
        low = values.get(self.low)
        if low is None:
            return None
        if self.high is None:
            return low > 0 if self.is_above else low < 0
        high = values.get(self.high)
        return None if high is None else low < high


def asked(texts: Sequence[str], scenario: Scenario, arms: Sequence[str]) -> list[Figure]:
    """The figures of `--figure` options, in every arm, and their changes against the first arm."""
    figures: list[Figure] = []
    for text in texts:
        goal = parse_goal(text, scenario, "--figure")
        if goal.bound is not None:
            raise RunRefusedError(
                f"--figure '{text}': a figure has no bound (hint: write "
                f"{goal.subject} and the metric)"
            )
        figures += _in_all_arms(goal.subject, _members(scenario, goal.subject), goal.metric, arms)
    return figures


def of_published(loaded: Loaded, arms: Sequence[str]) -> tuple[list[Figure], list[Conclusion]]:
    """The published figures of workloads, and the signs and orders that they state beyond their
    tolerances."""
    if loaded.published_path is None:
        return [], []
    bands = [band for band in read_published(loaded.published_path) if _is_of_workload(band, arms)]
    pairs = [(band, _figure(band, loaded.scenario)) for band in bands]
    figures = list(dict.fromkeys(figure for _, figure in pairs))
    return figures, list(_conclusions(pairs))


def _is_of_workload(band: Band, arms: Sequence[str]) -> bool:
    if band.workload is None or band.arm is None or band.arm not in arms or band.value is None:
        return False
    return band.metric in METRICS or (band.metric == ACCELERATION and band.baseline in arms)


def _figure(band: Band, scenario: Scenario) -> Figure:
    assert band.workload is not None, "it is of a workload"
    assert band.arm is not None, "it is of an arm"
    metric = "completion_s" if band.metric == ACCELERATION else band.metric
    baseline = band.baseline if band.metric == ACCELERATION else None
    return Figure(band.workload, _members(scenario, band.workload), metric, band.arm, baseline)


def _conclusions(pairs: Sequence[tuple[Band, Figure]]) -> Iterator[Conclusion]:
    """Signs of comparisons whose tolerance excludes zero, and orders of figures whose tolerances do
    not overlap."""
    for band, figure in pairs:
        if figure.baseline is not None and band.low is not None and band.high is not None:
            if band.low > 0:
                yield Conclusion(
                    f"{figure.name}: above zero (published {band.value:g} %)",
                    figure,
                    None,
                    is_above=True,
                )
            elif band.high < 0:
                yield Conclusion(
                    f"{figure.name}: below zero (published {band.value:g} %)", figure, None
                )
    plain = [(band, figure) for band, figure in pairs if figure.baseline is None]
    for one, other in combinations(plain, 2):
        if one[1].metric != other[1].metric or not (
            one[1].arm == other[1].arm or one[1].subject == other[1].subject
        ):
            continue
        (below, low), (above, high) = sorted((one, other), key=lambda pair: pair[0].value or 0.0)
        if below.high is not None and above.low is not None and below.high < above.low:
            unit = f" {low.unit}" if low.unit else ""
            words = (
                f"{low.name} below {high.name} (published {below.value:g} and "
                f"{above.value:g}{unit})"
            )
            yield Conclusion(words, low, high)


def of_run(run: Run, scenario: Scenario, arms: Sequence[str]) -> list[Figure]:
    """The main metrics of a run, in every arm, and their changes against the first of the arms."""
    chosen = [(name, metric) for name, metrics in chosen_metrics(run).items() for metric in metrics]
    return [
        one
        for name, metric in chosen
        for one in _in_all_arms(name, _members(scenario, name), metric, arms)
    ]


def _in_all_arms(
    name: str, members: tuple[str, ...], metric: str, arms: Sequence[str]
) -> list[Figure]:
    plain = [Figure(name, members, metric, arm) for arm in arms]
    return plain + [Figure(name, members, metric, arm, arms[0]) for arm in arms[1:]]


def _members(scenario: Scenario, name: str) -> tuple[str, ...]:
    return tuple(scenario.groups.get(name, [name]))


def chosen_arms(loaded: Loaded, wanted: Sequence[str]) -> list[str]:
    """The arms of the study, the baseline first if it is one of them."""
    baseline = loaded.scenario.baseline
    names = [baseline, *(name for name in loaded.arms if name != baseline)]
    for name in wanted:
        known_arm(name, names)
    return [name for name in names if not wanted or name in wanted]


def of_base(
    figures: Sequence[Figure], base: dict[Figure, list[float]], errors: dict[Figure, float]
) -> list[Conclusion]:
    """Without published figures: the signs of the comparisons whose present values exceed twice
    their error."""
    found = []
    for figure in figures:
        values = base.get(figure)
        if figure.baseline is None or not values or abs(mean(values)) <= 2 * errors[figure]:
            continue
        is_above = mean(values) > 0
        words = (
            f"{figure.name}: {'above' if is_above else 'below'} zero (at present "
            f"{mean(values):.3g} %)"
        )
        found.append(Conclusion(words, figure, None, is_above=is_above))
    return found
