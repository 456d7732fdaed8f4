"""Compares runs of one scenario by different engines with each other and with published figures.

A workload is compared by its slowdown (its time in an arm over its time alone, each engine against
its own solo run) where the runs have solo runs, because the slowdown shows the effect of the
network; and by its times, percentiles and goodput. Every engine is compared with the engine that
models least: live before exact before simulated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tailrace.results.compare.arms import refuse_incomparable
from tailrace.results.compare.fidelity import TAP, engine_name, fabric_name
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.published import Band, read_bands
from tailrace.results.directory.run_directory import Run
from tailrace.results.format.columns import align
from tailrace.results.format.numbers import bound_mark, number, signed_text
from tailrace.results.metrics.definitions import key_of_latency, metric_of_trials
from tailrace.results.metrics.figure import figure_of
from tailrace.results.metrics.latency import PERCENTILES, latencies_of
from tailrace.results.metrics.slowdown import slowdown_interval
from tailrace.results.metrics.subjects import Subject, subjects_of
from tailrace.results.summary.engines import (
    ComparedEngines,
    Disagreement,
    EngineFigures,
    EngineRun,
    LeftOut,
)
from tailrace.scenario.experiment import SOLO
from tailrace.statistics import LEVEL_TEXT, Interval, mean, mean_log_interval, percentile_change

ENGINES = ("simulated", "exact", "live")
"""In the order of columns; the last of a comparison is the reference of the others."""
METRICS = ("slowdown", "completion_s", "latency_p50_ms", "latency_p99_ms", "goodput_gbps")
SHOWN = {
    "live": frozenset({"slowdown", "completion_s"}),
    "exact": frozenset(METRICS),
}
"""Metrics in the text, by reference; the JSON output has all of them."""
GOALS_PERCENT = {
    "live": {"slowdown": 15.0},
    "exact": {name: 15.0 if name == "latency_p99_ms" else 5.0 for name in METRICS},
}
"""Disagreement that counts as agreement, by reference: goals of this project, not from a
publication. The published gains of DPP are 28 to 32 %, and live trials of one scenario differ among
themselves by a few percent; exact trials do not, and p99 rests on a hundredth of the
transactions."""

UNKNOWN = Disagreement(percent=None, interval=None)

Samples = list[list[float]]


@dataclass(frozen=True)
class KnownFigure:
    """A figure of one engine."""

    value: float
    interval: Interval | None
    bounds: int
    """Trials because of which the value is a lower bound."""


def are_of_engines(paths: Sequence[Path]) -> bool:
    """Whether these runs are of different engines."""
    return len({engine_name(Run.read(Path(path))) for path in paths}) == len(paths)


def compare_engines(paths: Sequence[Path]) -> ComparedEngines:
    """Runs of different engines by workload or group and arm, in any order of arguments."""
    by_engine = {engine_name(run): run for run in (Run.read(Path(path)) for path in paths)}
    runs = {name: by_engine[name] for name in ENGINES if name in by_engine}
    if len(runs) < len(paths) or len(runs) <= 1:
        raise RunDirectoryError(
            f"{' and '.join(map(str, paths))}: expected one run of each engine, such as one "
            "simulated and one live run (hint: `tailrace run --live`, `tailrace run --exact`)"
        )
    first = next(iter(runs.values()))
    for other in list(runs.values())[1:]:
        refuse_incomparable(first, other)
    bands = next((found for run in runs.values() if (found := read_bands(run))), [])
    reference = list(runs)[-1]
    rows = [
        row
        for subject in subjects_of(first)
        for arm in [*first.arms, SOLO + subject.name]
        for metric in METRICS
        if (row := _row(runs, bands, arm, subject, metric))
    ]
    return ComparedEngines(
        engines=list(runs),
        reference=reference,
        runs={name: _described(run) for name, run in runs.items()},
        same_plan=_same_plans(list(runs.values())),
        goals_percent=GOALS_PERCENT[reference],
        rows=rows,
    )


def _described(run: Run) -> EngineRun:
    return EngineRun(
        path=str(run.path),
        name=run.name,
        seed=run.seed,
        fabric=fabric_name(run),
        valid_trials=sum(len(run.valid(arm)) for arm in run.trials),
        left_out={arm: left for arm in run.trials if (left := _left_out(run, arm))},
    )


def _left_out(run: Run, arm: str) -> LeftOut | None:
    """Trials of an arm that are in no figure; None where all are."""
    trials = run.trials[arm]
    unfinished = sum(trial.is_unfinished for trial in trials)
    invalid = len(trials) - len(run.valid(arm)) - unfinished
    return (
        LeftOut(unfinished=unfinished, invalid=invalid, trials=len(trials))
        if unfinished or invalid
        else None
    )


def _row(
    runs: dict[str, Run], bands: Sequence[Band], arm: str, subject: Subject, metric: str
) -> EngineFigures | None:
    """One figure of every engine; None where one of them does not have it."""
    samples = {name: _samples(run, arm, subject, metric) for name, run in runs.items()}
    if not all(sample for parts in samples.values() for sample in parts):
        return None
    figures = {
        name: _figure(run, arm, subject, metric, samples[name]) for name, run in runs.items()
    }
    *others, reference = runs
    if not figures[reference].value:
        return None

    def disagreement_of(name: str) -> Disagreement:
        ratio = _ratio_interval(
            runs, arm, subject, metric, (samples[name], samples[reference]), (name, reference)
        )
        return Disagreement(
            percent=(figures[name].value / figures[reference].value - 1) * 100,
            interval=replace(ratio, low=(ratio.low - 1) * 100, high=(ratio.high - 1) * 100)
            if ratio
            else None,
        )

    bounds = {name: figure.bounds for name, figure in figures.items()}
    return EngineFigures(
        workload=subject.name,
        arm=arm,
        metric=metric,
        values={name: figure.value for name, figure in figures.items()},
        bounds=bounds,
        intervals={name: figure.interval for name, figure in figures.items()},
        published=published(bands, arm, subject.name, metric),
        disagreements={
            name: UNKNOWN if bounds[name] or bounds[reference] else disagreement_of(name)
            for name in others
        },
        trials={name: len(parts[0]) for name, parts in samples.items()},
    )


def _figure(run: Run, arm: str, subject: Subject, metric: str, samples: Samples) -> KnownFigure:
    """A percentile is that of all transactions together."""
    if metric == "slowdown":
        times, alone = samples
        return KnownFigure(mean(times) / mean(alone), slowdown_interval(times, alone), 0)
    found = figure_of(run.valid(arm), subject.members, metric)
    assert found.value is not None, "every trial has the metric"
    return KnownFigure(found.value, found.interval, found.bounds)


def _ratio_interval(
    runs: dict[str, Run],
    arm: str,
    subject: Subject,
    metric: str,
    samples: tuple[Samples, Samples],
    names: tuple[str, str],
) -> Interval | None:
    """Interval of the figure of the first of two engines over that of the second."""
    percent = PERCENTILES.get(key_of_latency(metric) or "")
    if percent is None:
        own, reference = samples
        return mean_log_interval(own[0], *reference[1:], below=[*own[1:], reference[0]])
    own_latencies, of_reference = (
        latencies_of(runs[name].valid(arm), subject.members) for name in names
    )
    if own_latencies is None or of_reference is None:
        return None
    return percentile_change(of_reference, own_latencies, percent, is_paired=False).interval


def _samples(run: Run, arm: str, subject: Subject, metric: str) -> Samples:
    if metric != "slowdown":
        return [metric_of_trials(run.valid(arm), subject.members, metric)]
    if arm.startswith(SOLO):
        return [[]]
    arms = (arm, SOLO + subject.name)
    return [metric_of_trials(run.valid(name), subject.members, "completion_s") for name in arms]


def published(bands: Sequence[Band], arm: str, workload: str, metric: str) -> float | None:
    """The published figure; a slowdown also follows from two published times."""
    values = {(band.metric, band.arm): band.value for band in bands if band.workload == workload}
    stated = values.get((metric, arm))
    if stated is not None or metric != "slowdown":
        return stated
    time_s, alone_s = (
        values.get(("completion_s", arm)),
        values.get(("completion_s", SOLO + workload)),
    )
    return time_s / alone_s if time_s and alone_s else None


def _same_plans(runs: Sequence[Run]) -> dict[str, bool]:
    hashes = [run.manifest.plan_hashes or {} for run in runs]
    arms = [arm for arm in runs[0].arms if all(arm in of_run for of_run in hashes[1:])]
    return {arm: len({of_run.get(arm) for of_run in hashes}) == 1 for arm in arms}


def format_engines(compared: ComparedEngines) -> str:
    """The comparison as plain text."""
    engines, reference = compared.engines, compared.reference
    others = engines[:-1]
    head = ["metric", "workload", "arm", *engines, "published"]
    rows = [head + [text for name in others for text in (f"{name} is", f"{LEVEL_TEXT} interval")]]
    for row in (row for row in compared.rows if row.metric in SHOWN[reference]):
        figures = [bound_mark(row.bounds[name]) + number(row.values[name]) for name in engines]
        rows.append(
            [
                row.metric,
                row.workload,
                _arm(row.arm),
                *figures,
                number(row.published, 3),
                *(text for name in others for text in _disagreement(row.disagreements[name])),
            ]
        )
    lines = [f"{name}: {run.path}{_over(run)}" for name, run in compared.runs.items()]
    parts = ["\n".join(lines)]
    if left_out := left_out_words(compared):
        parts.append("\n".join(left_out))
    different = [arm for arm, is_same in compared.same_plan.items() if not is_same]
    if different:
        parts.append(
            f"plans differ in {', '.join(different)}: host parameters without a counterpart, "
            "or a different amount of work"
        )
    if len(rows) == 1 and reference != "live":
        parts.append(f"No workload has a figure in both runs.{_invalid(compared)}")
    else:
        parts += [align(rows, left=3), *dict.fromkeys(_verdict(compared, name) for name in others)]
    return "\n\n".join(parts) + "\n"


def _invalid(compared: ComparedEngines) -> str:
    """Which runs have no valid trial."""
    paths = [run.path for run in compared.runs.values() if not run.valid_trials]
    return (
        f" {' and '.join(paths)}: no trial is valid (hint: `tailrace report` names the reasons)."
        if paths
        else ""
    )


def left_out_words(compared: ComparedEngines) -> list[str]:
    """For each run with figures, which of its trials are in none of them, and why."""
    runs = compared.runs.items()
    return [
        _left_out_words(name, run.left_out)
        for name, run in runs
        if run.left_out and run.valid_trials
    ]


def _left_out_words(engine: str, left_out: dict[str, LeftOut]) -> str:
    arms = []
    for arm, left in left_out.items():
        counts = {"unfinished": left.unfinished, "invalid or failed": left.invalid}
        reasons = [f"{count} {words}" for words, count in counts.items() if count]
        arms.append(f"{' and '.join(reasons)} of {left.trials} of {arm.replace(SOLO, 'solo ')}")
    return (
        f"{engine}: trials without a complete result are left out of all figures: {'; '.join(arms)}"
    )


def _over(run: EngineRun) -> str:
    is_foreign = run.fabric not in (None, TAP)
    return f" (fabric {run.fabric}: policies have no effect on it)" if is_foreign else ""


def _disagreement(found: Disagreement) -> tuple[str, str]:
    interval = found.interval
    bounds = (
        f"{signed_text(interval.low, '')}to {signed_text(interval.high, '%')}" if interval else "–"
    )
    return signed_text(found.percent, "%"), bounds


def _arm(arm: str) -> str:
    return "alone" if arm.startswith(SOLO) else arm


def _verdict(compared: ComparedEngines, engine: str) -> str:
    """How many figures of an engine agree with the reference, by metrics with one goal."""
    goals = compared.goals_percent
    judged = [row for row in compared.rows if row.metric in goals]
    if not judged:
        return (
            "Slowdowns cannot be compared: solo runs are missing in at least one run (hint: "
            "experiment.solo: true)."
        )
    sentences = []
    for goal in sorted(set(goals.values())):
        rows = [row for row in judged if goals[row.metric] == goal]
        known = [found for row in rows if (found := row.disagreements[engine].percent) is not None]
        if not known:
            sentences.append(
                f"{_noun(rows).capitalize()} cannot be compared: of each, at least one "
                "engine's is a lower bound."
            )
            continue
        within = sum(abs(percent) <= goal for percent in known)
        unknown = (
            f" ({len(rows) - len(known)} more are lower bounds)" if len(known) < len(rows) else ""
        )
        sentences.append(
            f"{within} of {len(known)} {_noun(rows)} agree within {goal:g} %{unknown}."
        )
    subject = (
        f"{engine.capitalize()}: " if len(compared.engines) > len(("reference", engine)) else ""
    )
    return subject + " ".join(sentences)


def _noun(rows: Sequence[EngineFigures]) -> str:
    metrics = {row.metric for row in rows}
    names = {
        frozenset({"slowdown"}): "slowdowns",
        frozenset({"latency_p99_ms"}): "99th percentiles",
    }
    return names.get(frozenset(metrics), "figures")
