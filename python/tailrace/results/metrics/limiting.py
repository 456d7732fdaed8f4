"""What limits the connections of a workload: shares of time by cause, and a verdict (docs/models/verdict.md).

Engines count times (`limits` of an outcome); what they mean together is decided here, for all engines alike.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tailrace.results.directory.run_directory import Trial
from tailrace.results.metrics.sample_summary import summarise_sample
from tailrace.scenario.vocabulary import LIMITS

MIXED = "mixed"
VERDICT_PERCENT_MIN = 50.0
"""Least share of the cause that a verdict names."""
VERDICT_LEAD_POINTS = 20.0
"""How far it must be above the second: below, one trial could say one thing and the next another."""
CORE_FREE_PERMILLE = 800
CORE_FULL_PERMILLE = 950
"""A core that is busy for less than the first did not limit, one above the second did; between them, in part."""
QUEUED_FREE, QUEUED_FULL = 0.25, 0.5
"""A window or buffer that is full of bytes that wait in queues of the path is not what limits: as above, by the share
of the round trip that is waiting."""
CONNECTIONS_MAX = 64
"""Connections of a workload with a verdict each in `result.json`."""
TIMES = ("send_buffer_ps", "receive_window_ps", "congestion_ps", "recovery_ps", "pacing_ps", "interface_ps")

KEPT = ("losses of workloads",)
"""Where a trial keeps them."""

Shares = dict[str, float]


def shares_of(times: Mapping[str, Any], policed_share: float) -> Shares | None:
    """Percent of the time by cause, 100 together; None where no connection was open."""
    counted, whole = _counted(times), _whole(times)
    if not whole:
        return None
    late = min(counted["receive_window_ps"], int(times.get("reader_late_ps") or 0))
    windows = {"send_buffer": counted["send_buffer_ps"], "receive_window": counted["receive_window_ps"] - late}
    waiting = int(times.get("queued_ps") or 0) / max(1, counted["send_buffer_ps"] + counted["receive_window_ps"])
    in_path = _ramp(waiting, QUEUED_FREE, QUEUED_FULL)
    network = counted["congestion_ps"] + counted["recovery_ps"] + in_path * sum(windows.values())
    paced = counted["pacing_ps"]
    # Where the receiving core has no time left, everything that is full is full because of it.
    at_core = _ramp(int(times.get("receive_core_permille") or 0), CORE_FREE_PERMILLE, CORE_FULL_PERMILLE)
    before_core = {
        **{cause: window * (1 - in_path) for cause, window in windows.items()},
        "congestion": network * (1 - policed_share),
        "rate_cap": (network + paced) * policed_share,
        "pacing": paced * (1 - policed_share),
        "interface": counted["interface_ps"],
    }
    # Real kernels do not tell why nothing was written: a program that took all of a core had no time.
    idle = whole - sum(counted.values())
    at_program = _ramp(int(times.get("sender_busy_permille") or 0), CORE_FREE_PERMILLE, CORE_FULL_PERMILLE)
    at_acks = (1 - at_core) * _ramp(int(times.get("ack_core_permille") or 0), CORE_FREE_PERMILLE, CORE_FULL_PERMILLE)
    full = sum(before_core.values())
    parts = {cause: time * (1 - at_core - at_acks) for cause, time in before_core.items()} | {
        "application": idle * (1 - at_program),
        "sender_processor": counted["sender_processor_ps"] + idle * at_program + full * at_acks,
        "receiver_processor": late + at_core * full,
    }
    return {cause: 100 * parts[cause] / whole for cause in LIMITS}


def _counted(times: Mapping[str, Any]) -> dict[str, int]:
    return {key: int(times.get(key) or 0) for key in (*TIMES, "sender_processor_ps")}


def _whole(times: Mapping[str, Any]) -> int:
    """For how long connections were open, all together, in picoseconds."""
    return max(int(times["open_ps"]), sum(_counted(times).values()))


def _ramp(value: float, none: float, full: float) -> float:
    """0 up to the first, 1 from the second on, and in proportion between them: no verdict hangs on one value."""
    return min(1.0, max(0.0, (value - none) / (full - none)))


def limited_by(shares: Shares) -> str:
    """The cause with the largest share if it is large and clearly the largest; `mixed` otherwise."""
    first, second = sorted(shares, key=lambda cause: -shares[cause])[:2]
    is_clear = shares[first] >= VERDICT_PERCENT_MIN and shares[first] - shares[second] >= VERDICT_LEAD_POINTS
    return first if is_clear else MIXED


def policed_share_of(trial: Trial, workload: str) -> float:
    """Of the frames of a workload that switches dropped, the part that policers did; 0 without losses."""
    if KEPT not in trial.kept:
        trial.kept[KEPT] = _losses(trial)
    lost, policed = trial.kept[KEPT].get(workload, (0, 0))
    return policed / lost if lost else 0.0


def _losses(trial: Trial) -> dict[str, tuple[int, int]]:
    """Of each workload the frames that switches dropped, and those of them that policers did."""
    sums: dict[str, tuple[int, int]] = {}
    for switch in trial.outcome.get("switches", []):
        for row in switch.get("losses") or []:
            for name in row["workloads"]:
                lost, policed = sums.get(name, (0, 0))
                sums[name] = lost + row["frames"], policed + row["policed_frames"]
    return sums


def limits_of_trial(trial: Trial, workload: str) -> Shares | None:
    """Of all connections of a workload in one trial; None where the engine does not tell, or there were none."""
    limits = (trial.workload(workload) or {}).get("limits")
    return shares_of(limits, policed_share_of(trial, workload)) if limits else None


def limits_of_members(trial: Trial, members: Sequence[str]) -> Shares | None:
    """Of all connections of several workloads, each for as long as it was open; of those that tell, None without."""
    told = [(name, shares) for name in members if (shares := limits_of_trial(trial, name))]
    if len(told) < 2:
        return told[0][1] if told else None
    times = [_whole((trial.workload(name) or {})["limits"]) for name, _ in told]
    return {
        cause: sum(shares[cause] * time for (_, shares), time in zip(told, times, strict=True)) / sum(times)
        for cause in LIMITS
    }


def summarise_limits(members: Sequence[str], trials: Iterable[Trial]) -> dict[str, Any] | None:
    """Shares over trials with their verdict, and that of the connections of the first trial; None where none tells."""
    found = [(trial, shares) for trial in trials if (shares := limits_of_members(trial, members))]
    if not found:
        return None
    samples = {cause: summarise_sample([shares[cause] for _, shares in found]) for cause in LIMITS}
    means = {cause: sum(shares[cause] for _, shares in found) / len(found) for cause in LIMITS}
    return {
        "limited_by": limited_by(means),
        "shares_percent": samples,
        "connections": [one for name in members for one in _connections(found[0][0], name)][:CONNECTIONS_MAX],
    }


def _connections(trial: Trial, workload: str) -> list[dict[str, Any]]:
    listed = ((trial.workload(workload) or {}).get("limits") or {}).get("connections") or []
    policed = policed_share_of(trial, workload)
    told = (shares_of(times, policed) for times in listed[:CONNECTIONS_MAX])
    return [{"limited_by": limited_by(shares), "shares_percent": shares} for shares in told if shares]
