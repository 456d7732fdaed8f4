"""Comparisons of arms or of runs as a table."""

from collections.abc import Sequence

from arro3.core import DataType
from msgspec import UNSET
from msgspec.structs import asdict

from tailrace.results.directory.tables import Table, table_of_rows
from tailrace.results.summary.effect import ArmEffect

KINDS = {
    "workload": DataType.string(),
    "metric": DataType.string(),
    "arm": DataType.string(),
    "baseline": DataType.string(),
    "baseline_value": DataType.float64(),
    "arm_value": DataType.float64(),
    "ratio": DataType.float64(),
    "ratio_low": DataType.float64(),
    "ratio_high": DataType.float64(),
    "difference": DataType.float64(),
    "improvement_percent": DataType.float64(),
    "improvement_percent_low": DataType.float64(),
    "improvement_percent_high": DataType.float64(),
    "p_value": DataType.float64(),
    "p_adjusted": DataType.float64(),
    "verdict": DataType.string(),
    "is_main": DataType.bool(),
    "words": DataType.string(),
}
"""Columns and their types; with `scope`, the arm in which two runs are compared, as an additional
first column."""


def comparison_table(effects: Sequence[ArmEffect]) -> Table:
    """A row for each effect, with the keys of `comparisons` in `result.json`."""
    is_of_runs = any(effect.scope is not UNSET for effect in effects)
    kinds = ({"scope": DataType.string()} if is_of_runs else {}) | KINDS
    return table_of_rows([_row(effect, list(kinds)) for effect in effects], kinds)


def _row(effect: ArmEffect, names: list[str]) -> dict[str, object]:
    known: dict[str, object] = asdict(effect)
    for name, interval in (
        ("improvement_percent", effect.improvement_interval),
        ("ratio", effect.ratio_interval),
    ):
        known |= {
            f"{name}_low": interval and interval.low,
            f"{name}_high": interval and interval.high,
        }
    return {name: known[name] for name in names}
