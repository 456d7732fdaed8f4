"""Which figures results of a scenario can have: a goal without one is refused before the first
trial."""

from tailrace.errors import RunRefusedError, closest
from tailrace.scenario.goal import SHORT, Goal, read_goal, short_of
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.text.units import QuantityError
from tailrace.scenario.workloads.facts import LATENCY
from tailrace.scenario.workloads.kinds import facts_of


def parse_goal(text: str, scenario: Scenario, option: str = "--goal") -> Goal:
    """The goal of an option; raises `RunRefusedError` for one whose figure no trial of the scenario
    can have."""
    try:
        goal = read_goal(text)
        refuse_without_figure(goal, scenario)
    except QuantityError as error:
        raise RunRefusedError(f"{option} '{text}': {error.what} (hint: {error.hint})") from None
    return goal


def refuse_without_figure(goal: Goal, scenario: Scenario) -> None:
    """Raises `QuantityError` where the scenario has no such workload, or its results never have the
    figure."""
    known = [*scenario.running, *scenario.groups]
    if goal.subject not in known:
        what = f"there is no workload '{goal.subject}'"
        raise QuantityError(what, closest(goal.subject, known, "workloads and groups"))
    if has_figure(scenario, goal.subject, goal.metric):
        return
    name = next(
        name
        for name in scenario.members(goal.subject)
        if not scenario.has_metric(name, goal.metric)
    )
    kind, short = scenario.workloads[name].kind, short_of(goal.metric)
    what = f"'{name}' is of kind {kind}, which has no {short}"
    if facts_of(kind).has_metric(goal.metric):
        what = f"'{name}' has no end, and so no {short}"
    has = [short for short, metric in SHORT.items() if has_figure(scenario, goal.subject, metric)]
    raise QuantityError(what, f"{goal.subject} has {', '.join(has)}")


def has_figure(scenario: Scenario, subject: str, metric: str) -> bool:
    """Whether results of a workload or group can have a metric. Latencies are pooled: one member is
    enough."""
    has = [scenario.has_metric(name, metric) for name in scenario.members(subject)]
    return any(has) if metric.startswith(LATENCY) else bool(has) and all(has)
