"""One figure of one trial, as an expectation names it (`tailrace.scenario.vocabulary`)."""

from collections.abc import Callable

from tailrace.outcome.types import Workload
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.published import Band
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.directory.window import depth_after, depth_percentile, goodput_bytes_after
from tailrace.results.kinds.contribution import KindFigure
from tailrace.results.kinds.registry import FIGURES as FIGURES_OF_KINDS
from tailrace.results.metrics import hypervisors, processors
from tailrace.results.metrics.definitions import (
    bounds_of_trials,
    goodput_gbps,
    metric_of_members,
)
from tailrace.results.metrics.limiting import limits_of_trial
from tailrace.results.ports import pauses
from tailrace.results.ports.outcome import count_drops, known, queues_of
from tailrace.scenario.goal import METRICS as GOALS
from tailrace.scenario.vocabulary import (
    DEPTH_PERCENTILES,
    HYPERVISOR_METRICS,
    LIMITS,
    PROGRAM_METRICS,
)
from tailrace.scenario.workloads.facts import LATENCY
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.scenario.workloads.planned import workloads_of
from tailrace.statistics import jain_index, mean

WIRE_OVERHEAD_BYTES = 24
"""Preamble, check sequence and gap, used where the run has no plan."""

Figure = Callable[[Run, Trial, Band], float | None]


def trial_value(run: Run, trial: Trial, band: Band, metric: str) -> float | None:
    """The figure; None where the trial does not have it."""
    if (figure := FIGURES.get(metric)) is not None and band.workload not in run.groups:
        return figure(run, trial, band)
    members = _members(run, trial, band.workload)
    if metric in GOALS or metric.startswith(LATENCY):
        return metric_of_members(trial, members, metric) if members else None
    raise RunDirectoryError(
        f"unknown metric {metric} in an expectation (hint: completion_s, acceleration_percent, "
        "slowdown, goodput_gbps, latency_p99_ms, transactions, fairness_jain, drops_frames, "
        "queue_depth_max_bytes)"
    )


def is_lower_bound(run: Run, trial: Trial, band: Band, metric: str) -> bool:
    """Whether the figure is one, because transactions were running when the trial ended."""
    members = _members(run, trial, band.workload)
    return bool(members) and bounds_of_trials([trial], members, metric) > 0


def _members(run: Run, trial: Trial, stated: str | None) -> list[str]:
    """The stated workload, the members of the stated group that the arm does not omit, or the only
    workload."""
    if stated in run.groups:
        return [name for name in run.groups[stated] if name in trial.workloads]
    name = _workload_name(trial, stated)
    return [] if name is None else [name]


def _goodput(run: Run, trial: Trial, band: Band) -> float | None:
    name = _workload_name(trial, band.workload)
    return _goodput_of(run, trial, band, name) if name else None


def _goodput_of(run: Run, trial: Trial, band: Band, name: str) -> float | None:
    outcome = trial.workloads.get(name)
    if outcome is None:
        return None
    if not band.after_ps:
        return goodput_gbps(trial, outcome)
    found = goodput_bytes_after(trial, name, round(band.after_ps * run.scale))
    # Bytes per picosecond are Tbyte/s: 8000 Gbit/s.
    return found[0] * 8_000 / found[1] if found else None


def _goodput_share(run: Run, trial: Trial, band: Band) -> float | None:
    name = _workload_name(trial, band.workload)
    rates = _goodputs(run, trial, band)
    known = [rate for rate in rates.values() if rate is not None]
    mine = rates.get(name) if name else None
    return mine / sum(known) * 100 if mine is not None and sum(known) > 0 else None


def _goodputs(run: Run, trial: Trial, band: Band) -> dict[str, float | None]:
    """Goodput of every workload, from the time that the figure names; shared by the figures of all
    workloads."""
    key = ("goodputs", band.after_ps)
    if key not in trial.kept:
        trial.kept[key] = {name: _goodput_of(run, trial, band, name) for name in trial.workloads}
    kept: dict[str, float | None] = trial.kept[key]
    return kept


def _connections_spread(_: Run, trial: Trial, band: Band) -> float | None:
    own = _outcome(trial, band)
    carried = own.connection_bytes if own else None
    if not carried or not sum(carried):
        return None
    usual = mean([float(size) for size in carried])
    return float(max(abs(size / usual - 1) for size in carried) * 100)


def _users_jain(_: Run, trial: Trial, band: Band) -> float | None:
    own = _outcome(trial, band)
    times = own.user_completion_ps if own else []
    known = [time for time in times if time]
    return jain_index([1 / time for time in known]) if known and len(known) == len(times) else None


def _fairness(_: Run, trial: Trial, __: Band) -> float | None:
    return jain_index([goodput_gbps(trial, workload) for workload in trial.outcome.workloads])


def _transactions(_: Run, trial: Trial, band: Band) -> float | None:
    found = _outcome(trial, band)
    return float(found.transactions) if found else None


def _requests(counter: str) -> Figure:
    def figure(_: Run, trial: Trial, band: Band) -> float | None:
        own = _outcome(trial, band)
        return float(getattr(own.request_counts, counter)) if own and own.request_counts else None

    return figure


def _rate(run: Run, trial: Trial, band: Band) -> float | None:
    listed = [
        own.name for own in trial.outcome.workloads if facts_of(own.kind).has_metric("rate_per_s")
    ]
    if band.workload is not None:
        listed = [band.workload]
    return metric_of_members(trial, listed, "rate_per_s")


def _tcp(counter: str) -> Figure:
    def figure(_: Run, trial: Trial, band: Band) -> float | None:
        own = _outcome(trial, band)
        count: int | None = getattr(own.tcp, counter) if own and own.tcp else None
        return None if count is None else float(count)

    return figure


def _depth(which: str) -> Figure:
    def figure(run: Run, trial: Trial, band: Band) -> float | None:
        if band.after_ps and band.port:
            after_ps = round(band.after_ps * run.scale)
            return depth_after(trial, band.port, f"queue_{which}_bytes", after_ps)
        queues = queues_of(trial, band.port, band.queue)
        depths = known(
            [
                queue.depth_mean_bytes if which == "mean" else queue.depth_max_bytes
                for queue in queues
            ]
        )
        return None if depths is None else max(depths, default=None)

    return figure


def _depth_percentile(share: int) -> Figure:
    return lambda _, trial, band: depth_percentile(trial, band.port, share) if band.port else None


def _queue_share(run: Run, trial: Trial, band: Band) -> float | None:
    overhead = _wire_overhead_bytes(run, trial)

    def wire_bytes(queue: str | None) -> int:
        return sum(
            at.tx_bytes + overhead * at.tx_frames for at in queues_of(trial, band.port, queue)
        )

    whole = wire_bytes(None)
    return wire_bytes(band.queue) / whole * 100 if whole else None


def _wire_overhead_bytes(run: Run, trial: Trial) -> int:
    key = ("wire overhead",)
    if key not in trial.kept:
        plan = run.plan(trial.arm)
        trial.kept[key] = plan.framing.overhead_bytes if plan else WIRE_OVERHEAD_BYTES
    return int(trial.kept[key])


def _drops(_: Run, trial: Trial, band: Band) -> float | None:
    if band.queue is not None and not queues_of(trial, band.port, band.queue):
        return None  # a foreign switch has no such queue
    return count_drops(trial, band.port, band.queue, band.cause)


def _marks(_: Run, trial: Trial, band: Band) -> float | None:
    marks = known([queue.marked_frames for queue in queues_of(trial, band.port, band.queue)])
    return None if marks is None else float(sum(marks))


def _notifications(_: Run, trial: Trial, band: Band) -> float:
    return float(
        sum(
            queue.qcn.notifications
            for queue in queues_of(trial, band.port, band.queue)
            if queue.qcn
        )
    )


def _elephants(_: Run, trial: Trial, band: Band) -> float:
    return float(sum(port.elephants.found for port in trial.ports(band.port) if port.elephants))


def _elephant_share(_: Run, trial: Trial, band: Band) -> float | None:
    traps = [port.elephants for port in trial.ports(band.port) if port.elephants]
    arrived = sum(trap.bytes for trap in traps)
    return 100 * sum(trap.elephant_bytes for trap in traps) / arrived if arrived else None


def _prioritised(_: Run, trial: Trial, band: Band) -> float:
    return float(sum(port.dpp.prioritised_frames for port in trial.ports(band.port) if port.dpp))


def _deadlock(_: Run, trial: Trial, band: Band) -> float:
    return float(sum(band.port in (None, link) for link in trial.outcome.deadlock or []))


def _of_workload(figure: Callable[[Trial, str], float | None]) -> Figure:
    """A figure of the band's workload; None where the trial has no such workload."""

    def found(_: Run, trial: Trial, band: Band) -> float | None:
        name = _workload_name(trial, band.workload)
        return figure(trial, name) if name else None

    return found


def _processors(metric: str) -> Figure:
    return _of_workload(lambda trial, name: processors.workload_figure(trial, name, metric))


def _limits(cause: str) -> Figure:
    def share(trial: Trial, name: str) -> float | None:
        shares = limits_of_trial(trial, name)
        return shares[cause] if shares else None

    return _of_workload(share)


def _hypervisors(metric: str) -> Figure:
    return _of_workload(lambda trial, name: hypervisors.per_transaction(trial, name, metric))


def _of_kind(found: KindFigure) -> Figure:
    def figure(run: Run, trial: Trial, band: Band) -> float | None:
        name = _workload_name(trial, band.workload)
        return found(trial, name, lambda: _nodes(run, trial, name)) if name else None

    return figure


def _nodes(run: Run, trial: Trial, name: str) -> list[str]:
    """Every host that takes part in a workload."""
    plan = run.plan(trial.arm)
    ends = [own.ends for own in (workloads_of(plan) if plan else []) if own.name == name]
    return [host for own in ends for host in (*own.openers, *own.peers)]


def _outcome(trial: Trial, band: Band) -> Workload | None:
    """The outcome of the figure's workload; None where the trial does not have it."""
    name = _workload_name(trial, band.workload)
    return trial.workloads.get(name) if name else None


def _workload_name(trial: Trial, stated: str | None) -> str | None:
    """The stated workload, or the only one."""
    if stated is not None:
        return stated
    only = trial.outcome.workloads
    return only[0].name if len(only) == 1 else None


FIGURES: dict[str, Figure] = {
    "goodput_gbps": _goodput,
    "goodput_share_percent": _goodput_share,
    "connections_spread_percent": _connections_spread,
    "transactions": _transactions,
    "lost_queries": _requests("lost_queries"),
    "timed_out": _requests("timed_out"),
    "connections_opened": _requests("connections"),
    "rate_per_s": _rate,
    "retransmits": _tcp("retransmits"),
    "timeouts": _tcp("timeouts"),
    **{f"limited_{cause}_percent": _limits(cause) for cause in LIMITS},
    "users_jain": _users_jain,
    "fairness_jain": _fairness,
    "drops_frames": _drops,
    "marked_frames": _marks,
    "prioritised_frames": _prioritised,
    "elephants": _elephants,
    "elephant_share_percent": _elephant_share,
    "queue_depth_mean_bytes": _depth("mean"),
    "queue_depth_max_bytes": _depth("max"),
    **{f"queue_depth_p{share}_bytes": _depth_percentile(share) for share in DEPTH_PERCENTILES},
    "queue_share_percent": _queue_share,
    "pauses_frames": lambda _, trial, band: pauses.pauses_sent(trial, band.port),
    "paused_percent": lambda _, trial, band: pauses.paused_percent(trial, band.port),
    "storms": lambda _, trial, band: pauses.storms_found(trial, band.port),
    "deadlock_links": _deadlock,
    **{metric: _processors(metric) for metric in PROGRAM_METRICS},
    **{metric: _of_kind(figure) for metric, figure in FIGURES_OF_KINDS.items()},
    **{metric: _hypervisors(metric) for metric in HYPERVISOR_METRICS},
    "hypervisor_switches_per_s": lambda _, trial, __: hypervisors.switches_per_s(trial),
    "hypervisor_kernel_percent": lambda _, trial, __: hypervisors.kernel_share_percent(trial),
    "overruns_frames": lambda _, trial, __: hypervisors.overruns(trial),
    "runnable_mean": lambda _, trial, __: processors.runnable_mean(trial),
    "core_busy_percent": lambda _, trial, __: processors.busiest_core_percent(
        trial, processors.busy_ps
    ),
    "core_softirq_percent": lambda _, trial, __: processors.busiest_core_percent(
        trial, processors.softirq_ps
    ),
    "throttled_s": lambda _, trial, __: processors.throttled_s(trial),
    "notifications_frames": _notifications,
}
