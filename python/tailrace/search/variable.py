"""Values that a search varies: dotted paths, each with the list of its settings in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticCustomError

from tailrace.errors import RunRefusedError, closest, dotted
from tailrace.scenario.loading import try_changes
from tailrace.scenario.sweep import axis_names, refuse_repeated, text_of
from tailrace.scenario.text.document import Document
from tailrace.scenario.text.extent import BETWEEN, HINT, Extent
from tailrace.scenario.varied import Varied, parse_varied

VALUES_MAX = 100_000
"""Settings of one variable, at most."""


@dataclass(frozen=True)
class Variable:
    """One value of the scenario that is varied."""

    path: str
    name: str
    """Its short name."""
    values: tuple[Any, ...]
    """The values in order. The search refers to them by position."""
    extent: Extent | None = None
    """The range; None where the values are listed."""

    @property
    def ends(self) -> str:
        """`100kB..16MB`, or the listed values."""
        if self.extent is None:
            return ", ".join(text_of(value) for value in self.values)
        return f"{text_of(self.values[0])}{BETWEEN}{text_of(self.values[-1])}"


def parse_variables(texts: Sequence[str], precision: float) -> list[Variable]:
    """The variables of `--vary` options; raises `ScenarioError` or `RunRefusedError` with the
    fault."""
    found = parse_varied(texts, "--vary")
    names = axis_names([one.path for one in found])
    return [_variable(one, names[one.path], precision) for one in found]


def _variable(varied: Varied, name: str, precision: float) -> Variable:
    source = f"--vary {varied.path}={varied.text}"
    if varied.extent is not None:
        values = tuple(varied.extent.values(precision))
        if len(values) > VALUES_MAX:
            raise RunRefusedError(
                f"{source}: {len(values)} settings at this precision; the limit is {VALUES_MAX} "
                "(hint: raise --precision or narrow the range)"
            )
        return Variable(varied.path, name, values, varied.extent)
    try:
        refuse_repeated((text_of(value),) for value in varied.listed)
    except PydanticCustomError as error:
        problem = error.context or {}
        raise RunRefusedError(f"{source}: {problem['what']} (hint: {problem['hint']})") from None
    if len(varied.listed) < 2:
        raise RunRefusedError(f"{source}: it is one value (hint: {HINT})")
    return Variable(varied.path, name, tuple(varied.listed))


def refuse_unsound(document: Document, variables: Sequence[Variable]) -> None:
    """Raises `RunRefusedError` where a variable does not exist, or one of its ends is impossible.

    With several variables some combinations of ends may be impossible; the search reports those
    when it tries them.
    """
    for variable in variables:
        refuse_unknown(document.data, variable.path)
        for value in (variable.values[0], variable.values[-1]):
            _, _, problems = try_changes(document, {variable.path: value})
            own = [
                one
                for one in problems
                if len(variables) == 1 or f"{one.path}.".startswith(f"{variable.path}.")
            ]
            if own:
                setting = f"{variable.path}={text_of(value)}"
                hint = f" (hint: {own[0].hint})" if own[0].hint else ""
                location = (
                    ""
                    if own[0].path in (variable.path, f"arms.{variable.path}")
                    else f"{own[0].path}: "
                )
                raise RunRefusedError(
                    f"--vary: {setting} is not possible: {location}{own[0].what}{hint}"
                )


def refuse_unknown(data: Mapping[str, Any], path: str) -> None:
    """Raises `RunRefusedError` where a named part of a scenario, such as a policy or a queue, does
    not exist."""
    container: Any = data
    keys = path.split(".")
    for depth, key in enumerate(keys[:-1]):
        if isinstance(container, list):
            container = (
                container[int(key)] if key.isdecimal() and int(key) < len(container) else None
            )
            continue
        if not isinstance(container, dict):
            return
        if key not in container and depth > 0 and keys[0] in NAMED and depth in (1, 3):
            noun = dotted(keys[:depth])
            known = [str(one) for one in container]
            raise RunRefusedError(
                f"--vary {path}: {noun} has no '{key}' (hint: {closest(key, known, noun)})"
            )
        container = container.get(key)


NAMED = ("policies", "workloads")
"""Sections with user-defined names, also below `queues`: an unknown name there would add a part."""
