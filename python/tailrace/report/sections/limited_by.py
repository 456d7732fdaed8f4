"""The limits of the workloads, as stacked bars: the rows of the terminal's table in their order,
the worst first."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.charts.limited_by import Share, limit_bar
from tailrace.report.drawing.parts import limit_colours, part_colours
from tailrace.report.limits import ARMS_DRAWN_MAX
from tailrace.results.causes.sentence import part_words
from tailrace.results.summary.summary import Summary
from tailrace.results.text.limiting_text import LimitRow, limit_rows
from tailrace.results.text.order import worst_first
from tailrace.scenario.vocabulary import LIMITS

ROWS_MAX, ROWS_MAX_PHONE = 12, 5
"""Bars that the first screen has room for."""
KEY_PERCENT_MIN = 3.0
"""Parts that are smaller in all bars are not in the key; each bar has them as a text where the
pointer rests."""


@dataclass(frozen=True)
class ShownArm:
    """The name of an arm as it is shown, and the position that is its colour."""

    name: str
    index: int


@dataclass(frozen=True)
class LimitBar:
    """One arm of a workload or group."""

    name: str
    arm: str
    index: int
    """Of the arm."""
    is_first: bool
    """Whether the name stands above it."""
    percent: str
    words: str
    """The largest share, as in a terminal."""
    bar: Markup


@dataclass(frozen=True)
class LimitedBy:
    """The bars that are shown, and their key."""

    bars: list[LimitBar]
    key: list[tuple[str, str]]
    """Words and colours."""
    what: str
    """The quantity that the bars divide."""
    unexplained: list[str]
    """Workloads of which it is known only when transactions are explained."""
    more: int
    more_phone: int


def limited_by(summary: Summary, arms: Mapping[str, ShownArm] | None = None) -> LimitedBy:
    """The bars of a run; none where no engine reports limits. `arms` are those of a point of a
    sweep."""
    if arms is None:
        arms = {
            arm: ShownArm(arm, at) for at, arm in enumerate(list(summary.arms)[:ARMS_DRAWN_MAX])
        }
    order = {subject.name: index for index, subject in enumerate(worst_first(summary))}
    every = [one for one in limit_rows(summary) if one.arm in arms]
    busy = [one for one in every if not _is_idle(summary, one)]
    busy.sort(key=lambda one: order.get(one.name, len(order)))
    kept = busy[:ROWS_MAX]
    shares = [_shares(one) for one in kept]
    sources = {_is_counted(one) for one in kept}
    return LimitedBy(
        bars=[
            LimitBar(
                name=one.name,
                arm=arms[one.arm].name,
                index=arms[one.arm].index,
                is_first=at == 0 or kept[at - 1].name != one.name,
                percent=one.row[2],
                words=one.row[3],
                bar=limit_bar(f"{one.name}, {arms[one.arm].name}", shares[at]),
            )
            for at, one in enumerate(kept)
        ],
        key=_key([share for of_bar in shares for share in of_bar]),
        what=" or ".join(word for word, is_of in WHAT.items() if is_of in sources),
        unexplained=list(dict.fromkeys(one.name for one in every if one not in busy)),
        more=max(0, len(busy) - len(kept)),
        more_phone=max(0, len(busy) - ROWS_MAX_PHONE),
    )


def _is_idle(summary: Summary, one: LimitRow) -> bool:
    """Whether the only source is counters of connections, and these had nothing to send while users
    waited for responses: explained transactions show the parts of that time."""
    own = summary.arms[one.arm].subject(one.name)
    is_waiting = own is not None and own.latency_ms is not None
    return _is_counted(one) and is_waiting and one.limits.limited_by == "application"


def _is_counted(one: LimitRow) -> bool:
    """Whether the shares are of the time of connections, and not of the latency of transactions."""
    return all(part in LIMITS for part in one.limits.shares_percent)


WHAT = {"share of the latency": False, "of the time of connections": True}
"""Whether the source is counters of connections, by text."""


def _shares(one: LimitRow) -> list[Share]:
    means = {part: own.mean or 0.0 for part, own in one.limits.shares_percent.items()}
    if _is_counted(one):
        return [
            Share(LIMITS[part], colour, means[part])
            for part, colour in limit_colours(means).items()
        ]
    return [
        Share(part_words(part), colour, means[part]) for part, colour in part_colours(means).items()
    ]


def _key(shares: list[Share]) -> list[tuple[str, str]]:
    """A part of latencies that limits connections, too, has one colour, and one entry with both
    names."""
    by_colour: dict[str, list[str]] = {}
    for share in shares:
        words = (
            by_colour.setdefault(share.colour, [])
            if share.percent >= KEY_PERCENT_MIN
            else [share.words]
        )
        if share.words not in words:
            words.append(share.words)
    return [(", ".join(words), colour) for colour, words in by_colour.items()]
