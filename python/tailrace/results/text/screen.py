"""The terminal output after a run: one screen of 40 lines; the rest is in the report and in
`--full`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from textwrap import wrap

from tailrace.results.compare.headline import headline
from tailrace.results.compare.kinds import asked_for, count_text
from tailrace.results.compare.looks_text import looks_sentences
from tailrace.results.metrics.early_end import early_end_sentences
from tailrace.results.metrics.unfinished import unfinished_sentences
from tailrace.results.ports.lock_out import lock_out_sentences
from tailrace.results.ports.pauses import deadlock_sentences
from tailrace.results.summary.summary import Summary
from tailrace.results.text.limiting_text import explained_in, limiting_rows
from tailrace.results.text.needed import MARK
from tailrace.results.text.order import worst_first
from tailrace.results.text.outcome_table import Block, OutcomeTable, outcome_table
from tailrace.results.text.outcome_text import WIDTH, Paint, block_height, plain, table_lines
from tailrace.results.text.run import scope_text, title, verdict_text

LINES_MAX = 39
"""Lines of the whole screen; the command adds one with the path of the report."""
HEADLINE_LINES_MAX = 10
SENTENCES_MAX = 3
"""Sentences of each part: warnings, unfinished work, and so on."""
LINES_EACH_MAX = 5
"""Lines of these."""
FAILED_MAX = 3
"""Expectations that do not hold and are named."""
CAUSES_MIN, CAUSES_MAX = 4, 10
"""Lines about the limits of workloads."""
TABLE_LINES_MIN = 12
"""Of many workloads, lines of the table before causes have the rest."""
TABLE_CUT_MIN = 6
"""Lines of the table, however little room there is."""
MORE = "All tables: --full, or the report."


def screen_text(summary: Summary, paint: Paint = plain) -> str:
    """The headline, the table of main figures with the worst first, causes, and failures."""
    warned = [*deadlock_sentences(summary.arms), *lock_out_sentences(summary.arms)]
    above = [
        [*title(summary).splitlines(), *_sentences(f"warning: {one}" for one in warned)],
        _cut(_wrapped(headline(summary)), HEADLINE_LINES_MAX),
        _sentences(looks_sentences(summary)),
        _sentences([*unfinished_sentences(summary), *early_end_sentences(summary)[:1]]),
    ]
    below = [_expectations(summary), _problems(summary)]
    left = LINES_MAX - sum(len(part) + 1 for part in [*above, *below, [MORE]] if part)
    table = outcome_table(summary)
    order = {subject.name: index for index, subject in enumerate(worst_first(summary))}
    shown = sorted(table.blocks, key=lambda block: order[block.name])
    whole = len(_table(table, shown, LINES_MAX * len(shown), paint)) + 1
    room = left - (whole if whole <= left - CAUSES_MIN else TABLE_LINES_MIN)
    causes = _causes(
        summary, [block.name for block in shown], min(CAUSES_MAX, max(CAUSES_MIN, room - 2))
    )
    main_rows = _table(table, shown, left - (len(causes) + 1 if causes else 0), paint)
    parts = [*above, main_rows, causes, *below, [MORE]]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _sentences(every: Iterable[str]) -> list[str]:
    listed = list(every)
    more = len(listed) - SENTENCES_MAX
    return [
        *_cut(_wrapped(listed[:SENTENCES_MAX]), LINES_EACH_MAX),
        *([f"(and {more} more)"] if more > 0 else []),
    ]


def _wrapped(sentences: Sequence[str]) -> list[str]:
    return [
        line for sentence in sentences for line in wrap(sentence, WIDTH, break_on_hyphens=False)
    ]


def _cut(lines: list[str], most: int) -> list[str]:
    return (
        lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][: WIDTH - 4]} ..."]
    )


def _table(table: OutcomeTable, shown: Sequence[Block], most: int, paint: Paint) -> list[str]:
    """As many blocks as fit in `most` lines, in the order of the scenario, with the notes that
    their marks need."""
    if not table.blocks:
        return []
    notes = _wrapped([note for note in table.notes if note.startswith((MARK, "Changes"))])
    room = most - len(notes) - 2
    kept: list[str] = []
    for block in shown:
        room -= block_height(block)
        if kept and room < 0:
            break
        kept.append(block.name)
    more = len(table.blocks) - len(kept)
    blocks = [replace(block, is_member=False) for block in table.blocks if block.name in kept]
    rest = [f"and {more} more workloads and groups"] if more else []
    lines = table_lines(replace(table, blocks=blocks), paint)
    fitting = max(TABLE_CUT_MIN, most - len(notes) - len(rest))
    arms = ["and more arms"] if len(lines) > fitting else []
    return [*lines[: fitting - len(arms)], *arms, *rest, *notes]


def _causes(summary: Summary, names: Sequence[str], most: int) -> list[str]:
    """The limits of the first workloads, and the trial in which they were observed."""
    where = explained_in(summary)
    lines, more = limiting_rows(summary, names, most - bool(where))
    return [*lines, *([f"and {more} more"] if more else []), *([where] if where else [])]


def _expectations(summary: Summary) -> list[str]:
    """Failed expectations, and the number that pass."""
    if not summary.expectations:
        return []
    missed = [one for one in asked_for(summary.expectations) if one.passed is not True]
    named = [
        f"{one.metric} of {scope_text(one)}: {verdict_text(one)}" for one in missed[:FAILED_MAX]
    ]
    return [*_wrapped(named), f"{count_text(summary.expectations)}."]


def _problems(summary: Summary) -> list[str]:
    """How many trials do not count, with the reason of the first."""
    bad = [one for one in summary.run.problems if not one.unfinished]
    if not bad:
        return []
    first = f"{bad[0].arm} trial {bad[0].trial}: {bad[0].status}: {bad[0].reason}"
    return _cut(_wrapped([f"{len(bad)} trials do not count, the first: {first}"]), SENTENCES_MAX)
