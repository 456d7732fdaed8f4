"""Lock-out at ports: of workloads that share a queue, one loses many times the share of frames that
another loses.

A tail-drop queue whose sender is as fast as the port stays full: the next frame of that sender
replaces each departing one, and occasional senders find no room ("port blackout": Prakash et al.,
TCP Outcast, NSDI 2012). Only frames with data that found no room are counted; drops of queue
management are omitted, because it selects frames.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from tailrace.outcome.types import Port, SourceTraffic
from tailrace.results.directory.run_directory import Trial
from tailrace.results.summary.network import LockOut
from tailrace.results.summary.summary import ArmSummary
from tailrace.scenario.policies.aqm.kinds import REMEDIES

SHARE_RATIO_MIN = 10.0
"""Least ratio of the shares of frames that two workloads lose."""
DROPPED_FRAMES_MIN = 30
"""Lost by the workload that is locked out, in one trial: 3 of 10 are chance."""
OFFERED_FRAMES_MIN = 100
"""Frames of either workload in one trial: below this a share is not known to a tenth."""
LOST_SHARE_MIN = 0.01
"""Whose loss is below one frame in a hundred is not locked out, whatever others lose."""
REMEDY = (
    f"Remedies: queue management (`aqm`: {', '.join(REMEDIES[:-1])} or {REMEDIES[-1]}), `dpp`, "
    "a separate queue for the workload that loses frames, or a sender that is slower than the port."
)


def offered_frames(traffic: SourceTraffic) -> int:
    """Frames that came to the queue."""
    return traffic.sent_frames + traffic.dropped_frames


def lost_share(traffic: SourceTraffic) -> float:
    """Part of them that found no room."""
    offered = offered_frames(traffic)
    return traffic.dropped_frames / offered if offered else 0.0


def is_locked_out(loser: SourceTraffic, other: SourceTraffic) -> bool:
    """Whether the first loses much more than the other. A workload without losses counts as if it
    had lost one frame."""
    if min(offered_frames(loser), offered_frames(other)) < OFFERED_FRAMES_MIN:
        return False
    if loser.dropped_frames < DROPPED_FRAMES_MIN or lost_share(loser) < LOST_SHARE_MIN:
        return False
    return lost_share(loser) >= SHARE_RATIO_MIN * max(other.dropped_frames, 1) / offered_frames(
        other
    )


def lock_outs_of(trials: list[Trial]) -> list[LockOut]:
    """Each workload that some port locked out, with the trials in which it did and the worst of
    them."""
    found: dict[tuple[str, str, tuple[str, ...]], LockOut] = {}
    for trial in trials:
        for one in (one for port in trial.outcome.ports for one in _in_port(port)):
            key = one.port, one.queue, tuple(one.workloads)
            worst = found.setdefault(key, one)
            worst.trials.append(trial.number)
            if worst.lost_share < one.lost_share:
                found[key] = replace(one, trials=worst.trials)
    return list(found.values())


def _in_port(port: Port) -> list[LockOut]:
    """By queue: each workload that was locked out, and the one with the smallest loss beside it;
    without the trial."""
    queues: dict[str, list[SourceTraffic]] = {}
    for traffic in port.traffic or []:
        queues.setdefault(traffic.queue, []).append(traffic)
    found = []
    for rivals in queues.values():
        for loser in rivals:
            winners = [
                other for other in rivals if other is not loser and is_locked_out(loser, other)
            ]
            if winners:
                found.append(_lock_out(port, loser, min(winners, key=lost_share)))
    return found


def _lock_out(port: Port, loser: SourceTraffic, winner: SourceTraffic) -> LockOut:
    return LockOut(
        port=f"{port.node}>{port.towards}",
        queue=loser.queue,
        workloads=loser.workloads,
        lost_share=lost_share(loser),
        others=winner.workloads,
        others_lost_share=lost_share(winner),
        trials=[],
    )


def lock_out_sentences(arms: Mapping[str, ArmSummary]) -> list[str]:
    """A warning for every arm, port and workload that was locked out."""
    return [
        _sentence(arm, one, len(own.trials)) for arm, own in arms.items() for one in own.lock_outs
    ]


def _sentence(arm: str, one: LockOut, trials: int) -> str:
    counted = f"{len(one.trials)} of {trials} trial{'s' * (trials > 1)}"
    return (
        f"Lock-out with {arm} ({counted}): in queue '{one.queue}' of {one.port}, "
        f"{_names(one.workloads)} lost up to {100 * one.lost_share:.1f} % of the data frames and "
        f"{_names(one.others)} {100 * one.others_lost_share:.2f} % in the same trial. {REMEDY}"
    )


def _names(workloads: list[str]) -> str:
    return " and ".join(f"'{name}'" for name in workloads)
