"""The summary of a large sweep, made in one pass over its lines: memory does not grow with the
number of points.

`sweep.csv` gets a row for each point, arm, workload and metric, with the number of trials whose
figure is a lower bound. The summary has, for each of these curves, the mean over all points, the
smallest and the largest value with their points, the mean by value of each axis, and at how many
points an arm is below or above the baseline.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from msgspec import Struct, ValidationError, convert

from tailrace.errors import TailraceError, known_arm
from tailrace.files import PART, named
from tailrace.folder import Folder
from tailrace.outcome.run_files import MANIFEST, RunFiles
from tailrace.results.directory.kept import RunDirectoryError, read_object
from tailrace.results.directory.names import is_name
from tailrace.results.large.lines import Line, Lines
from tailrace.results.summary.large import (
    CurveEnd,
    LargeAxis,
    LargeCurve,
    LargeProblem,
    LargeRun,
    LargeSize,
    LargeSummary,
    ValueMean,
)
from tailrace.results.summary.sweep import PlannedAxis
from tailrace.results.sweep.files import CSV, quoted
from tailrace.scenario.sweep import Sweep

VALUES_MAX = 1000
"""Means by value are listed for axes with at most this many values; for a longer axis the table
holds every point."""
PROBLEMS_MAX = 20
"""Trials that are not ok and are listed at most; all are counted."""
ROWS_HELD_MAX = 10_000
"""Rows of the table in memory."""
ALIKE = 0.01
"""Arms that differ by less than this share of the baseline are counted as alike."""


@dataclass
class Tally:
    """A mean that grows."""

    count: int = 0
    mean: float = 0.0
    bounds: int = 0
    """Values that are lower bounds, and make the mean one."""

    def add(self, value: float, *, is_bound: bool) -> None:
        """One more value (Welford)."""
        self.count += 1
        self.bounds += is_bound
        self.mean += (value - self.mean) / self.count


@dataclass
class Curve:
    """One metric of one workload and arm over all points."""

    every: Tally = field(default_factory=Tally)
    low: tuple[float, int, bool] | None = None
    """The smallest mean of a point, the number of that point, and whether the mean is a lower
    bound."""
    high: tuple[float, int] | None = None
    by_value: dict[str, dict[int, Tally]] = field(default_factory=dict)
    """By axis and index of the value."""
    below: int = 0
    """Points at which the arm is below the baseline by more than `ALIKE`."""
    above: int = 0
    compared: int = 0
    unknown: int = 0
    """Points at which a lower bound leaves open which of the two is smaller."""

    def add(self, point: int, indices: Mapping[str, int], own: Tally, base: Tally | None) -> None:
        """A point, and the baseline there."""
        value, is_bound = own.mean, own.bounds > 0
        self.every.add(value, is_bound=is_bound)
        low, high = (value, point, is_bound), (value, point)
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)
        for path, index in indices.items():
            self.by_value.setdefault(path, {}).setdefault(index, Tally()).add(
                value, is_bound=is_bound
            )
        if base is not None:
            self._compare(own, base)

    def _compare(self, own: Tally, base: Tally) -> None:
        """A figure that exceeds a lower bound may be smaller than the true value."""
        is_below = own.mean < base.mean - ALIKE * abs(base.mean)
        is_above = own.mean > base.mean + ALIKE * abs(base.mean)
        is_open = (own.bounds and not is_above) or (base.bounds and not is_below)
        self.unknown += bool(is_open)
        self.compared += not is_open
        self.below += is_below and not is_open
        self.above += is_above and not is_open


Key = tuple[str, str, str]
"""Arm, workload and metric."""


class Axes(Struct, frozen=True):
    """The axes of a sweep, as a manifest keeps them."""

    axes: list[PlannedAxis]
    combine: Literal["grid", "paired"]


class Manifest(Struct, frozen=True):
    """The manifest of a large sweep."""

    name: str
    state: str
    engine: str
    seed: int
    scale: float
    trials: int
    started: str
    arms: list[str]
    baseline: str | None
    workloads: list[str]
    large: LargeSize
    sweep: Axes

    def sort_key(self, key: Key) -> tuple[int, str, int]:
        """Of a curve in the order of the scenario."""
        arm, workload, metric = key
        return self.workloads.index(workload), metric, self.arms.index(arm)


def summarise_large(path: Path, baseline: str | None = None) -> LargeSummary:
    """Writes `sweep.csv` of a large sweep and returns its summary; raises `TailraceError` where it
    is none.

    `baseline` is the arm that the others are compared with; None for that of the scenario.
    """
    files = RunFiles(path)
    manifest = _manifest(files)
    compared_with = (
        manifest.baseline if baseline is None else known_arm(baseline, manifest.arms, str(path))
    )
    axes = manifest.sweep.axes
    sweep = Sweep(
        axes={axis.path: list(axis.values) for axis in axes}, combine=manifest.sweep.combine
    )
    curves: dict[Key, Curve] = {}
    statuses: Counter[str] = Counter()
    problems: list[LargeProblem] = []
    points = 0
    paths = [path for path, values in sweep.axes.items() if len(values) <= VALUES_MAX]
    with _table(
        files.folder, [*sweep.axes, "arm", "workload", "metric", "mean", "trials", "bounds"]
    ) as table:
        for lines in Lines(files.folder).read():
            _refuse_foreign(path, lines, manifest, sweep)
            for point, of_point in _by_point(lines):
                points += 1
                values = list(sweep.point(point).values.values())
                indices = {
                    one: index for one, index in sweep.indices_at(point).items() if one in paths
                }
                for line in of_point:
                    statuses[line.status] += 1
                    if line.status != "ok" and len(problems) < PROBLEMS_MAX:
                        problems.append(_problem(sweep, line))
                means = _means(of_point)
                for key, mean in means.items():
                    base = (
                        means.get((compared_with, *key[1:]))
                        if compared_with and key[0] != compared_with
                        else None
                    )
                    curve = curves.setdefault(key, Curve())
                    curve.add(point, indices, mean, base)
                    table.row([*values, *key, mean.mean, mean.count, mean.bounds])
    return LargeSummary(
        format=1,
        large=manifest.large,
        run=convert(manifest, LargeRun, from_attributes=True),
        axes=[LargeAxis(path=axis.path, name=axis.name, count=len(axis.values)) for axis in axes],
        arms=manifest.arms,
        baseline=compared_with,
        points_run=points,
        statuses=dict(sorted(statuses.items())),
        problems=problems,
        curves=[_curve(sweep, key, curves[key]) for key in sorted(curves, key=manifest.sort_key)],
    )


def _manifest(files: RunFiles) -> Manifest:
    held = read_object(files, MANIFEST, "name a run directory; `tailrace list` shows them")
    if not is_large(held):
        raise TailraceError(f"{files.path}: not a large sweep")
    again = "run its scenario again with another --out"
    try:
        manifest = convert(held, Manifest)
    except ValidationError as error:
        raise RunDirectoryError(
            f"{files.path / MANIFEST}: cannot be read: {error} (hint: {again})"
        ) from error
    wrong = [name for name in [*manifest.arms, *manifest.workloads] if not is_name(name)]
    if wrong or manifest.baseline not in (None, *manifest.arms):
        what = f"{wrong[0] if wrong else manifest.baseline!r} is no name of the run"
        raise RunDirectoryError(f"{files.path / MANIFEST}: {what} (hint: {again})")
    return manifest


def _refuse_foreign(
    path: Path, lines: Mapping[tuple[int, str, int], Line], manifest: Manifest, sweep: Sweep
) -> None:
    """Raises `RunDirectoryError` for a line about an arm or point that the sweep does not have."""
    for point, arm, trial in lines:
        known = {*manifest.workloads}.issuperset(lines[point, arm, trial].figures)
        if arm not in manifest.arms or not 0 <= point < sweep.count or not known:
            hint = "remove the line, and run the same command again"
            raise RunDirectoryError(
                f"{path}: trial {trial} of {arm!r} at point {point} is not of this sweep "
                f"(hint: {hint})"
            )


def is_large(manifest: object) -> bool:
    """Whether a manifest is that of a large sweep."""
    return isinstance(manifest, dict) and isinstance(manifest.get("large"), dict)


def _by_point(lines: Mapping[tuple[int, str, int], Line]) -> Iterator[tuple[int, list[Line]]]:
    of_point: dict[int, list[Line]] = {}
    for key in sorted(lines):
        of_point.setdefault(key[0], []).append(lines[key])
    yield from of_point.items()


def _means(lines: list[Line]) -> dict[Key, Tally]:
    means: dict[Key, Tally] = {}
    for line in lines:
        for workload, figures in line.figures.items():
            for metric, value in figures.items():
                is_bound = metric in line.bounds.get(workload, ())
                means.setdefault((line.arm, workload, metric), Tally()).add(
                    value, is_bound=is_bound
                )
    return means


def _problem(sweep: Sweep, line: Line) -> LargeProblem:
    return LargeProblem(
        point=sweep.point(line.point).label,
        arm=line.arm,
        trial=line.trial,
        status=line.status,
        reason=line.reason,
    )


def _curve(sweep: Sweep, key: Key, curve: Curve) -> LargeCurve:
    assert curve.low is not None and curve.high is not None, "a curve has a value"  # noqa: PT018  both or none
    arm, workload, metric = key
    return LargeCurve(
        arm=arm,
        workload=workload,
        metric=metric,
        points=curve.every.count,
        mean=curve.every.mean,
        bounds=curve.every.bounds,
        low=_end(sweep, *curve.low),
        # Where any value is a lower bound, the largest may be larger than all that are known.
        high=_end(sweep, *curve.high, is_bound=curve.every.bounds > 0),
        below=curve.below,
        above=curve.above,
        compared=curve.compared,
        unknown=curve.unknown,
        by_value={
            path: _means_by_value(sweep, path, of_value)
            for path, of_value in curve.by_value.items()
        },
    )


def _means_by_value(sweep: Sweep, path: str, of_value: Mapping[int, Tally]) -> list[ValueMean]:
    values = sweep.axes[path]
    return [
        ValueMean(
            value=str(values[index]), mean=tally.mean, points=tally.count, bounds=tally.bounds
        )
        for index, tally in sorted(of_value.items())
    ]


def _end(sweep: Sweep, value: float, point: int, is_bound: bool) -> CurveEnd:
    return CurveEnd(value=value, is_bound=is_bound, point=sweep.point(point).label)


class _table:  # noqa: N801  used as a function
    """`sweep.csv`, which is written many rows at a time and appears when it is complete."""

    def __init__(self, folder: Folder, head: list[str]) -> None:
        self._folder = folder
        self._part = f".{CSV}.{os.getpid()}{PART}"
        self._rows: list[str] = []
        self._head = head

    def __enter__(self) -> "_table":
        self._folder.remove(self._part)
        self.row(self._head)
        return self

    def row(self, cells: Sequence[object]) -> None:
        self._rows.append(",".join(quoted(cell) for cell in cells) + "\n")
        if len(self._rows) >= ROWS_HELD_MAX:
            self._flush()

    def _flush(self) -> None:
        with named(self._folder.path / CSV):
            self._folder.append(self._part, "".join(self._rows).encode())
        self._rows.clear()

    def __exit__(self, kind: object, *_rest: object) -> None:
        if kind is not None:
            self._folder.remove(self._part)
            return
        self._flush()
        self._folder.rename(self._part, CSV)
