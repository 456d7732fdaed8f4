"""Judges whether a run lies inside the bands, and whether its interval does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from operator import truediv

from msgspec.structs import asdict

from tailrace.results.compare.effects import Comparison, compared_trials
from tailrace.results.compare.expected_goal import is_goal, judge_goal
from tailrace.results.compare.trial_value import is_lower_bound, trial_value
from tailrace.results.directory.published import CHANGES, COMPARISONS, Band
from tailrace.results.directory.run_directory import Run
from tailrace.results.format.numbers import PS_PER_S
from tailrace.results.metrics.definitions import METRICS, noun_of
from tailrace.results.metrics.sample_summary import summarise_sample
from tailrace.results.metrics.slowdown import slowdown_interval
from tailrace.results.metrics.subjects import subjects_of
from tailrace.results.summary.expectation import JudgedFigure, Verdict
from tailrace.scenario.experiment import SOLO
from tailrace.scenario.vocabulary import RATIOS
from tailrace.statistics import Interval, mean, median, median_interval

# Metrics proportional to the number of transactions: those of a run at scale 1/20 are multiplied by
# 20.
SCALED_METRICS = frozenset(
    {
        "completion_s",
        "transactions",
        "retransmits",
        "timeouts",
        "drops_frames",
        "marked_frames",
        "prioritised_frames",
        "pauses_frames",
        "notifications_frames",
    }
)

Centre = Callable[[Sequence[float]], float]


def judge(run: Run, band: Band) -> JudgedFigure:
    """The run's value with the band."""
    if is_goal(run, band):
        return _judged(run, band, judge_goal(run, band, _factor(run, band)))
    samples, combine = _samples(run, band)
    factor = _factor(run, band)
    compared = _compared(run, band) if all(samples) else None
    figures = _figures(run, band, samples, compared) if all(samples) else None
    measured = combine(*figures.values) if figures else None
    value = measured * factor if measured is not None else None
    holds = band.holds(value) if value is not None else None
    is_bound = figures is not None and figures.is_bound
    interval = (
        None if figures is None or is_bound else _interval(band, samples, combine, factor, compared)
    )
    is_open = (
        figures is not None and is_bound and holds != band.holds(combine(*figures.largest) * factor)
    )
    passed = holds and not is_open
    is_clear = None
    if interval and passed is not None:
        is_clear = not is_open and _is_clear(band, interval, is_inside=passed)
    verdict = Verdict(
        value=value,
        interval=interval,
        measured=measured,
        multiplied_by=factor,
        passed=passed,
        holds=holds,
        end=None,
        takes="",
        is_bound=is_bound,
        is_open=is_open,
        is_clear=is_clear,
        trials=min(len(sample) for sample in samples),
    )
    return _judged(run, band, verdict)


def _judged(run: Run, band: Band, verdict: Verdict) -> JudgedFigure:
    """A verdict with the band, and the verdict that a mechanism without effect would get."""
    value = verdict.value
    return JudgedFigure(
        metric=band.metric,
        arm=band.arm,
        baseline=band.baseline,
        workload=band.workload,
        noun=noun_of(run.kinds_of([band.workload]) if band.workload else run.kinds),
        port=band.port,
        queue=band.queue,
        cause=band.cause,
        after_s=band.after_ps / PS_PER_S if band.after_ps else None,
        statistic=band.statistic,
        kind=band.kind,
        published=band.value,
        low=band.low,
        high=band.high,
        tolerance=band.tolerance,
        difference=value - band.value if value is not None and band.value is not None else None,
        difference_percent=_percent(value, band.value),
        is_run=_needed(run, band) <= set(run.manifest.arms),
        passed_without=_passed_without(run, band, is_passed=verdict.passed),
        source=band.source,
        **asdict(verdict),
    )


def _needed(run: Run, band: Band) -> set[str]:
    """Arms of which the figure is made; workloads alone run whichever arms are chosen."""
    arms = {band.arm or run.baseline or ""}
    if band.metric in COMPARISONS:
        arms = set(_arms(run, band))
    return {arm for arm in arms if not arm.startswith(SOLO)}


def _centre(band: Band) -> Centre:
    return median if band.statistic == "median" else mean


def _factor(run: Run, band: Band) -> float:
    return 1 / run.scale_of(band.workload) if band.metric in SCALED_METRICS else 1.0


def _passed_without(run: Run, band: Band, *, is_passed: bool | None) -> bool | None:
    """The verdict if the band's arm equalled its baseline; for other figures, the verdict on the
    run."""
    if band.metric in CHANGES:
        return band.holds(0)
    if band.metric in RATIOS:
        return band.holds(1)
    baseline = band.baseline or run.baseline
    if band.arm is None or baseline is None or band.arm.startswith(SOLO) or band.arm == baseline:
        return is_passed
    samples, combine = _samples(run, replace(band, arm=baseline))
    if not all(samples):
        return None
    centre = _centre(band)
    return band.holds(combine(*(centre(sample) for sample in samples)) * _factor(run, band))


def _compared(run: Run, band: Band) -> Comparison | None:
    """The comparison of the run that an expectation of two arms is about: ratios of means and of
    latencies of all transactions, of trials in pairs. None for other figures.
    """
    metric = "completion_s" if band.metric in CHANGES else RATIOS.get(band.metric, "")
    if metric not in METRICS or band.statistic == "median" or band.after_ps:
        return None
    name = run.workloads[0] if band.workload is None and len(run.workloads) == 1 else band.workload
    subject = next((one for one in subjects_of(run) if one.name == name), None)
    if subject is None:
        return None
    names = _arms(run, band)
    trials = run.valid(names[0]), run.valid(names[1])
    return compared_trials(trials, subject, metric, names=names, address=band.metric, is_main=False)


@dataclass(frozen=True)
class _Figures:
    """The inputs of the metric."""

    values: list[float]
    largest: list[float]
    """With lower bounds as large as one likes."""
    is_bound: bool


def _figures(
    run: Run, band: Band, samples: list[list[float]], compared: Comparison | None
) -> _Figures:
    if compared is not None:
        values = [compared.change.first, compared.change.second]
        largest = [
            inf if bounds else value for value, bounds in zip(values, compared.bounds, strict=True)
        ]
        return _Figures(values, largest, any(compared.bounds))
    centre, larger = _centre(band), _largest(run, band, samples)
    return _Figures(
        [centre(sample) for sample in samples],
        [centre(sample) for sample in larger],
        larger != samples,
    )


def _interval(
    band: Band,
    samples: list[list[float]],
    combine: Callable[..., float],
    factor: float,
    compared: Comparison | None,
) -> Interval | None:
    """The interval of the figure, as elsewhere: a change and a slowdown have the interval of the
    comparison."""
    if compared is not None:
        return _of_ratio(band, compared.change.interval if compared.change.is_ratio else None)
    found = _of_centre(band, samples, combine)
    return found and found.scaled(factor)


def _of_centre(
    band: Band, samples: list[list[float]], combine: Callable[..., float]
) -> Interval | None:
    if band.statistic == "median":
        return median_interval(samples, combine=combine)
    if band.metric in COMPARISONS:
        return _of_ratio(band, slowdown_interval(samples[1], samples[0]))
    if band.metric == "slowdown":
        return slowdown_interval(*samples)
    return summarise_sample(samples[0]).interval


def _of_ratio(band: Band, ratio: Interval | None) -> Interval | None:
    return ratio and (ratio.scaled(-100, 100) if band.metric in CHANGES else ratio)


def _is_clear(band: Band, interval: Interval, *, is_inside: bool) -> bool:
    """Whether all values of the interval have the same verdict."""
    low, high = interval.low, interval.high
    if is_inside:
        return band.holds(low) and band.holds(high)
    return (band.low is not None and high < band.low) or (band.high is not None and low > band.high)


def _samples(run: Run, band: Band) -> tuple[list[list[float]], Callable[..., float]]:
    """The samples of trials whose centres make the metric, and how."""
    parts, combine = _parts(run, band)
    return [_values(run, arm, band, metric) for arm, metric in parts], combine


def _largest(run: Run, band: Band, samples: list[list[float]]) -> list[list[float]]:
    """The samples with lower bounds as large as one likes."""
    return [
        [
            inf if is_lower_bound(run, trial, band, metric) else value
            for trial, value in zip(run.valid(arm), sample, strict=True)
        ]
        for (arm, metric), sample in zip(_parts(run, band)[0], samples, strict=True)
    ]


def _parts(run: Run, band: Band) -> tuple[list[tuple[str, str]], Callable[..., float]]:
    """The arms and metrics whose trials determine the figure, and the function that combines
    them."""
    here = band.arm or run.baseline or ""
    if band.metric == "acceleration_percent":
        return [
            (arm, "completion_s") for arm in _arms(run, band)
        ], lambda first, second: (1 - second / first) * 100
    if (of := RATIOS.get(band.metric)) is not None:
        return [(arm, of) for arm in _arms(run, band)], _ratio
    if band.metric == "slowdown":
        return [(arm, "completion_s") for arm in (here, f"{SOLO}{band.workload}")], truediv
    return [(here, band.metric)], float


def _ratio(first: float, second: float) -> float:
    """An arm over its baseline; infinite where the baseline is zero."""
    return second / first if first else inf


def _arms(run: Run, band: Band) -> tuple[str, str]:
    """The compared arms: the baseline and the other."""
    return band.baseline or run.baseline or "", band.arm or run.baseline or ""


def _values(run: Run, arm: str, band: Band, metric: str) -> list[float]:
    """Value of every valid trial; empty where a trial lacks it, since an average of the others
    would be biased."""
    values = [trial_value(run, trial, band, metric) for trial in run.valid(arm)]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _percent(value: float | None, published: float | None) -> float | None:
    return (value / published - 1) * 100 if value is not None and published else None
