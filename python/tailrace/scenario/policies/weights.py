"""Scheduler weights from shares: small whole numbers in the same ratio."""

from collections.abc import Sequence
from functools import lru_cache

ONE_PPB = 10**9
PPB_PER_MILLE = 10**6
WEIGHT_MAX = 1000
"""Largest weight of a plan."""
TOLERANCE_PPB = 10
"""Tolerance of a ratio: shares are whole parts per billion, each rounded down."""


@lru_cache(maxsize=1024)
def weights(shares_ppb: tuple[int, ...]) -> tuple[int, ...]:
    """Weights of 1 to 1000 for shares in parts per billion.

    Shares in whole thousandths are used as they are. Other shares (a third, 2 of 15) get weights in
    their exact ratio that add up to about 1000, where such weights exist, and are rounded to
    thousandths otherwise.
    """
    rounded = tuple(max(1, round(share / PPB_PER_MILLE)) for share in shares_ppb)
    if all(share % PPB_PER_MILLE == 0 for share in shares_ppb):
        return rounded
    exact = ratio(shares_ppb, WEIGHT_MAX)
    if exact is None:
        return rounded
    scale = max(1, round(WEIGHT_MAX / sum(exact)))
    scaled = tuple(part * scale for part in exact)
    return scaled if max(scaled) <= WEIGHT_MAX else exact


def ratio(shares_ppb: Sequence[int], parts_max: int) -> tuple[int, ...] | None:
    """The smallest whole numbers in the ratio of the shares that add up to at most `parts_max`;
    None if there are none.
    """
    whole = sum(shares_ppb)
    if whole == 0:
        return None
    for parts in range(1, parts_max + 1):
        # In units of 1/whole: a part is whole when it is this close to a multiple.
        wanted = [share * parts for share in shares_ppb]
        rounded = [(value + whole // 2) // whole for value in wanted]
        near = all(
            abs(value - part * whole) <= parts * TOLERANCE_PPB
            for value, part in zip(wanted, rounded, strict=True)
        )
        if near and min(rounded) > 0:
            return tuple(rounded)
    return None
