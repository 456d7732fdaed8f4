"""Colours of the parts of a latency, and of the limits of connections: each has the same colour in
every report."""

from collections.abc import Iterable

from tailrace.results.causes.causes import PARTS, in_order
from tailrace.scenario.vocabulary import LIMITS

SPARE_COLOURS = 6
"""Colours of the theme for parts that have none of their own."""


def part_colours(parts: Iterable[str]) -> dict[str, str]:
    """The name of the colour of each part, as the theme has it; `parts` are all that a page
    shows."""
    spare = sorted(part for part in set(parts) if part not in PARTS)
    numbers = {part: number % SPARE_COLOURS for number, part in enumerate(spare)}
    return {
        part: f"part-spare-{numbers[part]}" if part in numbers else f"part-{part.replace('_', '-')}"
        for part in in_order(parts)
    }


ALIKE = {"pacing": "part-pacing", "interface": "part-interface-queue"}
"""Limits of connections that are parts of latencies, too."""


def limit_colours(causes: Iterable[str]) -> dict[str, str]:
    """The name of the colour of each cause of `vocabulary.LIMITS`, in the order of these."""
    known = set(causes)
    return {
        cause: ALIKE.get(cause) or f"limit-{cause.replace('_', '-')}"
        for cause in LIMITS
        if cause in known
    }
