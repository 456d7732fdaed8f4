"""A search as text, as a page and as data."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tailrace.files import write_json, write_text
from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import bound_mark, digits_text
from tailrace.results.metrics.goal import Goal, unit_of
from tailrace.scenario.sweep import text_of
from tailrace.search.deciding import Tried
from tailrace.search.search import ALL_MET, SOME_MET, Searched, goals_text
from tailrace.statistics.proportion import share_interval
from tailrace.statistics.sequential import SHARE


def search_text(found: Searched) -> str:
    """The answer, the settings that were tried, and how sure it is."""
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
        "vary": [{"path": one.path, "name": one.name, "values": one.ends, "count": len(one.values)}
                 for one in asked.variables],
        "goals": [{**asdict(goal), "text": str(goal), "unit": unit_of(goal.metric)} for goal in asked.goals],
        "aim": {"verb": asked.aim.verb, "of": _aim(found)},
        "state": found.state,
        "found": _tried(found.found) if found.found else None,
        "nearest_missed": _tried(found.nearest) if found.nearest else None,
        "contradictions": [_tried(one) for one in found.contradictions],
        "error_of_a_decision": found.error,
        "decisions_at_most": found.steps,
        "trials_of_a_clear_case": found.lead,
        "confidence": found.wanted.confidence,
        "share": SHARE,
        "scale": found.wanted.scale,
        "tried": [_tried(one) for one in found.tried],
    }  # fmt: skip


def answer(found: Searched) -> Iterator[str]:
    """What was found, and what contradicts it."""
    goals = goals_text(found.asked.goals)
    best = found.found
    if best is None:
        undecided = [one for one in found.tried if one.decision is None]
        more = f" {len(undecided)} of them could not be decided." if undecided else ""
        yield f"No setting meets {goals}: {len(found.tried)} were tried, over {_ranges(found)}.{more}"
        return
    if found.state == ALL_MET:
        yield f"Every setting that was tried meets {goals}, over {_ranges(found)}: the edge lies outside."
    confirmed = f"{best.met} of {best.trials} trials meet the goal"
    way = "Smallest" if found.asked.aim.is_minimised else "Largest"
    of = f"{way} {_aim(found)}" if found.asked.aim.variable is not None else f"Best {_aim(found)}"
    yield f"{of} that meets {goals}: {found.name(best)} ({confirmed})."
    if not best.is_met:
        yield "With more trials that setting does not meet the goal: it lies at the edge. Take the next in the table."
    if found.nearest is not None and found.state == SOME_MET:
        yield f"The next better setting that was tried, {found.name(found.nearest)}, is {found.nearest.verdict}."
    for one in found.contradictions:
        yield (
            f"Not monotone: at {found.name(one)} the goal is {one.verdict} ({one.met} of {one.trials} trials), "
            f"although {found.name(best)} meets it. A bisection finds one edge of several: sweep the value to see all."
        )


def sureness(found: Searched) -> str:
    """What the decisions rest on."""
    error = f"{100 * found.error:.2g} %"
    of = (
        f"at most {found.steps} decisions share an error of {100 * (1 - found.wanted.confidence):g} %, {error} each"
        if found.method == "bisection"
        else f"the setting was chosen among {found.steps}, so that its own decision has an error of at most {error}; "
        "a better one may exist between those that were tried"
    )
    return (
        f"A setting meets a goal when at least {100 * SHARE:g} % of all trials do, and misses it when at most "
        f"{100 * (1 - SHARE):.0f} % do; trials are run until a sequential test decides ({found.lead} for a clear "
        f"case, {found.wanted.trials_max} at most, undecided counts as missed); {of}. "
        "Between the two shares the error has no bound. The interval is that of the share of "
        "trials that meet the goal (90 %)."
    )


def _rows(found: Searched) -> list[list[str]]:
    kept = [*found.asked.goals, *([found.asked.aim.figure] if found.asked.aim.figure else [])]
    head = [*(one.name for one in found.asked.variables), *(_figure_name(goal) for goal in kept)]
    rows = [[*head, "trials", "met", "interval", "decision"]]
    for one in found.tried:
        ends = share_interval(one.met, one.trials)
        figures = [bound_mark(figure["bounds"]) + digits_text(figure["mean"]) for figure in one.figures]
        mark = "met, found" if found.found is not None and one.positions == found.found.positions else one.verdict
        values = [text_of(one.values[variable.path]) for variable in found.asked.variables]
        interval = f"{100 * ends.low:.0f}–{100 * ends.high:.0f} %"
        rows.append([*values, *figures, str(one.trials), str(one.met), interval, mark])
    return rows


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
    ends = share_interval(tried.met, tried.trials)
    return {
        "values": {path: text_of(value) for path, value in tried.values.items()},
        "set": tried.assignment,
        "decision": tried.verdict,
        "trials": tried.trials,
        "met": tried.met,
        "share_interval": asdict(ends),
        "figures": tried.figures,
        "run": f"points/{tried.label}",
    }
