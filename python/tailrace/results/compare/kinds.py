"""Counts of the figures that hold, by their value as evidence."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from tailrace.results.directory.published import INDEPENDENT, KINDS


class Counted(Protocol):
    """A judged figure in a count."""

    @property
    def kind(self) -> str: ...
    @property
    def passed(self) -> bool | None: ...
    @property
    def passed_without(self) -> bool | None: ...
    @property
    def is_run(self) -> bool: ...


Figure = TypeVar("Figure", bound=Counted)


def by_kind(expectations: Sequence[Figure]) -> dict[str, list[Figure]]:
    """Figures by kind, the strongest kind first."""
    found = {kind: [judged for judged in expectations if judged.kind == kind] for kind in KINDS}
    return {kind: listed for kind, listed in found.items() if listed}


def has_kinds(expectations: Sequence[Counted]) -> bool:
    """Whether any figure is of a weaker kind than independent."""
    return any(judged.kind != INDEPENDENT for judged in expectations)


def asked_for(expectations: Sequence[Figure]) -> list[Figure]:
    """Figures without those of arms that were not run (`--arm`)."""
    return [judged for judged in expectations if judged.is_run]


def holding(expectations: Sequence[Counted]) -> str:
    """The number of figures that pass out of those that ran, such as `6 of 6`."""
    run = asked_for(expectations)
    return f"{sum(judged.passed is True for judged in run)} of {len(run)}"


def count_text(expectations: Sequence[Counted]) -> str:
    """One sentence; without kinds, all figures are counted together."""
    left_out = len(expectations) - len(asked_for(expectations))
    rest = f"; {left_out} not run (--arm)" if left_out else ""
    if not has_kinds(expectations):
        return f"{holding(expectations)} expectations hold{rest}"
    kinds = by_kind(expectations)
    independent = kinds.pop(INDEPENDENT, [])
    others = ", ".join(f"{holding(listed)} {kind}" for kind, listed in kinds.items())
    return f"{holding(independent)} independent figures hold (and {others}){rest}"


def null_text(expectations: Sequence[Counted]) -> str:
    """The number of figures that would hold with the mechanism disabled; empty without kinds, or
    without verdicts."""
    independent = by_kind(asked_for(expectations)).get(INDEPENDENT, [])
    verdicts = [judged.passed_without for judged in independent]
    if not has_kinds(expectations) or not verdicts or None in verdicts:
        return ""
    passed = sum(verdict is True for verdict in verdicts)
    return (
        f"With the mechanism disabled (arm equal to baseline), {passed} "
        f"of {len(verdicts)} would hold"
    )
