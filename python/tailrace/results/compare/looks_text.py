"""Sentences about the decisions of the looks of `trials: auto`."""

from collections.abc import Sequence

from tailrace.results.compare.looks import complete_looks
from tailrace.results.directory.run_directory import Run
from tailrace.results.summary.looks import LooksSummary, Standing
from tailrace.results.summary.summary import Summary
from tailrace.statistics.looks import FIRST_LOOKS

NAMED_MAX = 3
"""Undecided comparisons that a sentence names."""
NEEDED_MAX = 10_000
"""Larger numbers of trials are not stated."""


def looks_sentence(
    found: Sequence[Standing], trials: int, trials_max: int, precision: float
) -> str:
    """The decisions after this many trials of each arm, of `trials_max` at most; 0 trials before
    the first look."""
    if not trials:
        return f"Undecided: the first look is after {FIRST_LOOKS[0]} trials of each arm."
    if not found:
        return f"After {trials} trials there is no main figure to decide on."
    left = [standing for standing in found if not standing.is_decided]
    if left:
        return (
            f"Undecided after {trials} of at most {trials_max} trials of each arm: {_named(left)}."
        )
    return f"Decided after {trials} trials of each arm: {_counted(found, precision)}."


def summarise_looks(run: Run, found: Sequence[Standing]) -> LooksSummary:
    """For the summary."""
    auto = run.manifest.auto
    assert auto is not None, "its trials were looked at"
    trials = max(complete_looks(run, run.arms), default=0)
    return LooksSummary(
        trials=trials,
        trials_max=auto.trials_max,
        precision=auto.precision,
        is_decided=bool(trials and found) and all(standing.is_decided for standing in found),
        standings=list(found),
        sentence=looks_sentence(found, trials, auto.trials_max, auto.precision),
    )


def looks_sentences(summary: Summary) -> list[str]:
    """Whether a run of `trials: auto` is decided; nothing for another run."""
    return [summary.looks.sentence] if summary.looks else []


def _counted(found: Sequence[Standing], precision: float) -> str:
    """`a difference in 1 of 3 comparisons of main metrics, the others alike within 5 %`."""
    states, margin = [standing.state for standing in found], f"{precision * 100:g} %"
    if "precise" in states:
        return f"the interval of every main figure is within ± {margin}"
    different = states.count("different")
    if not different:
        return f"main metrics are alike within {margin}"
    of = f"a difference in {different} of {len(found)} comparisons of main metrics"
    return of if different == len(found) else f"{of}, the others alike within {margin}"


def _named(left: Sequence[Standing]) -> str:
    named = "; ".join(_words(standing) for standing in left[:NAMED_MAX])
    more = len(left) - NAMED_MAX
    return named + (f"; and {more} more" if more > 0 else "") + _needed_words(left)


def _words(standing: Standing) -> str:
    of = f"{standing.arm} against {standing.baseline}" if standing.baseline else standing.arm
    takes = (
        f", whose interval takes about {standing.interval_needs} trials"
        if standing.interval_needs
        else ""
    )
    return f"{standing.what} of {standing.workload} ({of}){takes}"


def _needed_words(left: Sequence[Standing]) -> str:
    needed = [standing.trials_needed for standing in left]
    known = [trials for trials in needed if trials is not None]
    if len(known) < len(needed):
        return ""
    most = max(known)
    return (
        f"; about {most} trials would decide {'it' if len(left) == 1 else 'all'}"
        if most <= NEEDED_MAX
        else ""
    )
