"""Summary of one workload, or of the members of a group together, in one arm."""

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import asdict

from tailrace.outcome.types import RequestCounts, Tcp, Workload
from tailrace.results.causes.verdict import path_limits
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S
from tailrace.results.kinds.blocks import summarise_blocks
from tailrace.results.kinds.mpi import summarise_mpi
from tailrace.results.kinds.storage import summarise_storage
from tailrace.results.metrics.definitions import goodput_gbps, metric_of_members, metric_of_trials
from tailrace.results.metrics.flow_slowdown import summarise_flow_slowdown
from tailrace.results.metrics.latency import summarise_latency, workloads_of
from tailrace.results.metrics.limiting import summarise_limits
from tailrace.results.metrics.sample_summary import summarise_sample, summarise_share
from tailrace.results.metrics.unfinished import unfinished_of
from tailrace.results.summary.causes import Explained
from tailrace.results.summary.workload import (
    FailedAttempts,
    GroupSummary,
    GroupUnfinished,
    RequestMeans,
    Slowdown,
    SubjectSummary,
    TcpMeans,
    WorkloadSummary,
)
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.statistics import jain_index

TCP_COUNTERS = TcpMeans.__struct_fields__
REQUEST_COUNTERS = RequestMeans.__struct_fields__

Measured = Sequence[tuple[Trial, list[Workload]]]
"""Trials with the outcomes of workloads that share a row: one, or the members of a group."""


def summarise_workload(
    name: str,
    trials: Sequence[Trial],
    *,
    scale: float,
    work: int | None = None,
    slowdown: Slowdown | None = None,
    explained: Explained | None = None,
) -> WorkloadSummary | None:
    """Summary over the trials with outcome of an arm; None when no trial has the workload.

    `work` is its total work; None where it has no end.
    """
    measured = _measured(trials, [name])
    if not measured:
        return None
    unfinished = unfinished_of(trials, name, work)
    return WorkloadSummary(
        **asdict(_together(measured, [name], {name: scale}, explained, unfinished, slowdown)),
        kind=measured[0][1][0].kind,
        scale=scale,
        planned=work,
        mpi_figures=summarise_mpi(trials, [name]),
    )


def summarise_group(
    members: Sequence[str],
    trials: Sequence[Trial],
    *,
    scales: Mapping[str, float],
    unfinished: Collection[int],
    explained: Explained | None = None,
) -> GroupSummary | None:
    """Summary of workloads together over the trials that have all of them; None when no trial has.

    Percentiles are those of the transactions of all members, counters are their sums, and the
    completion is that of the last one. `unfinished` are the trials in which a member with an end
    did not reach it.
    """
    measured = _measured(trials, members)
    if not measured:
        return None
    late = GroupUnfinished(trials=sorted(unfinished)) if unfinished else None
    return GroupSummary(
        **asdict(_together(measured, members, scales, explained, late)),
        kinds=sorted({own.kind for own in measured[0][1]}),
        members=list(members),
    )


def _measured(trials: Sequence[Trial], members: Sequence[str]) -> Measured:
    """The trials that have all of these workloads."""
    found = ((trial, workloads_of(trial, members)) for trial in trials)
    return [(trial, outcomes) for trial, outcomes in found if len(outcomes) == len(members)]


def _together(
    measured: Measured,
    members: Sequence[str],
    scales: Mapping[str, float],
    explained: Explained | None,
    unfinished: GroupUnfinished | None,
    slowdown: Slowdown | None = None,
) -> SubjectSummary:
    """Fields that one workload and several together have."""
    trials = [trial for trial, _ in measured]
    ends = _ends(measured)
    counted = summarise_limits(members, trials)
    waits = any(facts_of(own.kind).latency for own in measured[0][1])
    by_path = path_limits(explained, members) if waits else None
    has_sizes = any(facts_of(own.kind).has_slowdown_by_size for own in measured[0][1])
    return SubjectSummary(
        trials=[trial.number for trial in trials],
        unfinished_trials=[
            trial.number for trial, of in measured if any(own.completion_ps is None for own in of)
        ],
        completion_s=summarise_sample([max(of.values()) / PS_PER_S for of in ends]),
        completion_full_scale_s=[
            max(ps / PS_PER_S / scales[name] for name, ps in of.items()) for of in ends
        ],
        rate_per_s=summarise_sample(metric_of_trials(trials, members, "rate_per_s")),
        failed_percent=summarise_share(metric_of_trials(trials, members, "failed_percent")),
        loss_percent=summarise_share(metric_of_trials(trials, members, "loss_percent")),
        request_counts=_requests(measured),
        failed_attempts=_failed_attempts(measured),
        transactions=summarise_sample(
            [float(sum(own.transactions for own in of)) for _, of in measured]
        ),
        goodput_gbps=summarise_sample([_goodput_gbps(trial, own) for trial, own in measured]),
        latency_ms=summarise_latency(trials, members),
        users_jain=_users_jain(measured),
        tcp=_tcp(measured),
        limits=by_path or counted,
        connection_limits=counted if by_path else None,
        datagram_bytes_mean=_datagram_bytes([own for _, of in measured for own in of]),
        block_figures=summarise_blocks(trials, members),
        storage_figures=summarise_storage(trials, members),
        slowdown=slowdown,
        flow_slowdown=summarise_flow_slowdown(trials, members) if has_sizes else None,
        causes=explained,
        unfinished=unfinished,
    )


def _ends(measured: Measured) -> list[dict[str, int]]:
    """By trial, the completion time of each workload.

    None are known unless all workloads of the trial finished: an average of the finished ones would
    favour an arm that never completed the others.
    """
    ends = [
        {own.name: own.completion_ps for own in of if own.completion_ps is not None}
        for _, of in measured
    ]
    is_whole = all(len(known) == len(of) for known, (_, of) in zip(ends, measured, strict=True))
    return ends if is_whole else []


def _goodput_gbps(trial: Trial, outcomes: Sequence[Workload]) -> float:
    """Of all over the longest of their times."""
    if len(outcomes) == 1:
        return goodput_gbps(trial, outcomes[0])
    return metric_of_members(trial, [own.name for own in outcomes], "goodput_gbps") or 0.0


def _datagram_bytes(outcomes: Sequence[Workload]) -> float | None:
    """Mean payload of the datagrams that arrived: below the mean of their distribution where the
    MTU cuts them."""
    arrived = [
        (own, own.latency.count)
        for own in outcomes
        if facts_of(own.kind).are_datagrams_timed and own.latency
    ]
    count = sum(counted for _, counted in arrived)
    return sum(own.goodput_bytes for own, _ in arrived) / count if count else None


def _users_jain(measured: Measured) -> float | None:
    """Fairness among users by their speed (the inverse of their completion), mean over trials."""
    indices = []
    for _, of in measured:
        times = [time for own in of for time in own.user_completion_ps]
        known = [time for time in times if time]
        if len(times) > 1 and len(known) == len(times):
            indices.append(jain_index([PS_PER_S / time for time in known]))
    means = [index for index in indices if index is not None]
    return sum(means) / len(means) if means else None


def _requests(measured: Measured) -> RequestMeans | None:
    """Means over the trials that have workloads with requests."""
    counted = [
        found
        for _, of in measured
        if (found := [own.request_counts for own in of if own.request_counts])
    ]
    return (
        RequestMeans(**{key: _mean_count(counted, key) or 0.0 for key in REQUEST_COUNTERS})
        if counted
        else None
    )


def _failed_attempts(measured: Measured) -> FailedAttempts | None:
    """Means over the trials of databases that roll back."""
    trials = [
        [own.failed_attempts for own in of if own.failed_attempts is not None] for _, of in measured
    ]
    counted = [own for own in trials if own]
    if not counted:
        return None
    errors = sorted({error for own in counted for attempts in own for error in attempts})
    by_error = {
        error: sum(attempts.get(error, 0) for own in counted for attempts in own) / len(counted)
        for error in errors
    }
    return FailedAttempts(mean=sum(by_error.values()), by_error=by_error)


def _tcp(measured: Measured) -> TcpMeans | None:
    """Means over the trials that have connections."""
    counted = [found for _, of in measured if (found := [own.tcp for own in of if own.tcp])]
    return TcpMeans(**{key: _mean_count(counted, key) for key in TCP_COUNTERS}) if counted else None


def _mean_count(
    trials: Sequence[Sequence[RequestCounts] | Sequence[Tcp]], key: str
) -> float | None:
    """A counter of all workloads of a trial together, mean over trials; None where one of them
    lacks it."""
    counts = [getattr(own, key) for of in trials for own in of]
    return None if None in counts else sum(counts) / len(trials)
