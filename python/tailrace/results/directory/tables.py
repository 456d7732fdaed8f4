"""Arrow tables of a run, exported without copies or dependencies (Arrow PyCapsule interface)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from arro3.core import Array, ChunkedArray, DataType, Field, Schema
from arro3.core import Table as ArrowTable
from arro3.io import write_csv, write_parquet

from tailrace.errors import TailraceError
from tailrace.outcome.tables import COLUMNS, read_rows
from tailrace.outcome.types import Outcome
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.format.numbers import PS_PER_S

TABLES = tuple(COLUMNS)
ROWS_IN_OUTCOME: dict[str, Callable[[Outcome], int]] = {
    "workload": lambda outcome: len(outcome.workloads),
    "port": lambda outcome: len(outcome.ports),
    "host": lambda outcome: len(outcome.hosts),
    "interface": lambda outcome: len(outcome.netstat),
}
"""Number of entries in the outcome's list, by column with indices into it."""
TABLES_OF_ARMS = ("tcp_windows", "interface_series", "run_queues")
"""Tables that an arm may have and another not; simulated trials have all others."""
PICOSECONDS, SECONDS = "_ps", "_s"
"""Ends of column names: as trials record times, and as people read them."""
ROWS_SHOWN = 10
"""Rows that a notebook shows of a table."""


class LibraryError(TailraceError, ImportError):
    """A data-frame library is not installed; names it and the alternatives."""


class Table:
    """A table that polars, pandas, pyarrow, DuckDB and others read directly:
    `polars.DataFrame(table)`."""

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
            raise KeyError(f"no column {name} (known: {', '.join(self.column_names)})")
        return list(self.arrow.column(name).to_pylist())

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dictionary per row."""
        columns = [self.column(name) for name in self.column_names]
        return (
            dict(zip(self.column_names, row, strict=True)) for row in zip(*columns, strict=True)
        )

    def where(self, **values: object) -> "Table":
        """The rows in which columns have these values: `table.where(arm="fifo",
        workload="shop")`."""
        return self.where_any(**{name: [value] for name, value in values.items()})

    def where_any(self, **values: Collection[object]) -> "Table":
        """The rows in which each of these columns has one of its values."""
        columns = [self.column(name) for name in values]
        wanted = list(values.values())
        kept = [
            index
            for index, found in enumerate(zip(*columns, strict=True))
            if all(value in of for value, of in zip(found, wanted, strict=True))
        ]
        return Table(_taken(self.arrow, kept)) if columns else self

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`; pandas must be installed."""
        frame = _library("pandas").DataFrame
        return frame(
            {name: self.column(name) for name in self.column_names}, columns=self.column_names
        )

    def to_polars(self) -> Any:
        """A `polars.DataFrame`; polars must be installed."""
        return _library("polars").DataFrame(self)

    def to_csv(self, path: Path | str) -> Path:
        """Writes a CSV file with a head."""
        write_csv(self.arrow, str(path))
        return Path(path)

    def to_parquet(self, path: Path | str) -> Path:
        """Writes a Parquet file."""
        write_parquet(self.arrow, str(path))
        return Path(path)

    def _repr_html_(self) -> str:
        """The first rows, as notebooks show a data frame."""
        shown = self.arrow.slice(0, ROWS_SHOWN)
        columns = [shown.column(name).to_pylist() for name in self.column_names]
        head = "".join(f"<th>{escape(name)}</th>" for name in self.column_names)
        rows = zip(*columns, strict=True)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
            for row in rows
        )
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{len(self)} "
            "rows</p>"
        )


def read_table(run: Run, name: str, *, recorded: bool = False) -> Table:
    """A table of all valid trials together, with the columns `arm` and `trial` before the recorded
    ones.

    Workloads and ports have their names, and times are in seconds; with `recorded` they are indices
    into the outcome and picoseconds.
    """
    if name not in TABLES:
        raise KeyError(f"no table {name} (known: {', '.join(TABLES)})")
    found = [trial for arm in run.trials for trial in run.valid(arm) if trial.has_table(name)]
    if not found:
        raise RunDirectoryError(
            f"{run.path}: no trial recorded table {name} (hint: `observe:` in the scenario)"
        )
    is_of_all = run.manifest.engine == "simulated" and name not in TABLES_OF_ARMS
    arms = run.trials if is_of_all else {trial.arm for trial in found}
    for trial in (trial for arm in arms for trial in run.valid(arm)):
        if not trial.has_table(name):
            raise _damaged(
                trial.files.table_path(name), "no such file, and other trials have this table"
            )
    read = [(trial, read_trial_table(trial, name).arrow) for trial in found]
    columns = read[0][1].schema.names
    for trial, table in read:
        if table.schema.names != columns:
            whose = found[0].files.table_path(name)
            raise _damaged(trial.files.table_path(name), f"its columns are not those of {whose}")
    return Table(
        _joined(read if recorded else [(trial, _readable(trial, table)) for trial, table in read])
    )


def table_of_rows(rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, DataType]) -> Table:
    """A table of these rows, in columns of these types; a value may be missing (None)."""
    columns = [
        ChunkedArray([Array([row[name] for row in rows], kind)]) for name, kind in kinds.items()
    ]
    fields = [Field(name, kind) for name, kind in kinds.items()]
    return Table(ArrowTable.from_arrays(columns, schema=Schema(fields)))


def read_trial_table(trial: Trial, name: str) -> Table:
    """One table of one trial; raises `RunDirectoryError` for a damaged one, or one of another
    trial."""
    path = trial.files.table_path(name)
    if not trial.has_table(name):
        raise RunDirectoryError(
            f"{path}: no such file (hint: enable this table under `observe:` in the scenario)"
        )
    try:
        arrow = read_rows(trial.files.read_table(name), name)
    except ValueError as error:
        raise _damaged(path, str(error)) from None
    for column in ROWS_IN_OUTCOME.keys() & arrow.schema.names if arrow.num_rows else ():
        numbers = arrow.column(column).to_pylist()
        for number in (min(numbers), max(numbers)):
            if not 0 <= number < ROWS_IN_OUTCOME[column](trial.outcome):
                raise _damaged(path, f"its {column} {number} is not in the outcome of the trial")
    return Table(arrow)


def _damaged(path: Path, why: str) -> RunDirectoryError:
    hint = "remove the files of this trial and run the same command again"
    return RunDirectoryError(f"{path}: cannot be read: {why} (hint: {hint})")


def _joined(read: Sequence[tuple[Trial, ArrowTable]]) -> ArrowTable:
    arms = [_repeated(trial.arm, DataType.string(), table.num_rows) for trial, table in read]
    numbers = [_repeated(trial.number, DataType.uint32(), table.num_rows) for trial, table in read]
    schema = read[0][1].schema
    columns = [ChunkedArray(arms), ChunkedArray(numbers)]
    for name in schema.names:
        columns.append(ChunkedArray([_one_chunk(table, name) for _, table in read]))
    recorded = [schema.field(name) for name in schema.names]
    fields = [Field("arm", DataType.string()), Field("trial", DataType.uint32()), *recorded]
    return ArrowTable.from_arrays(columns, schema=Schema(fields))


def _taken(table: ArrowTable, indices: Sequence[int]) -> ArrowTable:
    """The rows at these positions."""
    rows = Array(indices, DataType.uint32())
    columns = [ChunkedArray([_one_chunk(table, name).take(rows)]) for name in table.schema.names]
    return ArrowTable.from_arrays(columns, schema=table.schema)


def _one_chunk(table: ArrowTable, name: str) -> Array:
    """A column in one piece; one without rows may have none."""
    return (
        table.column(name).combine_chunks()
        if table.num_rows
        else Array([], table.schema.field(name).type)
    )


def _repeated(value: str | int, kind: DataType, count: int) -> Array:
    return Array([value] * count, kind)


def _readable(trial: Trial, table: ArrowTable) -> ArrowTable:
    """Replaces indices into the outcome by names, and picoseconds by seconds."""
    names_of = {"workload": _names_by_index(trial.workload_numbers), "port": _port_names(trial)}
    names_of["host"] = dict(enumerate(trial.hosts))
    names_of["interface"] = _interface_names(trial)
    columns, fields = [], []
    for name in table.schema.names:
        values = table.column(name).to_pylist()
        if name in names_of:
            names = names_of[name]
            columns.append(Array([names[value] for value in values], DataType.string()))
            fields.append(Field(name, DataType.string()))
        elif name.endswith(PICOSECONDS):
            columns.append(Array([ps / PS_PER_S for ps in values], DataType.float64()))
            fields.append(Field(name.removesuffix(PICOSECONDS) + SECONDS, DataType.float64()))
        else:
            columns.append(_one_chunk(table, name))
            fields.append(table.schema.field(name))
    return ArrowTable.from_arrays(
        [ChunkedArray([column]) for column in columns], schema=Schema(fields)
    )


def _interface_names(trial: Trial) -> dict[int, str]:
    """As `show interfaces` names them: `db/eth0`, or `leaf>db` for a port."""
    return {
        index: f"{row.node}>{row.towards}" if row.towards else f"{row.node}/{row.name}"
        for index, row in enumerate(trial.outcome.netstat)
    }


def _names_by_index(numbers: Mapping[str, int]) -> dict[int, str]:
    return {number: name for name, number in numbers.items()}


def _port_names(trial: Trial) -> dict[int, str]:
    return {index: name for name, indices in trial.port_numbers.items() for index in indices}


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise LibraryError(
            f"{name} is not installed (hint: `pip install {name}`; `rows()`, `column()` and "
            "`to_csv()` work without it)"
        ) from error


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "–" if value is None else str(value)
