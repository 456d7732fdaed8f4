"""Series of goodput and rows of transactions, as the simulator's tables have them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tailrace.experiment.native import Columns, column


@dataclass(frozen=True)
class Row:
    """One transaction of the table of transactions; times in picoseconds from the beginning of the
    trial."""

    user: int
    start_ps: int
    latency_ps: int


@dataclass(frozen=True)
class Moved:
    """Bytes of an application that arrived evenly within a span."""

    start_ps: int
    end_ps: int
    size_bytes: int

    def until(self, end_ps: int) -> "Moved":
        """The part of it that came before `end_ps`."""
        if self.end_ps <= end_ps:
            return self
        cut_ps = max(self.start_ps, end_ps)
        return Moved(
            self.start_ps,
            cut_ps,
            self.size_bytes * (cut_ps - self.start_ps) // max(1, self.end_ps - self.start_ps),
        )


def bytes_after(moved: Iterable[Moved], from_ps: int) -> int:
    """Bytes received after `from_ps`."""
    return sum(part.size_bytes - part.until(from_ps).size_bytes for part in moved)


class Bins:
    """Bytes in bins of equal width; the width doubles when the run outgrows them, as in the
    simulator."""

    def __init__(self, width_ps: int, bins_max: int) -> None:
        self.width_ps = max(1, width_ps)
        self._bins_max = max(2, bins_max)

    def fill(self, moved: Sequence[Moved], end_ps: int) -> list[int]:
        """The bins from the beginning to `end_ps`; widens them first as far as is needed."""
        while end_ps > self.width_ps * self._bins_max:
            self.width_ps *= 2
        bins = [0.0] * (-(-max(1, end_ps) // self.width_ps))
        for part in moved:
            self._spread(part, bins)
        return [round(size) for size in bins]

    def _spread(self, part: Moved, bins: list[float]) -> None:
        start_ps, span_ps = max(0, part.start_ps), max(1, part.end_ps - part.start_ps)
        first = min(len(bins) - 1, start_ps // self.width_ps)
        last = min(len(bins) - 1, max(0, part.end_ps - 1) // self.width_ps)
        for index in range(first, last + 1):
            low = max(start_ps, index * self.width_ps)
            high = min(part.end_ps, (index + 1) * self.width_ps)
            bins[index] += part.size_bytes * max(0, high - low) / span_ps


def transactions_table(rows: Sequence[Sequence[Row]], rows_max: int) -> Columns:
    """The first transactions of each workload, in the order of workloads."""
    return _rows_table(rows, rows_max, "latency_ps")


def cut_off_table(rows: Sequence[Sequence[Row]], rows_max: int) -> Columns:
    """The same for transactions that the end of the trial cut off."""
    return _rows_table(rows, rows_max, "waited_ps")


def _rows_table(rows: Sequence[Sequence[Row]], rows_max: int, took: str) -> Columns:
    kept = [(index, row) for index, each in enumerate(rows) for row in each[:rows_max]]
    return {
        "workload": column("u32", [index for index, _ in kept]),
        "user": column("u32", [row.user for _, row in kept]),
        "start_ps": column("u64", [row.start_ps for _, row in kept]),
        took: column("u64", [row.latency_ps for _, row in kept]),
    }


def goodput_table(
    moved: Sequence[Sequence[Moved]], end_ps: int, width_ps: int, bins_max: int
) -> Columns:
    """Goodput of each workload over time."""
    bins = Bins(width_ps, bins_max)
    filled = [bins.fill(each, end_ps) for each in moved] if bins_max else []
    cells = [
        (index, number, size)
        for index, each in enumerate(filled)
        for number, size in enumerate(each)
    ]
    return {
        "workload": column("u32", [index for index, _, _ in cells]),
        "bin": column("u32", [number for _, number, _ in cells]),
        "start_ps": column("u64", [number * bins.width_ps for _, number, _ in cells]),
        "goodput_bytes": column("u64", [size for _, _, size in cells]),
    }
