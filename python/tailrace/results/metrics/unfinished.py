"""Censored completion times: the share of the work that was done, and the time of observation."""

from collections.abc import Sequence
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, digits_text
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.scenario.workloads.planned import planned_workloads

Summary = dict[str, Any]


def planned_work(plan: Summary) -> dict[tuple[str, str], int]:
    """By name and kind what a workload has to do in all: transactions, bytes or flows; only those that have an end."""
    found: dict[tuple[str, str], int] = {}
    for own in planned_workloads(plan):
        if own.work:
            found[own.name, own.kind] = own.work
    return found


def unfinished_of(trials: Sequence[Trial], workload: str, work: int | None) -> dict[str, Any] | None:
    """Trials in which a workload with something to do did not finish; None where all did, or it has no end."""
    found = [(trial, outcome) for trial in trials if (outcome := trial.workload(workload))]
    late = [(trial, outcome) for trial, outcome in found if outcome["completion_ps"] is None]
    if not work or not late:
        return None
    # Work that is given in bytes of random blocks is known on average only.
    done = [min(1.0, _done(outcome) / work) for _, outcome in late]
    return {
        "trials": [trial.number for trial, _ in late],
        "of": len(found),
        "after_s": min(trial.outcome["end_ps"] for trial, _ in late) / PS_PER_S,
        "mean_bound_s": sum(outcome["completion_ps"] or trial.outcome["end_ps"] for trial, outcome in found)
        / PS_PER_S
        / len(found),
        "done_share": sum(done) / len(done),
        "noun": facts_of(late[0][1]["kind"]).noun,
    }


def _done(outcome: dict[str, Any]) -> int:
    return int(outcome[facts_of(outcome["kind"]).done_key])


def unfinished_words(found: Summary) -> str:
    """`> 5 s, unfinished in 6 of 6 trials, 41 % of the transactions done`."""
    done = f"{share_text(found['done_share'])} of the {found['noun']} done"
    trials = f"unfinished in {len(found['trials'])} of {found['of']} trial{'s' * (found['of'] > 1)}"
    return f"> {digits_text(found['after_s'])} s, {trials}, {done}"


def group_words(workloads: dict[str, Summary], members: Sequence[str], noun: str) -> str:
    """`> 5 s, 6 of 6 databases unfinished, 41 % of the transactions done`; empty where all members finished."""
    late = [found for name in members if (found := workloads.get(name, {}).get("unfinished"))]
    if not late:
        return ""
    finite = [name for name in members if workloads.get(name, {}).get("planned")]
    # Members that finished did all of their work.
    shares = [(workloads[name].get("unfinished") or {"done_share": 1.0})["done_share"] for name in finite]
    whole = sum(workloads[name]["planned"] for name in finite)
    done = sum(share * workloads[name]["planned"] for share, name in zip(shares, finite, strict=True)) / whole
    nouns = {found["noun"] for found in late}
    work = f"{share_text(done)} of the {next(iter(nouns))} done" if len(nouns) == 1 else ""
    after = f"> {digits_text(max(found['after_s'] for found in late))} s"
    told = noun.removesuffix("s") if len(finite) == 1 else noun
    return ", ".join(part for part in (after, f"{len(late)} of {len(finite)} {told} unfinished", work) if part)


def unfinished_sentences(summary: Summary) -> list[str]:
    """One line for each arm in which something did not finish, or of which no valid trial."""
    sentences = []
    for arm, own in summary["arms"].items():
        words = group_words(own["workloads"], summary["workloads"], "workloads")
        if words:
            late = {
                number
                for one in own["workloads"].values()
                for number in (one["unfinished"] or {"trials": ()})["trials"]
            }
            sentences.append(
                f"{arm}: {words} ({len(late)} of {len(own['trials'])} trial{'s' * (len(own['trials']) > 1)})."
            )
        elif not own["trials"]:
            sentences.append(f"{arm}: no valid trial: {_reason(summary, arm)}.")
    return sentences


def _reason(summary: Summary, arm: str) -> str:
    reasons = [
        problem["reason"] or problem["status"] for problem in summary["run"]["problems"] if problem["arm"] == arm
    ]
    return max(set(reasons), key=reasons.count) if reasons else "no trial has run"


def share_text(share: float) -> str:
    """`41 %`; never 100 % of what was not finished."""
    percent = share * 100
    return f"{percent:.0f} %" if 1 <= percent < 99 else f"{digits_text(min(percent, 99.9), 2 if percent < 1 else 3)} %"
