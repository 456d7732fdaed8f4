"""Lock-out at ports: of workloads that share a queue, one loses many times the share of frames that another loses.

A tail-drop queue whose sender is as fast as the port stays full: each frame that leaves is replaced by the next one of
that sender, and occasional senders find no room ("port blackout": Prakash et al., TCP Outcast, NSDI 2012). Counted are
frames with data that found no room; what queue management drops is left out, because it chooses.
"""

from dataclasses import dataclass
from itertools import permutations
from typing import Any

from tailrace.results.directory.run_directory import Trial
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


@dataclass(frozen=True)
class Traffic:
    """Frames with data of the workloads between the same hosts, in one queue of one port in one trial."""

    workloads: tuple[str, ...]
    sent_frames: int
    dropped_frames: int

    @property
    def offered_frames(self) -> int:
        """Frames that came to the queue."""
        return self.sent_frames + self.dropped_frames

    @property
    def lost_share(self) -> float:
        """Part of them that found no room."""
        return self.dropped_frames / self.offered_frames if self.offered_frames else 0.0

    def is_locked_out_by(self, other: "Traffic") -> bool:
        """Whether it loses so much more than the other. One that loses nothing counts as if it had lost one frame."""
        if min(self.offered_frames, other.offered_frames) < OFFERED_FRAMES_MIN:
            return False
        if self.dropped_frames < DROPPED_FRAMES_MIN or self.lost_share < LOST_SHARE_MIN:
            return False
        return self.lost_share >= SHARE_RATIO_MIN * max(other.dropped_frames, 1) / other.offered_frames


def lock_outs_of(trials: list[Trial]) -> list[dict[str, Any]]:
    """Each workload that some port locked out, with the trials in which it did and the worst of them."""
    found: dict[tuple[str, str, tuple[str, ...]], dict[str, Any]] = {}
    for trial in trials:
        for port in trial.outcome.get("ports", []):
            for queue, loser, winner in _in_port(port):
                place = f"{port['node']}>{port['towards']}"
                row = {
                    "port": place,
                    "queue": queue,
                    "workloads": list(loser.workloads),
                    "lost_share": loser.lost_share,
                    "others": list(winner.workloads),
                    "others_lost_share": winner.lost_share,
                    "trials": [],
                }
                worst = found.setdefault((place, queue, loser.workloads), row)
                if worst["lost_share"] < loser.lost_share:
                    worst |= row | {"trials": worst["trials"]}
                worst["trials"].append(trial.number)
    return list(found.values())


def lock_out_sentences(arms: dict[str, dict[str, Any]]) -> list[str]:
    """A warning for every arm, port and workload that was locked out."""
    sentences = []
    for arm, summary in arms.items():
        for row in summary.get("lock_outs", []):
            count = f"{len(row['trials'])} of {len(summary['trials'])} trial{'s' * (len(summary['trials']) > 1)}"
            sentences.append(
                f"Lock-out with {arm} ({count}): at port {row['port']}, queue '{row['queue']}', "
                f"{_names(row['workloads'])} lost up to {row['lost_share']:.1%} of their data frames, while "
                f"{_names(row['others'])} lost {row['others_lost_share']:.2%} in the same trial. {REMEDY}"
            )
    return sentences


def _in_port(port: dict[str, Any]) -> list[tuple[str, Traffic, Traffic]]:
    """By queue: each workload that was locked out, and who lost the least beside it."""
    queues: dict[str, list[Traffic]] = {}
    for row in port.get("traffic") or []:
        traffic = Traffic(tuple(row["workloads"]), row["sent_frames"], row["dropped_frames"])
        queues.setdefault(row["queue"], []).append(traffic)
    found = []
    for queue, rivals in queues.items():
        pairs = [(loser, winner) for loser, winner in permutations(rivals, 2) if loser.is_locked_out_by(winner)]
        for loser in dict.fromkeys(loser for loser, _ in pairs):
            winners = [winner for other, winner in pairs if other is loser]
            found.append((queue, loser, min(winners, key=lambda winner: winner.lost_share)))
    return found


def _names(workloads: list[str]) -> str:
    return " and ".join(f"'{name}'" for name in workloads)
