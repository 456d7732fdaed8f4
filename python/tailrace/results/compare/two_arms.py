"""Comparison of any two arms of one run, with the statistics of the run itself."""

from operator import itemgetter
from pathlib import Path
from typing import Any

from tailrace.errors import known_arm
from tailrace.results.compare.arms import identical_trials, is_same_plan, plan_words, run_facts, run_words
from tailrace.results.compare.effect_words import family_words
from tailrace.results.compare.effects import compare_pairs
from tailrace.results.compare.effects_table import Place, effects_table, has_enough, is_shown
from tailrace.results.directory.run_directory import Run, RunDirectoryError
from tailrace.results.format.columns import WIDTH, fill

PLACE: Place = (("metric", itemgetter("metric")), ("workload", itemgetter("workload")))


def compare_two_arms(path: Path, first: str, second: str) -> dict[str, Any]:
    """Compares the second arm of a run with the first one, for every workload and group.

    Trials are paired by seed where they share it. The p values are adjusted for the comparisons of these two arms.
    Raises `RunRefusedError` for an arm that the run does not have, and `RunDirectoryError` for two that cannot be
    compared.
    """
    run = Run.read(Path(path))
    for arm in (first, second):
        known_arm(arm, run.arms, str(run.path))
    if first == second:
        raise RunDirectoryError(f"{run.path}: an arm is not compared with itself: '{first}' (hint: name two arms)")
    for arm in (first, second):
        if not run.told(arm):
            hint = "the same `tailrace run` command resumes a run"
            raise RunDirectoryError(f"{run.path}: arm '{arm}' has no valid trial (hint: {hint})")
    return {
        "run": run_facts(run),
        "arms": [first, second],
        "same_plan": is_same_plan((run, first), (run, second)),
        "identical_trials": identical_trials(run.told(first), run.told(second)),
        "differences": compare_pairs(run, [(first, second)]),
    }


def format_two_arms(compared: dict[str, Any]) -> str:
    """`compare_two_arms` as plain text."""
    first, second = compared["arms"]
    effects = compared["differences"]
    shown = [effect for effect in effects if is_shown(effect)]
    plan = plan_words(compared["same_plan"], compared["identical_trials"])
    return (
        "\n\n".join(
            part
            for part in (
                f"{run_words(compared['run'])}: {second} against {first}; {plan}",
                effects_table(shown, PLACE, (first, second)),
                "\n".join(effect["words"] for effect in effects if effect["is_main"] and has_enough(effect)),
                fill(family_words(effects, ""), WIDTH) if shown else "",
                "" if shown else f"too few trials to compare: {first}, {second}",
            )
            if part
        )
        + "\n"
    )
