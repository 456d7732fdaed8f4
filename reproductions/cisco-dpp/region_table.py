"""`map.csv`: completion times of every point of the map, one row per point, scale and trial."""

import csv
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sensitivity import ARMS, Cells

NAMES = ("XS", "S", "M", "L1", "L2")
TIMES = tuple((arm, name) for arm in ARMS for name in NAMES)
COLUMNS = ("point", "scale", "trial", *(f"{arm}_{name}" for arm, name in TIMES))
Key = tuple[str, float, int]


@dataclass
class Table:
    """Rows by point, scale and trial; times in seconds at full scale, by arm and workload."""

    path: Path
    rows: dict[Key, dict[tuple[str, str], float]]

    @classmethod
    def read(cls, path: Path) -> "Table":
        """An empty table where there is no file."""
        if not path.exists():
            return cls(path, {})
        with path.open(encoding="utf-8", newline="") as file:
            listed = list(csv.DictReader(file))
        rows = {
            (row["point"], float(row["scale"]), int(row["trial"])): {
                (arm, name): float(row[f"{arm}_{name}"]) for arm, name in TIMES
            }
            for row in listed
        }
        return cls(path, rows)

    def has(self, point: str, scale: float, trials: int) -> bool:
        """Whether all trials of a point are there."""
        return all((point, scale, trial) in self.rows for trial in range(1, trials + 1))

    def add(self, point: str, scale: float, cells: Cells) -> None:
        """The trials of a point, in memory and in the file."""
        for index in range(len(cells.times[TIMES[0]])):
            self.rows[point, scale, index + 1] = {key: cells.times[key][index] for key in TIMES}
        self.write()

    def write(self) -> None:
        """Replaces the file as a whole, so that an interrupted run leaves the old one."""
        fresh = self.path.with_suffix(".new")
        with fresh.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for (point, scale, trial), times in self.rows.items():
                writer.writerow(
                    [point, f"{scale:g}", trial, *(f"{times[key]:.1f}" for key in TIMES)]
                )
        fresh.replace(self.path)

    def mean(self, point: str, scale: float) -> dict[tuple[str, str], float] | None:
        """Means over the trials of a point; None where it was not run."""
        trials = [
            times for (name, at, _), times in self.rows.items() if (name, at) == (point, scale)
        ]
        return (
            {key: statistics.fmean(times[key] for times in trials) for key in TIMES}
            if trials
            else None
        )

    def points(self, scale: float) -> Iterable[str]:
        """Points that were run at a scale."""
        return dict.fromkeys(point for point, at, _ in self.rows if at == scale)
