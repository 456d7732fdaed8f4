"""The result of a measurement: JSON, a table, a page."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailrace.experiment.machine import describe_machine
from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import THIN_SPACE, digits_text
from tailrace.tools.drive.measurement import Measurement
from tailrace.tools.drive.report import Inspected

FORMAT = 1
FOLDERS_MAX = 10_000
MB = 1e6
OTHERS_SHARE = 0.02
"""Data of the other direction, or of others, from which a run is remarked."""
BUSY_SHARE = 0.9
NOT_DONE = (
    "Not pre-conditioned: an SSD answers reads of what was never written without its medium, and "
    "writes faster than in its steady state."
)


def as_data(measurement: Measurement, inspected: Inspected, precondition: str) -> dict[str, Any]:
    """Everything that was measured. `precondition` says what was done before, or not."""
    specification = measurement.specification
    return {
        "format": FORMAT,
        "kind": "drive-measurement",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "is_whole": measurement.is_whole,
        "drive": measurement.drive.part,
        "model": inspected.model,
        "identity": inspected.identity.data(),
        "facts": measurement.drive.facts,
        "limits": asdict(measurement.drive.limits),
        "link": asdict(measurement.link) if measurement.link else None,
        "io_limits": [asdict(limit) for limit in measurement.limits],
        "specification": specification.model_dump() if specification else None,
        "precondition": precondition,
        "duration_s": measurement.duration_s,
        "repeats": measurement.repeats,
        "remarks": remarks(measurement, inspected, precondition),
        "machine": describe_machine(),
        "runs": [found.data() for found in measurement.found],
    }


def remarks(measurement: Measurement, inspected: Inspected, precondition: str) -> list[str]:
    """What one must know to read the figures."""
    found = []
    if warning := model_warning(measurement, inspected):
        found.append(warning)
    found.append(precondition)
    if inspected.is_slowed:
        found.append("The link has a lower rate than both of its ends can: look at cable and slot.")
    if inspected.drive.lower:
        found.append(
            f"The drive lies on {', '.join(inspected.drive.lower)}, which have limits of their own."
        )
    for one in measurement.found:
        if one.run.depth < one.run.asked_depth:
            found.append(
                f"{one.run.title}: a depth of {one.run.asked_depth} was asked for, and the "
                "drive takes less."
            )
        counted = one.median.issued
        if counted.other_bytes_per_s > OTHERS_SHARE * max(counted.bytes_per_s, 1.0):
            found.append(
                f"{one.run.title}: others used the drive "
                f"({counted.other_bytes_per_s / MB:.1f} MB/s)."
            )
        if one.median.busy.machine_share > BUSY_SHARE:
            found.append(
                f"{one.run.title}: the cores were busy for "
                f"{one.median.busy.machine_share * 100:.0f} % of the time."
            )
    if measurement.specification:
        found += measurement.specification.notes
    if not measurement.is_whole:
        found.append("The measurement was interrupted: what was measured until then is here.")
    return found


def model_warning(measurement: Measurement, inspected: Inspected) -> str:
    """A warning where the specification is that of another model, or where that cannot be told."""
    specification = measurement.specification
    if specification is None:
        return ""
    if inspected.model is None:
        return (
            "The drive does not tell its model: whether it is a "
            f"{specification.title} is not known."
        )
    if specification.is_of(inspected.model):
        return ""
    return (
        f"The specification is that of another model: the drive is a {inspected.model}, not a "
        f"{specification.title}."
    )


def as_text(data: Mapping[str, Any]) -> str:
    """Table, verdicts and remarks."""
    title = data["model"] or data["drive"]
    sheet = f", beside {data['specification']['title']}" if data["specification"] else ""
    rows = [
        ["run", "specification", "measured", "90 % interval", "share", "issued", "likely limit"]
    ]
    for one in data["runs"]:
        rows.append(row_of(one))
    why = [
        fill(f"- {one['title']}: {one['verdict']['limit']}, {one['verdict']['why']}", WIDTH)
        for one in data["runs"]
        if one["verdict"]
    ]
    notes = [fill(f"- {text}", WIDTH) for text in data["remarks"]]
    table = align(rows) if len(rows) > 1 else "No run was complete."
    return "\n\n".join(
        part for part in (f"{title}{sheet}", table, "\n".join(why), "\n".join(notes)) if part
    )


def row_of(one: Mapping[str, Any]) -> list[str]:
    """One run as texts."""
    low_high = one["interval"]
    kib = one["median_repeat"]["issued"]["mean_bytes"] / 1024
    return [
        one["title"],
        figure(one["specified"], one["unit"]),
        figure(one["mean"], one["unit"]),
        "–"
        if low_high is None
        else f"{_bare(low_high[0], one['unit'])} to {figure(low_high[1], one['unit'])}",
        "–" if one["share"] is None else f"{one['share'] * 100:.0f} %",
        f"{digits_text(kib)} KiB" if kib else "–",
        one["verdict"]["limit"] if one["verdict"] else "–",
    ]


def figure(value: float | None, unit: str) -> str:
    """`540 MB/s`, or `98 000/s`; MB are 10^6 bytes, as in sheets."""
    if value is None:
        return "–"
    return f"{_bare(value, unit)}{' MB/s' if unit == 'B/s' else '/s'}"


def _bare(value: float, unit: str) -> str:
    return digits_text(value / MB) if unit == "B/s" else f"{value:,.0f}".replace(",", THIN_SPACE)


def free_folder(name: str, runs: Path = Path("runs")) -> Path:
    """A folder below `runs/` that does not exist."""
    return next(
        path
        for number in range(1, FOLDERS_MAX)
        if not (path := runs / f"disk-{name}-{number}").exists()
    )
