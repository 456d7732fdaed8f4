"""A trial's tables as Parquet files, straight from the simulator's columns."""

from pathlib import Path
from typing import Any, Literal

from tailrace.experiment.native import Columns

FORMATS: dict[str, Literal["I", "Q", "d"]] = {"u32": "I", "u64": "Q", "f64": "d"}
"""Column types of the simulator and their formats in Python's buffer protocol."""


def write_parquet(path: Path, columns: Columns) -> None:
    """Writes one table; the caller renames it into place."""
    from arro3.core import Array, Table
    from arro3.io import write_parquet as write

    arrays: dict[str, Any] = {
        name: Array.from_buffer(memoryview(data).cast(FORMATS[kind])) for name, (kind, data) in columns.items()
    }
    write(Table.from_pydict(arrays), str(path), compression="zstd(1)")
