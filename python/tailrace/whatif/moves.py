"""A knob with the changes of its positions and typed numbers in the plans of every size and arm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tailrace.scenario.sweep import text_of
from tailrace.whatif.knobs import Knob
from tailrace.whatif.numbers import Follow, Form, form_of, steps_at
from tailrace.whatif.patch import PatchStep

CONFIGURATION = "configuration"
"""The size that stands for the configurations of the switches."""
ByArm = dict[str, list[list[PatchStep]]]
"""By arm, the steps of each position."""


@dataclass
class Number:
    """Numbers that can be typed."""

    form: Form
    low: Fraction
    high: Fraction
    """The range, both ends included, in the common unit of the form."""
    follow: dict[str, dict[str, list[Follow]]]
    """By size and arm."""
    unwritten: set[str]
    """Vendors whose configuration does not follow."""
    step: Fraction
    """The amount that changes the plans by one."""
    beyond: str = ""
    """The checks' message for a number outside the range; empty where the range is that of the
    page."""

    def data(self) -> dict[str, Any]:
        """The knob as the page stores it, without the inputs of its plans."""
        ends = [self.form.text(self.low), self.form.text(self.high)]
        return {
            **self.form.data(),
            "low": ends[0],
            "high": ends[1],
            "beyond": self.beyond,
            "unwritten": sorted(self.unwritten),
        }


@dataclass
class Moved:
    """A knob of a page."""

    knob: Knob
    steps: dict[str, ByArm]
    """By size and arm, the steps of each position."""
    refused: dict[str, str]
    """By the text of a position, why the scenario cannot have it."""
    number: Number | None = None
    why_no_number: str = ""
    """Why no number can be typed, of a knob whose positions are numbers."""
    unwritten: set[str] = field(default_factory=set)
    """Vendors whose configuration cannot be put together on the page when this knob is moved."""

    @property
    def path(self) -> str:
        """Its dotted path in the scenario."""
        return self.knob.path

    @property
    def own(self) -> str:
        """The text of the scenario's own value."""
        return self.knob.texts[self.knob.start]

    @property
    def allowed(self) -> list[int]:
        """Positions that the scenario can have."""
        return [at for at, text in enumerate(self.knob.texts) if text not in self.refused]

    @property
    def is_always_set(self) -> bool:
        """The file has no value here, and the first position is another one than its default."""
        return any(arm[self.knob.start] for size in self.steps.values() for arm in size.values())

    def value_of(self, text: str) -> Any:
        """The scenario's value for a text: that of a position, or the typed one."""
        texts = self.knob.texts
        if text in texts:
            return self.knob.values[texts.index(text)]
        return number_or_text(text)

    def steps_of(self, size: str, arm: str, text: str) -> list[PatchStep] | None:
        """The steps for a position or a typed number; None where the page cannot take them."""
        texts = self.knob.texts
        if text in texts:
            return self.steps[size][arm][texts.index(text)]
        if self.number is None:
            return None
        value = self.number.form.value(text)
        return None if value is None else steps_at(self.number.follow[size][arm], value)

    def is_written(self, vendor: str, text: str) -> bool:
        """Whether the page can write it into the configuration of a vendor."""
        if vendor in self.unwritten:
            return False
        if text in self.knob.texts or self.number is None:
            return True
        arms = self.number.follow.get(CONFIGURATION, {})
        return vendor not in self.number.unwritten and all(
            self.steps_of(CONFIGURATION, arm, text) is not None for arm in arms
        )


def number_or_text(text: str) -> Any:
    """A typed value as YAML reads it."""
    form = form_of(text)
    if form is None or form.unit or form.head:
        return text
    return int(text) if text.isdecimal() else float(text)


def changes(moved: Sequence[Moved], texts: Mapping[str, str]) -> dict[str, Any]:
    """The changed values of the scenario: knobs that differ from it, and the others of their
    groups."""
    away = {
        one.path for one in moved if one.is_always_set or texts.get(one.path, one.own) != one.own
    }
    groups = {one.knob.group for one in moved if one.path in away and one.knob.group}
    return {
        one.path: one.value_of(texts.get(one.path, one.own))
        for one in moved
        if one.path in away or one.knob.group in groups
    }


def is_number(knob: Knob) -> bool:
    """Whether the scenario's own value is a number, with a unit or in a function."""
    is_choice = ".classify." in knob.path
    return not is_choice and form_of(text_of(knob.values[knob.start])) is not None
