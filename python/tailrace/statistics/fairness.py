"""Fairness of shares."""

from collections.abc import Sequence
from math import fsum


def jain_index(shares: Sequence[float]) -> float | None:
    """Jain's index (Jain, Chiu and Hawe 1984): 1 when all shares are equal, 1/n when one takes
    everything.

    None without shares, or when all of them are zero, for which the index is undefined.
    """
    total = fsum(shares)
    if total <= 0:
        return None
    return total * total / (len(shares) * fsum(share * share for share in shares))
