"""Summary of one workload in one arm."""

from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S
from tailrace.results.metrics.blocks import summarise_blocks
from tailrace.results.metrics.definitions import goodput_gbps, metric_of_trials
from tailrace.results.metrics.latency import FIGURES, latency_of_trial, pooled_latency
from tailrace.results.metrics.limiting import summarise_limits
from tailrace.results.metrics.mpi import summarise_mpi
from tailrace.results.metrics.sample_summary import summarise_figure, summarise_sample
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


def summarise_workload(
    name: str, trials: list[Trial], *, scale: float, work: int | None = None
) -> dict[str, Any] | None:
    """Summary over the told trials of an arm; None when no trial has the workload.

    `work` is what it has to do in all; None where it has no end.
    """
    found = [(trial, workload) for trial in trials if (workload := trial.workload(name))]
    if not found:
        return None
    outcomes = [workload for _, workload in found]
    completion = [w["completion_ps"] for w in outcomes]
    times_s = [ps / PS_PER_S for ps in completion if ps is not None]
    # An average of those that finished would flatter an arm that made the others wait for ever.
    is_complete = len(times_s) == len(completion)
    return {
        "kind": outcomes[0]["kind"],
        "trials": [trial.number for trial, _ in found],
        "unfinished_trials": [trial.number for trial, w in found if w["completion_ps"] is None],
        "completion_s": summarise_sample(times_s if is_complete else []),
        "completion_full_scale_s": [time_s / scale for time_s in times_s] if is_complete else [],
        "scale": scale,
        "planned": work,
        "unfinished": unfinished_of(trials, name, work),
        "rate_per_s": summarise_sample(metric_of_trials([trial for trial, _ in found], [name], "rate_per_s")),
        "failed_percent": summarise_sample(metric_of_trials([trial for trial, _ in found], [name], "failed_percent")),
        "request_counts": _requests(outcomes),
        "failed_attempts": _failed_attempts(outcomes),
        "block_figures": summarise_blocks(trials, name),
        "storage_figures": summarise_storage(trials, name),
        "mpi_figures": summarise_mpi(trials, name),
        "loss_percent": summarise_sample(metric_of_trials([trial for trial, _ in found], [name], "loss_percent")),
        "transactions": summarise_sample([float(w["transactions"]) for w in outcomes]),
        "goodput_gbps": summarise_sample([goodput_gbps(trial, w) for trial, w in found]),
        "latency_ms": _latency(name, found),
        "users_jain": _users_jain(outcomes),
        "tcp": _tcp(outcomes),
        "limits": summarise_limits(name, [trial for trial, _ in found]),
        "datagram_bytes_mean": _datagram_bytes(outcomes),
    }


def _datagram_bytes(outcomes: list[dict[str, Any]]) -> float | None:
    """Mean payload of the datagrams that arrived: below the mean of their distribution where the MTU cuts them."""
    arrived = [w for w in outcomes if facts_of(w["kind"]).are_datagrams_timed and w.get("latency")]
    count = sum(w["latency"]["count"] for w in arrived)
    return sum(w["goodput_bytes"] for w in arrived) / count if count else None


def _latency(name: str, measured: list[tuple[Trial, dict[str, Any]]]) -> dict[str, Any] | None:
    """Percentiles of all trials' latencies together, and each trial's own for the intervals."""
    summary = pooled_latency([outcome for _, outcome in measured])
    if summary is None:
        return None
    over_trials = {}
    for key in FIGURES:
        found = [figure for trial, _ in measured if (figure := latency_of_trial(trial, [name], key))]
        over_trials[key] = summarise_figure([figure.ms for figure in found], sum(figure.is_bound for figure in found))
    return summary | {"over_trials": over_trials}


def _users_jain(outcomes: list[dict[str, Any]]) -> float | None:
    """Fairness among the users of a workload by their speed (the inverse of their completion), mean over trials."""
    indices = []
    for workload in outcomes:
        times = workload.get("user_completion_ps") or []
        if len(times) > 1 and all(times):
            indices.append(jain_index([PS_PER_S / time for time in times]))
    known = [index for index in indices if index is not None]
    return sum(known) / len(known) if known else None


def _requests(outcomes: list[dict[str, Any]]) -> dict[str, float] | None:
    """Counters of requests per trial (means); None for a workload that makes none."""
    counted = [w["request_counts"] for w in outcomes if w.get("request_counts")]
    return {key: sum(own[key] for own in counted) / len(counted) for key in REQUEST_COUNTERS} if counted else None


def _failed_attempts(outcomes: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Attempts of transactions that the database rolled back, per trial and by error; None where none can be."""
    counted = [w["failed_attempts"] for w in outcomes if w.get("failed_attempts") is not None]
    if not counted:
        return None
    errors = sorted({error for own in counted for error in own})
    by_error = {error: sum(own.get(error, 0) for own in counted) / len(counted) for error in errors}
    return {"mean": sum(by_error.values()), "by_error": by_error}


def _tcp(outcomes: list[dict[str, Any]]) -> dict[str, float | None] | None:
    """Counters per trial (means); None for one that some trial lacks: real hosts count less than modelled ones."""
    counted = [w["tcp"] for w in outcomes if w.get("tcp")]
    if not counted:
        return None
    known = {key: [tcp[key] for tcp in counted if key in tcp] for key in TCP_COUNTERS}
    return {key: sum(found) / len(found) if len(found) == len(counted) else None for key, found in known.items()}
