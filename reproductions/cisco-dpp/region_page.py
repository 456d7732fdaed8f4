"""The page `map.md` and the drawing `map.svg`: regions in words and tables, made from the points
alone."""

from html import escape
from itertools import combinations

from region import (
    LEVELS,
    Map,
    Rectangle,
    Span,
    at_least,
    is_pair_run,
    listed_words,
    pair_counts,
    rectangle_of,
    span_of,
    speed_ups,
    tally,
    verdict,
)
from region_design import WIDEST, corners, draws, label, mixed_pairs, pair_grids
from region_values import (
    ASSUMED,
    BY_KEY,
    CONTROL,
    FIT_PERCENT,
    FITTED,
    FITTED_KEYS,
    PARAMETERS,
    Parameter,
    Point,
)
from sensitivity import PUBLISHED

WORDS = {6: "all six", 5: "five or more", 4: "four or more"}
COLOURS = ("#7f1d1d", "#b91c1c", "#dc6b4a", "#f0a868", "#f5d98b", "#9bc9a0", "#0f766e")
"""From no figure that holds to six."""
NOT_RUN = (
    "Points marked – were not run: they have no neighbour at which four figures hold in the "
    "shorter runs."
)
CELL, LEFT, TOP, GAP_X, GAP_Y = 34, 92, 34, 34, 66
PER_ROW = 3


def page(found: Map, again: Map) -> str:
    """All of it; `again` has the fitted values alone at another scale."""
    parts = [
        _head(found, again),
        _conclusion(found, again),
        _singles(found, again),
        _together(found),
        _everywhere(found),
        _pairs(found),
        _mixed(found),
        _controls(found),
        _base_times(found, again),
        _method(found),
    ]
    return "\n".join(line for part in parts for line in part)


def _head(found: Map, again: Map) -> list[str]:
    return [
        "# Where the independent figures hold",
        "",
        "Written by `.venv/bin/python reproductions/cisco-dpp/region_map.py` from "
        f"[map.csv](map.csv): {len(list(found.table.points(found.scale)))} points at "
        f"{found.scale:g} of the published transaction counts, and the fitted values alone at "
        f"{again.scale:g} too. Six figures are independent: the completion times of XS, S and M, "
        "without and with DPP, each within 10 %. Here the values of the model are varied, alone "
        "and together, and the figures that still hold are counted. Near an edge, figures can hold "
        "in a short run but not in a longer one, so that the ranges of the fitted values are those "
        f"at {again.scale:g}.",
        "",
        f"With DPP disabled (one packet) {found.held({'max_packets': 1})} of the 6 hold, so that a "
        f"count of {found.held({'max_packets': 1})} is not evidence for DPP.",
        "",
    ]


def _conclusion(found: Map, again: Map) -> list[str]:
    lines = ["## Summary", ""]
    for key in FITTED_KEYS:
        parameter = BY_KEY[key]
        stated = parameter.stated or (parameter.base, parameter.base)
        lines.append(
            f"- **{parameter.name}**, {parameter.text(parameter.base)} of {stated[0]} to "
            f"{parameter.text(stated[1])}: "
            f"{'; '.join(_span_words(span_of(again, parameter, level), level) for level in LEVELS)}."  # noqa: E501
        )
    counts = tally(found, list(corners()))
    lines += [
        "",
        f"**{verdict(again)}**",
        "",
    ]
    if not counts:
        return lines
    return [
        *lines,
        f"With every fitted value at the ends of ±{FIT_PERCENT} % (the nearest points that were "
        f"run), all six hold at {at_least(counts, 6)} of {sum(counts.values())} corners.",
        "",
    ]


def _span_words(span: Span | None, level: int) -> str:
    if span is None:
        return f"{WORDS[level]} hold nowhere"
    edge = " (all that was run)" if all(span.reaches_ends) else ""
    return f"{WORDS[level]} hold {'at' if span.points == 1 else 'from'} {span.text}{edge}"


def _singles(found: Map, again: Map) -> list[str]:
    lines = ["## One value at a time", ""]
    for part, kind, words in (
        (again, FITTED, "Fitted to table 2"),
        *([(found, FITTED, "Fitted to table 2")] if again.scale != found.scale else []),
        (found, ASSUMED, "Assumed, derived, or fitted to table 1"),
    ):
        lines += [
            f"### {words}, at {part.scale:g} of the counts",
            "",
            *([NOT_RUN, ""] if part is again and again.scale != found.scale else []),
            "| value | here | stated range | six hold | five | four | figures that hold at "
            "each point |",
            "|---" * 7 + "|",
        ]
        lines += [_single(part, parameter) for parameter in PARAMETERS if parameter.kind == kind]
        lines.append("")
    return lines


def _single(found: Map, parameter: Parameter) -> str:
    stated = (
        f"{parameter.stated[0]} to {parameter.text(parameter.stated[1])}"
        if parameter.stated
        else "–"
    )
    spans = [span_of(found, parameter, level) for level in LEVELS]
    cells = [span.text if span else "nowhere" for span in spans]
    return (
        f"| {parameter.name} | {parameter.text(parameter.base)} | {stated} | "
        + " | ".join(cells)
        + f" | {profile(found, parameter)} |"
    )


def profile(found: Map, parameter: Parameter) -> str:
    """`23: 3, **24: 6**, 25: 3`."""
    parts = []
    for value in parameter.values:
        held = found.held({parameter.key: value})
        text = (
            f"{value if isinstance(value, str) else f'{value:g}'}: {'–' if held is None else held}"
        )
        parts.append(f"**{text}**" if value == parameter.base else text)
    return ", ".join(parts)


def _together(found: Map) -> list[str]:
    lines = [
        "## All fitted values at once",
        "",
        "| points | run | six hold | five or more | four or more | three or fewer |",
        "|---" * 6 + "|",
    ]
    rows: dict[str, list[Point]] = {
        f"corners of ±{FIT_PERCENT} %": list(corners()),
        "drawn over the stated ranges": list(draws()),
    }
    for name, points in rows.items():
        counts = tally(found, points)
        total = sum(counts.values())
        if not total:
            continue
        cells = [at_least(counts, level) for level in LEVELS]
        lines.append(
            f"| {name} | {total} | " + " | ".join(map(str, cells)) + f" | {total - cells[-1]} |"
        )
    return [*lines, ""]


def _everywhere(found: Map) -> list[str]:
    lines = [
        "## Effect of DPP over the whole map",
        "",
        "The smallest and the largest speed-up by DPP over all points "
        "with the paper's DPP settings.",
        "",
        "| workload | smallest, % | largest, % | published, % |",
        "|---|---|---|---|",
    ]
    for name, (least, greatest) in speed_ups(found).items():
        published = 100 * (1 - PUBLISHED["dpp"][name] / PUBLISHED["fifo"][name])
        lines.append(f"| {name} | {least:.1f} | {greatest:.1f} | {published:.1f} |")
    return [*lines, ""]


def _pairs(found: Map) -> list[str]:
    lines = [
        "## Pairs of fitted values",
        "",
        "![Figures that hold on the grids of pairs](map.svg)",
        "",
        "Each cell of the drawing is a point with its count. The table has the largest "
        "rectangle of neighbouring "
        "cells around the values of the scenario in which at least so many figures hold.",
        "",
        "| pair | cells | six hold in | all six within | five or more "
        "within | four or more within |",
        "|---" * 6 + "|",
    ]
    for first, second in combinations(FITTED_KEYS, 2):
        if not is_pair_run(found, first, second):
            continue
        flat = [
            count for row in pair_counts(found, first, second) for count in row if count is not None
        ]
        cells = [
            _rectangle(rectangle_of(found, first, second, level), first, second) for level in LEVELS
        ]
        names = f"{BY_KEY[first].name}, {BY_KEY[second].name}"
        lines.append(f"| {names} | {len(flat)} | {flat.count(6)} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _rectangle(rectangle: Rectangle | None, first: str, second: str) -> str:
    if rectangle is None:
        return "nowhere"
    parts = []
    for key, low, high in zip((first, second), rectangle.lows, rectangle.highs, strict=True):
        parts.append(
            BY_KEY[key].text(low) if low == high else f"{low:g} to {BY_KEY[key].text(high)}"
        )
    return " × ".join(parts)


def _mixed(found: Map) -> list[str]:
    points = [
        point
        for point in {label(p): p for p in mixed_pairs()}.values()
        if found.held(point) is not None
    ]
    if not points:
        return []
    counts = tally(found, points)
    listed = ", ".join(f"{held} figures at {number}" for held, number in counts.items())
    return [
        "## A fitted and an assumed value",
        "",
        f"The ends of ±{FIT_PERCENT} % of each fitted value with the ends of the most sensitive "
        f"assumed value ({listed_words([BY_KEY[key].name for key in WIDEST])}): of "
        f"{sum(counts.values())} points, {listed}.",
        "",
    ]


def _controls(found: Map) -> list[str]:
    lines = [
        "## Controls: values of the paper, changed deliberately",
        "",
        "| value | figures that hold |",
        "|---|---|",
    ]
    lines += [f"| {p.name} | {profile(found, p)} |" for p in PARAMETERS if p.kind == CONTROL]
    missed = ", ".join(found.missed({"max_packets": 1})) or "–"
    return [
        *lines,
        "",
        f"With one packet, that is with DPP disabled, the following do not hold: {missed}.",
        "",
    ]


def _base_times(found: Map, again: Map) -> list[str]:
    keys = [(band.arm or "", band.workload or "") for band in found.bands]
    lines = [
        "## The values of the scenario at both scales",
        "",
        "In seconds at full length; the README has the full run.",
        "",
        "| | " + " | ".join(f"{name} {arm}" for arm, name in keys) + " |",
        "|---" * (len(keys) + 1) + "|",
        "| published | " + " | ".join(f"{band.value:g}" for band in found.bands) + " |",
    ]
    for part in (found, again):
        times = part.table.mean(label({}), part.scale)
        if times is not None:
            lines.append(
                f"| at {part.scale:g} | " + " | ".join(f"{times[key]:.0f}" for key in keys) + " |"
            )
    return [*lines, ""]


def _method(found: Map) -> list[str]:
    return [
        "## Method",
        "",
        "If the rate of the small classes changes, their gaps are adjusted so that each class "
        "alone takes as long as before; a different gap, or a different rate of L1 and L2, changes "
        "the solo times, which are not judged here. Work that is not done by the client is done by "
        "the server before it writes. Drawn values are uniform in the logarithm. A range consists "
        "of neighbouring points around the value of the scenario. Trials differ from each other by "
        f"about 1 % of a time; M with DPP takes 4 to 5 % longer at {found.scale:g} of the counts "
        "than at full length.",
        "",
    ]


def drawing(found: Map) -> str:
    """One panel for each pair of fitted values, a square for each point."""
    panels, x, y, height = [], LEFT, TOP, 0
    width = 0
    for index, (first, second) in enumerate(combinations(FITTED_KEYS, 2)):
        if index % PER_ROW == 0 and index:
            x, y = LEFT, y + height + GAP_Y
            height = 0
        panel = _panel(found, first, second, x, y)
        grids = pair_grids(first, second)
        panels.append(panel)
        x += 5 * CELL + LEFT + GAP_X
        width = max(width, x)
        height = max(height, len(grids[0]) * CELL)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} '
        f'{y + height + GAP_Y}" role="img" '
        'aria-label="Independent figures that hold on the grids of pairs of fitted values" '
        'font-family="system-ui, sans-serif" font-size="11">\n'
        f'<rect width="{width}" height="{y + height + GAP_Y}" fill="#ffffff"/>\n'
        + "\n".join(panels)
        + "\n</svg>\n"
    )


def _panel(found: Map, first: str, second: str, x: int, y: int) -> str:
    grids = pair_grids(first, second)
    counts = pair_counts(found, first, second)
    parts = [_text(x, y - 8, f"{short(first)} (rows) × {short(second)}", "start")]
    for i, a in enumerate(grids[0]):
        parts.append(_text(x - 6, y + i * CELL + 21, BY_KEY[first].text(a), "end"))
        for j, _ in enumerate(grids[1]):
            parts.append(
                _cell(counts[i][j], x + j * CELL, y + i * CELL, _is_base(first, second, i, j))
            )
    bottom = y + len(grids[0]) * CELL + 14
    parts += [
        _text(x + j * CELL + CELL / 2 - 1, bottom, f"{value:g}", "middle")
        for j, value in enumerate(grids[1])
    ]
    return "\n".join(parts)


def _is_base(first: str, second: str, i: int, j: int) -> bool:
    grids = pair_grids(first, second)
    return grids[0][i] == BY_KEY[first].base and grids[1][j] == BY_KEY[second].base


def _cell(count: int | None, x: float, y: float, is_base: bool) -> str:
    colour = "#e5e7eb" if count is None else COLOURS[count]
    ink = "#111827" if count is None or count in (3, 4, 5) else "#ffffff"
    edge = ' stroke="#111827" stroke-width="2"' if is_base else ""
    square = f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" fill="{colour}"{edge}/>'
    return square + _text(
        x + CELL / 2 - 1, y + 21, "?" if count is None else str(count), "middle", ink
    )


def _text(x: float, y: float, words: str, anchor: str, colour: str = "#111827") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'
    )


def short(key: str) -> str:
    """A parameter's key as a caption: `rate, Mbit/s`."""
    unit = BY_KEY[key].unit
    return key.rpartition("_")[0].replace("_", " ") + f", {unit}" if unit else key
