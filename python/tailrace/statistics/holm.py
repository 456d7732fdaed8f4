"""Multiple tests in one run: p values that control the familywise error rate."""

from collections.abc import Sequence


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """p values adjusted by Holm's method (1979, `A Simple Sequentially Rejective Multiple Test
    Procedure`).

    When all differences with a value below 0.05 are accepted, the probability of any false one is
    at most 0.05, however the tests depend on each other.
    """
    count, largest = len(p_values), 0.0
    adjusted = [0.0] * count
    for rank, index in enumerate(sorted(range(count), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, (count - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
