"""The data of a chart as text: the one copy that the page holds, and from which its script draws
and makes tables."""

from collections.abc import Iterable, Sequence

Cell = str | float | None


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Comma-separated lines without quotes: commas in names become spaces. Unknown values are
    empty."""
    return "\n".join(",".join(_cell(cell) for cell in row) for row in (head, *rows))


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return " ".join(cell.replace(",", " ").split())
    return "" if cell is None else f"{cell:.5g}"
