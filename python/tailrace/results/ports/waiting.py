"""Attribution of the median latency to queues.

The mean wait of a byte in a queue follows from Little's law: mean depth over bytes sent per second.
It holds for any scheduler, and for a queue that is not empty at the end of a long trial it is off
by the little that still waits.
"""

from dataclasses import dataclass

from tailrace.outcome.types import SourceTraffic
from tailrace.plan.types import Plan
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_MS, span_text
from tailrace.scenario.workloads.planned import workloads_of

SHARE_MIN = 0.01
"""A queue that holds less of the median is not named."""
SHOWN_MS_MIN = 0.001


@dataclass(frozen=True)
class Wait:
    """How long the frames of one workload wait at one port, mean over the valid trials of an
    arm."""

    port: str
    queues: dict[str, float]
    """Mean wait of every queue that sent anything, in milliseconds."""
    own_ms: float | None
    """The mean over the frames of the workload; None where packet prioritization chose the queue of
    each frame."""


def waits_of(trials: list[Trial], workload: str) -> list[Wait]:
    """The observed ports that the frames of a workload left through, longest wait first."""
    found: dict[str, list[tuple[dict[str, float], float | None]]] = {}
    for trial in trials:
        for name, queues, own_ms in _in_trial(trial).get(workload, []):
            found.setdefault(name, []).append((queues, own_ms))
    waits = [_mean(name, seen) for name, seen in found.items()]
    return sorted(
        waits,
        key=lambda wait: -(wait.own_ms if wait.own_ms is not None else max(wait.queues.values())),
    )


InTrial = dict[str, list[tuple[str, dict[str, float], float | None]]]


def _in_trial(trial: Trial) -> InTrial:
    """By workload the ports of its frames: name, waits of the queues, wait of its frames. Worked
    out once."""
    kept: InTrial | None = trial.kept.get(("waits",))
    if kept is not None:
        return kept
    found: InTrial = {}
    for port in trial.outcome.ports:
        of_workload: dict[str, list[SourceTraffic]] = {}
        for row in port.traffic or []:
            for name in row.workloads if row.sent_frames else []:
                of_workload.setdefault(name, []).append(row)
        queues = {
            queue.name: queue.depth_mean_bytes * trial.counted_ps / queue.tx_bytes / PS_PER_MS
            for queue in port.queues
            if queue.tx_bytes and queue.depth_mean_bytes is not None
        }
        for name, rows in of_workload.items() if queues else []:
            own_ms = None if port.dpp else _own_ms(rows, queues)
            found.setdefault(name, []).append((f"{port.node} → {port.towards}", queues, own_ms))
    trial.kept["waits",] = found
    return found


def _own_ms(rows: list[SourceTraffic], queues: dict[str, float]) -> float:
    frames = sum(row.sent_frames for row in rows)
    return sum(row.sent_frames * queues.get(row.queue, 0.0) for row in rows) / frames


def _mean(name: str, seen: list[tuple[dict[str, float], float | None]]) -> Wait:
    queues: dict[str, list[float]] = {}
    for of_trial, _ in seen:
        for queue, wait_ms in of_trial.items():
            queues.setdefault(queue, []).append(wait_ms)
    own = [own_ms for _, own_ms in seen if own_ms is not None]
    means = {queue: sum(waits) / len(waits) for queue, waits in queues.items()}
    return Wait(name, means, sum(own) / len(own) if len(own) == len(seen) else None)


def crossings_of(plan: Plan) -> dict[str, int]:
    """By workload how often one transaction crosses a port on its way: once in each round trip."""
    return {own.name: own.crossings for own in workloads_of(plan) if own.crossings is not None}


def wait_words(arm: str, workload: str, wait: Wait, crossings: int, median_ms: float) -> str | None:
    """Share of the median latency at a port; None where it is negligible or unknown."""
    if wait.own_ms is None or wait.own_ms * crossings < SHARE_MIN * median_ms:
        return None
    share = wait.own_ms * crossings / median_ms
    each = f" in each of {crossings} round trips" if crossings > 1 else ""
    start = (
        f"With {arm}, frames of {workload} wait {_ms(wait.own_ms)} at {wait.port} on "
        f"average{each}: "
    )
    if share > 1:
        return (
            f"{start}more than the median latency of {_ms(median_ms)}, so most transactions "
            "saw a shorter queue."
        )
    return f"{start}{share * 100:.0f} % of the median latency of {_ms(median_ms)}."


def prioritized_words(arm: str, wait: Wait, medians: dict[str, float]) -> str | None:
    """Known facts about a port where packet prioritization chooses the queue of each frame;
    `medians` by workload."""
    if wait.own_ms is not None or max(wait.queues.values()) < SHARE_MIN * min(medians.values()):
        return None
    each = " and ".join(f"{_ms(wait_ms)} in {queue}" for queue, wait_ms in wait.queues.items())
    latencies = ", ".join(f"{name} {_ms(median_ms)}" for name, median_ms in medians.items())
    return (
        f"With {arm}, frames wait {each} at {wait.port} on average. Packet prioritization selects "
        "the queue of each frame, so the waiting time cannot be attributed to a workload (median "
        f"latency: {latencies})."
    )


def _ms(value: float) -> str:
    return span_text(value * PS_PER_MS) if value >= SHOWN_MS_MIN else "less than 1 µs"
