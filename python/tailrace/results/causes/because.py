"""Why the latencies of two arms differ, in a sentence: the part that makes most of the difference."""

from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.results.causes.bands import ENDS, Band
from tailrace.results.causes.kept import bands_of
from tailrace.results.causes.sentence import part_words
from tailrace.results.format.numbers import span_text

BAND = "p99"
"""The band that is compared: transactions above the 90th percentile of latency, up to the 99th."""
TOLD_PERCENT = 10
"""A smaller difference of the means is not told: an explanation is of one trial."""


def because(explained: Sequence[Mapping[str, Any]], baseline: str | None) -> list[str]:
    """One sentence for each workload and arm with another latency than the baseline; from entries of `explained`."""
    found = {(entry["workload"], entry["arm"]): bands_of(dict(entry)) for entry in explained}
    sentences = []
    for (workload, arm), own in found.items():
        base = found.get((workload, baseline or ""))
        if arm == baseline or base is None:
            continue
        pair = _compared(base, own)
        if pair is not None and (words := _words(workload, (baseline or "", arm), pair)):
            sentences.append(words)
    return sentences


def _compared(base: Sequence[Band], own: Sequence[Band]) -> tuple[Band, Band] | None:
    """The same band of both: that of the 99th percentile, or the last one of both."""
    by_name = [{band.name: band for band in bands} for bands in (base, own)]
    both = [name for name in by_name[0] if name in by_name[1]]
    if not both:
        return None
    name = BAND if BAND in both else both[-1]
    return by_name[0][name], by_name[1][name]


def _words(workload: str, arms: tuple[str, str], pair: tuple[Band, Band]) -> str | None:
    before, after = pair
    difference = after.latency_ps - before.latency_ps
    if abs(difference) * 100 < TOLD_PERCENT * before.latency_ps:
        return None
    changes = {
        part: after.parts.get(part, 0.0) - before.parts.get(part, 0.0) for part in {**before.parts, **after.parts}
    }
    part, change = max(changes.items(), key=lambda one: (one[1] * (1 if difference > 0 else -1), one[0]))
    share = 100 * change / difference
    with_more = after if difference > 0 else before
    return (
        f"{workload}, {_band(before.name)}: {span_text(before.latency_ps)} with {arms[0]},"
        f" {span_text(after.latency_ps)} with {arms[1]}. {_share(share)} of the difference is {part_words(part)}:"
        f" {span_text(before.parts.get(part, 0.0))} and {span_text(after.parts.get(part, 0.0))}"
        f"{_where(part, with_more)}."
    )


def _band(name: str) -> str:
    """The transactions of a band, in words."""
    return "the slowest" if name == ENDS[-1][0] else f"up to {name}"


def _share(percent: float) -> str:
    return f"{percent:.0f} %" if percent < 100 else "All"


def _where(part: str, band: Band) -> str:
    """At which port, and behind whom."""
    if part != "switch_queue" or not band.queues:
        return ""
    port, _ = max(band.queues.items(), key=lambda one: one[1])
    total = sum(band.behind.values())
    if not total:
        return f" (at {port})"
    name, time_ps = max(band.behind.items(), key=lambda one: one[1])
    return f" (at {port}, {100 * time_ps / total:.0f} % behind {name})"
