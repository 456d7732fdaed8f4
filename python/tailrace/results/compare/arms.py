"""Comparison of two runs: differences, and comparisons with too few trials."""

from operator import attrgetter
from pathlib import Path

from msgspec.structs import replace

from tailrace.errors import listed
from tailrace.results.compare.effect_words import family_words
from tailrace.results.compare.effects import Comparison, compared_trials, effects_of
from tailrace.results.compare.effects_table import ScopeColumns, effects_table, has_enough, is_shown
from tailrace.results.compare.fidelity import fabric_name
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.format.columns import WIDTH, fill
from tailrace.results.metrics.definitions import compared_metrics, main_metric, noun_of
from tailrace.results.metrics.subjects import Subject, chosen_metrics, subjects_of
from tailrace.results.summary.compared import ComparedRun, ComparedRuns
from tailrace.scenario.experiment import SOLO

Judged = tuple[Subject, list[str]]
"""A workload or group, and its main metrics."""
OF_RUNS: ScopeColumns = (
    ("metric", attrgetter("metric")),
    ("arm", attrgetter("scope")),
    ("workload", attrgetter("workload")),
)


def compare(a: Path, b: Path) -> ComparedRuns:
    """Compares the second run with the first, for every common arm and workload.

    Raises an error for runs that cannot be compared.
    """
    first, second = Run.read(Path(a)), Run.read(Path(b))
    refuse_incomparable(first, second)
    arms = [arm for arm in first.trials if arm in second.trials]
    judged = _judged(first)
    found = [
        (arm, comparison)
        for arm in arms
        for subject, mains in (_judged_alone(first, arm) if arm.startswith(SOLO) else judged)
        for metric in compared_metrics(mains)
        if (comparison := _comparison(first, second, arm, subject, metric, is_main=metric in mains))
    ]
    effects = effects_of([comparison for _, comparison in found], first.seed)
    differences = [
        replace(effect, scope=arm) for (arm, _), effect in zip(found, effects, strict=True)
    ]
    return ComparedRuns(
        a=compared_run(first),
        b=compared_run(second),
        same_plan={arm: is_same_plan((first, arm), (second, arm)) for arm in arms},
        identical_trials={
            arm: identical_trials(first.with_outcome(arm), second.with_outcome(arm)) for arm in arms
        },
        only_in_a=[arm for arm in first.trials if arm not in second.trials],
        only_in_b=[arm for arm in second.trials if arm not in first.trials],
        differences=differences,
    )


def format_compare(compared: ComparedRuns) -> str:
    """`compare` as plain text."""
    parts = [f"a: {run_words(compared.a)}\nb: {run_words(compared.b)}"]
    only = {"a": compared.only_in_a, "b": compared.only_in_b}
    parts += [f"only in {run}: {listed(arms)}" for run, arms in only.items() if arms]
    plans = (
        (arm, is_same, compared.identical_trials[arm])
        for arm, is_same in compared.same_plan.items()
    )
    parts.append(
        "\n".join(f"{arm}: {plan_words(is_same, identical)}" for arm, is_same, identical in plans)
    )
    shown = [effect for effect in compared.differences if is_shown(effect)]
    parts.append(effects_table(shown, OF_RUNS, ("a", "b")))
    parts.append("\n".join(_sentences(compared)))
    parts.append(fill(family_words(compared.differences), WIDTH) if shown else "")
    few = sorted({str(e.scope) for e in compared.differences} - {str(e.scope) for e in shown})
    parts.append(f"too few trials to compare: {listed(few)}" if few else "")
    return "\n\n".join(part for part in parts if part) + "\n"


def _sentences(compared: ComparedRuns) -> list[str]:
    """Sentences about the main metric of each workload; every arm separately."""
    main = [e for e in compared.differences if e.is_main and has_enough(e)]
    return [f"{effect.scope}: {effect.words}" for effect in main]


def refuse_incomparable(a: Run, b: Run) -> None:
    """Reasons for which two runs cannot be compared."""
    where = f"{a.path} and {b.path}"
    if a.scale != b.scale:
        raise RunDirectoryError(
            f"{where}: the runs have different scales, {a.scale:g} and {b.scale:g}: completion "
            "times and tails are not comparable (hint: run both with the same --scale)"
        )
    if a.live_scale != b.live_scale:
        raise RunDirectoryError(
            f"{where}: the runs divide rates by {a.live_scale} and by {b.live_scale}"
            " (hint: run both with the same --live-scale)"
        )
    arms = [arm for arm in a.trials if arm in b.trials]
    if not arms:
        raise RunDirectoryError(f"{where}: no arm in common ({listed(a.arms)}; {listed(b.arms)})")
    if not set(a.workloads) & set(b.workloads):
        raise RunDirectoryError(
            f"{where}: no workload in common ({', '.join(a.workloads)}; {', '.join(b.workloads)})"
        )
    if not any(a.with_outcome(arm) and b.with_outcome(arm) for arm in arms):
        raise RunDirectoryError(
            f"{where}: no arm has valid trials in both runs (hint: the same `tailrace run` "
            "command resumes a run)"
        )
    for arm in arms:
        _refuse_other_work(a, b, arm)


def _refuse_other_work(a: Run, b: Run, arm: str) -> None:
    """Workloads whose numbers of transactions differ, which makes their completion times
    incomparable."""
    for workload in a.workloads_of(arm):
        counts = [_counts(run.valid(arm), workload) for run in (a, b)]
        if all(counts) and len(set().union(*counts)) > 1:
            noun = noun_of(a.kinds_of([workload]))
            texts = [", ".join(str(count) for count in sorted(count_set)) for count_set in counts]
            raise RunDirectoryError(
                f"{a.path} and {b.path}: {arm}: {workload} completed {texts[0]} {noun} in the "
                "first run and "
                f"{texts[1]} in the second (hint: set the same number of {noun} in both scenarios)"
            )


def _counts(trials: list[Trial], workload: str) -> set[int]:
    """Numbers of transactions of a finite workload; empty for an endless one."""
    found = [own for trial in trials if (own := trial.workloads.get(workload))]
    return {own.transactions for own in found if own.completion_ps is not None}


def _judged(run: Run) -> list[Judged]:
    """Workloads and groups with the metrics that judge them, as in the run itself."""
    chosen = chosen_metrics(run)
    return [(subject, chosen.get(subject.name, [])) for subject in subjects_of(run)]


def _judged_alone(run: Run, arm: str) -> list[Judged]:
    """The workload of an arm `solo:`, which is in no group."""
    return [
        (Subject(name, (name,)), [metric] if (metric := main_metric(run, (name,))) else [])
        for name in run.workloads_of(arm)
    ]


def _comparison(
    a: Run, b: Run, arm: str, subject: Subject, metric: str, *, is_main: bool
) -> Comparison | None:
    return compared_trials(
        (a.with_outcome(arm), b.with_outcome(arm)),
        subject,
        metric,
        names=("a", "b"),
        address=f"compare/{arm}/{subject.name}/{metric}",
        is_main=is_main,
    )


def compared_run(run: Run) -> ComparedRun:
    """The description of a run in a comparison."""
    return ComparedRun(
        path=str(run.path),
        name=run.name,
        seed=run.seed,
        scale=run.scale,
        is_partial=run.is_partial,
        fabric=fabric_name(run),
    )


def run_words(run: ComparedRun) -> str:
    """The path of a run, and for a live run its fabric."""
    return f"{run.path} (live, fabric {run.fabric})" if run.fabric else run.path


def is_same_plan(a: tuple[Run, str], b: tuple[Run, str]) -> bool | None:
    """Whether two arms have the same plan, by the hashes in the manifests; None where one has
    none."""
    hashes = [(run.manifest.plan_hashes or {}).get(arm) for run, arm in (a, b)]
    return hashes[0] == hashes[1] if all(hashes) else None


def identical_trials(a: list[Trial], b: list[Trial]) -> int:
    """Number of trials with the same seed and the same event digest: they are identical."""
    digests = {trial.outcome.seed: trial.outcome.digest for trial in a}
    return sum(
        bool(trial.outcome.digest) and digests.get(trial.outcome.seed) == trial.outcome.digest
        for trial in b
    )


def plan_words(is_same: bool | None, identical: int) -> str:
    """`same plan; 2 trials have identical event digests`."""
    plan = {True: "same plan", False: "plans differ", None: "plans unknown"}[is_same]
    noun = (
        "trial has an identical event digest"
        if identical == 1
        else "trials have identical event digests"
    )
    return plan + (f"; {identical} {noun}" if identical else "")
