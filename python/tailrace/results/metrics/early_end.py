"""Trials that ended with their work, long before the scenario's duration: the other workloads were
measured for that short time only."""

from collections.abc import Sequence

from tailrace.errors import listed
from tailrace.plan.types import Plan
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, span_text
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import EarlyEnd

EARLY_SHARE = 0.1
"""A trial that ends before this share of the duration is reported. Most durations are limits with a
margin."""


def early_end_of(trials: Sequence[Trial], plan: Plan) -> EarlyEnd | None:
    """Trials of an arm that ended with less than `EARLY_SHARE` of their duration, which is that of
    the scale of the run; None where none did.
    """
    duration_ps = plan.stop_at_ps
    if not duration_ps:
        return None
    limit_ps = EARLY_SHARE * duration_ps
    ended = [trial.outcome.end_ps for trial in trials if not trial.is_unfinished]
    ends_ps = [end_ps for end_ps in ended if end_ps < limit_ps]
    if not ends_ps:
        return None
    return EarlyEnd(
        trials=len(ends_ps),
        of=len(trials),
        first_s=min(ends_ps) / PS_PER_S,
        last_s=max(ends_ps) / PS_PER_S,
        duration_s=duration_ps / PS_PER_S,
    )


def early_end_sentences(summary: Summary) -> list[str]:
    """One sentence for the arms of which the same is true; of a sweep one for all its points."""
    if summary.sweep is not None:
        return _of_sweep(summary)
    arms_of: dict[str, list[str]] = {}
    for arm, own in summary.arms.items():
        if own.early_end:
            arms_of.setdefault(_words(own.early_end), []).append(arm)
    return [f"{listed(arms)}: {words}." for words, arms in arms_of.items()]


def _of_sweep(summary: Summary) -> list[str]:
    """`Trials at 3 of 20 points ended when all work was done, ...`; arms of a sweep are those of
    its points."""
    points = summary.swept.points
    of_point = [(f"{arm}@{point.label}", point) for point in points for arm in summary.swept.arms]
    found = [
        (of_arm.early_end, arm.partition("@")[0], point.label)
        for arm, point in of_point
        if (of_arm := summary.arms.get(arm)) and of_arm.early_end
    ]
    if not found:
        return []
    shortest, arm, label = min(found, key=lambda one: one[0].first_s)
    first, duration = (
        span_text(span_s * PS_PER_S) for span_s in (shortest.first_s, shortest.duration_s)
    )
    count = len({label for _, _, label in found})
    return [
        f"Trials at {count} of {len(points)} point{'s' * (len(points) != 1)} ended within "
        f"{100 * EARLY_SHARE:.0f} % of the duration, when all work was done: the shortest after "
        f"{first} of {duration}, {arm} at {label}."
    ]


def _words(found: EarlyEnd) -> str:
    """`the trials ended when all work was done, after 5 ms of 900 ms`."""
    trials, of = found.trials, found.of
    whose = (
        "the trials"
        if trials == of > 1
        else "the trial"
        if trials == of
        else f"{trials} of {of} trials"
    )
    first, last = (span_text(span_s * PS_PER_S) for span_s in (found.first_s, found.last_s))
    after = first if first == last else f"{first} to {last}"
    duration = span_text(found.duration_s * PS_PER_S)
    # The others may have ended with their work too, and not so early.
    early = "" if trials == of else f"within {100 * EARLY_SHARE:.0f} % of the duration, "
    return f"{whose} ended {early}when all work was done, after {after} of {duration}"
