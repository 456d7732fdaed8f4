"""Metrics of a workload in one trial, and the choice of its main metric."""

from collections.abc import Iterable, Sequence

from tailrace.outcome.types import Workload
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.format.numbers import PS_PER_S
from tailrace.results.metrics.latency import latency_of_trial, workloads_of
from tailrace.scenario.goal import METRICS as GOALS
from tailrace.scenario.goal import unit_of
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.statistics import Estimate

ASKED = frozenset({"latency_p90_ms", "latency_p95_ms"})
"""Metrics that are compared between arms where the headline names them."""
METRICS = tuple(metric for metric in GOALS if metric not in ASKED)
"""Metrics that are compared between arms for every workload that has them."""
NAMES: dict[str, str] = {
    "completion_s": "completion time",
    "goodput_gbps": "goodput",
    "latency_mean_ms": "mean latency",
    "latency_p50_ms": "median latency",
    "latency_p90_ms": "90th percentile of latency",
    "latency_p95_ms": "95th percentile of latency",
    "latency_p99_ms": "99th percentile of latency",
    "latency_p99_9_ms": "99.9th percentile of latency",
    "loss_percent": "loss",
    "timeouts": "retransmission timeouts",
    "failed_percent": "failed requests",
}
"""Names of metrics, except that of the rate: `name_of`."""
PLURAL = frozenset({"rate_per_s", "timeouts", "failed_percent"})
"""Metrics whose names are plural."""
SHARES = frozenset({"loss_percent", "failed_percent"})
"""Metrics between 0 and 100 %, which are compared by their difference in points."""
PER_TIME = frozenset({"goodput_gbps", "rate_per_s"})


def compared_metrics(chosen: Sequence[str]) -> list[str]:
    """Metrics by which a workload is compared, with its chosen ones."""
    return list(dict.fromkeys((*METRICS, *chosen)))


def noun_of(kinds: Iterable[str]) -> str:
    """Noun for the unit of these workloads' rates: `transactions`, `requests`, or both."""
    counted = {facts.noun for kind in kinds if (facts := facts_of(kind)).has_metric("rate_per_s")}
    return " or ".join(sorted(counted, reverse=True)) or "transactions"


def name_of(metric: str, noun: str) -> str:
    """`requests per second`; the names of other metrics do not depend on the noun."""
    return f"{noun} per second" if metric == "rate_per_s" else NAMES[metric]


def title_of(metric: str, noun: str) -> str:
    """`median latency, ms`: the name with the unit."""
    name, unit = name_of(metric, noun), unit_of(metric)
    return f"{name}, {unit}" if unit else name


def metric_of_members(trial: Trial, members: Sequence[str], metric: str) -> float | None:
    """One number for workloads together; None where one of them lacks it.

    Rates and goodput are the sum of their work over the longest of their times: a workload that
    finishes early has no rate afterwards. Waits and losses are pooled.
    """
    found = workloads_of(trial, members)
    if not found or len(found) < len(members):
        return None
    if metric.startswith("latency_"):
        figure = _latency(trial, members, metric)
        return figure.ms if figure else None
    if metric == "loss_percent":
        return _loss_percent(trial, found)
    if metric == "failed_percent":
        return _failed_percent(found)
    values = [_own(trial, outcome, metric) for outcome in found]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if metric == "completion_s":
        return max(known)
    if metric not in PER_TIME:
        return sum(known)
    times_ps = [counted_ps(trial, outcome) for outcome in found]
    longest_ps = max(times_ps)
    return (
        sum(value * time / longest_ps for value, time in zip(known, times_ps, strict=True))
        if longest_ps
        else 0.0
    )


def _own(trial: Trial, outcome: Workload, metric: str) -> float | None:
    """A number of one workload that is no percentile and no share."""
    match metric:
        case "goodput_gbps":
            return goodput_gbps(trial, outcome)
        case "rate_per_s":
            return _rate_per_s(trial, outcome)
        case "timeouts":
            timeouts = outcome.tcp.timeouts if outcome.tcp else None
            return None if timeouts is None else float(timeouts)
        case "completion_s":
            return outcome.completion_ps / PS_PER_S if outcome.completion_ps is not None else None
        case _:
            raise AssertionError(f"{metric} is not a workload metric")


def bounds_of_trials(trials: Sequence[Trial], members: Sequence[str], metric: str) -> int:
    """Number of trials in which the figure is a lower bound, because transactions were censored."""
    if not metric.startswith("latency_"):
        return 0
    figures = [_latency(trial, members, metric) for trial in trials]
    return sum(figure.is_bound for figure in figures if figure)


def key_of_latency(metric: str) -> str | None:
    """`p99` of `latency_p99_ms`; None for a metric that is no latency."""
    return (
        metric.removeprefix("latency_").removesuffix("_ms")
        if metric.startswith("latency_")
        else None
    )


def _latency(trial: Trial, members: Sequence[str], metric: str) -> Estimate | None:
    key = key_of_latency(metric)
    return latency_of_trial(trial, members, key) if key else None


def metric_of_trials(trials: Sequence[Trial], members: Sequence[str], metric: str) -> list[float]:
    """One number per trial, or none at all where a trial has none: the rest would be a biased
    choice."""
    values = [metric_of_members(trial, members, metric) for trial in trials]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def main_metric(run: Run, members: Sequence[str], *, is_group: bool = False) -> str | None:
    """The first choice that all arms with the workload, or with all members of the group, have in
    all their trials.

    Workloads of several kinds have their goodput in common.
    """
    trials_of_arms = [run.with_outcome(arm) for arm in run.arms]
    trials = [
        found
        for found in trials_of_arms
        if all(any(name in trial.workloads for trial in found) for name in members)
    ]
    kinds = run.kinds_of(members)
    choices = facts_of(next(iter(kinds))).main_metrics if len(kinds) == 1 else ("goodput_gbps",)
    if is_group:  # a group has no completion of its own: its main metric is a rate
        choices = tuple(metric for metric in choices if metric != "completion_s")
    return next(
        (m for m in choices if trials and all(metric_of_trials(t, members, m) for t in trials)),
        None,
    )


def goodput_gbps(trial: Trial, outcome: Workload) -> float:
    """Application bytes over the time in which they were counted."""
    time_ps = counted_ps(trial, outcome)
    # Bytes per picosecond are Tbyte/s: 8000 Gbit/s.
    return float(outcome.goodput_bytes * 8_000 / time_ps) if time_ps else 0.0


def counted_ps(trial: Trial, outcome: Workload) -> int:
    """Time for which a workload was counted: until its completion, or from the end of the warm-up
    to the end of the trial.
    """
    return outcome.completion_ps or trial.outcome.end_ps - outcome.counted_from_ps


def _rate_per_s(trial: Trial, outcome: Workload) -> float | None:
    """Transactions per second of a closed loop, over its completion or the whole trial."""
    time_ps = counted_ps(trial, outcome)
    has_rate = facts_of(outcome.kind).has_metric("rate_per_s")
    return float(outcome.transactions * PS_PER_S / time_ps) if has_rate and time_ps else None


def _failed_percent(outcomes: Sequence[Workload]) -> float | None:
    """Failed requests in percent of ended ones; None where a workload has none."""
    counted = [outcome.request_counts for outcome in outcomes if outcome.request_counts]
    ended = sum(requests.answered + requests.failed for requests in counted)
    failed = sum(requests.failed for requests in counted)
    return 100 * failed / ended if ended and len(counted) == len(outcomes) else None


def _loss_percent(trial: Trial, outcomes: Sequence[Workload]) -> float | None:
    """Lost frames with data in percent: frames that TCP retransmitted, or datagrams that found no
    room."""
    counted = [_lost_of(trial, outcome) for outcome in outcomes]
    known = [pair for pair in counted if pair is not None]
    sent = sum(pair[1] for pair in known)
    return (
        100 * sum(pair[0] for pair in known) / sent if sent and len(known) == len(counted) else None
    )


def _lost_of(trial: Trial, outcome: Workload) -> tuple[int, int] | None:
    """Lost and sent frames of one workload; None where no counter has them."""
    facts = facts_of(outcome.kind)
    if facts.protocol == "udp":
        return _lost_datagrams(trial, outcome) if facts.are_datagrams_timed else None
    tcp = outcome.tcp
    if tcp is None or tcp.retransmits is None or not tcp.segments_sent:
        return None
    # Data that the receiver already had was not lost: a probe, or a segment that another overtook.
    return max(0, tcp.retransmits - (tcp.spurious_retransmits or 0)), tcp.segments_sent


def _lost_datagrams(trial: Trial, outcome: Workload) -> tuple[int, int] | None:
    """Datagrams of a workload that switches dropped; by the counts of its own ends where switches
    cannot distinguish it from another.

    Switches count from the end of the warm-up, the ends of `frames` in the whole trial. None where
    no counter has them.
    """
    lost = _dropped_frames(trial, outcome.name)
    if lost is None:
        counts = outcome.datagrams
        return (counts.sent - counts.delivered, counts.sent) if counts else None
    if any(host.ip for host in trial.outcome.hosts):
        return lost, _offered_frames(trial, outcome.name)
    return lost, lost + (outcome.latency.count if outcome.latency else 0)


def _dropped_frames(trial: Trial, name: str) -> int | None:
    """Frames of a workload that switches dropped, for any cause; None where one of them does not
    count it by workload.

    Real frames identify only their hosts: those of several workloads between two hosts are counted
    together.
    """
    lost = 0
    for switch in trial.outcome.switches:
        if switch.losses is None:
            return None
        for row in switch.losses:
            if name in row.workloads and len(row.workloads) > 1:
                return None
            lost += row.frames if name in row.workloads else 0
    return lost if trial.outcome.switches else None


def _offered_frames(trial: Trial, name: str) -> int:
    """Frames of a workload that came to the switch to which most of them came: a datagram in
    fragments is several."""
    offered: dict[str, int] = {}
    for port in trial.ports(None):
        for row in port.traffic or []:
            if row.workloads == [name]:
                offered[port.node] = (
                    offered.get(port.node, 0) + row.sent_frames + row.dropped_frames
                )
    return max(offered.values(), default=0)
