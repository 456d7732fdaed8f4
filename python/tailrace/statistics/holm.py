"""Several tests of one run: p values that keep the chance of any false difference."""

from collections.abc import Sequence


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """p values adjusted by Holm's method (1979, `A Simple Sequentially Rejective Multiple Test Procedure`).

    Where all that are below 0.05 are taken as differences, the chance that any of them is none is at most 0.05, however
    the tests depend on each other.
    """
    count, largest = len(p_values), 0.0
    adjusted = [0.0] * count
    for rank, index in enumerate(sorted(range(count), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, (count - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
