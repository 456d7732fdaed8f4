"""A study as text, as a page and as data."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from tailrace.files import write_json, write_text
from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import digits_text
from tailrace.sensitivity.chart import bars, tornado
from tailrace.sensitivity.design import LEVELS, Shares
from tailrace.sensitivity.figures import Figure
from tailrace.sensitivity.region import Box
from tailrace.sensitivity.study import Holding, Study

CHART = "tornado.svg"
"""File of the plot."""
DECIDING_MAX = 3
RESOLVED_MAX = 0.5
"""A share of variance with a larger half interval is not resolved."""


def study_text(study: Study) -> str:
    """The deciding factors of each figure, and the region in which the conclusions hold."""
    head, *rows = _deciding_rows(study)
    lines = [align([head, *rows]), ""]
    lines += [fill(line, WIDTH) for line in _holding_lines(study)]
    lines += [fill(f"Not varied: {name}: {why}.", WIDTH) for name, why in study.left]
    lines += [fill(line, WIDTH) for line in _bound_lines(study)]
    return "\n".join(lines).rstrip() + "\n"


def write_study(study: Study, command: str) -> None:
    """Writes `sensitivity.json`, `sensitivity.md` and the plot to the directory of the study;
    `command` made it."""
    write_json(study.path / "sensitivity.json", study_data(study))
    write_text(study.path / "sensitivity.md", study_page(study, command, CHART))
    write_text(study.path / CHART, tornado(study))


def study_page(study: Study, command: str, chart: str) -> str:
    """The page, which shows the chart of that name."""
    lines = ["# Which assumption decides which figure", "", f"Written by `{command}`.", ""]
    lines += [_how(study), "", f"![Tornado plot: every assumption alone]({chart})", ""]
    lines += ["## What decides each figure", "", *_table(_deciding_rows(study)), ""]
    lines += [
        "The first columns are the figure at present and the size below which an effect may be "
        "noise; then the assumptions with the largest mean effects in the screening (change of the "
        "figure over the whole range).",
        "",
    ]
    lines += ["## The assumptions", "", *_table(_factor_rows(study)), ""]
    if study.left:
        lines += ["Not varied:", "", *(f"- {name}: {why}." for name, why in study.left), ""]
    if study.screened:
        lines += ["## Screening", "", *_table(_screening_rows(study)), "", _SCREENING, ""]
    if study.shares:
        lines += ["## Shares of variance", "", *_table(_share_rows(study)), "", _SHARES, ""]
    if study.holdings:
        lines += [
            "## Where the conclusions hold",
            "",
            *(f"{line}\n" for line in _holding_lines(study)[:2]),
        ]
        lines += [*_table(_holding_rows(study)), "", _REGION, ""]
    if study.dropped:
        lines += [
            f"Without screening, because some points do not have them: {', '.join(study.dropped)}.",
            "",
        ]
    lines += [f"{line}\n" for line in _bound_lines(study)]
    return "\n".join(lines)


def _bound_lines(study: Study) -> list[str]:
    """Sentences about figures that are lower bounds."""
    return [
        f"{figure.name} is a lower bound at {points} point{'s' if points > 1 else ''}, where "
        "transactions still ran at"
        " the end: effects and conclusions take it as a value (hint: a longer experiment.duration)."
        for figure, points in study.bounded.items()
    ]


_SCREENING = (
    "Mean size of the effect of each assumption (μ*, unit of the figure) with, after ±, the "
    "deviation of the effects (σ): it is as large as the effect where the assumption acts "
    "differently depending on the others. Empty: may be noise."
)
_SHARES = (
    "Share of the figure's variance that the assumption explains alone, and with its interactions "
    "(total), each with half of its 90 % interval; only the assumptions with the largest effects "
    "vary, over their whole ranges. A question mark stands for an interval wider than half of the "
    "whole in each direction: more samples are needed. Noise counts as interaction."
)
_REGION = (
    "A region is the box around the present that is left when sides are cut off until no simulated "
    "point in it contradicts. It was chosen from those points; the new points in it were not."
)


def study_data(study: Study) -> dict[str, Any]:
    """For the result file."""
    return {
        "scenario": study.scenario,
        "seed": study.seed,
        "scale": study.wanted.scale,
        "arms": study.arms,
        "points": study.runs,
        "trials": study.trials,
        "factors": [
            {
                "name": one.name,
                "mark": one.mark,
                "present": one.present,
                "range": one.range_text,
                "paths": one.variation.paths,
            }
            for one in study.factors
        ],
        "not_varied": [{"name": name, "why": why} for name, why in study.left],
        "figures": [_figure_data(study, figure) for figure in study.figures],
        "deciding": [study.factors[number].name for number in study.deciding],
        "conclusions": [
            {**asdict(one), "region": _conditions(study, one.box) if one.box else None}
            for one in study.holdings
        ],
    }


def _figure_data(study: Study, figure: Figure) -> dict[str, Any]:
    return {
        **asdict(figure),
        "name": figure.name,
        "unit": figure.unit,
        "present": study.base[figure],
        "noise": study.noise[figure],
        "points_with_bounds": study.bounded.get(figure, 0),
        "alone": [
            {"factor": study.factors[bar.factor].name, "low": bar.low, "high": bar.high}
            for bar in bars(study, figure)
        ],
        "screening": [
            {"factor": factor.name, **asdict(one)}
            for factor, one in zip(study.factors, study.screened.get(figure, []), strict=False)
        ],
        "variance": [
            {"factor": study.factors[number].name, **asdict(one)}
            for number, one in zip(study.deciding, study.shares.get(figure, []), strict=False)
        ],
    }  # fmt: skip


def _how(study: Study) -> str:
    wanted = study.wanted
    parts = [
        f"{len(study.factors)} assumptions over their ranges, {study.runs} points, {study.trials} "
        f"trials in all ({wanted.trials} for each arm of a point, "
        f"{len(study.base[study.figures[0]])} at present), scale {wanted.scale:g}, seed "
        f"{study.seed}.",
        "Each assumption alone at the ends of its range;",
        f"all together in {wanted.trajectories} trajectories of Morris with {LEVELS} levels;",
    ]
    if study.shares:
        parts.append(
            f"the {len(study.deciding)} with the largest effects by Sobol's indices of "
            f"{wanted.samples} samples;"
        )
    if study.holdings and study.holdings[0].checked:
        parts.append(
            f"{study.holdings[0].checked} new points in the region where all conclusions hold."
        )
    text = " ".join(parts)
    return text.removesuffix(";") + ("" if text.endswith(".") else ".")


def _deciding_rows(study: Study) -> list[list[str]]:
    rows = [
        [
            "figure",
            "present",
            "noise",
            *(f"assumption {rank} (effect)" for rank in range(1, DECIDING_MAX + 1)),
        ]
    ]
    for figure in study.figures:
        unit = f" {figure.unit}" if figure.unit else ""
        effects = study.screened.get(figure)
        named = (
            [(one.mu_star, study.factors[number].name) for number, one in enumerate(effects)]
            if effects
            else [
                (bar.size(study.base_mean(figure)), study.factors[bar.factor].name)
                for bar in bars(study, figure)
            ]
        )
        kept = sorted(
            (pair for pair in named if pair[0] > study.least(figure)), key=lambda pair: -pair[0]
        )
        cells = [f"{name} ({digits_text(size, 2)})" for size, name in kept[:DECIDING_MAX]]
        cells += ["–"] * (DECIDING_MAX - len(cells))
        present = f"{digits_text(study.base_mean(figure))}{unit}"
        rows.append([figure.name, present, digits_text(study.least(figure), 2), *cells])
    return rows


def _factor_rows(study: Study) -> list[list[str]]:
    rows = [["assumption", "mark", "present", "range", "figures that it moves"]]
    for number, factor in enumerate(study.factors):
        moved = sum(
            effects[number].mu_star > study.least(figure)
            for figure, effects in study.screened.items()
        )
        rows.append(
            [
                factor.name,
                factor.mark,
                factor.present,
                factor.range_text,
                f"{moved} of {len(study.screened)}",
            ]
        )
    return rows


def _screening_rows(study: Study) -> list[list[str]]:
    rows = [["", *(figure.name for figure in study.screened)]]
    for number, factor in enumerate(study.factors):
        cells = []
        for figure, effects in study.screened.items():
            one = effects[number]
            is_above = one.mu_star > study.least(figure)
            cells.append(
                f"{digits_text(one.mu_star, 2)} ± {digits_text(one.sigma, 2)}" if is_above else ""
            )
        rows.append([factor.name, *cells])
    return rows


def _share_rows(study: Study) -> list[list[str]]:
    names = [study.factors[number].name for number in study.deciding]
    rows = [["figure", *(f"{name}: alone, total" for name in names)]]
    return rows + [
        [figure.name, *(_share(one) for one in shares)] for figure, shares in study.shares.items()
    ]


def _share(one: Shares) -> str:
    return ", ".join(
        f"{share:.2f} ± {error:.2f}" if error <= RESOLVED_MAX else "?"
        for share, error in ((one.first, one.first_error), (one.total, one.total_error))
    )


def _holding_rows(study: Study) -> list[list[str]]:
    rows = [["conclusion", "at present", "holds at", "region", "points in it"]]
    for one in study.holdings:
        region = (
            "none found"
            if one.box is None
            else "; ".join(_conditions(study, one.box)) or "all ranges"
        )
        rows.append(
            [
                one.words,
                "yes" if one.at_base else "no",
                f"{one.held} of {one.points}",
                region,
                str(one.inside),
            ]
        )
    return rows


def _holding_lines(study: Study) -> list[str]:
    if not study.holdings:
        return []
    every = study.holdings[0]
    count = len(study.holdings) - 1
    holding = sum(one.at_base for one in study.holdings[1:])
    if count == 1:
        lines = [
            f"The one conclusion {'holds' if holding else 'does not hold'} at present, and at "
            f"{every.held} of {every.points} points."
        ]
    else:
        lines = [
            f"Of {count} conclusions, {holding} {'holds' if holding == 1 else 'hold'} at "
            "present; all of them together"
            f" hold at {every.held} of {every.points} points."
        ]
    lines.append(_region_line(study, every))
    return lines


def _region_line(study: Study, every: Holding) -> str:
    if every.box is None:
        return "No region around the present was found in which all of them hold."
    within = " in it" if every.box.cut else ""
    points = f"at all {every.inside} simulated points{within}"
    if every.checked:
        points += f", and at {every.checked_held} of {every.checked} new points{within}"
    if not every.box.cut:
        return f"All hold over the whole ranges: {points}."
    percent = 100 * every.box.volume
    share = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
    return (
        f"All hold in this region: {'; '.join(_conditions(study, every.box))}; the rest over the "
        f"whole ranges ({share} % of the space): {points}."
    )


def _conditions(study: Study, box: Box) -> list[str]:
    return list(_conditions_of(study, box))


def _conditions_of(study: Study, box: Box) -> Iterator[str]:
    for number in box.cut:
        factor = study.factors[number]
        low, high = box.lows[number], box.highs[number]
        if factor.variation.listed:
            inside = [factor.text(share) for share in factor.ends if low <= share <= high]
            yield f"{factor.name}: {_or(inside)}"
        elif low <= 0:
            yield f"{factor.name} at most {factor.text(high)}"
        elif high >= 1:
            yield f"{factor.name} at least {factor.text(low)}"
        else:
            yield f"{factor.name} {factor.text(low)} to {factor.text(high)}"


def _or(names: Sequence[str]) -> str:
    return " or ".join(names)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *rest = rows
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rest]
    return [
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
        *(f"| {' | '.join(row)} |" for row in cells),
    ]
