"""A trial's tables in the Parquet format, straight from the simulator's columns."""

from io import BytesIO
from typing import Any, Literal

from tailrace.experiment.native import Columns

FORMATS: dict[str, Literal["I", "Q", "d"]] = {"u32": "I", "u64": "Q", "f64": "d"}
"""Column types of the simulator and their formats in Python's buffer protocol."""


def parquet(columns: Columns) -> memoryview:
    """One table as the content of a Parquet file.

    It is made in memory, where it is smaller than the columns are, so that all files are written in one place:
    a writer of tables that meets a full disk panics.
    """
    from arro3.core import Array, Table
    from arro3.io import write_parquet as write

    arrays: dict[str, Any] = {
        name: Array.from_buffer(memoryview(data).cast(FORMATS[kind])) for name, (kind, data) in columns.items()
    }
    made = BytesIO()
    write(Table.from_pydict(arrays), made, compression="zstd(1)")
    return made.getbuffer()
