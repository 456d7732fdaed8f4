"""Classification of an arm's effect on a metric: better, worse or neither."""

from math import inf, log
from typing import Literal

from tailrace.results.summary.effect import ArmEffect
from tailrace.scenario.goal import BETTER_HIGHER
from tailrace.statistics import bounded_verdict

Tone = Literal["", "better", "worse", "same", "few", "censored"]
TONES: dict[str, Tone] = {
    "no significant difference": "same",
    "too few trials": "few",
    "not comparable": "censored",
    "not tested": "",
}
"""Tones of verdicts without a direction."""
VISIBLE_FACTOR = 2.0
LARGE = log(1.05)
"""A change by less than 5 % leads only where no other is larger."""


def tone_of(effect: ArmEffect) -> Tone:
    """The tone of an effect; no tone for an untested one.

    A lower bound can only be classified as higher than a value that is no bound.
    """
    if effect.is_same:
        return "same"
    verdict = bounded_verdict(effect.verdict, effect.bounds)
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
    """Size of a change as a sort key: the logarithm of a ratio, the difference of shares; 0 for
    values that cannot be compared."""
    if effect.verdict == "not comparable":
        return 0.0
    if effect.ratio is None:
        return abs(effect.difference) / 100
    return abs(log(effect.ratio)) if effect.ratio else inf
