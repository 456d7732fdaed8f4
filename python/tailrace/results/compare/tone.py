"""Better, worse or neither: what can be said of the effect of an arm on one metric."""

from typing import Any, Literal

from tailrace.results.metrics.definitions import BETTER_HIGHER
from tailrace.statistics import told_verdict
from tailrace.statistics.verdict import SIGNIFICANCE

Summary = dict[str, Any]
Tone = Literal["", "better", "worse", "same", "unclear", "few", "censored"]
TONES: dict[str, Tone] = {
    "no significant difference": "same",
    "unclear size": "unclear",
    "too few trials": "few",
    "not comparable": "censored",
}
"""Of verdicts that tell no direction."""


def tone_of(effect: Summary) -> Tone:
    """Better, worse or what else can be said of an effect.

    A figure that is a lower bound can be told to be higher than one that is none, and nothing else.
    """
    if effect["is_same"]:
        return "same"
    verdict = told_verdict(effect["verdict"], tuple(effect["bounds"]))
    if verdict in TONES:
        return TONES[verdict]
    return "better" if (verdict == "higher") == (effect["metric"] in BETTER_HIGHER) else "worse"


def direction(effect: Summary) -> int:
    """1 for better, -1 for worse, 0 where neither can be stated.

    With too few trials for the number of comparisons, the unadjusted p value is used: when looking for a contradiction,
    a false alarm costs less than a miss.
    """
    verdict = effect["verdict"]
    if verdict == "too few trials" and effect["p_value"] < SIGNIFICANCE:
        verdict = "lower" if effect["arm_mean"] < effect["baseline_mean"] else "higher"
    return {"better": 1, "worse": -1}.get(tone_of(effect | {"verdict": verdict}), 0)
