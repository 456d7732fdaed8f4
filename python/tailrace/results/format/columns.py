"""Width of texts: that of the terminal; unlimited for files and pipes."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_WIDTH: ContextVar[int | None] = ContextVar("width", default=None)
GAP = 2
"""Blanks between the columns of a table."""
WIDTH = 110
"""Columns of sentences."""
SENTENCE_MIN = 24
"""Columns that a sentence in a table has at least."""
Row = Sequence[str]


@contextmanager
def within(width: int | None) -> Iterator[None]:
    """Limits the width of tables that are made in the block; None for no limit."""
    token = _WIDTH.set(width)
    try:
        yield
    finally:
        _WIDTH.reset(token)


def fill(text: str, width: int) -> str:
    """`text` as a paragraph of lines of at most `width` columns, or of fewer where `within` sets a
    smaller limit."""
    limit = _WIDTH.get()
    return textwrap.fill(
        text, width if limit is None else min(width, limit), break_on_hyphens=False
    )


def folded(widths: Sequence[int], left: int) -> list[list[int]]:
    """Which columns stand beside each other: all, or the first `left` with as many of the others as
    fit, in turn."""
    width = _WIDTH.get()
    every = list(range(len(widths)))
    if width is None or sum(widths) + GAP * (len(widths) - 1) <= width:
        return [every]
    head = every[:left]
    start = sum(widths[i] + GAP for i in head)
    parts: list[list[int]] = []
    room = 0
    for column in every[left:]:
        needed = widths[column] + (GAP if parts else 0)
        if not parts or needed > room:
            parts.append([*head])
            room, needed = width - start, widths[column]
        parts[-1].append(column)
        room -= needed
    return parts or [every]


def align(rows: Sequence[Row], *, left: int = 1) -> str:
    """Columns of equal width: the first `left` columns to the left, numbers to the right.

    The first row is the head. Rows that exceed the width continue below, with the first columns
    repeated.
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    parts = folded(widths, left)
    lines = [
        "\n".join(
            "  ".join(_cell(row[i], widths[i], i < left) for i in part).rstrip() for row in rows
        )
        for part in parts
    ]
    return "\n\n".join(lines)


def listed(rows: Sequence[Row], width: int) -> str:
    """Columns to the left, of which the last has sentences that go on below it, in lines of at most
    `width`."""
    limit = _WIDTH.get()
    width = width if limit is None else min(width, limit)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    start = sum(widths) + GAP * len(widths)
    lines = []
    for row in rows:
        wrapped = textwrap.wrap(
            row[-1], max(SENTENCE_MIN, width - start), break_on_hyphens=False
        ) or [""]
        before = "".join(cell.ljust(own + GAP) for cell, own in zip(row, widths, strict=False))
        lines += [f"{before}{wrapped[0]}".rstrip(), *(" " * start + line for line in wrapped[1:])]
    return "\n".join(lines)


def _cell(text: str, width: int, is_left: bool) -> str:
    return text.ljust(width) if is_left else text.rjust(width)
