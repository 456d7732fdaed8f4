"""Short facts about a run, below the headline of its report."""

from dataclasses import dataclass
from typing import Literal

from tailrace.results.compare.kinds import asked_for, count_text
from tailrace.results.summary.summary import RunFacts, Summary


@dataclass(frozen=True)
class Fact:
    """A short fact about a run."""

    text: str
    tone: Literal["good", "bad", ""] = ""


def facts(summary: Summary) -> list[Fact]:
    """Short facts about the run."""
    run = summary.run
    listed = [Fact("partial run", "bad")] if run.is_partial else []
    listed.append(Fact(_engine(run)))
    if any(arm.deadlocks for arm in summary.arms.values()):
        listed.append(Fact("deadlock", "bad"))
    if summary.expectations:
        is_good = all(judged.passed is True for judged in asked_for(summary.expectations))
        listed.append(Fact(count_text(summary.expectations), "good" if is_good else "bad"))
    counts = sorted({len(arm.trials) - len(arm.unfinished_trials) for arm in summary.arms.values()})
    trials = (
        " to ".join(str(count) for count in dict.fromkeys([counts[0], counts[-1]]))
        if counts
        else "no"
    )
    words = f"{trials} valid trial{'' if trials == '1' else 's'} per arm"
    listed.append(Fact(words, "" if counts and counts[0] else "bad"))
    if looks := summary.looks:
        listed.append(Fact(looks.sentence, "good" if looks.is_decided else ""))
    unfinished = sum(len(arm.unfinished_trials) for arm in summary.arms.values())
    if unfinished:
        listed.append(Fact(f"{unfinished} trial{'s' * (unfinished > 1)} unfinished", "bad"))
    if run.live_scale != 1:
        listed.append(Fact(f"rates, queues and users divided by {run.live_scale}"))
    if run.scale != 1:
        listed.append(Fact(f"{_fraction(run.scale)} of the full counts, same rates"))
    return listed


def _engine(run: RunFacts) -> str:
    """The engine of a run, in words."""
    if run.engine == "exact":
        release = (run.versions or {}).get("host_kernel", "")
        return f"exact: hosts with Linux {release}".rstrip() + " in virtual time"
    return {"live": "live: real programs on this machine"}.get(run.engine, "simulated")


def _fraction(scale: float) -> str:
    """`1/20` where the scale is such a fraction."""
    return (
        f"1/{round(1 / scale)}"
        if scale < 1 and abs(1 / scale - round(1 / scale)) < 1e-6
        else f"{scale:g}"
    )
