"""Censored completion times: the share of the work that was done, and the time of observation."""

from collections.abc import Mapping, Sequence

from tailrace.outcome.types import Workload
from tailrace.plan.types import Plan
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, digits_text
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import Unfinished, WorkloadSummary
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.scenario.workloads.planned import workloads_of


def planned_work(plan: Plan) -> dict[tuple[str, str], int]:
    """Total work of a workload by name and kind (transactions, bytes or flows); only workloads with
    an end."""
    found: dict[tuple[str, str], int] = {}
    for own in workloads_of(plan):
        if own.work:
            found[own.name, own.kind] = own.work
    return found


def unfinished_of(trials: Sequence[Trial], workload: str, work: int | None) -> Unfinished | None:
    """Trials in which a workload with something to do did not finish; None where all did, or it has
    no end."""
    found = [(trial, outcome) for trial in trials if (outcome := trial.workloads.get(workload))]
    late = [(trial, outcome) for trial, outcome in found if outcome.completion_ps is None]
    if not work or not late:
        return None
    # Work that is given in bytes of random blocks is known on average only.
    done = [min(1.0, _done(outcome) / work) for _, outcome in late]
    bounds_ps = [outcome.completion_ps or trial.outcome.end_ps for trial, outcome in found]
    return Unfinished(
        trials=[trial.number for trial, _ in late],
        of=len(found),
        after_s=min(trial.outcome.end_ps for trial, _ in late) / PS_PER_S,
        mean_bound_s=sum(bounds_ps) / PS_PER_S / len(found),
        done_share=sum(done) / len(done),
        noun=facts_of(late[0][1].kind).noun,
    )


def _done(outcome: Workload) -> int:
    is_in_bytes = facts_of(outcome.kind).done_key == "goodput_bytes"
    return outcome.goodput_bytes if is_in_bytes else outcome.transactions


def unfinished_words(found: Unfinished) -> str:
    """`> 5 s, unfinished in 6 of 6 trials, 41 % of the transactions done`."""
    done = f"{share_text(found.done_share)} of the {found.noun} done"
    trials = f"unfinished in {len(found.trials)} of {found.of} trial{'s' * (found.of > 1)}"
    return f"> {digits_text(found.after_s)} s, {trials}, {done}"


def group_words(workloads: Mapping[str, WorkloadSummary], members: Sequence[str], noun: str) -> str:
    """`> 5 s, 6 of 6 databases unfinished, 41 % of the transactions done`; empty where all members
    finished."""
    listed = [own for name in members if (own := workloads.get(name))]
    late = [own.unfinished for own in listed if own.unfinished]
    if not late:
        return ""
    finite = [(own, own.planned) for own in listed if own.planned]
    # Members that finished did all of their work.
    done = sum(
        (own.unfinished.done_share if own.unfinished else 1.0) * planned for own, planned in finite
    )
    share = done / sum(planned for _, planned in finite)
    nouns = {found.noun for found in late}
    work = f"{share_text(share)} of the {next(iter(nouns))} done" if len(nouns) == 1 else ""
    after = f"> {digits_text(max(found.after_s for found in late))} s"
    word = noun.removesuffix("s") if len(finite) == 1 else noun
    return ", ".join(
        part for part in (after, f"{len(late)} of {len(finite)} {word} unfinished", work) if part
    )


def unfinished_sentences(summary: Summary) -> list[str]:
    """One line for each arm in which something did not finish, or of which no valid trial."""
    sentences = []
    for arm, own in summary.arms.items():
        workloads: dict[str, WorkloadSummary] = own.workloads
        words = group_words(workloads, summary.workloads, "workloads")
        if words:
            late = {
                number
                for one in workloads.values()
                if one.unfinished
                for number in one.unfinished.trials
            }
            sentences.append(
                f"{arm}: {words} ({len(late)} of {len(own.trials)} "
                f"trial{'s' * (len(own.trials) > 1)})."
            )
        elif not own.trials:
            sentences.append(f"{arm}: no valid trial: {_reason(summary, arm)}.")
    return sentences


def _reason(summary: Summary, arm: str) -> str:
    reasons = [
        problem.reason or problem.status for problem in summary.run.problems if problem.arm == arm
    ]
    return max(set(reasons), key=reasons.count) if reasons else "no trial has run"


def share_text(share: float) -> str:
    """`41 %`; never 100 % for unfinished work."""
    percent = share * 100
    return (
        f"{percent:.0f} %"
        if 1 <= percent < 99
        else f"{digits_text(min(percent, 99.9), 2 if percent < 1 else 3)} %"
    )
