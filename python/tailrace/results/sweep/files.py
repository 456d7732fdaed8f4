"""The curves of a sweep as files: one long table, a row for each point, arm, workload and
metric."""

from io import BytesIO
from pathlib import Path
from typing import Any

from arro3.core import Array, DataType, Field, Schema
from arro3.core import Table as ArrowTable
from arro3.io import write_parquet

from tailrace.folder import Folder
from tailrace.results.summary.sweep import SweepSummary
from tailrace.results.sweep.curves import sweep_rows

CSV = "sweep.csv"
PARQUET = "sweep.parquet"
FIGURES = ("mean", "low", "high")
COUNTS = ("trials", "bounds")


def write_sweep_files(folder: Folder, sweep: SweepSummary) -> list[Path]:
    """Writes the table as CSV and as Parquet beside the result, and returns their paths."""
    head, rows = sweep_rows(sweep)
    lines = [",".join(quoted(cell) for cell in row) for row in [head, *rows]]
    folder.write(CSV, ("\n".join(lines) + "\n").encode())
    made = BytesIO()
    write_parquet(_table(head, rows), made, compression="zstd(1)")
    folder.write(PARQUET, made.getbuffer())
    return [folder.path / CSV, folder.path / PARQUET]


def _table(head: list[str], rows: list[list[Any]]) -> ArrowTable:
    """Figures are numbers or null; the values of an axis are numbers where all of them are,
    otherwise texts with units."""
    columns = {name: [row[at] for row in rows] for at, name in enumerate(head)}
    typed = {name: _typed(name, values) for name, values in columns.items()}
    fields = [Field(name, kind) for name, (kind, _) in typed.items()]
    return ArrowTable.from_arrays(
        [Array(values, kind) for kind, values in typed.values()], schema=Schema(fields)
    )


def _typed(name: str, values: list[Any]) -> tuple[DataType, list[Any]]:
    if name in COUNTS:
        return DataType.uint32(), values
    if name in FIGURES:
        return DataType.float64(), [None if value is None else float(value) for value in values]
    try:
        return DataType.float64(), [float(value) for value in values]
    except ValueError:
        return DataType.string(), values


def quoted(cell: object) -> str:
    """A cell of a CSV file."""
    text = "" if cell is None else f"{cell:.10g}" if isinstance(cell, float) else str(cell)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n') else text
