"""The report of the receiving end of an iperf3 test."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.live.lab.fabric import FabricError

INTERVAL_S = 0.5
"""Length of the intervals that iperf3 reports; they make the series of goodput."""


@dataclass(frozen=True)
class Received:
    """The figures of the receiving end of a pair."""

    size_bytes: int
    seconds: float
    intervals: tuple[tuple[float, float, int], ...]
    """Start and end in seconds from the pair's start, and bytes."""
    lost: int
    """Lost datagrams."""
    unreported_bytes: int = 0
    """Came after the last whole interval of a test that was interrupted."""

    def tail(self, end_s: float) -> tuple[float, float, int]:
        """The interval that was interrupted, up to `end_s` from the pair's start: filled at the
        pace of the one before, with no more than came."""
        start_s, last_end_s, size_bytes = self.intervals[-1]
        pace_bytes_per_s = size_bytes / max(last_end_s - start_s, INTERVAL_S / 2)
        filled_bytes = round(pace_bytes_per_s * max(0.0, end_s - last_end_s))
        return last_end_s, max(last_end_s, end_s), min(self.unreported_bytes, filled_bytes)


def read_server(path: Path) -> Received:
    """Reads the report of a server, also when its client was interrupted."""
    text = path.read_text(encoding="utf-8")
    try:
        # It writes warnings to the same file, before the report.
        report = json.loads(text[max(0, text.find("{\n")) :])
    except ValueError:
        raise FabricError(f"{path.name}: iperf3 wrote no report") from None
    sums = _whole_intervals(report)
    if not sums:
        raise FabricError(
            f"{path.name}: iperf3 transferred nothing: {report.get('error', 'no reason given')}"
        )
    intervals = tuple(
        (float(each["start"]), float(each["end"]), int(each["bytes"])) for each in sums
    )
    lost = sum(int(each.get("lost_packets", 0)) for each in sums)
    total = sum(size for _, _, size in intervals)
    whole = int(report.get("end", {}).get("sum_received", {}).get("bytes", total))
    return Received(total, intervals[-1][1], intervals, lost, max(0, whole - total))


def _whole_intervals(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The sums of all intervals. The server of an interrupted client writes its last interval twice
    and leaves out the time after it."""
    sums: list[Mapping[str, Any]] = []
    for each in report.get("intervals", []):
        if not sums or each["sum"]["start"] >= sums[-1]["end"]:
            sums.append(each["sum"])
    return sums
