"""Text of scalability: measured against perfect growth, and the fitted laws."""

from collections.abc import Sequence

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number
from tailrace.results.summary.sweep import Growth, GrowthLaw
from tailrace.statistics import LEVEL_TEXT, Interval

DEVIATION_MAX = 0.1
"""A law that misses a point by more than this share does not describe the points."""


def scalability_table(listed: Sequence[Growth]) -> str:
    """Sizes as rows; of each arm the throughput, and its share of perfect growth."""
    if not listed:
        return ""
    first = listed[0]
    sizes = sorted({point.size for growth in listed for point in growth.points})
    rows = [[first.noun, *(growth.arm for growth in listed)]]
    rows += [[f"{size:g}", *(_cell(growth, size) for growth in listed)] for size in sizes]
    title = f"Scalability: {first.title} (share of perfect growth)"
    return f"{title}\n{align(rows)}"


def _cell(growth: Growth, size: float) -> str:
    found = next((point for point in growth.points if point.size == size), None)
    return "–" if found is None else f"{number(found.mean)} ({_percent(found.share)})"


def scalability_sentences(listed: Sequence[Growth]) -> list[str]:
    """For each arm: the end of the table, each law with its intervals, and the knee."""
    return [sentence for growth in listed for sentence in _sentences(growth)]


def _sentences(growth: Growth) -> list[str]:
    noun, arm, last = growth.noun, growth.arm, growth.points[-1]
    end = f"{arm}: {_percent(last.share)} of perfect growth at {noun} = {last.size:g}"
    knee = f", with the knee at {noun} = {growth.knee:g}" if growth.knee is not None else ""
    laws = [text for text in (_amdahl(growth), _usl(growth)) if text]
    return [f"{end}{knee}.", *(f"{arm}, {text}" for text in laws)]


def _amdahl(growth: Growth) -> str:
    law = growth.amdahl
    if law is None:
        return ""
    limit = "no limit" if law.limit is None else f"at most {number(law.limit)}"
    return (
        f"Amdahl: serial share {_with_interval(law.contention, law.contention_interval)}, "
        f"{limit}{_misfit(law)}."
    )


def _usl(growth: Growth) -> str:
    law = growth.usl
    if law is None:
        return ""
    interval, peak = law.coherency_interval, law.peak
    top = ""
    if peak is not None and (interval is None or interval.low > 0):
        top = f", most throughput at {growth.noun} = {number(peak * growth.first, 3)}"
    contention = _with_interval(law.contention, law.contention_interval)
    shares = f"contention {contention}, coherency {_with_interval(law.coherency, interval)}"
    return f"Universal Scalability Law: {shares}{top}{_misfit(law)}."


def _with_interval(share: float, interval: Interval | None) -> str:
    text = _percent(share)
    if interval is None:
        return text
    return (
        f"{text} ({LEVEL_TEXT} interval {number(interval.low * 100, 3)} to "
        f"{_percent(interval.high)})"
    )


def _misfit(law: GrowthLaw) -> str:
    far = law.deviation
    distance = f"; a point is {_percent(far)} away"
    return (
        f"{distance}: the law does not describe these points" if far > DEVIATION_MAX else distance
    )


def _percent(share: float) -> str:
    return f"{number(share * 100, 3)} %"
