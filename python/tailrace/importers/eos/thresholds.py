"""Thresholds of `random-detect`: sizes in bytes or segments, and times, which depend on the rate of
the queue."""

import re
from typing import Any

from tailrace.importers.eos import defaults
from tailrace.importers.eos.platforms import Cell
from tailrace.importers.remarks import Remarks, Verdict
from tailrace.importers.section import size

SIZES = {"bytes": 1, "kbytes": 1000, "mbytes": 10**6}
SEGMENTS = "segments"
TIMES_US = {"microseconds": 1, "milliseconds": 1000}
BYTES_PER_US_AT_1_GBPS = 125
UNIT = "|".join((*SIZES, SEGMENTS, *TIMES_US))
THRESHOLDS = (
    rf"minimum-threshold (\d{{1,12}}) ({UNIT}) maximum-threshold (\d{{1,12}}) ({UNIT})"
    r"(?: (?:max-mark-probability|drop-probability) (\d{1,3}))?(?: weight (\d{1,2}))?"
)
WEIGHT_MAX = 15
"""Largest exponent of the average depth."""

Yaml = dict[str, Any]


def red_of(found: re.Match[str], cell: Cell | None, remarks: Remarks) -> Yaml | tuple[Verdict, str]:
    """Thresholds as keys of `aqm: {kind: red}`; for those that cannot be expressed, the verdict and
    the reason."""
    units = {found[2], found[4]}
    if units & set(TIMES_US):
        return "not-modelled", _times(found)
    if SEGMENTS in units and cell is None:
        words = (
            "segments are cells of the ASIC, whose size is unknown: keep the line '! device: ...' "
            "of the configuration if it names the model, or set queues.NAME.aqm in bytes"
        )
        return "not-modelled", words
    sizes = SIZES | {SEGMENTS: cell.size_bytes if cell else 0}
    low, high = int(found[1]) * sizes[found[2]], int(found[3]) * sizes[found[4]]
    percent, weight = int(found[5] or defaults.MARK_PERCENT), int(found[6] or defaults.WEIGHT)
    if low > high or not high or percent > 100 or weight > WEIGHT_MAX:
        return "not-understood", "thresholds out of order, or a probability or weight out of range"
    defaults.note(remarks, *(["red"] if found[5] is None or found[6] is None else []))
    if SEGMENTS in units and cell is not None:
        remarks.add(
            0, "", "assumed", f"segments are cells of {cell.size_bytes} bytes ({cell.asic})"
        )
        defaults.note(remarks, "segment")
    defaults.note(remarks, *(["decimal"] if units & {"kbytes", "mbytes"} else []))
    return {
        "minimum": size(low),
        "maximum": size(high),
        "probability": f"{percent}%",
        "weight_exponent": weight,
    }


def _times(found: re.Match[str]) -> str:
    ends = []
    for number, unit in ((found[1], found[2]), (found[3], found[4])):
        time_us = int(number) * TIMES_US.get(unit, 0)
        ends.append(size(time_us * BYTES_PER_US_AT_1_GBPS) if time_us else f"{number} {unit}")
    return (
        f"thresholds of the delay of frames: set queues.NAME.aqm to sizes, {ends[0]} and {ends[1]} "
        "for each Gbit/s of the rate at which the queue is served"
    )
