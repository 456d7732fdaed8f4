"""Counts of the figures that hold, by their value as evidence."""

from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.results.directory.published import INDEPENDENT, KINDS

Judged = Sequence[dict[str, Any]]


def by_kind(expectations: Judged) -> dict[str, list[dict[str, Any]]]:
    """Figures by kind, the strongest kind first."""
    found = {kind: [judged for judged in expectations if judged["kind"] == kind] for kind in KINDS}
    return {kind: listed for kind, listed in found.items() if listed}


def has_kinds(expectations: Judged) -> bool:
    """Whether any figure is of a weaker kind than independent."""
    return any(judged["kind"] != INDEPENDENT for judged in expectations)


def asked_for(expectations: Judged) -> list[dict[str, Any]]:
    """Figures without those of arms that were not run (`--arm`)."""
    return [judged for judged in expectations if is_run(judged)]


def is_run(judged: Mapping[str, Any]) -> bool:
    """Whether the arms of a figure were run; results of earlier versions lack the key, and have all arms."""
    return bool(judged.get("is_run", True))


def holding(expectations: Judged) -> str:
    """The number of figures that hold, of those that were run, such as `6 of 6`."""
    run = asked_for(expectations)
    return f"{sum(judged['passed'] is True for judged in run)} of {len(run)}"


def count_text(expectations: Judged) -> str:
    """One sentence; without kinds, all figures are counted together."""
    left_out = len(expectations) - len(asked_for(expectations))
    rest = f"; {left_out} not run (--arm)" if left_out else ""
    if not has_kinds(expectations):
        return f"{holding(expectations)} expectations hold{rest}"
    kinds = by_kind(expectations)
    independent = kinds.pop(INDEPENDENT, [])
    others = ", ".join(f"{holding(listed)} {kind}" for kind, listed in kinds.items())
    return f"{holding(independent)} independent figures hold (and {others}){rest}"


def null_text(expectations: Judged) -> str:
    """The number of figures that would hold with the mechanism disabled; empty without kinds, or without verdicts."""
    independent = by_kind(asked_for(expectations)).get(INDEPENDENT, [])
    verdicts = [judged["passed_without"] for judged in independent]
    if not has_kinds(expectations) or not verdicts or None in verdicts:
        return ""
    passed = sum(verdict is True for verdict in verdicts)
    return f"With the mechanism disabled (arm equal to baseline), {passed} of {len(verdicts)} would hold"
