"""Where the independent figures hold if the client has a modelled processor: a run queue for each
core (EEVDF).

    .venv/bin/python reproductions/cisco-dpp/eevdf_map.py [--scale 0.1] [--jobs 2] [--minutes 30]

A reduced design: each fitted value alone at ±7 and ±15 % and near its edges, half of the corners of
±15 %, and what the other scheduler does not have. Runs the points that `eevdf.csv` lacks at this
scale, and writes `eevdf.md` from all.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any

from region import Map
from region_table import Table
from region_values import BY_KEY, Point, changes_of
from sensitivity import measure
from tailrace.results.directory.published import INDEPENDENT, read_published

HERE = Path(__file__).resolve().parent
TABLE = HERE / "eevdf.csv"
PAGE = HERE / "eevdf.md"
CPU = "hosts.hammerdb.cpu"
CORES = 24
AIM_PERCENT = 15
COSTS = {"none": {}, "linux-kernel": {"profile": "linux-kernel", "clock": "2.4GHz", "rx_queues": 8}}
"""What the kernel's work costs: nothing beside the work per byte, or `linux-kernel` at a clock of
that time."""


@dataclass(frozen=True)
class Row:
    """One value with the points at which it is run alone."""

    key: str
    name: str
    base: float | str
    values: tuple[float | str, ...]
    unit: str = ""
    is_fitted: bool = True

    @property
    def near(self) -> list[float]:
        """Its points within `AIM_PERCENT`, or one step beyond where values are whole."""
        return [
            float(v)
            for v in self.values
            if abs(float(v) / float(self.base) - 1) <= AIM_PERCENT / 100 + 1e-9
        ]


ROWS = (
    Row("cores", BY_KEY["cores"].name, CORES, (21, 22, 23, 24, 25, 26, 27)),
    Row(
        "rate_mbps",
        BY_KEY["rate_mbps"].name,
        366,
        (312, 340, 356, 359, 362, 366, 370, 380, 392, 420),
        "Mbit/s",
    ),
    Row("write_bytes", BY_KEY["write_bytes"].name, 6300, (5360, 5860, 6300, 6740, 7240), "B"),
    Row("queue_mb", BY_KEY["queue_mb"].name, 5, (4.25, 4.65, 5, 5.35, 5.75), "MB"),
    Row(
        "slice_ms",
        "slice of a thread (Linux)",
        3,
        (0.75, 1.5, 2.55, 3, 3.45, 6),
        "ms",
        is_fitted=False,
    ),
    Row("costs", "costs of the kernel", "none", ("none", "linux-kernel"), is_fitted=False),
)
FITTED = tuple(row for row in ROWS if row.is_fitted)
HEAD = (
    "# Where the independent figures hold with a run queue for each core",
    "",
    "Written by `.venv/bin/python reproductions/cisco-dpp/eevdf_map.py` from "
    f"[eevdf.csv](eevdf.csv), one trial of each point. The client has `cpu: {{cores: {CORES}}}`: a "
    "run queue for each core and EEVDF, with the slice that Linux has on so many cores, 3 ms, "
    "instead of one queue for all with a fitted time slice. The work per byte is all CPU time of "
    "the client, as [client-cost.md](client-cost.md) measures it with that of the kernel, so that "
    "the kernel costs nothing beside it. All else is as in the scenario.",
    "",
    f"Aim: all six hold while each fitted value alone is varied by ±{AIM_PERCENT} %. Fitted "
    "are the first four.",
    "",
)


def label(point: Point) -> str:
    """`cores=23 queue_mb=4`; `base` for the values of the scenario."""
    named = [
        f"{row.key}={short(point[row.key])}"
        for row in ROWS
        if point.get(row.key, row.base) != row.base
    ]
    return " ".join(named) or "base"


def short(value: float | str) -> str:
    """`366` for 366.0."""
    return value if isinstance(value, str) else f"{value:g}"


def changes(point: Point) -> dict[str, Any]:
    """The overrides of a point: the client has a processor instead of cores that are shared out of
    one queue."""
    cpu: dict[str, Any] = {"cores": int(float(point.get("cores", CORES)))}
    if "slice_ms" in point:
        cpu["slice"] = f"{round(1000 * float(point['slice_ms']))}us"
    cpu |= COSTS[str(point.get("costs", "none"))]
    others = {
        key: value for key, value in point.items() if key not in ("cores", "slice_ms", "costs")
    }
    return {**changes_of(others), CPU: cpu}


def singles() -> Iterator[Point]:
    """Every value alone, the ends of ±15 % first."""
    yield {}
    for row in FITTED:
        yield from ({row.key: end} for end in ends(row))
    for row in ROWS:
        yield from ({row.key: value} for value in row.values if value != row.base)
    yield {"cores": 25, "costs": "linux-kernel"}


def corners() -> Iterator[Point]:
    """Half of the corners of ±15 %: an even number of values at its lower end."""
    for lows in product((True, False), repeat=len(FITTED)):
        if sum(lows) % 2 == 0:
            yield {
                row.key: ends(row)[0 if low else 1] for row, low in zip(FITTED, lows, strict=True)
            }


def ends(row: Row) -> tuple[float, float]:
    """The outermost points within `AIM_PERCENT`."""
    return row.near[0], row.near[-1]


def design() -> dict[str, Point]:
    """Every point once, in the order in which they are run."""
    return {label(point): point for point in [*singles(), *corners()]}


def main() -> None:
    """Runs what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--scale", type=float, default=0.1, help="part of the published transaction counts"
    )
    parser.add_argument("--jobs", type=int, default=2, help="points at the same time")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="start no point after this many minutes"
    )
    parser.add_argument(
        "--only", default="", help="only points whose name contains this, or `base`"
    )
    parser.add_argument("--page", action="store_true", help="run nothing, write the page")
    options = parser.parse_args()
    table, deadline, lock = Table.read(TABLE), time.monotonic() + 60 * options.minutes, Lock()

    def work(name: str) -> None:
        if time.monotonic() > deadline:
            return
        cells = measure(changes(design()[name]), options.scale, 1, 1)
        with lock:
            table.add(name, options.scale, cells)
            sys.stderr.write(f"{name}\n")

    todo = [
        name for name in design() if options.only in name and not table.has(name, options.scale, 1)
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, [] if options.page else todo))
    PAGE.write_text(page(table), encoding="utf-8")


def page(table: Table) -> str:
    """The counts of every point, the times of the ends, and whether the aim is reached."""
    bands = [band for band in read_published(HERE / "published.yaml") if band.kind == INDEPENDENT]
    maps = {
        scale: Map(table, scale, bands) for scale in sorted({scale for _, scale, _ in table.rows})
    }
    lines = [*HEAD, *[line for scale, found in maps.items() for line in section(found, scale)]]
    return "\n".join(lines)


def section(found: Map, scale: float) -> list[str]:
    """The points of one scale."""
    counts = {name: held_of(found, name) for name in design()}
    if counts["base"] is None:
        return []
    lines = [
        f"## At {scale:g} of the counts",
        "",
        f"| value | here | six hold within ±{AIM_PERCENT} % | figures that hold at each point |",
        "|---" * 4 + "|",
    ]
    for row in ROWS:
        held = {value: counts.get(label({row.key: value})) for value in row.values}
        told = ", ".join(
            f"**{v}: {n}**" if v == row.base else f"{v}: {n}"
            for v, n in held.items()
            if n is not None
        )
        aim = "–"
        if row.is_fitted:
            near = [held[value] for value in row.values if float(value) in row.near]
            aim = "not all run" if None in near else "yes" if all(n == 6 for n in near) else "no"
        lines.append(
            f"| {row.name} | {row.base}{' ' + row.unit if row.unit else ''} | {aim} | {told} |"
        )
    extra = counts.get("cores=25 costs=linux-kernel")
    if extra is not None:
        lines += ["", f"With the costs of `linux-kernel` and 25 cores, {extra} hold."]
    if at_corners := [n for point in corners() if (n := counts.get(label(point))) is not None]:
        told = ", ".join(
            f"{n} at {at_corners.count(n)}" for n in sorted(set(at_corners), reverse=True)
        )
        head = (
            f"With every fitted value at an end of ±{AIM_PERCENT} %, so many hold at "
            f"{len(at_corners)} corners"
        )
        lines += ["", f"{head}: {told}."]
    return [*lines, "", *times_table(found, counts), ""]


def held_of(found: Map, name: str) -> int | None:
    """Independent figures that hold; None where it was not run."""
    times = found.table.mean(name, found.scale)
    return None if times is None else found.count(times)


def times_table(found: Map, counts: Mapping[str, int | None]) -> Sequence[str]:
    """Completion times at every point that was run, in seconds at full length."""
    keys = [(band.arm or "", band.workload or "") for band in found.bands]
    lines = [
        "| point | hold | " + " | ".join(f"{name} {arm}" for arm, name in keys) + " |",
        "|---" * (len(keys) + 2) + "|",
        "| published | | " + " | ".join(f"{band.value:g}" for band in found.bands) + " |",
    ]
    for name, held in counts.items():
        times = found.table.mean(name, found.scale)
        if times is not None:
            lines.append(
                f"| {name} | {held} | " + " | ".join(f"{times[key]:.0f}" for key in keys) + " |"
            )
    return lines


if __name__ == "__main__":
    main()
