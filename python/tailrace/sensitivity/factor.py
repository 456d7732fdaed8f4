"""Factors: assumptions of a scenario that are varied, each over its range."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from tailrace.errors import RunRefusedError
from tailrace.scenario.experiment import Assumption
from tailrace.scenario.loading import try_changes
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.sweep import axis_names, text_of
from tailrace.scenario.text.document import Document, has_key
from tailrace.scenario.text.extent import HINT
from tailrace.scenario.text.units import QuantityError
from tailrace.scenario.variation import Variation
from tailrace.scenario.varied import parse_varied
from tailrace.sensitivity.defaults import DEFAULTS

VARIED = ("assumed", "fitted")
"""Marks of the values that are varied; the others have a source."""
DEFAULT, STATED = "default", "stated"


@dataclass(frozen=True)
class Factor:
    """One assumption."""

    name: str
    mark: str
    """assumed, fitted, default (of the program, without a source) or stated (an option of the
    command)."""
    present: str
    """The present value as text."""
    variation: Variation
    base: float = 0.5
    """Position of the present value in the range."""

    @property
    def ends(self) -> list[float]:
        """Shares of the range that are tried alone: both ends, or every listed value."""
        listed = self.variation.listed
        return (
            [(index + 0.5) / len(listed) for index in range(len(listed))] if listed else [0.0, 1.0]
        )

    @property
    def range_text(self) -> str:
        """The range, or the listed values, as text."""
        texts = [self.text(share) for share in self.ends]
        return (" / " if self.variation.listed else " to ").join(texts)

    def text(self, share: float) -> str:
        """The value at a share of the range in short words."""
        if self.variation.names is not None:
            return self.variation.names[self.variation.position(share)]
        if self.variation.times is not None:
            return f"{100 * self.variation.factor(share):.4g} %"
        if self.variation.settings is not None:
            setting = self.variation.at(share)
            if not setting:
                return "as at present"
            names = axis_names(list(setting))
            if len(setting) > 1 and len(set(map(str, setting.values()))) == 1:
                return str(next(iter(setting.values())))
            path, value = next(iter(setting.items()))
            return f"{names[path]} {text_of(value)}"
        if self.variation.extent is not None:
            return text_of(self.variation.extent.at(share))
        return text_of(self.variation.at(share))

    def applied(self, document: Document, share: float) -> tuple[Document, dict[str, Any]]:
        """The document with the value at a share of the range, and the changes by dotted path."""
        try:
            changes = self.variation.changes(share, lambda path: present_at(document.data, path))
        except QuantityError as error:
            raise RunRefusedError(
                f"assumption '{self.name}': {error.what} (hint: {error.hint})"
            ) from None
        changed, _, problems = try_changes(document, changes)
        if problems:
            first = problems[0]
            hint = f" (hint: {first.hint})" if first.hint else ""
            path = first.path.removeprefix("arms.")
            raise RunRefusedError(
                f"assumption '{self.name}', at {self.text(share)}: {path}: {first.what}{hint}"
            )
        return changed, changes


def of_assumptions(
    scenario: Scenario, document: Document
) -> tuple[list[Factor], list[tuple[str, str]]]:
    """The factors of a scenario, and the values that are not varied, with the reason."""
    found: list[Factor] = []
    left: list[tuple[str, str]] = []
    for part in scenario.assumptions:
        if part.mark not in VARIED:
            continue
        if part.vary is None:
            left.append((part.name, _why_not(part)))
        else:
            found.append(_factor(part.name, part.mark, part.value, part.vary, document))
    taken = {path for factor in found for path in factor.variation.paths}
    for default in DEFAULTS:
        variation = default.of(document.data)
        if not any(
            _is_stated(document.data, taken, path)
            for path in [*variation.paths, *default.variation.paths]
        ):
            found.append(_factor(default.name, DEFAULT, default.present, variation, document))
    return found, left


def of_texts(texts: Sequence[str], document: Document) -> list[Factor]:
    """The factors of `--vary` options; raises `ScenarioError` or `RunRefusedError` with the
    fault."""
    return list(_of_texts(texts, document))


def _of_texts(texts: Sequence[str], document: Document) -> Iterator[Factor]:
    found = parse_varied(texts, "--vary")
    names = axis_names([one.path for one in found])
    for one in found:
        present = present_at(document.data, one.path)
        raw = {"range": one.text} if one.extent is not None else {"values": one.listed}
        try:
            variation = Variation.model_validate({"keys": [one.path], **raw})
        except ValidationError as error:
            context = error.errors()[0].get("ctx", {})
            hint = context.get("hint") or HINT
            what = context.get("what", "these are no values to vary")
            raise RunRefusedError(f"--vary {one.path}={one.text}: {what} (hint: {hint})") from None
        yield _factor(
            names[one.path],
            STATED,
            "the default" if present is None else text_of(present),
            variation,
            document,
        )


def _factor(name: str, mark: str, setting: str, variation: Variation, document: Document) -> Factor:
    share = variation.present_share(lambda path: present_at(document.data, path))
    return Factor(name, mark, setting, variation, share)


def _why_not(part: Assumption) -> str:
    return f"it has no `vary` in the scenario{f'; its range: {part.range}' if part.range else ''}"


def _is_stated(data: Mapping[str, Any], taken: set[str], path: str) -> bool:
    """Whether the scenario states this value, or another factor varies it."""
    return path in taken or present_at(data, path) is not None


def present_at(data: Any, path: str) -> Any:
    """The value at a dotted path of a document; None where it is not stated."""
    container = data
    for part in path.split("."):
        key: str | int = int(part) if part.isdecimal() else part
        if not has_key(container, key):
            return None
        container = container[key]
    return container
