"""Better, worse or neither: what can be said of the effect of an arm on one metric."""

from math import inf, log
from typing import Literal

from tailrace.results.summary.effect import ArmEffect
from tailrace.scenario.goal import BETTER_HIGHER
from tailrace.statistics import told_verdict

Tone = Literal["", "better", "worse", "same", "few", "censored"]
TONES: dict[str, Tone] = {
    "no significant difference": "same",
    "too few trials": "few",
    "not comparable": "censored",
    "not tested": "",
}
"""Of verdicts that tell no direction."""
VISIBLE_FACTOR = 2.0
LARGE = log(1.05)
"""A change by less than 5 % leads only where no other is larger."""


def tone_of(effect: ArmEffect) -> Tone:
    """Better, worse or what else can be said of an effect; nothing of one that is not tested.

    A figure that is a lower bound can be told to be higher than one that is none, and nothing else.
    """
    if effect.is_same:
        return "same"
    verdict = told_verdict(effect.verdict, effect.bounds)
    if verdict in TONES:
        return TONES[verdict]
    return "better" if (verdict == "higher") == (effect.metric in BETTER_HIGHER) else "worse"


def visible_change(effect: ArmEffect) -> int:
    """1 for an improvement that the interval of an effect shows, -1 for the opposite, 0 for
    neither.

    Without an interval it is shown from a factor of `VISIBLE_FACTOR` on.
    """
    ratio, nothing = effect.ratio, 0.0 if effect.ratio is None else 1.0
    interval = effect.difference_interval if ratio is None else effect.ratio_interval
    if interval is not None:
        way = (interval.low > nothing) - (interval.high < nothing)
    else:
        way = (ratio >= VISIBLE_FACTOR) - (ratio <= 1 / VISIBLE_FACTOR) if ratio else 0
    return int(way if effect.metric in BETTER_HIGHER else -way)


def direction(effect: ArmEffect) -> int:
    """1 for better, -1 for worse, 0 where neither can be stated."""
    return {"better": 1, "worse": -1}.get(tone_of(effect), 0)


def change_size(effect: ArmEffect) -> float:
    """How large a change is, to order by: of a ratio its logarithm, of shares their difference; 0
    of what cannot be compared.
    """
    if effect.verdict == "not comparable":
        return 0.0
    if effect.ratio is None:
        return abs(effect.difference) / 100
    return abs(log(effect.ratio)) if effect.ratio else inf
