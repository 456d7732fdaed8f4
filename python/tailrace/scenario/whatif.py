"""The values that a reader of a what-if page can change."""

from typing import Annotated

from pydantic import Field

from tailrace.scenario.sweep import Axis
from tailrace.scenario.text.quantities import Part


class WhatIf(Part):
    """The knobs of the page that `tailrace whatif` writes."""

    knobs: dict[str, Axis] = {}
    """Positions by dotted path, as the axes of a sweep: a list, `1..8` or `log(1MB..64MB, 7)`.
    Without any, up to twelve are chosen: limits, thresholds and weights of queues, buffers, users,
    sizes, rates, and workloads that can be switched off.
    """
    arms: list[str] = []
    """Arms of the page, at most six; all when empty."""
    scale: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of the counts and times of the experiment in a whole trial of the page."""
    try_: Annotated[list[str], Field(alias="try", max_length=8)] = []
    """Sentences that tell the reader what to try."""
