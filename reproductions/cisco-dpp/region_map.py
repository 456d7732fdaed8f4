"""Maps where the independent figures hold: varies every fitted and assumed value, alone and
together.

    .venv/bin/python reproductions/cisco-dpp/region_map.py [--scale 0.05] [--trials 1] [--jobs 2]
    [--minutes 10]

Runs the points that `map.csv` lacks and writes the file after each, so that an interrupted map goes
on where it stopped. Then it runs fitted values alone again at `--again-scale`, and writes `map.md`,
`map.json` and `map.svg` from all points that there are. `--page` runs nothing.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

import region_page
from region import Map, near_region, summary
from region_design import design, label
from region_table import Table
from region_values import Point, changes_of
from sensitivity import measure

HERE = Path(__file__).resolve().parent
TABLE = HERE / "map.csv"


@dataclass(frozen=True)
class Todo:
    """A point that is to be run at a scale."""

    point: Point
    scale: float
    trials: int


def main() -> None:
    """Runs what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--scale", type=float, default=0.05, help="part of the published transaction counts"
    )
    parser.add_argument("--trials", type=int, default=1, help="trials of each point")
    parser.add_argument("--jobs", type=int, default=2, help="points at the same time")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="start no point after this many minutes"
    )
    parser.add_argument(
        "--again-scale", type=float, default=0.2, help="scale at which fitted values are run again"
    )
    parser.add_argument(
        "--page", action="store_true", help="run nothing, write the pages from map.csv"
    )
    parser.add_argument(
        "--part",
        action="append",
        choices=list(design()),
        help="only this part and what is run again",
    )
    options = parser.parse_args()
    found, again = (Map.read(TABLE, scale) for scale in (options.scale, options.again_scale))
    deadline = time.monotonic() + 60 * options.minutes
    if not options.page:
        run(found.table, list(missing(found, options.part, options.trials)), options.jobs, deadline)
        again = replace(again, table=found.table)
        run(found.table, list(unrepeated(found, again, options.trials)), options.jobs, deadline)
    for name, text in pages(found, again).items():
        (HERE / name).write_text(text, encoding="utf-8")


def pages(found: Map, again: Map) -> dict[str, str]:
    """What is written from the points, by the name of the file."""
    told = found if list(unrepeated(found, again, 1)) else again
    return {
        "map.md": region_page.page(found, told),
        "map.svg": region_page.drawing(found),
        "map.json": json.dumps(summary(found, told), indent=1, ensure_ascii=False) + "\n",
    }


def missing(found: Map, parts: list[str] | None, trials: int) -> Iterator[Todo]:
    """Each point of the parts once, in the order of the design."""
    points = {
        label(point): point for part in parts or list(design()) for point in design().get(part, [])
    }
    for name, point in points.items():
        if not found.table.has(name, found.scale, trials):
            yield Todo(point, found.scale, trials)


def unrepeated(found: Map, again: Map, trials: int) -> Iterator[Todo]:
    """Fitted values alone that were not run at the other scale and could hold four figures
    there."""
    for point in near_region(found):
        if not again.table.has(label(point), again.scale, trials):
            yield Todo(point, again.scale, trials)


def run(table: Table, todo: list[Todo], jobs: int, deadline: float) -> None:
    """Points of the list until it ends or the time is up."""
    lock = Lock()
    sys.stderr.write(f"{len(todo)} points to run\n")

    def work(one: Todo) -> None:
        if time.monotonic() > deadline:
            return
        cells = measure(changes_of(one.point), one.scale, one.trials, 1)
        with lock:
            table.add(label(one.point), one.scale, cells)
            sys.stderr.write(f"{label(one.point)}\n")

    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(work, todo):
            pass


if __name__ == "__main__":
    main()
