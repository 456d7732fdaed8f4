"""The outcome table: workloads and arms, with rate, percentiles and loss together, each against the
baseline.

Report, terminal and notebook show the same rows. A cell has a tone, shown by a sign as well as by a
colour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tailrace.results.compare.effect_words import (
    bounded_change_text,
    change_percent,
    interval_text,
    unit_of_difference,
)
from tailrace.results.compare.tone import Tone, tone_of
from tailrace.results.format.numbers import bound_mark, change_text, digits_text
from tailrace.results.metrics.definitions import noun_of
from tailrace.results.metrics.unfinished import group_words, unfinished_words
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.figure import Figures, TableSubject
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import WorkloadSummary
from tailrace.results.text.needed import needed_mark, needed_sentence
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.statistics import LEVEL_TEXT

SIGNS: dict[Tone, str] = {
    "": "",
    "better": "✓",
    "worse": "✗",
    "same": "=",
    "few": "?",
    "censored": ">",
}
WORDS: dict[Tone, str] = {
    "": "not tested",
    "better": "better",
    "worse": "worse",
    "same": "no significant difference",
    "few": "too few trials",
    "censored": "not comparable",
}
LEAD = "lead"
COLUMNS = (LEAD, "latency_p50_ms", "latency_p99_ms", "loss_percent")
HEADS = {
    LEAD: "rate or time",
    "latency_p50_ms": "p50, ms",
    "latency_p99_ms": "p99, ms",
    "loss_percent": "loss, %",
}
LEAD_UNITS = {"rate_per_s": "/s", "goodput_gbps": "Gbit/s", "completion_s": "s"}
DEFAULT_LEAD = "goodput_gbps"

Effects = dict[tuple[str, str], dict[str, ArmEffect]]
"""By arm and workload or group, and then by metric."""


@dataclass(frozen=True)
class Cell:
    """One figure: its value with its interval, and its change against the baseline with the
    interval of that."""

    value: str = "–"
    interval: str = ""
    half: str = ""
    """Half of the interval, for narrow tables."""
    unit: str = ""
    beside: str = ""
    """Another figure of the same thing: the rate beside a completion time, or the time beside the
    rate."""
    change: str = ""
    change_interval: str = ""
    change_half: str = ""
    tone: Tone = ""
    words: str = ""
    """The sentence of the effect."""

    @property
    def sign(self) -> str:
        """The sign of the tone, for output without colour."""
        return SIGNS[self.tone]


@dataclass(frozen=True)
class OutcomeRow:
    """One arm of a workload or group."""

    arm: str
    arm_index: int
    cells: list[Cell]
    note: str = ""
    """Note about unfinished work."""


@dataclass(frozen=True)
class Block:
    """A workload or group with a row for each arm that has it."""

    name: str
    is_group: bool
    is_member: bool
    members: Sequence[str]
    rows: list[OutcomeRow]


@dataclass(frozen=True)
class OutcomeTable:
    """The whole table, with the notes below it."""

    blocks: list[Block]
    heads: list[str]
    baseline: str | None
    has_changes: bool
    notes: list[str] = field(default_factory=list)


def outcome_table(summary: Summary) -> OutcomeTable:
    """The table of a summary."""
    effects: Effects = {}
    for effect in summary.comparisons:
        effects.setdefault((effect.arm, effect.workload), {})[effect.metric] = effect
    subjects: list[TableSubject] = summary.subjects
    blocks = [block for subject in subjects if (block := _block(summary, subject, effects)).rows]
    tones = {cell.tone for block in blocks for row in block.rows for cell in row.cells}
    has_changes = any(cell.change for block in blocks for row in block.rows for cell in row.cells)
    return OutcomeTable(
        blocks=blocks,
        heads=[HEADS[column] for column in COLUMNS],
        baseline=summary.baseline,
        has_changes=has_changes,
        notes=_notes(summary, blocks, tones, has_changes=has_changes),
    )


def _block(summary: Summary, subject: TableSubject, effects: Effects) -> Block:
    rows = []
    for index, (arm, own) in enumerate(summary.arms.items()):
        figures: Figures | None = own.figures.get(subject.name)
        if figures is None:
            continue
        scale = summary.run.workload_scale.get(subject.name, 1.0)
        cells = [
            _cell(subject, column, figures, scale, effects.get((arm, subject.name), {}))
            for column in COLUMNS
        ]
        rows.append(OutcomeRow(arm, index, cells, _note(own.workloads, subject)))
    return Block(subject.name, subject.is_group, subject.is_member, subject.members, rows)


def _note(workloads: Mapping[str, WorkloadSummary], subject: TableSubject) -> str:
    if subject.is_group:
        nouns = {
            facts_of(workloads[name].kind).group_noun
            for name in subject.members
            if name in workloads
        }
        return group_words(
            workloads, subject.members, nouns.pop() if len(nouns) == 1 else "workloads"
        )
    own = workloads.get(subject.name)
    return unfinished_words(own.unfinished) if own and own.unfinished else ""


def _cell(
    subject: TableSubject,
    column: str,
    figures: Figures,
    scale: float,
    effects: Mapping[str, ArmEffect],
) -> Cell:
    metric = (subject.lead or DEFAULT_LEAD) if column == LEAD else column
    sample = figures.get(metric)
    if sample is None or sample.value is None:
        return Cell()
    factor = 1 / scale if metric == "completion_s" else 1.0
    interval, effect = sample.interval, effects.get(metric)
    ends = (interval.low * factor, interval.high * factor) if interval else None
    mark = needed_mark(sample.trials_needed, len(sample.values))
    cell = Cell(
        value=bound_mark(sample.bounds) + digits_text(sample.value * factor) + mark,
        interval=f"{digits_text(ends[0])} to {digits_text(ends[1])}" if ends else "",
        half=f"±{digits_text((ends[1] - ends[0]) / 2, 2)}" if ends else "",
        unit=LEAD_UNITS.get(metric, "") if column == LEAD else "",
        beside=_beside(subject, metric, figures, scale) if column == LEAD else "",
    )
    return _with_change(cell, effect) if effect else cell


def _beside(subject: TableSubject, metric: str, figures: Figures, scale: float) -> str:
    """The rate of a loop whose lead metric is its completion, and the completion of one whose lead
    metric is its rate."""
    other = figures.get(
        {"completion_s": "rate_per_s", "rate_per_s": "completion_s"}.get(metric, "")
    )
    if other is None or other.value is None:
        return ""
    if metric == "completion_s":
        return f"{digits_text(other.value)}/s"
    return "" if subject.is_group else f"{digits_text(other.value / scale)} s"


def _with_change(cell: Cell, effect: ArmEffect) -> Cell:
    percent, by_percent = change_percent(effect), effect.change_interval
    ends = (by_percent.low, by_percent.high) if by_percent else None
    apart = effect.difference_interval
    return replace(
        cell,
        # The column has the unit of a difference.
        change=bounded_change_text(effect).removesuffix(f" {unit_of_difference(effect.metric)}"),
        change_interval=interval_text(effect),
        change_half=f"±{digits_text((apart.high - apart.low) / 2, 2)}"
        if apart
        else _half(ends, percent),
        tone=tone_of(effect),
        words=effect.words,
    )


def _half(ends: tuple[float, float] | None, percent: float | None) -> str:
    if ends is None or percent is None:
        return ""
    half = (ends[1] - ends[0]) / 2
    return f"±{digits_text(half / 100 if change_text(percent).startswith('×') else half, 2)}"


def _notes(
    summary: Summary, blocks: list[Block], tones: set[Tone], *, has_changes: bool
) -> list[str]:
    leads = {subject.lead for subject in summary.subjects}
    means = (
        f"Figures with their {LEVEL_TEXT} intervals"
        if _has_intervals(blocks)
        else "Means over trials"
    )
    rates = f"rate: {_counted(summary)} per second" if "rate_per_s" in leads else ""
    goodputs = "Gbit/s: goodput" if leads & {"goodput_gbps", None} else ""
    times = "s: completion time" + (", at full scale" if summary.run.scale != 1 else "")
    parts = [
        means,
        rates,
        goodputs,
        times if "completion_s" in leads else "",
        "loss: data frames retransmitted or lost, with changes in points",
        "percentiles: of all transactions together",
    ]
    legend = ", ".join(f"{SIGNS[tone]} {WORDS[tone]}" for tone in SIGNS if tone and tone in tones)
    changes = f"Changes are relative to {summary.baseline}; without a sign they are not tested"
    against = f"{changes}{f', {legend}' if legend else ''}." if has_changes else ""
    together = (
        "The rate of a group is the total work of its members divided "
        "by the longest of their times."
    )
    added = together if _ends_apart(summary) else ""
    needed = needed_sentence(summary, ("p50", "p99"))
    return [
        text
        for text in ("; ".join(part for part in parts if part) + ".", needed, added, against)
        if text
    ]


def _counted(summary: Summary) -> str:
    """Nouns of the rates of workloads: transactions, requests, or both."""
    members = {
        name
        for subject in summary.subjects
        if subject.lead == "rate_per_s"
        for name in subject.members
    }
    kinds = {
        workload.kind
        for arm in summary.arms.values()
        for name, workload in arm.workloads.items()
        if name in members
    }
    return noun_of(kinds)


def _ends_apart(summary: Summary) -> bool:
    """Whether a member of a group ends before its trial, so that the group's rate is not the sum of
    its members'."""
    members = {name for subject in summary.subjects if subject.is_group for name in subject.members}
    return any(
        "completion_s" in own.figures.get(name, {})
        for own in summary.arms.values()
        for name in members
    )


def _has_intervals(blocks: list[Block]) -> bool:
    return any(cell.interval for block in blocks for row in block.rows for cell in row.cells)
