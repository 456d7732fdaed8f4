"""Comparison of any two arms of one run, with the statistics of the run itself."""

from operator import attrgetter
from pathlib import Path

from tailrace.errors import known_arm, listed
from tailrace.results.compare.arms import (
    compared_run,
    identical_trials,
    is_same_plan,
    plan_words,
    run_words,
)
from tailrace.results.compare.effect_words import family_words
from tailrace.results.compare.effects import comparisons_of_pairs
from tailrace.results.compare.effects_table import ScopeColumns, effects_table, has_enough, is_shown
from tailrace.results.compare.looks import effects_looked
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.run_directory import Run
from tailrace.results.format.columns import WIDTH, fill
from tailrace.results.summary.compared import ComparedArms, ComparedPair
from tailrace.scenario.sweep import AT

OF_RUN: ScopeColumns = (("metric", attrgetter("metric")), ("workload", attrgetter("workload")))
OF_SWEEP: ScopeColumns = (
    OF_RUN[0],
    ("point", lambda effect: effect.arm.partition(AT)[2]),
    OF_RUN[1],
)
Pair = tuple[str, str]


def compare_two_arms(path: Path, first: str, second: str) -> ComparedArms:
    """Compares the second arm of a run with the first one, for every workload and group; in a sweep
    at every point, or at those that the names state (`dpp@users=8`).

    Trials are paired by seed where they share it. The p values are adjusted for the comparisons of
    these two arms, and are those of all looks where the run had any. Raises `RunRefusedError` for
    an arm that the run does not have, and `RunDirectoryError` for two that cannot be compared.
    """
    run = Run.read(Path(path))
    names = list(dict.fromkeys([*run.named_arms, *run.arms]))
    for arm in (first, second):
        known_arm(arm, names, str(run.path))
    if first == second:
        raise RunDirectoryError(
            f"{run.path}: an arm is not compared with itself: '{first}' (hint: name two arms)"
        )
    pairs = _pairs(run, first, second)
    found = list(comparisons_of_pairs(run, pairs))
    return ComparedArms(
        run=compared_run(run),
        arms=(first, second),
        pairs=[
            ComparedPair(
                arms=(a, b),
                same_plan=is_same_plan((run, a), (run, b)),
                identical_trials=identical_trials(run.with_outcome(a), run.with_outcome(b)),
            )
            for a, b in pairs
        ],
        differences=effects_looked(run, found),
    )


def _pairs(run: Run, first: str, second: str) -> list[Pair]:
    """The arms that are compared, those of a sweep at the same point; raises where no pair has
    valid trials."""
    labels = [point.label for point in run.sweep.points] if run.sweep else []
    at_points = [
        tuple(arm if AT in arm else run.arm_at(arm, label) for arm in (first, second))
        for label in labels
    ]
    pairs = list(dict.fromkeys((a, b) for a, b in at_points)) or [(first, second)]
    lacking = list(
        dict.fromkeys(arm for pair in pairs for arm in pair if not run.with_outcome(arm))
    )
    kept = [pair for pair in pairs if not {*lacking} & {*pair}]
    if not kept:
        hint = "the same `tailrace run` command resumes a run"
        raise RunDirectoryError(f"{run.path}: no valid trial of {listed(lacking)} (hint: {hint})")
    return kept


def format_two_arms(compared: ComparedArms) -> str:
    """`compare_two_arms` as plain text."""
    first, second = compared.arms
    pairs, effects = compared.pairs, compared.differences
    shown = [effect for effect in effects if is_shown(effect)]
    shown_pairs = {(effect.baseline, effect.arm) for effect in shown}
    few = [" and ".join(pair.arms) for pair in pairs if pair.arms not in shown_pairs]
    parts = [
        f"{run_words(compared.run)}: {second} against {first}",
        "\n".join(_plan(pair, is_one=len(pairs) == 1) for pair in pairs),
        effects_table(shown, OF_RUN if len(pairs) == 1 else OF_SWEEP, (first, second)),
        "\n".join(effect.words for effect in effects if effect.is_main and has_enough(effect)),
        fill(family_words(effects, ""), WIDTH) if shown else "",
        f"too few trials to compare: {listed(few)}" if few else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _plan(pair: ComparedPair, *, is_one: bool) -> str:
    words = plan_words(pair.same_plan, pair.identical_trials)
    return words if is_one else f"{' and '.join(pair.arms)}: {words}"
