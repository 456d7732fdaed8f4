"""`bandwidth` commands for the shares of a policy: whole percents of the link or of the remaining bandwidth."""

from tailrace.importers.nxos.shares import LEAST
from tailrace.importers.section import ONE_PERCENT_PPB
from tailrace.scenario.policies.switch import Policy
from tailrace.scenario.policies.weights import ratio

LEAST_PPB = int(LEAST * ONE_PERCENT_PPB)
PARTS_MAX = 100
"""Remaining percentages add up to at most this."""


def bandwidth_lines(policy: Policy) -> dict[str, str]:
    """The command of each weighted queue that states a share."""
    stated = {name: queue.share for name, queue in policy.queues.items() if queue.share is not None}
    whole = {name: share // ONE_PERCENT_PPB for name, share in stated.items() if share % ONE_PERCENT_PPB == 0}
    parts = _parts({name: share for name, share in stated.items() if name not in whole})
    if whole and parts is not None:
        absolute = {name: f"bandwidth percent {percent}" for name, percent in whole.items()}
        lines = absolute | {name: f"bandwidth remaining percent {part}" for name, part in parts.items()}
        return {name: lines[name] for name in stated}
    # The least share stands for a queue without bandwidth; it was taken from the largest share.
    percents = {name: 0 if share == LEAST_PPB else round(share / ONE_PERCENT_PPB) for name, share in stated.items()}
    return {name: f"bandwidth remaining percent {percent}" for name, percent in percents.items()}


def _parts(shares: dict[str, int]) -> dict[str, int] | None:
    """Small whole numbers in the ratio of the shares; None when there are none."""
    parts = ratio(list(shares.values()), PARTS_MAX)
    return None if parts is None else dict(zip(shares, parts, strict=True))
