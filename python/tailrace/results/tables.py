"""Arrow tables of a run, handed over without copies or dependencies (Arrow PyCapsule interface)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from arro3.core import Array, ChunkedArray, DataType, Field, Schema
from arro3.core import Table as ArrowTable
from arro3.io import read_parquet, write_csv, write_parquet

from tailrace.results.run_directory import Run, RunDirectoryError, Trial

TABLES = ("transactions", "cut_off", "port_series", "workload_series", "queue_depth")


class Table:
    """A table that polars, pandas, pyarrow, DuckDB and others read directly: `polars.DataFrame(table)`."""

    def __init__(self, arrow: ArrowTable) -> None:
        self.arrow = arrow

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow PyCapsule interface."""
        return self.arrow.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return self.arrow.num_rows

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(self.column_names)})"

    @property
    def column_names(self) -> list[str]:
        """Names of the columns; units end them."""
        return list(self.arrow.column_names)

    def column(self, name: str) -> list[Any]:
        """Values of one column."""
        if name not in self.column_names:
            raise KeyError(f"no column {name}; there are {', '.join(self.column_names)}")
        return list(self.arrow.column(name).to_pylist())

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dictionary per row."""
        columns = [self.column(name) for name in self.column_names]
        return (dict(zip(self.column_names, row, strict=True)) for row in zip(*columns, strict=True))

    def to_csv(self, path: Path | str) -> Path:
        """Writes a CSV file with a head."""
        write_csv(self.arrow, str(path))
        return Path(path)

    def to_parquet(self, path: Path | str) -> Path:
        """Writes a Parquet file."""
        write_parquet(self.arrow, str(path))
        return Path(path)


def read_table(run: Run, name: str) -> Table:
    """A table of all valid trials together, with the columns `arm` and `trial` before the recorded ones."""
    if name not in TABLES:
        raise KeyError(f"no table {name}; there are {', '.join(TABLES)}")
    found = [trial for arm in run.trials for trial in run.valid(arm) if trial.table_path(name).exists()]
    if not found:
        raise RunDirectoryError(f"{run.path}: no trial recorded the table {name} (hint: `observe:` in the scenario)")
    read = [(trial, read_trial_table(trial, name).arrow) for trial in found]
    return Table(_joined(read))


def read_trial_table(trial: Trial, name: str) -> Table:
    """One table of one trial."""
    path = trial.table_path(name)
    if not path.exists():
        raise RunDirectoryError(f"{path}: there is no such file (hint: the trial did not record this table)")
    return Table(read_parquet(str(path)).read_all())


def _joined(read: Sequence[tuple[Trial, ArrowTable]]) -> ArrowTable:
    arms = [_repeated(trial.arm, DataType.string(), table.num_rows) for trial, table in read]
    numbers = [_repeated(trial.number, DataType.uint32(), table.num_rows) for trial, table in read]
    schema = read[0][1].schema
    columns = [ChunkedArray(arms), ChunkedArray(numbers)]
    for name in schema.names:
        columns.append(ChunkedArray([table.column(name).combine_chunks() for _, table in read]))
    recorded = [schema.field(name) for name in schema.names]
    fields = [Field("arm", DataType.string()), Field("trial", DataType.uint32()), *recorded]
    return ArrowTable.from_arrays(columns, schema=Schema(fields))


def _repeated(value: str | int, kind: DataType, count: int) -> Array:
    return Array([value] * count, kind)
