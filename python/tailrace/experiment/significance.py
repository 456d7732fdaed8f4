"""Whether the trials of a scenario can decide its comparisons, which is known before any of them
has run."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from tailrace.experiment.looks import trials_most
from tailrace.results.compare.effect_words import few_words
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario
from tailrace.statistics import trials_to_decide
from tailrace.statistics.looks import trials_to_decide_looking


def comparisons_of(loaded: Loaded) -> int:
    """Main metrics of workloads and groups that arms have in common with the baseline, at all
    points of a sweep.

    Of a group both arms run all members that any arm runs.
    """
    baseline = loaded.arms[loaded.scenario.baseline_among(list(loaded.arms))]
    points = loaded.scenario.sweep.count if loaded.scenario.sweep is not None else 1
    running = {name for arm in loaded.arms.values() for name in arm.running}
    members = {name: running.intersection(own) for name, own in baseline.groups.items()}
    return points * sum(
        _common(baseline, arm, members) for arm in loaded.arms.values() if arm is not baseline
    )


def _common(baseline: Scenario, arm: Scenario, members: Mapping[str, AbstractSet[str]]) -> int:
    common = baseline.running.keys() & arm.running.keys()
    groups = {name for name, own in members.items() if own and own <= common}
    if baseline.headline:
        return sum(one.workload in common | groups for one in baseline.headline)
    return len(groups) + len(common.difference(*members.values()))


def trials_needed(loaded: Loaded) -> int:
    """Trials of each arm with which one of its comparisons can be significant."""
    comparisons = comparisons_of(loaded)
    is_auto = loaded.scenario.experiment.is_auto
    return trials_to_decide_looking(comparisons) if is_auto else trials_to_decide(comparisons)


def too_few_words(loaded: Loaded) -> str:
    """`4 trials cannot decide 12 comparisons: 6 would`; empty where there are enough, or nothing to
    compare."""
    trials, comparisons, needed = (
        trials_most(loaded.scenario.experiment),
        comparisons_of(loaded),
        trials_needed(loaded),
    )
    if not comparisons or trials >= needed:
        return ""
    return few_words((trials, trials), comparisons, needed)
