"""Looks at an experiment that continues until it is decided, and their error probabilities.

At a look the experiment ends or continues. Each look has a share of the allowed error, so that all
of them together exceed it with at most that probability, for any dependence between the looks
(Bonferroni). The p value of all looks is the smallest of those of each look over its share. With
Holm's method over several comparisons at every look this is a group-sequential procedure that keeps
the familywise error (Ye, Li, Liu and Yao 2013, `Group Sequential Holm Procedure with Multiple
Primary Endpoints`, Statistics in Medicine 32; Maurer and Bretz 2013, `Multiple Testing in Group
Sequential Trials Using Graphical Approaches`, Statistics in Biopharmaceutical Research 5).

Looks and shares do not depend on the end of an experiment: one that ended undecided can continue
later.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from math import ceil

from tailrace.statistics.verdict import trials_to_decide

FIRST_LOOKS = (6, 8, 12, 16, 24)
"""Trials of each arm: six can show three differences, and four times as many halve an interval."""
SHARE = 0.18
"""Share of the allowed error for each of the first looks; the later ones halve the rest from look
to look."""


def looks_until(trials_max: int) -> list[int]:
    """The looks of an experiment with at most `trials_max` trials, as numbers of trials; none below
    the first look."""
    return list(takewhile(lambda trials: trials <= trials_max, every_look()))


def every_look() -> Iterator[int]:
    """The numbers of trials of all looks. Each later look has a third or half more trials than the
    one before: 32, 48, 64, 96 and so on."""
    yield from FIRST_LOOKS
    far, near = FIRST_LOOKS[-1], FIRST_LOOKS[-2]
    while True:
        near *= 2
        yield near
        far *= 2
        yield far


def share_of(look: int) -> float:
    """The share of the error of one look, counted from 0; those of all looks add up to one at
    most."""
    if look < len(FIRST_LOOKS):
        return SHARE
    rest = 1 - SHARE * len(FIRST_LOOKS)
    return rest * 0.5 ** (look - len(FIRST_LOOKS) + 1)


def trials_to_decide_looking(tests: int) -> int:
    """The first look at which one of `tests` tests can be significant, by Holm's method."""
    for look, trials in enumerate(every_look()):
        if trials >= trials_to_decide(ceil(tests / share_of(look))):
            return trials
    raise AssertionError("trials grow faster than what looks cost")


def sequential_p_value(p_values: Sequence[float]) -> float:
    """The p value of all looks, from those of each in order; 1 before the first look."""
    return min([1.0, *(p_value / share_of(look) for look, p_value in enumerate(p_values))])
