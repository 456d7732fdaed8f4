"""Values that the scenario's checks refuse in combination, though each is valid alone: found by
trying, with the message."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from tailrace.whatif.lowered import Lowering
from tailrace.whatif.moves import Moved, changes

ROWS_QUIET = 32
"""The search ends after this many mixtures of ends without a new finding: a pair of ends is in one
of four of them."""
ROWS_MAX = 200
PROBLEMS_MAX = 80
"""Problems that are examined."""
HALVINGS = 6
"""Halvings of the distance to a second point for a bound near the first."""

NOT_TOGETHER = (
    "these are not moved together on this page, as some of their values are refused together: "
)

Texts = dict[str, str]
T = TypeVar("T")


@dataclass(frozen=True)
class Bound:
    """While one knob has a value `a`, another one's must not go beyond `base + slope * a`; or,
    while it has a text, beyond `base`.
    """

    other: str
    """The path of the knob that has the value."""
    when: str | None
    """The text; None for any number."""
    path: str
    """The knob that is bounded."""
    is_upper: bool
    base: Fraction
    slope: Fraction
    words: str
    """The checks' message for one such combination."""


@dataclass(frozen=True)
class Never:
    """Values that are not offered together: those of a table, or, without one, all that are not the
    scenario's own."""

    paths: tuple[str, ...]
    texts: tuple[str, ...]
    """The refused texts; empty for all but the scenario's own."""
    words: str


@dataclass
class Together:
    """All that is refused together."""

    bounds: list[Bound] = field(default_factory=list)
    nevers: list[Never] = field(default_factory=list)
    _turns: int = 0

    def data(self) -> dict[str, Any]:
        """As it is written into the page."""
        return {
            "bounds": [
                {
                    "other": one.other,
                    "when": one.when,
                    "path": one.path,
                    "upper": one.is_upper,
                    "base": [one.base.numerator, one.base.denominator],
                    "slope": [one.slope.numerator, one.slope.denominator],
                    "words": one.words,
                }
                for one in self.bounds
            ],
            "nevers": [
                {"paths": one.paths, "texts": one.texts, "words": one.words} for one in self.nevers
            ],
        }

    def violated(self, by_path: Mapping[str, Moved], texts: Mapping[str, str]) -> str | None:
        """The path of a knob to reset for a refused combination; None where nothing is refused."""
        for never in self.nevers:
            if all(path in texts for path in never.paths):
                here = tuple(texts[path] for path in never.paths)
                own = [by_path[path].own for path in never.paths]
                is_away = all(text != mine for text, mine in zip(here, own, strict=True))
                if here == never.texts or (not never.texts and is_away):
                    return never.paths[-1]
        for bound in self.bounds:
            if bound.path in texts and bound.other in texts and _is_beyond(bound, by_path, texts):
                away = [
                    path for path in (bound.path, bound.other) if texts[path] != by_path[path].own
                ]
                # Of two that are alike it is now the one and now the other.
                self._turns += 1
                return min(away[:: 1 if self._turns % 2 else -1], key=self._bounds_of)
        return None

    def _bounds_of(self, path: str) -> int:
        """Number of bounds of a knob: one that bounds many others stays at its value, so that these
        are tried too."""
        return sum(path in (one.path, one.other) for one in self.bounds)

    def repaired(self, moved: Sequence[Moved], texts: Mapping[str, str]) -> Texts:
        """These values, with refused combinations reset to the scenario's own."""
        by_path = {one.path: one for one in moved}
        found = {path: text for path, text in texts.items() if path in by_path}
        while (path := self.violated(by_path, found)) is not None:
            own = by_path[path].own
            assert found[path] != own, "the scenario's own values are not refused"
            found[path] = own
        return found


def _is_beyond(bound: Bound, by_path: Mapping[str, Moved], texts: Mapping[str, str]) -> bool:
    value, other = _value(by_path[bound.path], texts), _value(by_path[bound.other], texts)
    if value is None or (bound.when is not None and texts[bound.other] != bound.when):
        return False
    end = bound.base + bound.slope * (other or 0)
    return value > end if bound.is_upper else value < end


def _value(one: Moved, texts: Mapping[str, str]) -> Fraction | None:
    return None if one.number is None else one.number.form.value(texts[one.path])


def drawn_row(moved: Sequence[Moved], drawn: random.Random, how: str) -> Texts:
    """A value of every knob: the lowest, the highest, one of both ends, or any. Shares keep their
    sum, and maps of classes reach every queue that they reached.
    """
    texts = {
        one.path: _drawn(one, drawn, how)
        for one in moved
        if not one.path.endswith(".share") or not one.knob.group
    }
    for members in _groups(moved, ".share"):
        own = [round(float(one.own[:-1]) * 10) for one in members]
        weights = [drawn.randint(1, 9) if how != "low" else 1 for _ in members]
        milli = [max(1, sum(own) * weight // sum(weights)) for weight in weights]
        milli[0] += sum(own) - sum(milli)
        texts |= {one.path: f"{value / 10:g}%" for one, value in zip(members, milli, strict=True)}
    by_policy: dict[str, list[Moved]] = {}
    for one in moved:
        if ".priorities." in one.path:
            by_policy.setdefault(one.path.rsplit(".", 1)[0], []).append(one)
    for maps in by_policy.values():
        if {texts[one.path] for one in maps} != {one.own for one in maps}:
            texts |= {one.path: one.own for one in maps}
    return texts


def _groups(moved: Sequence[Moved], ending: str) -> Iterator[list[Moved]]:
    names = dict.fromkeys(
        one.knob.group for one in moved if one.knob.group and one.path.endswith(ending)
    )
    for name in names:
        yield [one for one in moved if one.knob.group == name]


def _drawn(one: Moved, drawn: random.Random, how: str) -> str:
    if ".priorities." in one.path or ".classify." in one.path:
        return drawn.choice(one.knob.texts)
    ends = [one.knob.texts[at] for at in (one.allowed[0], one.allowed[-1])]
    if one.number is not None:
        form = one.number.form
        typed = [form.text(end) for end in (one.number.low, one.number.high)]
        ends = [text or end for text, end in zip(typed, ends, strict=True)]
    if how in ("low", "high"):
        return ends[how == "high"]
    positions = [one.knob.texts[at] for at in one.allowed]
    if how == "any" and one.number is not None and drawn.random() < 0.5:
        steps = int((one.number.high - one.number.low) / one.number.step)
        text = one.number.form.text(one.number.low + drawn.randint(0, steps) * one.number.step)
        return text or drawn.choice(positions)
    return drawn.choice(positions if how == "any" else ends)


def learned(lowering: Lowering, moved: Sequence[Moved]) -> Together:
    """Tries mixtures of the ends of all knobs, and records the refused combinations."""
    search = _Search(lowering, list(moved), Together())
    drawn = random.Random(len(moved))
    quiet = 0
    for turn in range(ROWS_MAX):
        before = search.found
        search.row(drawn_row(moved, drawn, ("low", "high")[turn] if turn < 2 else "ends"))
        quiet = quiet + 1 if search.found == before else 0
        if quiet == ROWS_QUIET:
            break
    return search.together


def smallest(units: Sequence[T], is_wrong: Callable[[Sequence[T]], bool]) -> list[T]:
    """A smallest part of a refused combination: without any of its elements it is valid
    (QuickXplain: Junker, AAAI 2004)."""

    def needed(base: list[T], has_added: bool, rest: list[T]) -> list[T]:
        if has_added and is_wrong(base):
            return []
        if len(rest) == 1:
            return rest
        half = len(rest) // 2
        first, second = rest[:half], rest[half:]
        of_second = needed(base + first, bool(first), second)
        of_first = needed(base + of_second, bool(of_second), first)
        return of_first + of_second

    return needed([], False, list(units)) if units else []


@dataclass
class _Search:
    lowering: Lowering
    moved: list[Moved]
    together: Together
    found: int = 0

    def row(self, row: Texts) -> None:
        """Finds everything that is refused in a mixture."""
        texts = self.together.repaired(self.moved, row)
        while self.found < PROBLEMS_MAX and self._problem(texts) is not None:
            self.found += 1
            culprits = self._smallest(texts)
            if culprits:
                self._add(culprits, texts)
            repaired = self.together.repaired(self.moved, texts)
            if repaired == texts:
                away = culprits or self._units(texts)
                repaired = texts | {one.path: one.own for one in away[-1]}
            texts = repaired

    def _problem(self, texts: Mapping[str, str]) -> str | None:
        return self.lowering.tried(changes(self.moved, texts)).hard_problem

    def _units(self, texts: Mapping[str, str]) -> list[list[Moved]]:
        """Knobs that are not where the scenario has them; those of a group together."""
        away = [one for one in self.moved if texts.get(one.path, one.own) != one.own]
        alone = [[one] for one in away if not one.knob.group]
        names = dict.fromkeys(one.knob.group for one in away if one.knob.group)
        return alone + [[one for one in self.moved if one.knob.group == name] for name in names]

    def _smallest(self, texts: Mapping[str, str]) -> list[list[Moved]]:
        """A smallest set of knobs that are refused together."""

        def is_refused(units: Sequence[list[Moved]]) -> bool:
            some = {
                one.path: texts[one.path] for unit in units for one in unit if one.path in texts
            }
            return self._problem(some) is not None

        return smallest(self._units(texts), is_refused)

    def _add(self, culprits: list[list[Moved]], texts: Mapping[str, str]) -> None:
        some = {one.path: texts[one.path] for unit in culprits for one in unit}
        words = self._problem(some) or ""
        singles = [unit[0] for unit in culprits if len(unit) == 1]
        if len(culprits) != 2 or len(singles) != 2:
            self.together.nevers.append(Never(tuple(some), (), NOT_TOGETHER + words))
            return
        bounded = [one for one in singles if one.number is not None]
        first, second = singles
        if len(bounded) == 2:
            bound = (
                _Pair(self, first, second, texts, words).bound()
                or _Pair(self, second, first, texts, words).bound()
            )
            rules: list[Bound | Never] = (
                [bound]
                if bound is not None
                else [Never((first.path, second.path), (), NOT_TOGETHER + words)]
            )
        elif bounded:
            other = second if bounded[0] is first else first
            rules = self._by_text(other, bounded[0], texts, words)
        else:
            rules = list(self._table(first, second))
        for rule in rules:
            if isinstance(rule, Bound):
                self.together.bounds.append(rule)
            else:
                self.together.nevers.append(rule)

    def _by_text(
        self, other: Moved, one: Moved, texts: Mapping[str, str], words: str
    ) -> list[Bound | Never]:
        """A bound for each position of a knob whose positions are not numbers."""
        found: list[Bound | Never] = []
        for at in other.allowed:
            here = {**texts, other.path: other.knob.texts[at]}
            if self._problem({path: here[path] for path in (other.path, one.path)}) is not None:
                end = _Pair(self, other, one, here, words).end(here[other.path])
                if end is None:
                    return [Never((other.path, one.path), (), NOT_TOGETHER + words)]
                is_upper = (
                    bool(end < (one.number.form.value(texts[one.path]) or 0))
                    if one.number
                    else True
                )
                found.append(
                    Bound(other.path, here[other.path], one.path, is_upper, end, Fraction(0), words)
                )
        return found

    def _table(self, first: Moved, second: Moved) -> Iterator[Never]:
        for at in first.allowed:
            for to in second.allowed:
                pair = (first.knob.texts[at], second.knob.texts[to])
                words = self._problem(dict(zip((first.path, second.path), pair, strict=True)))
                if words is not None:
                    yield Never(
                        (first.path, second.path),
                        pair,
                        f"these values are refused together: {words}",
                    )


@dataclass
class _Pair:
    """Two knobs of which the second one is bounded."""

    search: _Search
    other: Moved
    one: Moved
    texts: Mapping[str, str]
    words: str

    def bound(self) -> Bound | None:
        """A bound in proportion to the other knob's number, verified between its points; None where
        there is none."""
        assert self.other.number is not None, "both are numbers"
        form = self.other.number.form
        at, own = form.value(self.texts[self.other.path]), form.value(self.other.own)
        here = self.end(self.texts[self.other.path])
        if at is None or own is None or here is None or at == own:
            return None
        second = None
        for halving in range(1, HALVINGS):
            text = form.text(_whole(at + (own - at) / 2**halving))
            end = None if text is None else self.end(text)
            if end is not None and text is not None:
                second = (form.value(text), end)
                break
        if second is None or second[0] is None:
            return None
        slope = (second[1] - here) / (second[0] - at)
        base = here - slope * at
        value = self.one.number.form.value(self.texts[self.one.path]) if self.one.number else None
        bound = Bound(
            self.other.path,
            None,
            self.one.path,
            value is not None and value > here,
            base,
            slope,
            self.words,
        )
        between = form.text(_whole((at + second[0] * 2) / 3))
        return (
            bound
            if between is not None and self._holds(bound, between, form.value(between) or at)
            else None
        )

    def _holds(self, bound: Bound, text: str, value: Fraction) -> bool:
        end = bound.base + bound.slope * value
        beyond = end + self._unit() * (1 if bound.is_upper else -1)
        return self._is_sound(text, end) and not self._is_sound(text, beyond)

    def _unit(self) -> Fraction:
        """The smallest step of the bounded knob."""
        assert self.one.number is not None, "it is a number"
        return self.one.number.step

    def _is_sound(self, value_text: str, value: Fraction) -> bool:
        assert self.one.number is not None, "it is a number"
        text = self.one.number.form.text(value)
        return (
            text is not None
            and self.search._problem({self.other.path: value_text, self.one.path: text}) is None
        )

    def end(self, value_text: str) -> Fraction | None:
        """The last valid value of the second knob from its own towards the refused one; None where
        all are, or none."""
        assert self.one.number is not None, "it is a number"
        form, unit = self.one.number.form, self._unit()
        good, bad = form.value(self.one.own), form.value(self.texts[self.one.path])
        if (
            good is None
            or bad is None
            or self._is_sound(value_text, bad)
            or not self._is_sound(value_text, good)
        ):
            return None
        towards = unit if bad > good else -unit
        guess = self.other.number.form.value(value_text) if self.other.number is not None else None
        if (
            guess is not None
            and min(good, bad) < guess < max(good, bad)
            and self._is_sound(value_text, guess)
        ):
            good = guess
            if not self._is_sound(value_text, guess + towards):
                return guess
        while abs(bad - good) > unit:
            steps = (bad - good) / unit
            middle = good + unit * (
                int(steps) // 2 if int(steps) // 2 else (1 if steps > 0 else -1)
            )
            if self._is_sound(value_text, middle):
                good = middle
            else:
                bad = middle
        return good


def _whole(value: Fraction) -> Fraction:
    return Fraction(round(value)) if abs(value) > 1 else value
