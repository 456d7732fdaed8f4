"""Determines the changes of a knob in the plans: at each position, and for numbers between them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tailrace.scenario.lowering.plan import Raw
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.sweep import text_of
from tailrace.whatif.classes import is_name
from tailrace.whatif.configurations import VENDORS
from tailrace.whatif.drawing import PPB_PER_MILLE
from tailrace.whatif.knobs import Knob, value_at
from tailrace.whatif.lowered import Lowering
from tailrace.whatif.moves import CONFIGURATION, ByArm, Moved, Number, is_number, number_or_text
from tailrace.whatif.numbers import Follow, Form, Line, Sample, follows, form_of, written
from tailrace.whatif.patch import PatchStep, difference, in_lines

BETWEEN = (0.236, 0.618)
"""Where between its ends a number is verified besides its positions, as shares of the way."""
COMPOSITIONS = 5
"""Divisions at which shares are verified."""
NO_RULE = "what it changes does not follow the number"

Plans = dict[str, dict[str, Raw]]
"""By size and arm."""
BySample = dict[str, dict[str, list[Sample]]]
Fields = dict[str, dict[str, list[Follow]]]


@dataclass(frozen=True)
class Mover:
    """Lowers a scenario with one value changed."""

    lowering: Lowering
    plans: Plans
    """Of the scenario as it is."""
    ends: Sequence[Fraction]
    """Sizes of the scenario at which a range may end, in bytes."""

    def of(self, knob: Knob) -> Moved:
        """The knob with the changes of each position, and with numbers where the plans follow
        one."""
        steps: dict[str, ByArm] = {
            size: {arm: [] for arm in arms} for size, arms in self.plans.items()
        }
        refused: dict[str, str] = {}
        is_map = isinstance(knob.values[0], str) and ".priorities." in knob.path
        own = value_at(self.lowering.loaded.document.data, knob.path)
        for value, text in zip(knob.values, knob.texts, strict=True):
            is_own = own is not None and text_of(own) == text
            found, problem = (
                (None, None) if is_own else self._steps({knob.path: value}, is_map=is_map)
            )
            if problem is not None:
                refused[text] = problem
            for size, arms in steps.items():
                for arm, positions in arms.items():
                    positions.append(found[size][arm] if found is not None else [])
        moved = Moved(knob, steps, refused)
        return self._with_number(moved) if is_number(knob) and moved.allowed else moved

    def _steps(
        self, values: dict[str, Any], *, is_map: bool = False
    ) -> tuple[dict[str, dict[str, list[PatchStep]]] | None, str | None]:
        """The changes of values by size and arm, or the reason why the scenario cannot have them. A
        queue without a class is no reason where maps of classes are checked as a whole."""
        tried = self.lowering.tried(values)
        if not tried.arms or (tried.problem is not None and not is_map):
            return None, tried.problem or "it cannot be lowered"
        plans = self._lowered(values, tried.arms)
        return {
            size: {
                arm: [
                    step
                    for step in self._difference(size, plan, plans[size][arm])
                    if not (is_map and is_name(step))
                ]
                for arm, plan in arms.items()
            }
            for size, arms in self.plans.items()
        }, None

    def _lowered(self, values: Mapping[str, Any], arms: Mapping[str, Scenario]) -> Plans:
        """The plans, those of arms without the policy that is changed as they were."""
        touched = self.lowering.touched(values)
        return {
            size.name: self.plans[size.name]
            | self.lowering.plans({arm: arms[arm] for arm in touched}, size)
            for size in self.lowering.sizes
        }

    @staticmethod
    def _difference(size: str, before: Raw, after: Raw) -> list[PatchStep]:
        steps = difference(before, after) if before is not after else []
        return in_lines(before, steps) if size == CONFIGURATION else steps

    def _with_number(self, moved: Moved) -> Moved:
        knob = moved.knob
        form = form_of(knob.texts[knob.start])
        assert form is not None, "`is_number` says so"
        values = [form.value(text) for text in knob.texts]
        if None in values or len(moved.allowed) < 2:
            why = "positions of one form only" if None in values else "one position only"
            return replace(moved, why_no_number=why)
        numbers = [value for value in values if value is not None]
        samples: BySample = {
            size: {
                arm: [(numbers[at], steps[at]) for at in moved.allowed]
                for arm, steps in arms.items()
            }
            for size, arms in moved.steps.items()
        }
        allowed = sorted(numbers[at] for at in moved.allowed)
        line = _first_line(self._follow(samples)[0])
        if line is None:
            return replace(moved, why_no_number=NO_RULE)
        low, high = allowed[0], allowed[-1]
        beyond = ""
        order = sorted((number, knob.texts[at]) for at, number in enumerate(numbers))
        for (one, text), (other, other_text) in pairwise(order):
            if one == high and other_text in moved.refused and line.at(other) is not None:
                high, beyond = self._end(knob, form, line, high, other), moved.refused[other_text]
            if other == allowed[0] and text in moved.refused and line.at(one) is not None:
                low, beyond = self._end(knob, form, line, low, one), beyond or moved.refused[text]
        for value in (low, high, *_between(line, low, high)):
            text_here = form.text(value)
            if text_here is None or any(value == number for number in numbers if number in allowed):
                continue
            found, problem = self._steps({knob.path: number_or_text(text_here)})
            if found is None:
                return replace(moved, why_no_number=f"{text_here} is refused: {problem}")
            for size, arms in samples.items():
                for arm, listed in arms.items():
                    listed.append((value, found[size][arm]))
        follow, without = self._follow(samples)
        if follow is None:
            return replace(moved, why_no_number=NO_RULE)
        return replace(
            moved,
            number=Number(form, low, high, follow, without, abs(Fraction(line.c, line.b)), beyond),
        )

    def _follow(self, samples: BySample) -> tuple[Fields | None, set[str]]:
        """The content of every plan at any value, None without such a rule; and the vendors without
        one."""
        found: Fields = {}
        without: set[str] = set()
        for size, arms in samples.items():
            found[size] = {}
            for arm, listed in arms.items():
                plan = self.plans[size][arm]
                if size == CONFIGURATION:
                    found[size][arm], vendors = written(plan, listed)
                    without |= vendors
                    continue
                fields = follows(plan, listed)
                if fields is None:
                    return None, without
                found[size][arm] = fields
        return found, without

    def _end(self, knob: Knob, form: Form, line: Line, good: Fraction, bad: Fraction) -> Fraction:
        """The last valid value from a valid one towards an invalid one."""

        def is_sound(number: int) -> bool:
            value = line.of(number)
            text = None if value is None else form.text(value)
            return (
                text is not None
                and self.lowering.tried({knob.path: number_or_text(text)}).problem is None
            )

        sound, other = line.at(good), line.at(bad)
        if sound is None or other is None:
            return good
        towards = 1 if other > sound else -1
        for end in self.ends:
            number = line.at(end)
            if number is None or not min(sound, other) <= number <= max(sound, other):
                continue
            if number == sound or is_sound(number):
                sound = number
                if not is_sound(number + towards):
                    other = number + towards
                    break
            else:
                other = number
        while abs(other - sound) > 1:
            middle = (other + sound) // 2
            if is_sound(middle):
                sound = middle
            else:
                other = middle
        return line.of(sound) or good

    def share(self, knobs: Sequence[Knob], queues: int) -> list[Moved]:
        """The shares of a policy, which are stated together and add up to what they were: weights
        in thousandths. Empty where the plans of the scenario are others when its shares are stated
        in thousandths.
        """
        own = [round(float(knob.texts[0][:-1]) * 10) for knob in knobs]
        zero: dict[str, ByArm] = {
            size: {arm: [[]] for arm in arms} for size, arms in self.plans.items()
        }
        samples: dict[str, BySample] = {
            knob.path: {size: {arm: [] for arm in arms} for size, arms in zero.items()}
            for knob in knobs
        }
        total = sum(own)
        rows = [own, *_compositions(total, len(knobs))]
        changed = []
        is_written = True
        for milli in rows:
            values = {knob.path: f"{one / 10:g}%" for knob, one in zip(knobs, milli, strict=True)}
            found, _ = self._steps(values)
            if found is None or (
                milli == own and any(s for a in found.values() for s in a.values())
            ):
                return []
            changed.append(found)
        for size, arms in zero.items():
            for arm in arms:
                of_knob = _owners([row[size][arm] for row in changed], rows, len(knobs))
                if of_knob is None and size != CONFIGURATION:
                    return []
                is_written = is_written and of_knob is not None
                for index, knob in enumerate(knobs):
                    for row, found in zip(rows, changed, strict=True):
                        steps = [
                            step
                            for step in found[size][arm]
                            if (of_knob or {}).get(repr(step[:2])) == index
                        ]
                        samples[knob.path][size][arm].append(
                            (Fraction(row[index] * PPB_PER_MILLE), steps)
                        )
        made = []
        high = Fraction((total - (queues - 1)) * PPB_PER_MILLE)
        for knob in knobs:
            form = form_of(knob.texts[0])
            assert form is not None, "a share"
            follow, without = self._follow(samples[knob.path])
            if follow is None:
                return []
            without |= set() if is_written else set(VENDORS)
            number = Number(
                form, Fraction(PPB_PER_MILLE), high, follow, without, Fraction(PPB_PER_MILLE)
            )
            made.append(Moved(knob, zero, {}, number))
        return made


def _compositions(total: int, parts: int) -> Iterator[list[int]]:
    """Ways to divide thousandths among parts, in whole hundredths where these add up to them."""
    unit = 10 if total % 10 == 0 else 1
    for turn in range(COMPOSITIONS):
        weights = [1 + (3 * at + 5 * turn + at * turn) % 7 for at in range(parts)]
        made = [max(1, total // unit * weight // sum(weights)) for weight in weights]
        made[turn % parts] += total // unit - sum(made)
        if min(made) > 0:
            yield [unit * one for one in made]


def _owners(
    changed: Sequence[Sequence[PatchStep]], rows: Sequence[Sequence[int]], parts: int
) -> dict[str, int] | None:
    """Which part each step follows, by the step's kind and path; None where one follows none.
    Remarks have no part."""
    found: dict[str, int] = {}
    for steps in changed:
        for step in steps:
            key = repr(step[:2])
            if key in found or "remarks" in step[1]:
                continue
            seen = [
                (tuple(row), next((one[2] for one in other if repr(one[:2]) == key), None))
                for row, other in zip(rows, changed, strict=True)
            ]
            stated = [(row, value) for row, value in seen if isinstance(value, int)]
            ratios = [
                {Fraction(value, row[index]) for row, value in stated} for index in range(parts)
            ]
            owner = next((index for index, one in enumerate(ratios) if len(one) == 1), None)
            if owner is None:
                return None
            found[key] = owner
    return found


def _first_line(follow: Fields | None) -> Line | None:
    """A number of the plans that follows the value; None where none is changed."""
    fields = (
        field
        for size, arms in (follow or {}).items()
        for listed in arms.values()
        for _, _, field in listed
        if size != CONFIGURATION
    )
    return next((field for field in fields if field.b), None)


def _between(line: Line, low: Fraction, high: Fraction) -> Iterator[Fraction]:
    """Odd numbers of the plan between the ends, as values."""
    first, last = line.at(low), line.at(high)
    if first is None or last is None:
        return
    for share in BETWEEN:
        value = line.of(int(first + (last - first) * share) | 1)
        if value is not None and low < value < high:
            yield value
