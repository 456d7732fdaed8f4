"""Better, worse or neither: what can be said of the effect of an arm on one metric."""

from typing import Any, Literal

from tailrace.results.metrics.definitions import BETTER_HIGHER
from tailrace.statistics.verdict import SIGNIFICANCE

Summary = dict[str, Any]
Tone = Literal["", "better", "worse", "same", "unclear", "few", "censored"]
NEITHER = ("no significant difference", "unclear size")


def tone_of(effect: Summary) -> Tone:
    """Better, worse or what else can be said of an effect.

    A figure that is a lower bound can be told to be higher than one that is none, and nothing else.
    """
    of_baseline, of_arm = effect["bounds"]
    if effect["verdict"] in NEITHER and not effect["is_same"] and of_baseline + of_arm > 0:
        return "censored"
    if effect["is_same"] or effect["verdict"] == "no significant difference":
        return "same"
    if effect["verdict"] == "unclear size":
        return "unclear"
    if effect["verdict"] == "too few trials":
        return "few"
    is_higher = effect["verdict"] == "higher"
    if (of_baseline if is_higher else of_arm) > 0:
        return "censored"
    return "better" if is_higher == (effect["metric"] in BETTER_HIGHER) else "worse"


def direction(effect: Summary) -> int:
    """1 for better, -1 for worse, 0 where neither can be stated.

    With too few trials for the number of comparisons, the unadjusted p value is used: when looking for a contradiction,
    a false alarm costs less than a miss.
    """
    verdict = effect["verdict"]
    if verdict == "too few trials" and effect["p_value"] < SIGNIFICANCE:
        verdict = "lower" if effect["arm_mean"] < effect["baseline_mean"] else "higher"
    return {"better": 1, "worse": -1}.get(tone_of(effect | {"verdict": verdict}), 0)
