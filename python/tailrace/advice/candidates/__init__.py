"""Candidates by family: each module yields those that its mechanism offers for a scenario."""

from collections.abc import Iterator

from tailrace.advice.candidate import Candidate
from tailrace.advice.candidates import (
    buffers,
    classes,
    hosts,
    lossless,
    neighbours,
    processors,
    queueing,
    transport,
)
from tailrace.advice.situation import Situation

FAMILIES = (queueing, buffers, classes, lossless, transport, hosts, processors, neighbours)


def candidates(situation: Situation) -> Iterator[Candidate]:
    """All candidates of all families; some may not be possible in the scenario."""
    for family in FAMILIES:
        yield from family.candidates(situation)
