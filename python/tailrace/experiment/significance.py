"""Whether the trials of a scenario can decide its comparisons, which is known before any of them has run."""

from tailrace.experiment.looks import trials_most
from tailrace.results.compare.effect_words import few_words
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario
from tailrace.statistics import trials_to_decide
from tailrace.statistics.looks import trials_to_decide_looking


def comparisons_of(loaded: Loaded) -> int:
    """Main metrics of workloads and groups that arms have in common with the first one, at all points of a sweep."""
    first, *others = loaded.arms.values()
    points = loaded.scenario.sweep.count if loaded.scenario.sweep is not None else 1
    return points * sum(_common(first, other) for other in others)


def _common(first: Scenario, other: Scenario) -> int:
    common = first.running.keys() & other.running.keys()
    groups = {name for name, members in first.groups.items() if common & set(members)}
    if first.headline:
        return sum(one.workload in common | groups for one in first.headline)
    grouped = {member for members in first.groups.values() for member in members}
    return len(groups) + len(common - grouped)


def trials_needed(loaded: Loaded) -> int:
    """Trials of each arm with which one of its comparisons can be significant."""
    comparisons = comparisons_of(loaded)
    is_auto = loaded.scenario.experiment.is_auto
    return trials_to_decide_looking(comparisons) if is_auto else trials_to_decide(comparisons)


def too_few_words(loaded: Loaded) -> str:
    """`4 trials cannot decide 12 comparisons: 6 would`; empty where there are enough, or nothing to compare."""
    trials, comparisons, needed = trials_most(loaded.scenario.experiment), comparisons_of(loaded), trials_needed(loaded)
    if not comparisons or trials >= needed:
        return ""
    return few_words((trials, trials), comparisons, needed)
