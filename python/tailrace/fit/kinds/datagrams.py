"""Datagrams in one direction."""

from collections.abc import Sequence

from tailrace.fit.conversations import DatagramFlow
from tailrace.fit.group import BITS, Window, rate_per_s
from tailrace.fit.quantities import size_text, time_text
from tailrace.fit.workload import Fit, Origin, Setting


def fit_datagrams(source: str, destination: str, flows: Sequence[DatagramFlow], window: Window) -> Fit:
    """All datagrams from one host to a port of another."""
    sent, data = sum(one.sent for one in flows), sum(one.sent_bytes for one in flows)
    start, end = min(one.start_ns for one in flows), max(one.end_ns for one in flows)
    gap_ns = (end - start) / (sent - 1) if sent > 1 else window.span_ns
    note = "mean; the profile does not list single datagrams"
    settings = [
        Setting("source", source),
        Setting("destination", destination),
        Setting("sizes", size_text(data / sent), Origin.MEASURED, note),
        Setting("interarrival", time_text(max(1, gap_ns)), Origin.MEASURED, note),
    ]
    if window.ends_early(end):
        settings.append(Setting("count", sent, Origin.MEASURED, "they end before the capture does"))
    if window.begins_late(start):
        settings.append(Setting("start", time_text(start - window.start_ns), Origin.MEASURED, "first frame"))
    span = max(1, end - start)
    seen = {"rate_per_s": rate_per_s(sent, span), "goodput_bits_per_s": BITS * rate_per_s(data, span)}
    return Fit(
        "datagrams", tuple(settings), {}, seen, ("the shapes of sizes and gaps are not known: both are constant",)
    )
