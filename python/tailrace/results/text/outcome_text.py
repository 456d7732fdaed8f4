"""The outcome table for a terminal of 80 columns."""

from collections.abc import Callable
from textwrap import fill

from tailrace.results.compare.tone import Tone
from tailrace.results.format.numbers import THIN_SPACE
from tailrace.results.summary.summary import Summary
from tailrace.results.text.outcome_table import Block, Cell, OutcomeRow, OutcomeTable, outcome_table

WIDTH = 80
NAME_CHARACTERS_MAX = 14
CELL_GAP = 2
Paint = Callable[[str, Tone], str]
"""Puts a text into the colour of a tone."""


def plain(text: str, _tone: Tone) -> str:
    """No colour: the signs say it."""
    return text


def outcome_text(summary: Summary, paint: Paint = plain) -> str:
    """The table, and the notes below it; empty without a trial with outcome."""
    table = outcome_table(summary)
    if not table.blocks:
        return ""
    return "\n".join([*table_lines(table, paint), *(fill(note, WIDTH) for note in table.notes)])


def table_lines(table: OutcomeTable, paint: Paint) -> list[str]:
    """The table without its notes; it has a block at least."""
    names = [name for block in table.blocks for name in _names(block)]
    first = min(max(len(name) for name in names), NAME_CHARACTERS_MAX + 2)
    widths = _widths(table)
    room = WIDTH - first - sum(widths) - CELL_GAP * len(widths)
    first += max(0, min(room, max(len(name) for name in names) - first))
    lines = [_line("", table.heads, first, widths)]
    for block in table.blocks:
        lines += _block(block, first, widths, paint)
    return lines


def block_height(block: Block) -> int:
    """Lines of one workload or group, which do not depend on the widths of columns."""
    return len(_block(block, 0, [0] * len(block.rows[0].cells), plain))


def _names(block: Block) -> list[str]:
    indent = _indent(block)
    return [f"{indent}{block.name}", *(f"{indent}  {row.arm}" for row in block.rows)]


def _indent(block: Block) -> str:
    return "  " if block.is_member else ""


def _block(block: Block, first: int, widths: list[int], paint: Paint) -> list[str]:
    indent = _indent(block)
    title = f"{indent}{block.name}" + (
        f" ({len(block.members)} together)" if block.is_group else ""
    )
    lines = [title]
    for row in block.rows:
        lines += _row(row, indent, first, widths, paint)
    return lines


def _row(row: OutcomeRow, indent: str, first: int, widths: list[int], paint: Paint) -> list[str]:
    name = _cut(f"{indent}  {row.arm}", first)
    lines = [_line(name, [_value(cell) for cell in row.cells], first, widths)]
    if row.cells[0].beside:
        lines.append(_line("", [f"({_ascii(row.cells[0].beside)})"], first, widths[:1]))
    if any(cell.change for cell in row.cells):
        texts = [_change(cell) for cell in row.cells]
        # Escape sequences have no width: pad first.
        padded = [text.rjust(width) for text, width in zip(texts, widths, strict=True)]
        painted = [
            pad.removesuffix(text) + paint(text, cell.tone) if text else pad
            for pad, text, cell in zip(padded, texts, row.cells, strict=True)
        ]
        lines.append((" " * first + "".join(" " * CELL_GAP + cell for cell in painted)).rstrip())
    if row.note:
        lines.append(
            fill(row.note, WIDTH, initial_indent=f"{indent}    ", subsequent_indent=f"{indent}    ")
        )
    return lines


def _widths(table: OutcomeTable) -> list[int]:
    cells = [row.cells for block in table.blocks for row in block.rows]
    return [
        max(len(head), *(max(len(_value(row[at])), len(_change(row[at]))) for row in cells))
        for at, head in enumerate(table.heads)
    ]


def _line(name: str, texts: list[str], first: int, widths: list[int]) -> str:
    cells = (text.rjust(width) for text, width in zip(texts, widths, strict=True))
    return (name.ljust(first) + "".join(" " * CELL_GAP + cell for cell in cells)).rstrip()


def _value(cell: Cell) -> str:
    unit = cell.unit if cell.unit.startswith("/") else f" {cell.unit}" if cell.unit else ""
    return _ascii(f"{cell.value}{f' {cell.half}' if cell.half else ''}{unit}")


def _change(cell: Cell) -> str:
    if not cell.change:
        return ""
    number = cell.change.removesuffix(" %")
    percent = " %" if cell.change.endswith("%") else ""
    return _ascii(
        f"{cell.sign} {number}{f' {cell.change_half}' if cell.change_half else ''}{percent}"
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _ascii(text: str) -> str:
    """Terminals show narrow spaces as wide ones, or not at all."""
    return text.replace(THIN_SPACE, " ")
