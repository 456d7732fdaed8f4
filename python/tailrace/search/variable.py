"""Values that a search varies: dotted paths, each with the list of its settings in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from tailrace.errors import RunRefusedError, ScenarioError, closest, dotted
from tailrace.scenario.loading import parse_sweep, try_changes
from tailrace.scenario.sweep import Sweep, axis_names, text_of
from tailrace.scenario.text.document import Document
from tailrace.scenario.text.extent import BETWEEN, Extent, parse_extent
from tailrace.scenario.text.units import QuantityError
from tailrace.scenario.variation import refuse_varied_twice

VALUES_MAX = 100_000
"""Settings of one variable, at most."""
HINT = "write, for example, --vary switches.leaf.buffer=1MB..64MB or --vary workloads.shop.users=1,2,4,8"


@dataclass(frozen=True)
class Variable:
    """One value of the scenario that is varied."""

    path: str
    name: str
    """Its short name."""
    values: tuple[Any, ...]
    """In order; the position is what a search is about."""
    extent: Extent | None = None
    """The range; None where the values are listed."""

    @property
    def ends(self) -> str:
        """`100kB..16MB`, or the listed values."""
        if self.extent is None:
            return ", ".join(text_of(value) for value in self.values)
        return f"{text_of(self.values[0])}{BETWEEN}{text_of(self.values[-1])}"


def parse_variables(texts: Sequence[str], precision: float) -> list[Variable]:
    """The variables of `--vary` options; raises `RunRefusedError` with what is wrong."""
    spans: list[tuple[str, str]] = []
    for text in texts:
        path, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not path or not values:
            raise RunRefusedError(f"--vary {text}: expected key=low..high or key=values (hint: {HINT})")
        spans.append((path, values))
    paths = [path for path, _ in spans]
    refuse_varied_twice(paths)
    names = axis_names(paths)
    return [_variable(path, names[path], values, precision) for path, values in spans]


def _variable(path: str, name: str, text: str, precision: float) -> Variable:
    if BETWEEN in text:
        try:
            extent = parse_extent(text)
        except QuantityError as error:
            raise RunRefusedError(f"--vary {path}={text}: {error.what} (hint: {error.hint})") from None
        values = tuple(extent.values(precision))
        if len(values) > VALUES_MAX:
            raise RunRefusedError(
                f"--vary {path}={text}: {len(values)} settings at this precision; the limit is {VALUES_MAX} "
                "(hint: raise --precision or narrow the range)"
            )
        return Variable(path, name, values, extent)
    try:
        spec = parse_sweep([f"{path}={text}"])
        listed = Sweep.model_validate(spec).axes[path]
    except ScenarioError as error:
        raise RunRefusedError(f"--vary {path}={text}: {error.problems[0].what} (hint: {HINT})") from None
    except ValidationError as error:
        told = error.errors()[0].get("ctx", {})
        what, hint = told.get("what", "these are no values to vary"), told.get("hint") or HINT
        raise RunRefusedError(f"--vary {path}={text}: {what} (hint: {hint})") from None
    if len(listed) < 2:
        raise RunRefusedError(f"--vary {path}={text}: it is one value (hint: {HINT})")
    return Variable(path, name, tuple(listed))


def refuse_unsound(document: Document, variables: Sequence[Variable]) -> None:
    """Raises `RunRefusedError` where a variable does not exist, or one of its ends is not possible.

    With several variables a combination of ends may be impossible where others are not: that is told during the search.
    """
    for variable in variables:
        refuse_unknown(document.data, variable.path)
        for value in (variable.values[0], variable.values[-1]):
            _, _, problems = try_changes(document, {variable.path: value})
            own = [one for one in problems if len(variables) == 1 or f"{one.path}.".startswith(f"{variable.path}.")]
            if own:
                told = f"{variable.path}={text_of(value)}"
                hint = f" (hint: {own[0].hint})" if own[0].hint else ""
                place = "" if own[0].path in (variable.path, f"arms.{variable.path}") else f"{own[0].path}: "
                raise RunRefusedError(f"--vary: {told} is not possible: {place}{own[0].what}{hint}")


def refuse_unknown(data: Mapping[str, Any], path: str) -> None:
    """Raises `RunRefusedError` where a named part of a scenario, such as a policy or a queue, does not exist."""
    place: Any = data
    keys = path.split(".")
    for depth, key in enumerate(keys[:-1]):
        if isinstance(place, list):
            place = place[int(key)] if key.isdecimal() and int(key) < len(place) else None
            continue
        if not isinstance(place, dict):
            return
        if key not in place and depth > 0 and keys[0] in NAMED and depth in (1, 3):
            noun = dotted(keys[:depth])
            known = [str(one) for one in place]
            raise RunRefusedError(f"--vary {path}: {noun} has no '{key}' (hint: {closest(key, known, noun)})")
        place = place.get(key)


NAMED = ("policies", "workloads")
"""Sections whose entries have names of the scenario's own, also below `queues`: a new name would be a new part."""
