"""Text of scalability: measured against perfect growth, and what the laws say."""

from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number
from tailrace.statistics import LEVEL_TEXT

DEVIATION_MAX = 0.1
"""A law that misses a point by more than this share does not describe the points."""
Grown = Mapping[str, Any]


def scalability_table(listed: Sequence[Grown]) -> str:
    """Sizes as rows; of each arm the throughput, and its share of perfect growth."""
    if not listed:
        return ""
    first = listed[0]
    sizes = sorted({point["size"] for grown in listed for point in grown["points"]})
    rows = [[first["noun"], *(grown["arm"] for grown in listed)]]
    rows += [[f"{size:g}", *(_cell(grown, size) for grown in listed)] for size in sizes]
    title = f"Scalability: {first['title']} (share of perfect growth)"
    return f"{title}\n{align(rows)}"


def _cell(grown: Grown, size: float) -> str:
    found = next((point for point in grown["points"] if point["size"] == size), None)
    return "–" if found is None else f"{number(found['mean'])} ({_percent(found['share'])})"


def scalability_sentences(listed: Sequence[Grown]) -> list[str]:
    """For each arm: the end of the table, each law with its intervals, and the knee."""
    return [sentence for grown in listed for sentence in _sentences(grown)]


def _sentences(grown: Grown) -> list[str]:
    noun, arm, last = grown["noun"], grown["arm"], grown["points"][-1]
    end = f"{arm}: {_percent(last['share'])} of perfect growth at {noun} = {last['size']:g}"
    knee = f", with the knee at {noun} = {grown['knee']:g}" if grown["knee"] is not None else ""
    laws = [text for text in (_amdahl(grown), _usl(grown)) if text]
    return [f"{end}{knee}.", *(f"{arm}, {text}" for text in laws)]


def _amdahl(grown: Grown) -> str:
    law = grown["amdahl"]
    if law is None:
        return ""
    limit = "no limit" if law["limit"] is None else f"at most {number(law['limit'])}"
    return f"Amdahl: serial share {_with_interval(law, 'contention')}, {limit}{_misfit(law)}."


def _usl(grown: Grown) -> str:
    law = grown["usl"]
    if law is None:
        return ""
    interval, peak = law["coherency_interval"], law["peak"]
    is_seen = peak is not None and (interval is None or interval["low"] > 0)
    top = f", most throughput at {grown['noun']} = {number(peak * grown['first'], 3)}" if is_seen else ""
    shares = f"contention {_with_interval(law, 'contention')}, coherency {_with_interval(law, 'coherency')}"
    return f"Universal Scalability Law: {shares}{top}{_misfit(law)}."


def _with_interval(law: Grown, key: str) -> str:
    interval = law[f"{key}_interval"]
    told = _percent(law[key])
    if interval is None:
        return told
    return f"{told} ({LEVEL_TEXT} interval {number(interval['low'] * 100, 3)} to {_percent(interval['high'])})"


def _misfit(law: Grown) -> str:
    far = law["deviation"]
    told = f"; a point is {_percent(far)} away"
    return f"{told}: the law does not describe these points" if far > DEVIATION_MAX else told


def _percent(share: float) -> str:
    return f"{number(share * 100, 3)} %"
