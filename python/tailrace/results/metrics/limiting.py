"""The limits of a workload's connections: shares of time by cause, and a verdict
(docs/models/verdict.md).

Engines count times (`limits` of an outcome); this module interprets them for all engines alike.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tailrace.outcome.types import Limits
from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.sample_summary import summarise_sample
from tailrace.results.summary.workload import ConnectionLimits, LimitSummary
from tailrace.scenario.vocabulary import LIMITS
from tailrace.scenario.workloads.kinds import facts_of

MIXED = "mixed"
KERNEL = "kernel"
"""Source of a verdict of counters of real kernels; those of the modelled TCP state none."""
VERDICT_PERCENT_MIN = 50.0
"""Least share of the cause that a verdict names."""
VERDICT_LEAD_POINTS = 20.0
"""How far it must be above the second: below, one trial could say one thing and the next
another."""
CORE_FREE_PERMILLE = 800
CORE_FULL_PERMILLE = 950
"""A core that is busy for less than the first did not limit, one above the second did; between
them, in part."""
QUEUED_FREE, QUEUED_FULL = 0.25, 0.5
"""A window or buffer full of bytes that wait in queues of the path is not the limit: as above, by
the share of the round trip spent waiting."""
TOO_LONG_MIN = 0.5
"""Share of the lost frames that were too long, from which on they are why no answer came."""
CONNECTIONS_MAX = 64
"""Connections of a workload with a verdict each in `result.json`."""

KEPT = ("losses of workloads",)
"""Where a trial keeps them."""

Shares = dict[str, float]


@dataclass(frozen=True)
class LostShares:
    """Of the frames of a workload that switches dropped, those for which no queue is to blame, from
    0 to 1."""

    policed: float = 0.0
    """Above a policer's rate."""
    too_long: float = 0.0
    """Longer than the MTU of a port."""


def shares_of(times: Limits, lost: LostShares) -> Shares | None:
    """Percent of the time by cause, 100 together; None where no connection was open."""
    whole, counted = _whole(times), _counted(times)
    if not whole:
        return None
    late = min(times.receive_window_ps or 0, times.reader_late_ps or 0)
    windows = {
        "send_buffer": times.send_buffer_ps or 0,
        "receive_window": (times.receive_window_ps or 0) - late,
    }
    full_of = (times.send_buffer_ps or 0) + (times.receive_window_ps or 0)
    in_path = _ramp((times.queued_ps or 0) / max(1, full_of), QUEUED_FREE, QUEUED_FULL)
    network = (
        (times.congestion_ps or 0) + (times.recovery_ps or 0) + in_path * sum(windows.values())
    )
    paced = times.pacing_ps or 0
    # Where the receiving core has no time left, everything that is full is full because of it.
    at_core = _busy(times.receive_core_permille)
    before_core = {
        **{cause: window * (1 - in_path) for cause, window in windows.items()},
        "congestion": network * (1 - lost.policed - lost.too_long),
        "mtu": network * lost.too_long,
        "rate_cap": (network + paced) * lost.policed,
        "pacing": paced * (1 - lost.policed),
        "interface": times.interface_ps or 0,
    }
    # Real kernels do not report why nothing was written: a program that took all of a core had no
    # time.
    idle = whole - counted
    at_program = _busy(times.sender_busy_permille)
    at_acks = (1 - at_core) * _busy(times.ack_core_permille)
    full = sum(before_core.values())
    parts = {cause: time * (1 - at_core - at_acks) for cause, time in before_core.items()} | {
        "application": idle * (1 - at_program),
        "sender_processor": (times.sender_processor_ps or 0) + idle * at_program + full * at_acks,
        "receiver_processor": late + at_core * full,
    }
    return {cause: 100 * parts[cause] / whole for cause in LIMITS}


def _counted(times: Limits) -> int:
    """Time in which something limited."""
    causes = (
        *(times.send_buffer_ps, times.receive_window_ps, times.congestion_ps, times.recovery_ps),
        *(times.pacing_ps, times.interface_ps, times.sender_processor_ps),
    )
    return sum(time or 0 for time in causes)


def _whole(times: Limits) -> int:
    """For how long connections were open, all together, in picoseconds."""
    return max(times.open_ps, _counted(times))


def _busy(permille: int | None) -> float:
    """Degree to which a core is the limit: 0 to 1."""
    return _ramp(permille or 0, CORE_FREE_PERMILLE, CORE_FULL_PERMILLE)


def _ramp(value: float, none: float, full: float) -> float:
    """0 up to the first, 1 from the second on, and in proportion between them: no verdict hangs on
    one value."""
    return min(1.0, max(0.0, (value - none) / (full - none)))


def limited_by(shares: Shares) -> str:
    """The cause with the largest share if it is large and clearly the largest; `mixed`
    otherwise."""
    first, second = sorted(shares, key=lambda cause: -shares[cause])[:2]
    is_clear = (
        shares[first] >= VERDICT_PERCENT_MIN
        and shares[first] - shares[second] >= VERDICT_LEAD_POINTS
    )
    return first if is_clear else MIXED


def lost_shares_of(trial: Trial, workload: str) -> LostShares:
    """Of the frames of a workload that switches dropped; nothing without losses."""
    if KEPT not in trial.kept:
        trial.kept[KEPT] = _lost_shares(trial)
    found: LostShares = trial.kept[KEPT].get(workload, LostShares())
    return found


def _lost_shares(trial: Trial) -> dict[str, LostShares]:
    sums: dict[str, tuple[int, int, int]] = {}
    for switch in trial.outcome.switches:
        for row in switch.losses or []:
            for name in row.workloads:
                lost, policed, too_long = sums.get(name, (0, 0, 0))
                sums[name] = (
                    lost + row.frames,
                    policed + row.policed_frames,
                    too_long + row.too_long_frames,
                )
    return {
        name: LostShares(policed / lost, too_long / lost)
        for name, (lost, policed, too_long) in sums.items()
        if lost
    }


def limits_of_trial(trial: Trial, workload: str) -> Shares | None:
    """Shares of all connections of a workload in one trial; None where the engine does not report
    them, or there were none."""
    limits, lost = _limits(trial, workload), lost_shares_of(trial, workload)
    shares = shares_of(limits, lost) if limits else None
    return (
        {cause: 100.0 * (cause == "mtu") for cause in LIMITS}
        if shares and _is_stuck(trial, workload, lost)
        else shares
    )


def _is_stuck(trial: Trial, workload: str, lost: LostShares) -> bool:
    """Whether nothing is delivered because frames are too long: either no response for users, which
    a connection attributes to the application, or no byte of a stream, whose windows are full of
    lost data."""
    own = trial.workloads[workload]
    waits = facts_of(own.kind).latency is not None
    return lost.too_long >= TOO_LONG_MIN and not (own.transactions if waits else own.goodput_bytes)


def _limits(trial: Trial, workload: str) -> Limits | None:
    own = trial.workloads.get(workload)
    return own.limits if own else None


def limits_of_members(trial: Trial, members: Sequence[str]) -> Shares | None:
    """Shares of all connections of several workloads, weighted with the time for which each was
    open; None where none reports them."""
    found = [
        (shares, _whole(limits))
        for name in members
        if (limits := _limits(trial, name)) and (shares := limits_of_trial(trial, name))
    ]
    if len(found) < 2:
        return found[0][0] if found else None
    whole = sum(time for _, time in found)
    return {cause: sum(shares[cause] * time for shares, time in found) / whole for cause in LIMITS}


def summarise_limits(members: Sequence[str], trials: Iterable[Trial]) -> LimitSummary | None:
    """Shares over trials with their verdict, and those of the connections of the first trial; None
    where no trial reports them."""
    found = [(trial, shares) for trial in trials if (shares := limits_of_members(trial, members))]
    if not found:
        return None
    means = {cause: sum(shares[cause] for _, shares in found) / len(found) for cause in LIMITS}
    verdict, first = limited_by(means), found[0][0].outcome
    return LimitSummary(
        limited_by=verdict,
        limited_percent=means.get(verdict),
        shares_percent={
            cause: summarise_sample([shares[cause] for _, shares in found]) for cause in LIMITS
        },
        connections=[one for name in members for one in _connections(found[0][0], name)][
            :CONNECTIONS_MAX
        ],
        measured_by=KERNEL if first.exact or first.live else None,
        trial=None,
    )


def _connections(trial: Trial, workload: str) -> list[ConnectionLimits]:
    limits = _limits(trial, workload)
    listed = limits.connections if limits else None
    lost = lost_shares_of(trial, workload)
    shares_of_each = (shares_of(times, lost) for times in (listed or [])[:CONNECTIONS_MAX] if times)
    return [
        ConnectionLimits(limited_by=limited_by(shares), shares_percent=shares)
        for shares in shares_of_each
        if shares
    ]
