"""Back-to-back frames: the longest burst at the largest rate of which no frame is lost (RFC 2544
section 26.4).

RFC 9004 derives the size of the buffer from it: while a burst comes in, the switch already sends.
"""

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tailrace.tools.switch.frames import PS_PER_S, interval_ps
from tailrace.tools.switch.rig import Rig
from tailrace.tools.switch.throughput import Throughput
from tailrace.tools.switch.trial import TrialRequest

BURST_S_MAX = 2.0
"""RFC 2544: bursts of up to two seconds."""
RESOLUTION = 0.01
"""On a real machine a burst is found within this share."""
SEARCH_TRIALS_MAX = 40


@dataclass(frozen=True)
class BackToBack:
    """The longest burst for one size of frames."""

    frame_bytes: int
    bursts: tuple[int, ...]
    """Frames of the longest burst, of each repetition; none where the test does not apply."""
    most_fps: float
    throughput_fps: float
    why_not: str = ""

    @property
    def mean_frames(self) -> float | None:
        """Average number of back-to-back frames."""
        return fmean(self.bursts) if self.bursts else None

    @property
    def implied_buffer_s(self) -> float | None:
        """RFC 9004 section 5.4: back-to-back frames divided by the maximum theoretical frame
        rate."""
        return None if self.mean_frames is None else self.mean_frames / self.most_fps

    @property
    def corrected_buffer_s(self) -> float | None:
        """RFC 9004: less what was forwarded meanwhile."""
        implied = self.implied_buffer_s
        return (
            None
            if implied is None
            else implied - implied * min(1.0, self.throughput_fps / self.most_fps)
        )

    @property
    def buffer_frames(self) -> float | None:
        """The corrected buffer as frames."""
        return None if self.corrected_buffer_s is None else self.corrected_buffer_s * self.most_fps

    def as_data(self) -> dict[str, Any]:
        """For the result file."""
        return {
            "back_to_back_frames": self.mean_frames,
            "repetitions": list(self.bursts),
            "max_offered_load_fps": self.most_fps,
            "implied_dut_buffer_time_s": self.implied_buffer_s,
            "corrected_dut_buffer_time_s": self.corrected_buffer_s,
            "corrected_dut_buffer_frames": self.buffer_frames,
            "not_tested": self.why_not or None,
        }


def find_back_to_back(rig: Rig, throughput: Throughput, repeats: int) -> BackToBack:
    """RFC 9004 section 3: only where the throughput is below the largest rate."""
    size, most = throughput.frame_bytes, throughput.most_fps
    if throughput.limit != "switch":
        why = f"no frame is lost at the largest rate of the {throughput.limit}"
        return BackToBack(size, (), most, throughput.fps, why)
    interval = max(interval_ps(size, rig.device.rate_bps), round(PS_PER_S / most))
    bursts = tuple(_longest(rig, size, interval) for _ in range(repeats))
    return BackToBack(size, bursts, PS_PER_S / interval, throughput.fps)


def _longest(rig: Rig, size: int, interval: int) -> int:
    """Halves the interval in which the longest burst without loss lies."""
    passes, fails = 0, int(BURST_S_MAX * PS_PER_S) // interval + 1
    frames = fails - 1
    for _ in range(SEARCH_TRIALS_MAX):
        if rig.run(TrialRequest(size, interval, frames)).lost:
            fails = frames
        else:
            passes = frames
        if fails - passes <= max(1, 0 if rig.device.is_simulated else int(RESOLUTION * passes)):
            break
        # A burst of two seconds is far longer than most buffers: it is divided by ten until one
        # passes.
        frames = (passes + fails) // 2 if passes else max(1, fails // 10)
    return passes
