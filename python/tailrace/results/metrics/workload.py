"""Summary of one workload, or of the members of a group together, in one arm."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S
from tailrace.results.metrics.blocks import summarise_blocks
from tailrace.results.metrics.definitions import SHARES, goodput_gbps, metric_of_members, metric_of_trials
from tailrace.results.metrics.latency import summarise_latency
from tailrace.results.metrics.limiting import summarise_limits
from tailrace.results.metrics.mpi import summarise_mpi
from tailrace.results.metrics.sample_summary import summarise_sample, summarise_share
from tailrace.results.metrics.storage import summarise_storage
from tailrace.results.metrics.unfinished import unfinished_of
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.statistics import jain_index

TCP_COUNTERS = (
    "segments_sent",
    "retransmits",
    "timeouts",
    "tail_loss_probes",
    "fast_recoveries",
    "spurious_retransmits",
    "out_of_order",
    "ecn_reductions",
)


REQUEST_COUNTERS = (
    "answered",
    "failed",
    "connections",
    "failed_connections",
    "lost_queries",
    "failed_calls",
    "timed_out",
)


Outcome = dict[str, Any]
Measured = Sequence[tuple[Trial, list[Outcome]]]
"""Trials with the outcomes of the workloads that are told together: one, or the members of a group."""


def summarise_workload(
    name: str, trials: Sequence[Trial], *, scale: float, work: int | None = None
) -> dict[str, Any] | None:
    """Summary over the told trials of an arm; None when no trial has the workload.

    `work` is what it has to do in all; None where it has no end.
    """
    measured = _measured(trials, [name])
    if not measured:
        return None
    return {
        "kind": measured[0][1][0]["kind"],
        **_together(measured, [name], {name: scale}),
        "scale": scale,
        "planned": work,
        "unfinished": unfinished_of(trials, name, work),
        "block_figures": summarise_blocks(trials, [name]),
        "storage_figures": summarise_storage(trials, [name]),
        "mpi_figures": summarise_mpi(trials, name),
    }


def summarise_group(
    members: Sequence[str], trials: Sequence[Trial], *, scales: Mapping[str, float], unfinished: Collection[int]
) -> dict[str, Any] | None:
    """Summary of workloads together over the trials that have all of them; None when no trial has.

    Percentiles are those of the transactions of all members, counters are their sums, and the completion is that of
    the last one. `unfinished` are the trials in which a member with an end did not reach it.
    """
    measured = _measured(trials, members)
    if not measured:
        return None
    return {
        "kinds": sorted({str(outcome["kind"]) for outcome in measured[0][1]}),
        "members": list(members),
        **_together(measured, members, scales),
        "block_figures": summarise_blocks([trial for trial, _ in measured], members),
        "storage_figures": summarise_storage([trial for trial, _ in measured], members),
        "unfinished": {"trials": sorted(unfinished)} if unfinished else None,
    }


def _measured(trials: Sequence[Trial], members: Sequence[str]) -> Measured:
    """The trials that have all of these workloads."""
    found = ((trial, [outcome for name in members if (outcome := trial.workload(name))]) for trial in trials)
    return [(trial, outcomes) for trial, outcomes in found if len(outcomes) == len(members)]


def _together(measured: Measured, members: Sequence[str], scales: Mapping[str, float]) -> dict[str, Any]:
    """What one workload and several together have."""
    trials = [trial for trial, _ in measured]
    ended = [outcomes for _, outcomes in measured if all(w["completion_ps"] is not None for w in outcomes)]
    # An average of those that finished would flatter an arm that made the others wait for ever.
    complete = ended if len(ended) == len(measured) else []
    of = {name: metric_of_trials(trials, members, name) for name in ("rate_per_s", "failed_percent", "loss_percent")}
    return {
        "trials": [trial.number for trial in trials],
        "unfinished_trials": [
            trial.number for trial, outcomes in measured if any(w["completion_ps"] is None for w in outcomes)
        ],
        "completion_s": summarise_sample([max(w["completion_ps"] for w in own) / PS_PER_S for own in complete]),
        "completion_full_scale_s": [
            max(w["completion_ps"] / PS_PER_S / scales[w["name"]] for w in own) for own in complete
        ],
        **{name: (summarise_share if name in SHARES else summarise_sample)(values) for name, values in of.items()},
        "request_counts": _requests(measured),
        "failed_attempts": _failed_attempts(measured),
        "transactions": summarise_sample([float(sum(w["transactions"] for w in own)) for _, own in measured]),
        "goodput_gbps": summarise_sample([_goodput_gbps(trial, own) for trial, own in measured]),
        "latency_ms": summarise_latency(trials, members),
        "users_jain": _users_jain(measured),
        "tcp": _tcp(measured),
        "limits": summarise_limits(members, trials),
        "datagram_bytes_mean": _datagram_bytes([outcome for _, own in measured for outcome in own]),
    }


def _goodput_gbps(trial: Trial, outcomes: Sequence[Outcome]) -> float:
    """Of all over the longest of their times."""
    if len(outcomes) == 1:
        return goodput_gbps(trial, outcomes[0])
    return metric_of_members(trial, [str(outcome["name"]) for outcome in outcomes], "goodput_gbps") or 0.0


def _datagram_bytes(outcomes: list[dict[str, Any]]) -> float | None:
    """Mean payload of the datagrams that arrived: below the mean of their distribution where the MTU cuts them."""
    arrived = [w for w in outcomes if facts_of(w["kind"]).are_datagrams_timed and w.get("latency")]
    count = sum(w["latency"]["count"] for w in arrived)
    return sum(w["goodput_bytes"] for w in arrived) / count if count else None


def _users_jain(measured: Measured) -> float | None:
    """Fairness among users by their speed (the inverse of their completion), mean over trials."""
    indices = []
    for _, own in measured:
        times = [time for workload in own for time in workload.get("user_completion_ps") or []]
        if len(times) > 1 and all(times):
            indices.append(jain_index([PS_PER_S / time for time in times]))
    known = [index for index in indices if index is not None]
    return sum(known) / len(known) if known else None


def _requests(measured: Measured) -> dict[str, float] | None:
    """Counters of requests per trial (means); None for workloads that make none."""
    counted = [summed for _, own in measured if (summed := _summed(own, "request_counts"))]
    return {key: sum(own[key] for own in counted) / len(counted) for key in REQUEST_COUNTERS} if counted else None


def _failed_attempts(measured: Measured) -> dict[str, Any] | None:
    """Attempts of transactions that the database rolled back, per trial and by error; None where none can be."""
    trials = [[w["failed_attempts"] for w in own if w.get("failed_attempts") is not None] for _, own in measured]
    counted = [own for own in trials if own]
    if not counted:
        return None
    errors = sorted({error for own in counted for attempts in own for error in attempts})
    by_error = {
        error: sum(attempts.get(error, 0) for own in counted for attempts in own) / len(counted) for error in errors
    }
    return {"mean": sum(by_error.values()), "by_error": by_error}


def _tcp(measured: Measured) -> dict[str, float | None] | None:
    """Counters per trial (means); None for one that some trial lacks: real hosts count less than modelled ones."""
    counted = [summed for _, own in measured if (summed := _summed(own, "tcp"))]
    if not counted:
        return None
    known = {key: [tcp[key] for tcp in counted if key in tcp] for key in TCP_COUNTERS}
    return {key: sum(found) / len(found) if len(found) == len(counted) else None for key, found in known.items()}


def _summed(outcomes: Sequence[Outcome], part: str) -> dict[str, Any] | None:
    """Sums of the counters that all workloads with this part have; None where none has the part."""
    parts = [outcome[part] for outcome in outcomes if outcome.get(part)]
    if len(parts) < 2:
        return parts[0] if parts else None
    return {key: sum(own[key] for own in parts) for key in parts[0] if _is_counter(key, parts)}


def _is_counter(key: str, parts: Sequence[Outcome]) -> bool:
    return all(isinstance(own.get(key), int | float) for own in parts)
