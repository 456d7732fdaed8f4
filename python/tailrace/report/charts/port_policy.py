"""Drawing of the policy of one port: classes are mapped to queues, and the scheduler serves queues
to the link.

Queues are tanks that fill from the right; their thresholds stand in order, not to scale.
"""

import re
from collections.abc import Iterator
from textwrap import wrap

from markupsafe import Markup

from tailrace.plan.types import Aqm, AqmByKind, Group, Lossless, Pause, Police, Policy, Queue
from tailrace.report.drawing.svg import percent, tag
from tailrace.report.policy.ingress import EVERY, alpha_text, bits, ranges_text, threshold_text
from tailrace.report.policy.switch import aqm_words, limit_words, policy_sentences, service_words
from tailrace.results.format.numbers import rate_text, size_text, span_text

ROW_PX = 46
NOTE_PX = 14
TANK_PX = 20
TITLE_PX = 15
POLICER_PX = 34
HEAD_PX = 20
# Maximum characters of a note below a tank: the width beside it on a phone.
NOTE_CHARACTERS = 44
UNIT = re.compile(r"(?<=\d) (?=[A-Za-zµ%])")
# Columns as shares of the width: classes, tank, service, the line.
TANK_LEFT, TANK_RIGHT, MERGE = 0.21, 0.74, 0.95
AQM_FROM, AQM_TO = 0.42, 0.66
RESERVED_TO = 0.12


def policy_chart(policy: Policy) -> Markup:
    """The drawing."""
    queues = sorted(enumerate(policy.queues), key=lambda pair: _rank(pair[1]))
    groups = [(group, group.lossless) for group in policy.groups if group.lossless]
    notes = [_note(policy, number, queue) for number, queue in queues]
    tops = [
        HEAD_PX + sum(ROW_PX + NOTE_PX * len(note) for note in notes[:row])
        for row in range(len(notes) + 1)
    ]
    middle = (tops[0] + tops[len(notes) - 1]) / 2 + TITLE_PX + 3 + TANK_PX / 2
    marks = [*_heads(below=tops[-1] if groups else None)]
    for (number, queue), note, y in zip(queues, notes, tops, strict=False):
        marks += _queue(policy, number, queue, y, middle)
        marks += _lines(note, y)
    marks += _line(middle)
    y = tops[-1] + HEAD_PX
    for group, lossless in groups:
        note = _group_note(lossless, policy.pause)
        marks += [*_group(group, y), *_lines(note, y)]
        y += ROW_PX + NOTE_PX * len(note)
    if not groups:
        y = tops[-1]
    if policy.police:
        marks += _police(policy.police, y)
        y += POLICER_PX
    height = round(y)
    label = " ".join(policy_sentences(policy))
    drawing = tag(
        "svg", *marks, width="100%", height=height, role="img", aria_label=label, overflow="visible"
    )
    return tag("div", drawing, class_="plot policy", style="padding:4px 0 6px")


def _lines(note: list[str], y: float) -> Iterator[Markup]:
    for number, text in enumerate(note, 1):
        below = y + TITLE_PX + 2 + TANK_PX + NOTE_PX * number
        yield tag("text", text, x=percent(TANK_LEFT), y=below, class_="tick")


def _rank(queue: Queue) -> int:
    """Strict queues on top, in the order in which they are served."""
    return 99 if queue.service.strict is None else queue.service.strict


def _heads(*, below: float | None) -> Iterator[Markup]:
    for text, x in (("classes", 0.0), ("queues", TANK_LEFT), ("served", TANK_RIGHT + 0.02)):
        yield tag("text", text, x=percent(x), y=12, class_="tick")
    if below is not None:
        yield tag("text", "at ingress", x="0%", y=below + 12, class_="tick")
        text = "lossless groups: up to XOFF, headroom"
        yield tag("text", text, x=percent(TANK_LEFT), y=below + 12, class_="tick")


def _queue(policy: Policy, number: int, queue: Queue, y: float, middle: float) -> Iterator[Markup]:
    tank_y = y + TITLE_PX + 3
    centre = tank_y + TANK_PX / 2
    yield tag("text", _classes(policy, number), x="0%", y=centre + 4)
    yield tag(
        "line",
        x1=percent(TANK_LEFT - 0.045),
        x2=percent(TANK_LEFT - 0.005),
        y1=centre,
        y2=centre,
        class_="link",
    )
    yield tag("text", queue.name, x=percent(TANK_LEFT), y=y + TITLE_PX - 1, font_weight=600)
    yield tag(
        "text",
        _limit(queue),
        x=percent(TANK_RIGHT),
        y=y + TITLE_PX - 1,
        class_="tick",
        text_anchor="end",
    )
    yield from _tank(tank_y)
    if queue.reserved_bytes:
        yield _zone(tank_y, 1 - RESERVED_TO, 1.0, "reserved")
    if queue.aqm != "none":
        yield _zone(tank_y, 1 - AQM_TO, 1 - AQM_FROM, "band")
    yield tag("text", _service(queue), x=percent(TANK_RIGHT + 0.02), y=centre + 4)
    yield tag(
        "line", x1=percent(MERGE - 0.03), x2=percent(MERGE), y1=centre, y2=middle, class_="link"
    )


def _tank(y: float) -> Iterator[Markup]:
    width = percent(TANK_RIGHT - TANK_LEFT)
    yield tag("rect", x=percent(TANK_LEFT), y=y, width=width, height=TANK_PX, rx=3, class_="node")


def _zone(y: float, left: float, right: float, class_: str) -> Markup:
    """Part of a tank, as shares of it."""
    span = TANK_RIGHT - TANK_LEFT
    return tag(
        "rect",
        x=percent(TANK_LEFT + left * span),
        width=percent((right - left) * span),
        y=y + 1,
        height=TANK_PX - 2,
        class_=class_,
    )


def _classes(policy: Policy, number: int) -> str:
    own = [priority for priority, queue in enumerate(policy.queue_of_priority) if queue == number]
    dpp = policy.dpp
    if dpp and dpp.express_queue == number:
        return f"DPP {_compact(own)}".strip()
    return _compact(own) or "–"


def _compact(classes: list[int]) -> str:
    return ranges_text(classes).replace(", ", ",")


def _note(policy: Policy, number: int, queue: Queue) -> list[str]:
    """The note below a queue, in lines."""
    parts = []
    dpp = policy.dpp
    if dpp and dpp.express_queue == number:
        which = f" in class {_compact(bits(dpp.classes))}" if dpp.classes != EVERY else ""
        parts.append(f"first {dpp.max_packets} packets of a flow{which}")
    parts.append(_aqm(queue.aqm))
    if queue.qcn:
        parts.append(f"QCN {size_text(queue.qcn.set_point_bytes)}")
    if queue.reserved_bytes:
        parts.append(f"{size_text(queue.reserved_bytes)} reserved")
    for rate_bps, sign in ((queue.shape_min_bps, "≥"), (queue.shape_max_bps, "≤")):
        if rate_bps:
            parts.append(f"{sign} {rate_text(rate_bps)}")
    # A number and its unit stay together.
    return wrap(UNIT.sub("\u00a0", "; ".join(parts)), NOTE_CHARACTERS)


def _aqm(aqm: Aqm) -> str:
    """Queue management in a few words."""
    if not isinstance(aqm, AqmByKind) or not (red := aqm.red):
        return aqm_words(aqm) or "tail drop"
    verb = "marks" if red.ecn else "drops"
    words = (
        f"WRED {verb} {_span(red.minimum_bytes, red.maximum_bytes)}, "
        f"{red.probability_milli / 10:g} %"
    )
    if other := red.not_capable:
        words += f"; not ECN {_span(other[0], other[1])}, {other[2] / 10:g} %"
    return words


def _span(low: int, high: int) -> str:
    return f"{size_text(low)}–{size_text(high)}"


def _limit(queue: Queue) -> str:
    if queue.limit.alpha_milli is not None:
        return f"≤ {alpha_text(queue.limit)} × free"
    return limit_words(queue.limit).replace("at most", "≤")


def _service(queue: Queue) -> str:
    return (
        service_words(queue.service)
        .replace("strict priority, level", "strict")
        .replace("weighted ", "")
    )


def _line(middle: float) -> Iterator[Markup]:
    yield tag("line", x1=percent(MERGE), x2="100%", y1=middle, y2=middle, class_="link wire")
    yield tag("circle", cx=percent(MERGE), cy=middle, r=4, class_="node switch")
    yield tag("text", "line", x="100%", y=middle - 7, class_="tick", text_anchor="end")


def _police(police: Police, y: float) -> Iterator[Markup]:
    """A policer: nothing waits there, so it is a word and no tank."""
    who = "each flow" if police.per_flow else "all together"
    which = "" if police.classes == EVERY else f"class {_compact(bits(police.classes))}: "
    yield tag("text", "at ingress", x="0%", y=y + 12, class_="tick")
    text = f"policer, {which}{who} {rate_text(police.rate_bps)}"
    yield tag("text", text, x=percent(TANK_LEFT), y=y + 12)
    burst = f"bursts of {size_text(police.burst_bytes)}; excess traffic is dropped"
    yield tag("text", burst, x=percent(TANK_LEFT), y=y + 12 + NOTE_PX, class_="tick")


def _group(group: Group, y: float) -> Iterator[Markup]:
    tank_y = y + TITLE_PX + 3
    who = "all" if group.priorities == EVERY else ranges_text(bits(group.priorities))
    yield tag("text", who, x="0%", y=tank_y + TANK_PX / 2 + 4)
    yield tag("text", f"XOFF {threshold_text(group)}", x=percent(TANK_LEFT), y=y + TITLE_PX - 1)
    yield from _tank(tank_y)
    if group.reserved_bytes:
        yield _zone(tank_y, 0.0, RESERVED_TO, "reserved")
    yield _zone(tank_y, AQM_TO, 1.0, "headroom")


def _group_note(lossless: Lossless, pause: Pause | None) -> list[str]:
    """The note below a lossless group, in lines."""
    kind = "802.3x" if pause and pause.sends_link_pause else "PFC"
    xon, headroom = size_text(lossless.xon_offset_bytes), size_text(lossless.headroom_bytes)
    note = f"{kind}; XON {xon} lower; headroom {headroom}"
    if pause and (watchdog := pause.watchdog):
        note += f"; watchdog {span_text(watchdog.detection_ps)}"
    return wrap(UNIT.sub("\u00a0", note), NOTE_CHARACTERS)
