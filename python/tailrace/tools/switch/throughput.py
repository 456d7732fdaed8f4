"""Throughput: the largest rate at which no frame is lost (RFC 1242 section 3.17, RFC 2544 section
26.1)."""

from dataclasses import dataclass
from typing import Any

from tailrace.tools.switch.frames import PS_PER_S, interval_ps, theoretical_fps
from tailrace.tools.switch.rig import Rig
from tailrace.tools.switch.trial import Trial

SEARCH_TRIALS_MAX = 40
"""Bisections: a picosecond of an hour is found in 52."""
RESOLUTION = 0.01
"""On a real machine zero loss is not repeatable more closely than this."""
RATE_MIN_SHARE = 1e-4
"""Below this share of the line's rate a switch counts as one that forwards nothing."""


@dataclass(frozen=True)
class Throughput:
    """The throughput for one size of frames."""

    frame_bytes: int
    fps: float
    theoretical_fps: float
    most_fps: float
    """The largest rate that was offered."""
    limit: str
    """`line`: as fast as the line; `generator`: the sender was not faster; `switch`: above it
    frames were lost, or the switch took no more."""
    trials: int
    invalid: bool
    """Whether a trial on which it rests was invalid in every repetition."""

    @property
    def whole_fps(self) -> int:
        """Whole frames per second."""
        return int(self.fps)

    def as_data(self) -> dict[str, Any]:
        """For the result file."""
        return {
            "throughput_fps": self.whole_fps,
            "theoretical_fps": self.theoretical_fps,
            "share_of_theoretical": self.fps / self.theoretical_fps,
            "max_offered_load_fps": self.most_fps,
            "limited_by": self.limit,
            "trials": self.trials,
            "rests_on_an_invalid_trial": self.invalid,
        }


def find_throughput(rig: Rig, size: int, duration_s: float) -> Throughput:
    """Begins at the line's rate and halves the interval in which the throughput lies."""
    line = interval_ps(size, rig.device.rate_bps)
    used = [rig.at_interval(size, line, duration_s)]
    first = used[0]
    if not first.lost:
        limit = "line" if not first.is_short else "switch" if first.is_held_up else "generator"
        return _result(rig, size, first.offered_fps, limit, used)
    fails, passes = _interval(first), None
    while len(used) < SEARCH_TRIALS_MAX and not _is_close(rig, fails, passes):
        middle = _between(fails, passes)
        trial = rig.at_interval(size, middle, duration_s)
        used.append(trial)
        if trial.lost:
            fails = max(fails, _interval(trial))
        else:
            passes = max(_interval(trial), fails + 1)
        if PS_PER_S / fails < theoretical_fps(size, rig.device.rate_bps) * RATE_MIN_SHARE:
            break
    fps = PS_PER_S / passes if passes is not None else 0.0
    return _result(rig, size, fps, "switch", used)


def _interval(trial: Trial) -> int:
    """The interval at which frames were offered."""
    return (
        max(trial.request.interval_ps, round(PS_PER_S / trial.offered_fps)) if trial.offered else 1
    )


def _between(fails: int, passes: int | None) -> int:
    """The interval of the mean of both rates; half the rate while none is known that passes."""
    if passes is None:
        return fails * 2
    return min(max(2 * fails * passes // (fails + passes), fails + 1), passes - 1)


def _is_close(rig: Rig, fails: int, passes: int | None) -> bool:
    if passes is None:
        return False
    is_adjacent = passes - fails <= 1
    return is_adjacent or (not rig.device.is_simulated and passes - fails <= RESOLUTION * passes)


def _result(rig: Rig, size: int, fps: float, limit: str, used: list[Trial]) -> Throughput:
    ideal = theoretical_fps(size, rig.device.rate_bps)
    deciding = any(trial.invalid for trial in used[-2:])
    return Throughput(
        size,
        min(fps, ideal) if limit == "line" else fps,
        ideal,
        rig.most_fps[size],
        limit,
        len(used),
        deciding,
    )
