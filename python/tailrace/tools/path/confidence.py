"""How sure it is that a size is not carried, and was not lost by chance."""

from math import comb

LEVEL = 0.95
"""Of the bound on the ordinary loss of the path."""
STEPS = 60
"""Halvings of the interval: more than a float has digits."""


def loss_bound(lost: int, sent: int) -> float:
    """The largest loss rate with which `lost` of `sent` or fewer are lost in 5 % of cases: Clopper
    and Pearson 1934."""
    if lost >= sent:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if _at_most(lost, sent, middle) > 1 - LEVEL:
            low = middle
        else:
            high = middle
    return high


def chance_of_silence(lost: int, sent: int, probes: int) -> float:
    """The chance that all of `probes` are lost by a path that has lost `lost` of `sent` small ones,
    at most."""
    return loss_bound(lost, sent) ** probes


def _at_most(lost: int, sent: int, rate: float) -> float:
    return sum(comb(sent, k) * rate**k * (1 - rate) ** (sent - k) for k in range(lost + 1))
