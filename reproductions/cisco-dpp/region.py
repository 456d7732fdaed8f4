"""Where the independent figures hold: from the times of the map's points to regions, numbers only.

A region is judged at the points that were run. Along one value it is the longest row of
neighbouring points at which at least so many figures hold; between its last point and the next one
lies its edge.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from region_design import corners, draws, label, pair_grids
from region_table import NAMES, Table
from region_values import (
    BY_KEY,
    CONTROL,
    FIT_PERCENT,
    FITTED,
    FITTED_KEYS,
    PARAMETERS,
    Parameter,
    Point,
    Value,
)
from tailrace.results.directory.published import INDEPENDENT, Band, read_published

HERE = Path(__file__).resolve().parent
LEVELS = (6, 5, 4)
"""Numbers of figures whose regions are told."""


@dataclass(frozen=True)
class Map:
    """The points of a table at one scale, and the bands of the independent figures."""

    table: Table
    scale: float
    bands: Sequence[Band]

    @classmethod
    def read(cls, path: Path, scale: float) -> "Map":
        """The committed table beside the published figures."""
        bands = [
            band for band in read_published(HERE / "published.yaml") if band.kind == INDEPENDENT
        ]
        return cls(Table.read(path), scale, bands)

    def held(self, point: Point) -> int | None:
        """How many independent figures hold at a point; None where it was not run."""
        times = self.table.mean(label(point), self.scale)
        return None if times is None else self.count(times)

    def count(self, times: Mapping[tuple[str, str], float]) -> int:
        """How many bands hold these times."""
        return sum(band.holds(times[band.arm or "", band.workload or ""]) for band in self.bands)

    def missed(self, point: Point) -> list[str]:
        """The figures that do not hold, such as `XS dpp −22 %`: the distance from the published
        time."""
        times = self.table.mean(label(point), self.scale) or {}
        return [
            f"{band.workload} {band.arm} "
            f"{100 * (times[band.arm or '', band.workload or ''] / band.value - 1):+.0f} %"
            for band in self.bands
            if band.value and times and not band.holds(times[band.arm or "", band.workload or ""])
        ]


@dataclass(frozen=True)
class Span:
    """The longest row of neighbouring values at which at least a number of figures hold."""

    parameter: Parameter
    level: int
    low: Value
    high: Value
    has_base: bool
    inside: tuple[Value, ...]

    @property
    def points(self) -> int:
        """How many values it has."""
        return len(self.inside)

    @property
    def reaches_ends(self) -> tuple[bool, bool]:
        """Whether it ends where the values that were run end, so that its edge is not known."""
        return self.low == self.parameter.values[0], self.high == self.parameter.values[-1]

    @property
    def percent(self) -> tuple[float, float] | None:
        """The ends against the base; None for values that are words."""
        try:
            base = float(self.parameter.base)
            return 100 * (float(self.low) / base - 1), 100 * (float(self.high) / base - 1)
        except ValueError:
            return None

    @property
    def text(self) -> str:
        """`356 to 365 Mbit/s`."""
        if self.low == self.high:
            return self.parameter.text(self.low)
        if self.parameter.is_choice:
            return ", ".join(self.parameter.text(value) for value in self.inside)
        if isinstance(self.low, str) or isinstance(self.high, str):
            return f"{self.parameter.text(self.low)} to {self.parameter.text(self.high)}"
        return f"{self.low:g} to {self.parameter.text(self.high)}"


def span_of(found: Map, parameter: Parameter, level: int) -> Span | None:
    """The row around the base where there is one, else the longest; None where no point holds so
    many.

    Values that are words have no order: all that hold so many are one row.
    """
    counts = [found.held({parameter.key: value}) for value in parameter.values]
    rows: list[list[int]] = [[]]
    for index, count in enumerate(counts):
        if count is not None and count >= level:
            rows[-1].append(index)
        elif rows[-1] and not parameter.is_choice:
            rows.append([])
    base = parameter.values.index(parameter.base)
    best = max(rows, key=lambda row: (base in row, len(row)))
    if not best:
        return None
    inside = tuple(parameter.values[index] for index in best)
    return Span(parameter, level, inside[0], inside[-1], base in best, inside)


def is_run(found: Map, parameter: Parameter) -> bool:
    """Whether every value of a parameter was run alone."""
    return all(found.held({parameter.key: value}) is not None for value in parameter.values)


@dataclass(frozen=True)
class Rectangle:
    """The largest rectangle of a pair's grid that has the base in it and holds at least a number of
    figures " "everywhere."""

    level: int
    lows: tuple[Value, Value]
    highs: tuple[Value, Value]
    points: int


def pair_counts(found: Map, first: str, second: str) -> list[list[int | None]]:
    """Figures that hold on the coarse grid of two values: a row for each value of the first."""
    grids = pair_grids(first, second)
    return [[found.held({first: a, second: b}) for b in grids[1]] for a in grids[0]]


def is_pair_run(found: Map, first: str, second: str) -> bool:
    """Whether the whole grid of two values was run."""
    return all(count is not None for row in pair_counts(found, first, second) for count in row)


def rectangle_of(found: Map, first: str, second: str, level: int) -> Rectangle | None:
    """None where the base itself does not hold so many."""
    counts = pair_counts(found, first, second)
    grids = pair_grids(first, second)
    bases = tuple(
        grid.index(BY_KEY[key].base) for grid, key in zip(grids, (first, second), strict=True)
    )
    best: Rectangle | None = None
    for a, b in product(range(bases[0] + 1), range(bases[0], len(grids[0]))):
        for c, d in product(range(bases[1] + 1), range(bases[1], len(grids[1]))):
            inside = [counts[i][j] for i in range(a, b + 1) for j in range(c, d + 1)]
            if any(count is None or count < level for count in inside):
                continue
            if best is None or len(inside) > best.points:
                best = Rectangle(
                    level, (grids[0][a], grids[1][c]), (grids[0][b], grids[1][d]), len(inside)
                )
    return best


def tally(found: Map, points: Sequence[Point]) -> dict[int, int]:
    """Points by the number of figures that hold at them; those that were not run are left out."""
    counts = [count for point in points if (count := found.held(point)) is not None]
    return {level: counts.count(level) for level in sorted(set(counts), reverse=True)}


def at_least(counts: Mapping[int, int], level: int) -> int:
    """Points at which so many figures hold or more."""
    return sum(number for held, number in counts.items() if held >= level)


def speed_ups(found: Map) -> dict[str, tuple[float, float]]:
    """Least and greatest speed-up by DPP in percent, by workload, over all points but the
    controls."""
    controls = {parameter.key for parameter in PARAMETERS if parameter.kind == CONTROL}
    percents: dict[str, list[float]] = {name: [] for name in NAMES}
    for point in found.table.points(found.scale):
        if any(part.partition("=")[0] in controls for part in point.split()):
            continue
        times = found.table.mean(point, found.scale) or {}
        for name, listed in percents.items():
            listed.append(100 * (1 - times["dpp", name] / times["fifo", name]))
    return {name: (min(listed), max(listed)) for name, listed in percents.items()}


def near_region(found: Map) -> list[Point]:
    """Fitted values alone at which four figures or more hold, and their neighbours; the nearest to
    the base first."""
    points: dict[str, Point] = {}
    for key in FITTED_KEYS:
        values = BY_KEY[key].values
        holds = [(found.held({key: value}) or 0) >= LEVELS[-1] for value in values]
        for index, value in enumerate(values):
            if any(holds[max(index - 1, 0) : index + 2]):
                points[label({key: value})] = {key: value}
    return sorted(points.values(), key=_distance)


def _distance(point: Point) -> float:
    [(key, value)] = point.items()
    return abs(math.log(float(value) / float(BY_KEY[key].base)))


def summary(found: Map, again: Map) -> dict[str, object]:
    """What the README's sentences are made of, committed as `map.json`; fitted values at the scale
    of `again`."""
    return {
        "scale": found.scale,
        "points": len(list(found.table.points(found.scale))),
        "figures": len(found.bands),
        "base": found.held({}),
        "off": found.held({"max_packets": 1}),
        "corners": {str(level): number for level, number in tally(found, list(corners())).items()},
        "draws": {str(level): number for level, number in tally(found, list(draws())).items()},
        "again_scale": again.scale,
        "verdict": verdict(again),
        "values": [
            _value(again if parameter.kind == FITTED else found, parameter)
            for parameter in PARAMETERS
            if is_run(found, parameter)
        ],
    }


def verdict(found: Map) -> str:
    """Whether the conclusion stands in its range, by the rule of docs/limits.md."""
    narrow: list[str] = []
    wide: list[str] = []
    for key in FITTED_KEYS:
        span = span_of(found, BY_KEY[key], LEVELS[0])
        (wide if span and covers_fit(span) else narrow).append(BY_KEY[key].name)
    if not narrow:
        return f"All six figures hold while each fitted value alone is varied by ±{FIT_PERCENT} %."
    held = f" They do over that of the {listed_words(wide)}." if wide else ""
    return (
        f"The six figures do not all hold over a variation of ±{FIT_PERCENT} % of the "
        f"{listed_words(narrow)}.{held} A conclusion that changes within the range of a value is "
        "not a conclusion: the model can be fitted to the figures, but this does not prove that "
        "the laboratory's client was like this."
    )


def covers_fit(span: Span) -> bool:
    """Whether a span has every point of its parameter that is within `FIT_PERCENT` of the base."""
    base = float(span.parameter.base)
    near = [
        float(v)
        for v in span.parameter.values
        if abs(float(v) - base) <= FIT_PERCENT / 100 * base + 1e-9
    ]
    return float(span.low) <= near[0] and near[-1] <= float(span.high) and len(near) > 1


def listed_words(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _value(found: Map, parameter: Parameter) -> dict[str, object]:
    spans = {level: span_of(found, parameter, level) for level in LEVELS}
    stated = parameter.stated
    return {
        "key": parameter.key,
        "name": parameter.name,
        "kind": parameter.kind,
        "base": parameter.text(parameter.base),
        "stated": f"{stated[0]} to {parameter.text(stated[1])}" if stated else None,
        "holds": {str(level): span.text if span else None for level, span in spans.items()},
        "has_base": {str(level): bool(span and span.has_base) for level, span in spans.items()},
        "percent": {
            str(level): [round(end, 1) for end in span.percent] if span and span.percent else None
            for level, span in spans.items()
        },
    }
