"""Section "Where the time went": explained workloads with their bars, tables, slowest transactions
and culprits."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.charts.causes import ArmBands, band_words, causes_chart
from tailrace.report.drawing.parts import part_colours
from tailrace.report.limits import ARMS_DRAWN_MAX, PANELS_MAX, PANELS_OPEN_MAX
from tailrace.results.causes.causes import in_order
from tailrace.results.causes.sentence import lost_sentence, part_words
from tailrace.results.causes.tail import tail, tail_share
from tailrace.results.format.numbers import count_text, span_text
from tailrace.results.summary.causes import Band, Explained
from tailrace.results.summary.summary import Summary
from tailrace.results.text.order import worst_first

NAMED_MAX = 3
"""Ports and workloads that a row of queues names, from the longest times."""
NAMED_PERCENT_MIN = 1.0
KNOWN_PERCENT_MIN = 95.0
"""Below this share, the page states the share of the wait for which the frames in front are known.
"""
NOTHING = "–"

Found = dict[str, tuple[int, Explained]]
"""By arm: its position, and the explanation."""


@dataclass(frozen=True)
class ArmName:
    """An arm and its position, which is its colour."""

    arm: str
    position: int


@dataclass(frozen=True)
class BandRow(ArmName):
    """The transactions of an arm between two percentiles."""

    is_first: bool
    """Whether it is the first row of its arm."""
    band: str
    count: str
    latency: str
    cells: list[str]
    """The time in each part."""


@dataclass(frozen=True)
class TailRow(ArmName):
    """Where the transactions of a tail waited in queues, and behind whose frames."""

    latency: str
    queued: str
    ports: str
    behind: str


@dataclass(frozen=True)
class LostRow(ArmName):
    """The fate of transactions whose frames were lost."""

    sentence: str


@dataclass(frozen=True)
class SlowestRow(ArmName):
    """The slowest transactions of an arm."""

    sentences: list[str]


@dataclass(frozen=True)
class ExplainedWorkload:
    """A workload or group."""

    name: str
    at: int | None
    """Index among the workloads; None for a group."""
    chart: Markup
    parts: list[str]
    """Of the latency, the heads of the table."""
    rows: list[BandRow]
    tail: str
    """Description of the transactions in `queues`."""
    queues: list[TailRow]
    lost: list[LostRow]
    slowest: list[SlowestRow]


@dataclass(frozen=True)
class PartColour:
    """An entry of the key."""

    words: str
    colour: str


@dataclass(frozen=True)
class WhereTimeWent:
    """The section."""

    workloads: list[ExplainedWorkload]
    """The worst first, as everywhere on the page."""
    shown: int
    """Of these, how many stand open."""
    key: list[PartColour]
    omitted: int
    """Workloads that are not shown."""
    trials: str
    """Numbers of the explained trials."""
    is_one_trial: bool
    is_live: bool


def where_time_went(summary: Summary) -> WhereTimeWent:
    """The explained workloads and groups, the worst first, and the key of the colours that
    occur."""
    names = [subject.name for subject in worst_first(summary)]
    order = {name: at for at, name in enumerate(summary.workloads)}
    found = {name: explained for name in names if (explained := _explained(summary, name))}
    shown = list(found.items())[:PANELS_MAX]
    drawn = [one for _, arms in shown for _, one in arms.values()]
    parts = [part for one in drawn for band in one.bands for part in band.parts]
    colours = part_colours(parts)
    trials = sorted({one.trial for one in drawn})
    return WhereTimeWent(
        workloads=[_workload(name, order.get(name), arms, colours) for name, arms in shown],
        shown=PANELS_OPEN_MAX,
        key=[PartColour(part_words(part), colour) for part, colour in colours.items()],
        omitted=len(found) - len(shown),
        trials=", ".join(str(trial) for trial in trials),
        is_one_trial=len(trials) == 1,
        is_live=any(one.is_live for one in drawn),
    )


def _explained(summary: Summary, workload: str) -> Found:
    return {
        arm: (position, own.causes)
        for position, (arm, of_arm) in enumerate(list(summary.arms.items())[:ARMS_DRAWN_MAX])
        if (own := of_arm.subject(workload)) and own.causes
    }


def _workload(
    name: str, at: int | None, arms: Found, colours: Mapping[str, str]
) -> ExplainedWorkload:
    drawn = [
        ArmBands(arm, position, one.bands) for arm, (position, one) in arms.items() if one.bands
    ]
    parts = in_order(part for arm in drawn for band in arm.bands for part in band.parts)
    share, words = tail_share(*(one.transactions for _, one in arms.values() if one.bands))
    return ExplainedWorkload(
        name=name,
        at=at,
        chart=causes_chart(name, drawn, colours),
        parts=[part_words(part) for part in parts],
        rows=[
            _row(arm, band, parts, is_first=band is arm.bands[0])
            for arm in drawn
            for band in arm.bands
        ],
        tail=words,
        queues=[row for arm in drawn if (row := _queues(arm, tail(arm.bands, share)))],
        lost=[
            LostRow(arm, position, sentence)
            for arm, (position, one) in arms.items()
            if (sentence := lost_sentence(one.lost))
        ],
        slowest=[
            SlowestRow(arm, position, [sentence.sentence for sentence in one.slowest])
            for arm, (position, one) in arms.items()
            if one.bands
        ],
    )


def _row(arm: ArmBands, band: Band, parts: list[str], *, is_first: bool) -> BandRow:
    return BandRow(
        arm.arm,
        arm.position,
        is_first,
        band=band_words(band.name),
        count=count_text(band.count),
        latency=span_text(band.latency_ps),
        cells=[_cell(band.parts.get(part, 0.0), band.latency_ps) for part in parts],
    )


def _cell(time_ps: float, latency_ps: float) -> str:
    return f"{span_text(time_ps)} ({100 * time_ps / latency_ps:.0f}\u00a0%)" if time_ps else NOTHING


def _queues(arm: ArmBands, of: Band) -> TailRow | None:
    whole = of.parts.get("switch_queue", 0.0)
    if not whole:
        return None
    return TailRow(
        arm.arm,
        arm.position,
        latency=span_text(of.latency_ps),
        queued=_cell(whole, of.latency_ps),
        ports=_shares(of.queues),
        behind=_shares(of.behind) + _known(sum(of.behind.values()), whole),
    )


def _known(known_ps: float, whole_ps: float) -> str:
    """The record of frames on a wire is bounded: of long waits, it has the end."""
    percent = 100 * known_ps / whole_ps
    return f" (known for {percent:.0f} % of the wait)" if percent < KNOWN_PERCENT_MIN else ""


def _shares(times: Mapping[str, float]) -> str:
    """`leaf>client 97 %, leaf>h2 3 %`, from the largest."""
    whole = sum(times.values())
    ordered = sorted(times.items(), key=lambda item: -item[1])[:NAMED_MAX]
    named = [
        f"{name} {100 * time / whole:.0f} %"
        for name, time in ordered
        if 100 * time >= NAMED_PERCENT_MIN * whole
    ]
    return ", ".join(named) or NOTHING
