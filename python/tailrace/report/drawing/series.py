"""Time series of several trials on one time axis."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from tailrace.report.drawing.plain_csv import csv_text

# Cells of a chart: about three pixels each on a wide screen, and a page well below its limit of
# bytes.
CELLS = 240

Values = list[float | None]


@dataclass(frozen=True)
class BinnedSeries:
    """A quantity that is constant in bins: `values[i]` from `starts_s[i]` to the next start, the
    last until `end_s`."""

    starts_s: Sequence[float]
    values: Sequence[float]
    end_s: float


@dataclass(frozen=True)
class SeriesLine:
    """One line of a chart. `style` is its classes, its colour first; `trial` is the number of a
    single trial."""

    name: str
    style: str
    values: Values
    trial: int | None = None


@dataclass(frozen=True)
class TimeChart:
    """Lines over the same instants (seconds, middles of cells), in the unit of `y_title`."""

    key: str
    title: str
    y_title: str
    times_s: list[float]
    lines: list[SeriesLine]
    is_log: bool = False
    workload: int | None = None
    """Position of the one workload that the chart is about."""
    arm: int | None = None
    """Position of the one arm that the chart is about."""

    def csv(self) -> str:
        """The data of the chart as text."""
        rows = zip(self.times_s, *(line.values for line in self.lines), strict=True)
        return csv_text(("time_s", *(line.name for line in self.lines)), rows)


def cell_middles(end_s: float, cells: int = CELLS) -> list[float]:
    """Instants of a chart from 0 to `end_s`."""
    return [end_s * (index + 0.5) / cells for index in range(cells)]


def cell_means(steps: BinnedSeries, end_s: float, cells: int = CELLS) -> Values:
    """Mean of a quantity over every cell of a chart that ends at `end_s`; None where the trial was
    over."""
    if not steps.starts_s:
        return [None] * cells
    edges = [*steps.starts_s, steps.end_s]
    areas = [0.0]
    for left, right, value in zip(edges, edges[1:], steps.values, strict=False):
        areas.append(areas[-1] + value * max(0.0, right - left))

    def area(until_s: float) -> float:
        index = max(0, min(bisect_right(edges, until_s) - 1, len(steps.values) - 1))
        return areas[index] + steps.values[index] * (min(until_s, steps.end_s) - edges[index])

    width = end_s / cells
    means: Values = []
    for index in range(cells):
        left, right = index * width, min((index + 1) * width, steps.end_s)
        means.append(
            (area(right) - area(left)) / (right - left) if right - left > width / 2 else None
        )
    return means


def medians(trials: Sequence[Values]) -> Values:
    """Median over trials, cell by cell, where at least half of the trials still ran."""
    merged: Values = []
    for cells in zip(*trials, strict=True):
        known = [cell for cell in cells if cell is not None]
        merged.append(median(known) if known and len(known) * 2 >= len(cells) else None)
    return merged


def means(trials: Sequence[Values]) -> Values:
    """Mean over the running trials, cell by cell; a median would hide effects in few trials."""
    merged: Values = []
    for cells in zip(*trials, strict=True):
        known = [cell for cell in cells if cell is not None]
        merged.append(sum(known) / len(known) if known and len(known) * 2 >= len(cells) else None)
    return merged


def lines_of(name: str, style: str, trials: Sequence[tuple[int, Values]]) -> list[SeriesLine]:
    """The median line of an arm and, where there are several trials, its first trial beside it."""
    middle = SeriesLine(name, style, medians([values for _, values in trials]))
    if len(trials) < 2:
        return [middle]
    number, values = trials[0]
    return [SeriesLine(f"{name} trial {number}", style, values, trial=number), middle]
