"""Comparison of two runs: differences, and comparisons with too few trials."""

from pathlib import Path
from typing import Any

from tailrace.errors import listed
from tailrace.results.compare.effect_words import bounded_change_text, family_words
from tailrace.results.compare.effects import Comparison, compared_trials, effects_of
from tailrace.results.compare.fidelity import fabric_name
from tailrace.results.directory.run_directory import Run, RunDirectoryError, Trial
from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import bound_mark, change_interval_text, number
from tailrace.results.metrics.definitions import METRICS, main_metric, noun_of
from tailrace.results.metrics.subjects import Subject
from tailrace.statistics import LEVEL_TEXT

# Metrics compared besides the main one of a workload.
SHOWN = frozenset({"latency_p50_ms", "latency_p99_ms"})


def compare(a: Path, b: Path) -> dict[str, Any]:
    """Compares the second run with the first, for every common arm and workload.

    Raises an error for runs that cannot be compared.
    """
    first, second = Run.read(Path(a)), Run.read(Path(b))
    refuse_incomparable(first, second)
    arms = [arm for arm in first.trials if arm in second.trials]
    chosen = {workload: main_metric(first, (workload,)) for workload in first.workloads}
    found = [
        (arm, comparison)
        for arm in arms
        for workload in first.workloads_of(arm)
        for metric in METRICS
        if (comparison := _comparison(first, second, arm, workload, metric, is_main=metric == chosen[workload]))
    ]
    effects = effects_of([comparison for _, comparison in found], first.seed)
    differences = [effect | {"scope": arm} for (arm, _), effect in zip(found, effects, strict=True)]
    return {
        "a": _run(first),
        "b": _run(second),
        "same_plan": {arm: _is_same_plan(first, second, arm) for arm in arms},
        "identical_trials": {arm: _identical_trials(first.told(arm), second.told(arm)) for arm in arms},
        "only_in_a": [arm for arm in first.trials if arm not in second.trials],
        "only_in_b": [arm for arm in second.trials if arm not in first.trials],
        "differences": differences,
    }


def format_compare(compared: dict[str, Any]) -> str:
    """`compare` as plain text."""
    parts = [f"a: {_run_words(compared['a'])}\nb: {_run_words(compared['b'])}"]
    parts += [f"only in {run}: {listed(compared[f'only_in_{run}'])}" for run in "ab" if compared[f"only_in_{run}"]]
    parts.append("\n".join(_plan_words(compared, arm) for arm in compared["same_plan"]))
    rows = [["metric", "arm", "workload", "a", "b", "b is", f"{LEVEL_TEXT} interval", "p adjusted", "verdict"]]
    for effect in (e for e in compared["differences"] if _is_shown(e)):
        change, interval = _change(effect)
        rows.append(
            [
                effect["metric"],
                effect["scope"],
                effect["workload"],
                *(
                    bound_mark(bounds) + number(mean)
                    for mean, bounds in zip(_means(effect), effect["bounds"], strict=True)
                ),
                bounded_change_text(effect),
                change_interval_text(interval, change),
                f"{effect['p_adjusted']:.2g}",
                effect["verdict"],
            ]
        )
    parts.append(align(rows, left=3) if len(rows) > 1 else "")
    parts.append("\n".join(_sentences(compared)))
    parts.append(fill(family_words(compared["differences"]), WIDTH) if len(rows) > 1 else "")
    few = sorted({e["scope"] for e in compared["differences"]} - {row[1] for row in rows})
    parts.append(f"too few trials to compare: {listed(few)}" if few else "")
    return "\n\n".join(part for part in parts if part) + "\n"


def _is_shown(effect: dict[str, Any]) -> bool:
    """Effects on the main metric of a workload and its common percentiles, where there are enough trials."""
    return effect["verdict"] != "too few trials" and (effect["is_main"] or effect["metric"] in SHOWN)


def _means(effect: dict[str, Any]) -> tuple[float, float]:
    return effect["baseline_mean"], effect["arm_mean"]


def _change(effect: dict[str, Any]) -> tuple[float | None, tuple[float, float] | None]:
    """From `a` to `b` in percent, with the interval."""
    interval = effect["change_interval"]
    return effect["change_percent"], (interval["low"], interval["high"]) if interval else None


def _sentences(compared: dict[str, Any]) -> list[str]:
    """Sentences about the main metric of each workload; every arm separately."""
    told = [e for e in compared["differences"] if e["is_main"] and e["verdict"] != "too few trials"]
    return [f"{effect['scope']}: {effect['words']}" for effect in told]


def refuse_incomparable(a: Run, b: Run) -> None:
    """Reasons for which two runs cannot be compared."""
    where = f"{a.path} and {b.path}"
    if a.scale != b.scale:
        raise RunDirectoryError(
            f"{where}: the runs have different scales, {a.scale:g} and {b.scale:g}: completion times and tails "
            "are not comparable (hint: run both with the same --scale)"
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
        raise RunDirectoryError(f"{where}: no workload in common ({', '.join(a.workloads)}; {', '.join(b.workloads)})")
    if not any(a.told(arm) and b.told(arm) for arm in arms):
        raise RunDirectoryError(
            f"{where}: no arm has valid trials in both runs (hint: the same `tailrace run` command resumes a run)"
        )
    for arm in arms:
        _refuse_other_work(a, b, arm)


def _refuse_other_work(a: Run, b: Run, arm: str) -> None:
    """Workloads whose numbers of transactions differ, which makes their completion times incomparable."""
    for workload in a.workloads_of(arm):
        counts = [_counts(run.valid(arm), workload) for run in (a, b)]
        if all(counts) and len(set().union(*counts)) > 1:
            noun = noun_of(a.kinds_of([workload]))
            texts = [", ".join(str(count) for count in sorted(count_set)) for count_set in counts]
            raise RunDirectoryError(
                f"{a.path} and {b.path}: {arm}: {workload} completed {texts[0]} {noun} in the first run and "
                f"{texts[1]} in the second (hint: set the same number of {noun} in both scenarios)"
            )


def _counts(trials: list[Trial], workload: str) -> set[int]:
    """Numbers of transactions of a finite workload; empty for an endless one."""
    outcomes = [outcome for trial in trials if (outcome := trial.workload(workload))]
    return {outcome["transactions"] for outcome in outcomes if outcome["completion_ps"] is not None}


def _comparison(a: Run, b: Run, arm: str, workload: str, metric: str, *, is_main: bool) -> Comparison | None:
    return compared_trials(
        (a.told(arm), b.told(arm)),
        Subject(workload, (workload,)),
        metric,
        names=("a", "b"),
        address=f"compare/{arm}/{workload}/{metric}",
        is_main=is_main,
    )


def _run(run: Run) -> dict[str, Any]:
    return {
        "path": str(run.path),
        "name": run.name,
        "seed": run.seed,
        "scale": run.scale,
        "is_partial": run.is_partial,
        "fabric": fabric_name(run),
    }


def _run_words(run: dict[str, Any]) -> str:
    """The path of a run, and for a live run its fabric."""
    return f"{run['path']} (live, fabric {run['fabric']})" if run["fabric"] else str(run["path"])


def _is_same_plan(a: Run, b: Run, arm: str) -> bool | None:
    """By the hashes in the manifests; None where one has none."""
    hashes = [(run.manifest.get("plan_hashes") or {}).get(arm) for run in (a, b)]
    return hashes[0] == hashes[1] if all(hashes) else None


def _identical_trials(a: list[Trial], b: list[Trial]) -> int:
    """Number of trials with the same seed and the same event digest: they are identical."""
    digests = {trial.outcome["seed"]: trial.outcome.get("digest") for trial in a}
    return sum(
        1
        for trial in b
        if trial.outcome.get("digest") and digests.get(trial.outcome["seed"]) == trial.outcome["digest"]
    )


def _plan_words(compared: dict[str, Any], arm: str) -> str:
    identical = compared["identical_trials"][arm]
    plan = {True: "same plan", False: "plans differ", None: "plans unknown"}[compared["same_plan"][arm]]
    noun = "trial has an identical event digest" if identical == 1 else "trials have identical event digests"
    return f"{arm}: {plan}" + (f"; {identical} {noun}" if identical else "")
