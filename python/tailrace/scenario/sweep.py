"""Sweeps: every arm of a scenario at every point of one or several axes."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from tailrace.scenario.text.distribution import sense_of
from tailrace.scenario.text.extent import SPACED, is_range, values_of
from tailrace.scenario.text.quantities import Part, refuse
from tailrace.scenario.text.units import QuantityError, shown

LISTED_MAX = 2000
"""Points of a sweep whose trials are kept whole; a larger one keeps the figures of each trial
alone."""
POINTS_MAX = 10_000_000
"""Points of one sweep, at most: a number of files and hours beyond which a sweep is taken for a
typing error."""
AT = "@"
"""Separates the arm from the point in names of trials."""
ALIKE = (
    "sweep",
    "name",
    "description",
    "headline",
    "published",
    "expect",
    "assumptions",
    "experiment.trials",
)
"""Sections that a sweep cannot vary."""
LABEL_CHARACTERS_MAX = 120
"""Characters of a point's name; a longer name is truncated and ends in a hash."""
LABEL_CHARACTERS = "A-Za-z0-9=,.()+-"
"""Of a point's name, as in a regular expression; each other one is written as `_`."""
LABEL_PATTERN = rf"[_{LABEL_CHARACTERS}]{{1,{LABEL_CHARACTERS_MAX + 9}}}"
"""Names of points: they become parts of file names."""
_NUMBER = re.compile(r"^\s*(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\d\s].*?)?\s*$")

Value = Any
"""One value of an axis, as in a scenario file."""


def _read_axis(value: object) -> object:
    """A list of values, or a range with their number."""
    if isinstance(value, str) and is_range(value):
        try:
            return values_of(value)
        except QuantityError as error:
            raise refuse(error.what, error.hint) from None
    if not isinstance(value, list) or not value:
        raise refuse(
            f"{shown(value)} is not a list of values",
            "write a list such as [1MB, 2MB], or log(1MB..64MB, 7)",
        )
    return value


class _AxisSchema:
    """In JSON Schema: the two notations of an axis."""

    def __get_pydantic_json_schema__(
        self, _core_schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        call = SPACED.replace("?P<spacing>", "").replace("?P<ends>", "").replace("?P<number>", "")
        texts = [
            {"type": "string", "pattern": pattern}
            for pattern in (call, r"^\s*\d+\s*\.\.\s*\d+\s*$")
        ]
        return {
            "anyOf": [{"type": "array", "minItems": 1}, *texts],
            "examples": [["1MB", "2MB"], "log(1MB..64MB, 7)"],
        }


Axis = Annotated[
    list[Any],
    BeforeValidator(_read_axis),
    _AxisSchema(),
]


class Sweep(Part):
    """Runs every arm at every point: the values of the axes override the scenario, and arms
    override both."""

    axes: dict[str, Axis]
    """Values by dotted path: a list, `1..8`, `linear(1..9, 5)` or `log(1MB..64MB, 7)` (range and
    number of values)."""
    combine: Literal["grid", "paired"] = "grid"
    """With several axes: every combination (grid), or the first values together, the second values
    together, and so on (paired).
    """

    @model_validator(mode="after")
    def _fits(self) -> "Sweep":
        if not self.axes:
            raise refuse("a sweep needs an axis", "write axes: {switches.leaf.buffer: [1MB, 2MB]}")
        alike = [
            path for path in self.axes if f"{path}.".startswith(tuple(f"{key}." for key in ALIKE))
        ]
        if alike:
            raise refuse(
                f"'{alike[0]}' cannot vary in a sweep",
                "vary a key of workloads, switches, hosts, ...",
            )
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
            raise refuse(
                f"the sweep has {number} points", f"the limit is {most}; list fewer values"
            )
        return self

    @property
    def is_large(self) -> bool:
        """Whether the number of points is so large that only figures are kept."""
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
        return Point(
            {path: self.axes[path][at] for path, at in self.indices_at(number).items()}, self.names
        )

    def indices_at(self, number: int) -> dict[str, int]:
        """By path the index of its value at the point of this number."""
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
        """Name such as `buffer=1MB,users=4`, valid in file names and the same in every grid with
        these axes."""
        text = ",".join(
            f"{self.names[path]}={text_of(value)}" for path, value in self.values.items()
        )
        safe = re.sub(f"[^{LABEL_CHARACTERS}]", "_", text)
        if safe == text and len(text) <= LABEL_CHARACTERS_MAX:
            return text
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{safe[:LABEL_CHARACTERS_MAX]}-{digest}"

    def arm(self, name: str) -> str:
        """Name of an arm at this point."""
        return f"{name}{AT}{self.label}"


def refuse_repeated(rows: Iterable[tuple[str, ...]]) -> None:
    """Raises an error for two rows of values that are equal, perhaps in other units, also within
    distributions."""
    seen: dict[tuple[object, ...], str] = {}
    for row in rows:
        amounts, texts = tuple(sense_of(text) for text in row), ", ".join(row)
        if (first := seen.get(amounts)) is not None:
            what = (
                f"the value {texts} is listed twice"
                if first == texts
                else f"{first} is the same as {texts}"
            )
            raise refuse(what, "remove one of the two")
        seen[amounts] = texts


def axis_names(paths: Sequence[str]) -> dict[str, str]:
    """The shortest distinct ends of the paths: `buffer`, or `leaf1.buffer` and `leaf2.buffer`."""
    parts = {path: path.split(".") for path in paths}
    names: dict[str, str] = {}
    for path, own in parts.items():
        for length in range(1, len(own) + 1):
            end = own[-length:]
            if not end[0].isdecimal() and all(
                other == path or parts[other][-length:] != end for other in paths
            ):
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
    match = _NUMBER.fullmatch(text)
    return (float(match["number"]), match["unit"] or "") if match else None
