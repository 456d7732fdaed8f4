"""The tables beside a stored trial: the columns that each of them has."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, cast

from tailrace.errors import reason_of

if TYPE_CHECKING:
    from arro3.core import RecordBatchReader, Schema, Table

COLUMNS: dict[str, tuple[str, ...]] = {
    "transactions": ("workload", "start_ps", "latency_ps"),
    "cut_off": ("workload", "start_ps", "waited_ps"),
    "port_series": (
        *(
            "port",
            "start_ps",
            "queue_mean_bytes",
            "queue_max_bytes",
            "tx_bytes",
            "drop_frames",
            "mark_frames",
        ),
    ),
    "workload_series": ("workload", "start_ps", "goodput_bytes"),
    "queue_depth": ("port", "depth_bytes", "time_ps"),
    "tcp_windows": (
        "workload",
        "connection",
        "side",
        "at_ps",
        "window_segments",
        "threshold_segments",
        "rtt_ps",
    ),
    "run_queues": ("host", "start_ps", "runnable_mean"),
    "interface_series": ("interface", "at_ps"),
}
"""By table, the columns that every engine writes and something reads. All are numbers; a table may
have more."""
MAGIC = b"PAR1"
"""First and last bytes of a Parquet file."""
NOT_WHOLE = "it is no whole Parquet file"
REASON_CHARACTERS_MAX = 120


def check_table(content: bytes, table: str) -> None:
    """Raises `ValueError` with the reason where the content of a file is no such table; its rows
    are not read."""
    _opened(content, table)


def read_rows(content: bytes, table: str) -> "Table":
    """All of a table; raises as `check_table`."""
    reader = _opened(content, table)
    with _refused():
        return reader.read_all()


def _opened(content: bytes, table: str) -> "RecordBatchReader":
    from arro3.io import read_parquet

    if not (content.startswith(MAGIC) and content.endswith(MAGIC)):
        raise ValueError(NOT_WHOLE)
    with _refused():
        reader = read_parquet(BytesIO(content))
    if fault := _columns_fault(reader.schema, table):
        raise ValueError(fault)
    return reader


@contextmanager
def _refused() -> Iterator[None]:
    """Converts every exception of the library to `ValueError`: it panics on unexpected input."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001
        raise ValueError(reason_of(error)[:REASON_CHARACTERS_MAX]) from None


def _columns_fault(schema: "Schema", table: str) -> str:
    """Which column a table lacks, or has no numbers in; empty for none."""
    from arro3.core import DataType

    for name in COLUMNS.get(table, ()):
        if name not in schema.names:
            return f"it has no column {name}, as every table {table} has"
        # In the library's stub `bool` is a method of the class.
        if not cast("bool", DataType.is_numeric(schema.field(name).type)):
            return f"its column {name} has no numbers"
    return ""
