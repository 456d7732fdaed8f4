"""The outcome table as HTML, for the report and for notebooks."""

from html import escape

from tailrace.results.summary.summary import Summary
from tailrace.results.text.outcome_table import WORDS, Block, Cell, OutcomeRow, outcome_table

NOTEBOOK_STYLE = (
    "<style>.tailrace-outcome td small{display:block;opacity:.75}.tailrace-outcome "
    ".better{color:#1f7a4d}"
    ".tailrace-outcome .worse{color:#b3261e}"
    ".tailrace-outcome .few,.tailrace-outcome .censored{color:#8a6100}"
    ".tailrace-outcome td,.tailrace-outcome th{vertical-align:top}</style>"
)
COLOURS = 6
"""Arms have this many colours in the report."""
TIPS_MAX = 60
"""Tables with at most this many rows have the sentence of an effect in each cell: each is as long
as the rest of the cell."""


def outcome_html(summary: Summary) -> str:
    """The table with its notes; empty without a trial with outcome."""
    table = outcome_table(summary)
    if not table.blocks:
        return ""
    heads = "".join(f"<th>{escape(head)}</th>" for head in table.heads)
    top = (
        '<thead><tr><th class="text"><span class="hidden">workload and '
        f"arm</span></th>{heads}</tr></thead>"
    )
    has_tips = sum(len(block.rows) for block in table.blocks) <= TIPS_MAX
    body = "".join(_block(block, len(table.heads), has_tips=has_tips) for block in table.blocks)
    notes = "".join(f'<p class="caption">{escape(note)}</p>' for note in table.notes)
    return (
        '<div class="scroll outcome-box"><table class="outcome '
        f'tailrace-outcome">{top}{body}</table></div>{notes}'
    )


def _block(block: Block, columns: int, *, has_tips: bool) -> str:
    together = f" <small>{len(block.members)} together</small>" if block.is_group else ""
    kind = "group" if block.is_group else "member" if block.is_member else "workload"
    title = (
        '<th class="text" scope="rowgroup" '
        f'colspan="{columns + 1}">{escape(block.name)}{together}</th>'
    )
    rows = "".join(_row(row, columns, has_tips=has_tips) for row in block.rows)
    return f'<tbody class="{kind}"><tr class="subject">{title}</tr>{rows}</tbody>'


def _row(row: OutcomeRow, columns: int, *, has_tips: bool) -> str:
    colour = f"--colour:var(--arm-{row.arm_index % COLOURS})"
    name = (
        '<th class="text" scope="row"><span class="arm" '
        f'style="{colour}">{escape(row.arm)}</span></th>'
    )
    note = ""
    if row.note:
        note = (
            '<tr class="note"><td></td><td class="text censored" '
            f'colspan="{columns}">{escape(row.note)}</td></tr>'
        )
    return f"<tr>{name}{''.join(_cell(cell, has_tips=has_tips) for cell in row.cells)}</tr>{note}"


def _cell(cell: Cell, *, has_tips: bool) -> str:
    unit = f"{'' if cell.unit.startswith('/') else ' '}{cell.unit}" if cell.unit else ""
    parts = [f"<b>{escape(cell.value)}{escape(unit)}</b>"]
    if cell.beside:
        parts.append(f"<small>{escape(cell.beside)}</small>")
    if cell.interval:
        parts.append(f"<small>{escape(cell.interval)}</small>")
    if cell.change:
        sign = (
            f'{cell.sign} <span class="hidden">{WORDS[cell.tone]}: </span>'
            if has_tips
            else f"{cell.sign} "
        )
        ends = f"<small>{escape(cell.change_interval)}</small>" if cell.change_interval else ""
        parts.append(f'<span class="change {cell.tone}">{sign}{escape(cell.change)}{ends}</span>')
    title = f' title="{escape(cell.words)}"' if cell.words and has_tips else ""
    return f"<td{title}>{''.join(parts)}</td>"
