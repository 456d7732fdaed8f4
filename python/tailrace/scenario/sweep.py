"""Sweeps: every arm of a scenario at every point of one or several axes."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from tailrace.errors import Problem, ScenarioError
from tailrace.scenario.text.distribution import sense_of
from tailrace.scenario.text.quantities import Part, refuse
from tailrace.scenario.text.units import shown

LISTED_MAX = 2000
"""Points of a sweep whose trials are kept whole; a larger one keeps the figures of each trial alone."""
POINTS_MAX = 10_000_000
"""Points of one sweep, at most: a number of files and hours beyond which a sweep is taken for a typing error."""
AXIS_MAX = 100_000
"""Values of one axis, at most; the values of a scenario are in memory."""
DIGITS = 4
"""Significant digits of the values of a range."""
AT = "@"
"""Separates the arm from the point in names of trials."""
ALIKE = ("sweep", "name", "description", "headline", "published", "expect", "assumptions", "experiment.trials")
"""Sections that a sweep cannot vary."""
LABEL_CHARACTERS_MAX = 120
"""Characters of a point's name; a longer name is truncated and ends in a hash."""
_NUMBER = re.compile(r"^\s*(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\d\s].*?)?\s*$")
_RANGE = re.compile(r"^\s*(?P<spacing>linear|log)\s*\((?P<arguments>[^()]*)\)\s*$")

Value = Any
"""One value of an axis, as in a scenario file."""


class Range(Part):
    """Evenly or logarithmically spaced values; both ends have the same unit."""

    first: Annotated[int | float | str, Field(alias="from")]
    """First value."""
    last: Annotated[int | float | str, Field(alias="to")]
    """Last value."""
    points: Annotated[int, Field(strict=True, ge=2, le=AXIS_MAX)]
    """Number of values, including both ends."""
    spacing: Literal["linear", "log"] = "linear"
    """Equal steps or equal factors. Values are rounded to four significant digits, and whole numbers stay whole."""

    def values(self) -> list[Value]:
        """The distinct values in order."""
        (low, unit), (high, other) = _quantity(self.first), _quantity(self.last)
        if unit != other:
            raise refuse(f"{self.first} and {self.last} have different units", "write both ends in the same unit")
        if low >= high:
            raise refuse(f"{self.first} is not below {self.last}", "write the smaller value first")
        if self.spacing == "log" and low <= 0:
            raise refuse("a logarithmic range cannot begin at zero", "write a first value above zero, or use linear")
        is_whole = not unit and low.denominator == 1 and high.denominator == 1
        found = [_rounded(self._at(low, high, step), is_whole=is_whole) for step in range(1, self.points - 1)]
        numbers = dict.fromkeys([_exact(low), *found, _exact(high)])
        return [f"{number}{unit}" if unit else _plain(number) for number in numbers]

    def _at(self, low: Fraction, high: Fraction, step: int) -> float:
        share = step / (self.points - 1)
        if self.spacing == "log":
            return float(float(low) * (float(high) / float(low)) ** share)
        return float(low) + float(high - low) * share


def _quantity(value: float | str) -> tuple[Fraction, str]:
    match = _NUMBER.match(str(value))
    if not match:
        raise refuse(f"{shown(value)} is not a number with a unit", "write a value such as 1MB, 20 or 5ms")
    return Fraction(match["number"]), match["unit"] or ""


def _rounded(value: float, *, is_whole: bool) -> str:
    return str(round(value)) if is_whole else _exact(Fraction(f"{value:.{DIGITS}g}"))


def _exact(value: Fraction) -> str:
    """Digits without an exponent."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.12f}".rstrip("0")


def _plain(number: str) -> int | float:
    return int(number) if number.isdecimal() else float(number)


_FOREIGN_RANGE = re.compile(r"[^,()]+\.\.[^,()]+|(?:lin|linspace|logspace|range)\(.*\)")
"""A range as `tailrace search` writes it, and as others do."""


def refuse_foreign_range(text: str, place: str) -> None:
    """Raises `ScenarioError` for a range of the command line that is written in another way than those of a sweep."""
    if _FOREIGN_RANGE.fullmatch(text):
        hint = "write linear(first, last, number) or log(first, last, number), or a list"
        raise ScenarioError([Problem(place, 0, "", f"'{text}' is not a range of a sweep", hint)])


def _read_axis(value: object) -> object:
    """A list of values, a range as a mapping, or `linear(1, 9, 5)` and `log(1MB, 64MB, 7)`."""
    if isinstance(value, str) and (match := _RANGE.match(value)):
        arguments = [part.strip() for part in match["arguments"].split(",")]
        if len(arguments) != 3 or not arguments[2].isdecimal():
            raise refuse(f"'{value}' is not a range", "write log(1MB, 64MB, 7): first, last, number of values")
        first, last, points = arguments
        value = {"from": first, "to": last, "points": int(points), "spacing": match["spacing"]}
    if isinstance(value, dict):
        return Range.model_validate(value).values()
    if not isinstance(value, list) or not value:
        hint = "write a list such as [1MB, 2MB], or log(1MB, 64MB, 7)"
        raise refuse(f"{shown(value)} is not a list of values", hint)
    return value


class _AxisSchema:
    """In JSON Schema: the three notations of an axis. That of `Range` is built when a schema is asked for."""

    def __get_pydantic_json_schema__(self, _core_schema: CoreSchema, _handler: GetJsonSchemaHandler) -> dict[str, Any]:
        call = _RANGE.pattern.replace("?P<spacing>", "").replace("?P<arguments>", "")
        notations = [{"type": "array", "minItems": 1}, {"type": "string", "pattern": call}, Range.model_json_schema()]
        return {"anyOf": notations, "examples": [["1MB", "2MB"], "log(1MB, 64MB, 7)"]}


Axis = Annotated[
    list[Any],
    BeforeValidator(_read_axis),
    _AxisSchema(),
]


class Sweep(Part):
    """Runs every arm at every point: the values of the axes override the scenario, and arms override both."""

    axes: dict[str, Axis]
    """Values by dotted path: a list, `linear(1, 9, 5)` or `log(1MB, 64MB, 7)` (first, last, number of values)."""
    combine: Literal["grid", "paired"] = "grid"
    """With several axes: every combination (grid), or the first values together, the second values together, and so on
    (paired).
    """

    @model_validator(mode="after")
    def _fits(self) -> "Sweep":
        if not self.axes:
            raise refuse("a sweep needs an axis", "write axes: {switches.leaf.buffer: [1MB, 2MB]}")
        alike = [path for path in self.axes if f"{path}.".startswith(tuple(f"{key}." for key in ALIKE))]
        if alike:
            raise refuse(f"'{alike[0]}' cannot vary in a sweep", "vary a key of workloads, switches, hosts, ...")
        lengths = {len(values) for values in self.axes.values()}
        if self.combine == "paired" and len(lengths) > 1:
            raise refuse(
                "paired axes have different numbers of values",
                "give each axis the same number of values, or write combine: grid",
            )
        columns = [[text_of(value) for value in values] for values in self.axes.values()]
        # Of paired axes one may stand still while another moves.
        listed = (
            [list(zip(*columns, strict=True))]
            if self.combine == "paired"
            else [[(text,) for text in column] for column in columns]
        )
        for rows in listed:
            refuse_repeated(rows)
        if self.count > POINTS_MAX:
            number, most = (f"{one:,}".replace(",", " ") for one in (self.count, POINTS_MAX))
            raise refuse(f"the sweep has {number} points", f"the limit is {most}; list fewer values")
        return self

    @property
    def is_large(self) -> bool:
        """Whether there are so many points that only figures are kept."""
        return self.count > LISTED_MAX

    @property
    def count(self) -> int:
        """Number of points."""
        counts = [len(values) for values in self.axes.values()]
        if self.combine == "paired":
            return counts[0]
        total = 1
        for count in counts:
            total *= count
        return total

    def points(self) -> list["Point"]:
        """Every point, the last axis fastest."""
        return [self.point(number) for number in range(self.count)]

    def point(self, number: int) -> "Point":
        """The point of this number, from 0."""
        return Point({path: self.axes[path][at] for path, at in self.places(number).items()}, self.names)

    def places(self, number: int) -> dict[str, int]:
        """By path the place of its value at the point of this number."""
        if self.combine == "paired":
            return dict.fromkeys(self.axes, number)
        found: dict[str, int] = {}
        for path, values in reversed(self.axes.items()):
            number, found[path] = divmod(number, len(values))
        return {path: found[path] for path in self.axes}

    @cached_property
    def names(self) -> dict[str, str]:
        """A short name for each axis."""
        return axis_names(list(self.axes))


@dataclass(frozen=True)
class Point:
    """One point of a sweep: a value for each axis."""

    values: Mapping[str, Value]
    names: Mapping[str, str]
    """Short name of each axis."""

    @property
    def label(self) -> str:
        """Name such as `buffer=1MB,users=4`, valid in file names and the same in every grid with these axes."""
        text = ",".join(f"{self.names[path]}={text_of(value)}" for path, value in self.values.items())
        safe = re.sub(r"[^A-Za-z0-9=,.()+-]", "_", text)
        if safe == text and len(text) <= LABEL_CHARACTERS_MAX:
            return text
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{safe[:LABEL_CHARACTERS_MAX]}-{digest}"

    def arm(self, name: str) -> str:
        """Name of an arm at this point."""
        return f"{name}{AT}{self.label}"


def refuse_repeated(rows: Iterable[tuple[str, ...]]) -> None:
    """Raises an error for two rows of values that are equal, perhaps in other units, also within distributions."""
    seen: dict[tuple[object, ...], str] = {}
    for row in rows:
        amounts, told = tuple(sense_of(text) for text in row), ", ".join(row)
        if (first := seen.get(amounts)) is not None:
            what = f"the value {told} is listed twice" if first == told else f"{first} is the same as {told}"
            raise refuse(what, "remove one of the two")
        seen[amounts] = told


def axis_names(paths: Sequence[str]) -> dict[str, str]:
    """The shortest distinct ends of the paths: `buffer`, or `leaf1.buffer` and `leaf2.buffer`."""
    parts = {path: path.split(".") for path in paths}
    names: dict[str, str] = {}
    for path, own in parts.items():
        for length in range(1, len(own) + 1):
            end = own[-length:]
            if not end[0].isdecimal() and all(other == path or parts[other][-length:] != end for other in paths):
                break
        names[path] = ".".join(own[-length:])
    return names


def text_of(value: Value) -> str:
    """A value as in a scenario file, without spaces."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace(" ", "")


def number_of(text: str) -> tuple[float, str] | None:
    """Number and unit of a value's text, such as (1.0, "MB"); None for a word."""
    match = _NUMBER.match(text)
    return (float(match["number"]), match["unit"] or "") if match else None
