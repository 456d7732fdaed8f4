"""Values that an option varies, `key=1MB,2MB` or `key=1MB..64MB`: `--vary` and `--sweep` have one
notation."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tailrace.errors import Problem, ScenarioError
from tailrace.scenario.text.document import read_yaml
from tailrace.scenario.text.extent import HINT, Extent, is_range, parse_extent, values_of
from tailrace.scenario.text.units import QuantityError

_BETWEEN_VALUES = re.compile(r",(?![^()]*\))")
"""Commas inside parentheses belong to a value, such as uniform(1ms, 2ms)."""


@dataclass(frozen=True)
class Varied:
    """One key and its values."""

    path: str
    text: str
    """The values as they were written."""
    listed: list[Any]
    """The values in order; empty for a range, whose number of values is given by the caller."""
    extent: Extent | None
    """The range; None where values are listed."""


def parse_varied(texts: Sequence[str], option: str) -> list[Varied]:
    """The variations of the options, in order; raises `ScenarioError` with the fault."""
    found = [_parsed(text, option) for text in texts]
    paths = [one.path for one in found]
    for path in paths:
        if paths.count(path) > 1:
            raise _refused(
                f"{option} {path}", "it is varied twice", f"write all of its values in one {option}"
            )
    return found


def parse_sweep(texts: Sequence[str], *, is_paired: bool = False) -> dict[str, Any]:
    """The `sweep` of a scenario that the options say; of a range there must be few whole
    numbers."""
    axes: dict[str, Any] = {}
    for one in parse_varied(texts, "--sweep"):
        try:
            axes[one.path] = one.listed or values_of(one.text)
        except QuantityError as error:
            raise _refused(f"--sweep {one.path}={one.text}", error.what, error.hint) from None
    return {"axes": axes, "combine": "paired" if is_paired else "grid"}


def _parsed(text: str, option: str) -> Varied:
    path, equals, values = (part.strip() for part in text.partition("="))
    source = f"{option} {text}"
    if not equals or not path or not values:
        raise _refused(source, "expected key=values", HINT)
    try:
        if not is_range(values):
            return Varied(path, values, list(_listed(values, source)), None)
        if "(" in values:
            return Varied(path, values, values_of(values), None)
        return Varied(path, values, [], parse_extent(values))
    except QuantityError as error:
        raise _refused(source, error.what, error.hint) from None


def _listed(text: str, source: str) -> Iterator[Any]:
    for part in _BETWEEN_VALUES.split(text):
        if is_range(part):
            raise _refused(source, f"'{part.strip()}' is a range in a list", HINT)
        try:
            yield read_yaml(part.strip(), source)[0]
        except (
            ScenarioError
        ) as error:  # line numbers within a command-line value are not lines of a file
            raise ScenarioError([replace(problem, line=0) for problem in error.problems]) from None


def _refused(source: str, what: str, hint: str) -> ScenarioError:
    return ScenarioError([Problem(source, 0, "", what, hint)])
