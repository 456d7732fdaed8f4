"""A search as text, as a page and as data."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from msgspec import to_builtins

from tailrace.errors import few
from tailrace.files import write_json, write_text
from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import bound_mark, digits_text
from tailrace.results.summary.figure import FigureSummary
from tailrace.scenario.goal import Goal, names_of, unit_of
from tailrace.scenario.sweep import text_of
from tailrace.search.bisection import ALL
from tailrace.search.deciding import Tried, excess
from tailrace.search.search import Searched
from tailrace.statistics import LEVEL_TEXT

UNDECIDED_MAX = 4
"""Undecided settings that a sentence names; the table has all."""


def search_text(found: Searched) -> str:
    """The answer, the tried settings, and the confidence."""
    lines = [fill(line, WIDTH) for line in answer(found)]
    if found.found is not None:
        lines += ["", found.found.assignment]
    return "\n".join([*lines, "", align(_rows(found)), "", fill(sureness(found), WIDTH)]) + "\n"


def write_search(found: Searched) -> None:
    """Writes `search.json` and `search.md` to the directory of the search."""
    write_json(found.path / "search.json", search_data(found))
    write_text(found.path / "search.md", search_page(found))


def search_page(found: Searched) -> str:
    """The same as Markdown."""
    head, *rows = _rows(found)
    lines = [f"# Search: {found.scenario}", "", *(f"{line}\n" for line in answer(found))]
    if found.found is not None:
        lines += ["```", found.found.assignment, "```", ""]
    lines += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", sureness(found)]) + "\n"


def search_data(found: Searched) -> dict[str, Any]:
    """For the result file."""
    asked = found.asked
    return {
        "scenario": found.scenario,
        "arm": found.arm,
        "method": found.method,
        "vary": [
            {"path": one.path, "name": one.name, "values": one.ends, "count": len(one.values)}
            for one in asked.variables
        ],
        "goals": [
            {**asdict(goal), "text": str(goal), "unit": unit_of(goal.metric)}
            for goal in asked.goals
        ],
        "aim": {"verb": asked.aim.verb, "of": _aim(found)},
        "state": found.state,
        "found": _tried(found.found) if found.found else None,
        "nearest_missed": _tried(found.nearest) if found.nearest else None,
        "undecided": [_tried(one) for one in found.undecided],
        "contradictions": [_tried(one) for one in found.contradictions],
        "error_of_a_decision": found.rule.error,
        "decisions_at_most": found.steps,
        "looks": list(found.rule.looks),
        "confidence": found.wanted.confidence,
        "scale": found.wanted.scale,
        "tried": [_tried(one) for one in found.tried],
    }


def answer(found: Searched) -> Iterator[str]:
    """Sentences about the result, the undecided settings, and contradictions."""
    goals = names_of(found.asked.goals)
    best = found.found
    if best is None:
        yield from _nothing(found, goals)
        return
    is_of_variable = found.asked.aim.variable is not None
    first, last, beyond = ("smallest", "largest", "smaller")
    if not found.asked.aim.is_minimised:
        first, last, beyond = ("largest", "smallest", "larger")
    of = (
        f"The {first} value of {_aim(found)}"
        if is_of_variable
        else f"The best {_aim(found)} of a setting"
    )
    yield (
        f"{of} that meets {goals}: {found.name(best)} "
        f"({_cells(best, found)}, {best.trials} trials)."
    )
    if found.state == ALL:
        edge = (
            f" A {beyond} value outside of this range may meet it, too." if is_of_variable else ""
        )
        yield (
            f"Every setting that was tried meets it: {_tried_of(found)} over "
            f"{_ranges(found)}.{edge}"
        )
    if found.nearest is not None:
        yield (
            f"The {last} value that misses it: {found.name(found.nearest)} "
            f"({_cells(found.nearest, found)})."
        )
    if found.undecided:
        yield f"Undecided: {_undecided(found)}."
    if found.contradictions:
        one, *others = found.contradictions
        more = f", as do {len(others)} more" if others else ""
        yield (
            f"Not monotone: {found.name(one)} misses the goal ({_cells(one, found)}){more}, "
            f"although {found.name(best)} meets it. A bisection finds one edge of several: sweep "
            "the value to see all."
        )


def _nothing(found: Searched, goals: str) -> Iterator[str]:
    tried = f"{_tried_of(found)} over {_ranges(found)}"
    missing = len(found.tried) - len(found.undecided)
    if missing == len(found.tried):
        is_whole = missing == found.asked.count
        yield (
            f"No setting{'' if is_whole else ' that was tried'} meets {goals}: {tried} were "
            "tried, and all miss it."
        )
    elif missing:
        yield (
            f"No setting is certain to meet {goals}: of {tried}, {missing} miss it and the "
            "others are undecided."
        )
    else:
        yield f"No setting is certain to meet {goals}: {tried} were tried, and all are undecided."
    if found.undecided:
        yield f"Undecided: {_undecided(found)}."
    nearest = min(found.tried, key=partial(excess, found.asked.goals))
    yield f"Nearest to it: {found.name(nearest)} ({_cells(nearest, found)})."
    if len(found.tried) < found.asked.count:
        yield "Settings between those were not tried: a sweep shows whether one of them meets it."


def _tried_of(found: Searched) -> str:
    """`4 of 580 settings`, or `all 5 settings`."""
    tried, count = len(found.tried), found.asked.count
    return f"all {count} settings" if tried == count else f"{tried} of {count} settings"


def _undecided(found: Searched) -> str:
    """The settings, each with the trials that would decide it."""
    return few([f"{found.name(one)} (takes {one.takes})" for one in found.undecided], UNDECIDED_MAX)


def sureness(found: Searched) -> str:
    """Sentences about the confidence of the decisions."""
    error = f"{100 * found.rule.error:.2g} %"
    of = (
        f"at most {found.steps} decisions share an error of "
        f"{100 * (1 - found.wanted.confidence):g} %, {error} each"
        if found.method == "bisection"
        else f"the setting was chosen among {found.steps}, so that its own decision has an error "
        f"of at most {error}; a better one may exist between those that were tried"
    )
    *looks, last = found.rule.looks
    return (
        "A setting meets a goal when the interval of its figure, of all transactions of all "
        "trials, keeps the bound, misses it when the interval lies beyond the bound, and is "
        f"undecided otherwise. Intervals in the table are of {LEVEL_TEXT}; those that decide are "
        f"wider, so that all decisions are right together: {of}, over looks after "
        f"{', '.join(map(str, looks))}{' and ' if looks else ''}{last} trials."
    )


def _rows(found: Searched) -> list[list[str]]:
    names = [_figure_name(goal) for goal in _kept(found)]
    rows = [[*(one.name for one in found.asked.variables), *names, "trials", "decision"]]
    for one in found.tried:
        mark = (
            "meets, found"
            if found.found is not None and one.positions == found.found.positions
            else one.verdict
        )
        values = [text_of(one.values[variable.path]) for variable in found.asked.variables]
        rows.append([*values, *(_cell(figure) for figure in one.figures), str(one.trials), mark])
    return rows


def _kept(found: Searched) -> Sequence[Goal]:
    """The goals, and the figure that is minimised or maximised."""
    return [*found.asked.goals, *([found.asked.aim.figure] if found.asked.aim.figure else [])]


def _cells(tried: Tried, found: Searched) -> str:
    """The figures of a setting in a sentence."""
    if tried.why_not:
        return f"impossible: {tried.why_not}"
    return ", ".join(
        f"{Goal(goal.subject, goal.metric)} "
        f"{_cell(figure)}{f' {unit_of(goal.metric)}' if unit_of(goal.metric) else ''}"
        for goal, figure in zip(_kept(found), tried.figures, strict=True)
    )


def _cell(figure: FigureSummary) -> str:
    """`12.3 (11.9 to 12.8)`."""
    value = bound_mark(figure.bounds) + digits_text(figure.value)
    interval = figure.interval
    if figure.trials_needed:
        return f"{value} (no interval)"
    return (
        f"{value} ({digits_text(interval.low)} to {digits_text(interval.high)})"
        if interval
        else value
    )


def _figure_name(goal: Goal) -> str:
    unit = unit_of(goal.metric)
    name = str(Goal(goal.subject, goal.metric))
    return f"{name}, {unit}" if unit else name


def _aim(found: Searched) -> str:
    aim = found.asked.aim
    return found.asked.variables[aim.variable].name if aim.variable is not None else str(aim.figure)


def _ranges(found: Searched) -> str:
    return " and ".join(f"{one.name} {one.ends}" for one in found.asked.variables)


def _tried(tried: Tried) -> dict[str, Any]:
    return {
        "values": {path: text_of(value) for path, value in tried.values.items()},
        "set": tried.assignment,
        "decision": tried.verdict,
        "takes": tried.takes or None,
        "trials": tried.trials,
        "figures": to_builtins(tried.figures),
        "run": f"points/{tried.label}",
    }
