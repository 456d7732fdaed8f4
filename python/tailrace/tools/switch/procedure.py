"""All tests of one switch: sizes, tests, their lengths, and how long they take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tailrace.errors import RunRefusedError, closest
from tailrace.tools.switch import back_to_back, frame_loss, latency, mlr
from tailrace.tools.switch.back_to_back import BackToBack
from tailrace.tools.switch.frame_loss import LossPoint
from tailrace.tools.switch.frames import SIZES, mtu_of, theoretical_fps
from tailrace.tools.switch.latency import LatencyPoint
from tailrace.tools.switch.mlr import MlrResult
from tailrace.tools.switch.rig import Rig
from tailrace.tools.switch.throughput import Throughput, find_throughput
from tailrace.tools.switch.trial import Device

TESTS = ("throughput", "latency", "loss", "back-to-back", "mlrsearch")
TRIAL_S = 2.0
OVERHEAD_S = 0.25
"""Of a trial on a real machine: what is still under way is awaited."""
SEARCH_TRIALS = 8
"""Bisections to within a hundredth of the rate, with the first trial."""
MLR_TRIALS = 20
"""Trials of a search for three goals; seen: 12 to 54, most of them short."""
MLR_SHARE = 0.6
"""Their mean length, as a share of the longest."""
SIMULATED_FPS = 3e6
"""Frames that a simulation carries in a second of the machine's time; seen: 5 million."""


@dataclass(frozen=True)
class Lengths:
    """Lengths of trials and numbers of repetitions."""

    throughput_s: float = TRIAL_S
    latency_s: float = TRIAL_S
    loss_s: float = TRIAL_S
    latency_repeats: int = 1
    burst_repeats: int = 1

    @classmethod
    def full(cls) -> "Lengths":
        """RFC 2544 sections 24, 26.2 and 26.4: 60 s, 20 times 120 s, 50 bursts."""
        return cls(
            throughput_s=60.0, latency_s=120.0, loss_s=60.0, latency_repeats=20, burst_repeats=50
        )

    @classmethod
    def of(cls, duration_s: float) -> "Lengths":
        """All trials as long as this."""
        return cls(throughput_s=duration_s, latency_s=duration_s, loss_s=duration_s)


@dataclass
class SizeResult:
    """What was found for one size of frames; tests that were not done are missing."""

    frame_bytes: int
    sender_fps: float | None = None
    throughput: Throughput | None = None
    latency: list[LatencyPoint] = field(default_factory=list)
    loss: list[LossPoint] = field(default_factory=list)
    back_to_back: BackToBack | None = None
    mlrsearch: MlrResult | None = None

    def as_data(self) -> dict[str, Any]:
        """For the result file."""
        return {
            "frame_bytes": self.frame_bytes,
            "generator_alone_fps": self.sender_fps,
            "throughput": self.throughput and self.throughput.as_data(),
            "latency": [point.as_data() for point in self.latency],
            "frame_loss": [point.as_data() for point in self.loss],
            "back_to_back": self.back_to_back and self.back_to_back.as_data(),
            "mlrsearch": self.mlrsearch and self.mlrsearch.as_data(),
        }


@dataclass
class Procedure:
    """The tests of one switch, in order, with what was found so far."""

    rig: Rig
    sizes: Sequence[int]
    tests: Sequence[str]
    lengths: Lengths
    say: Callable[[str], None]
    results: list[SizeResult] = field(default_factory=list)
    is_whole: bool = False

    def run(self) -> None:
        """Every test for one size after the other. What is found stays when it is interrupted."""
        for size in self.sizes:
            found = SizeResult(size, self.rig.device.sender_fps(size))
            self.results.append(found)
            self._measure(size, found)
        self.is_whole = True

    def _measure(self, size: int, found: SizeResult) -> None:
        # The other tests are relative to it: RFC 2544 begins with it, too.
        lengths = self.lengths
        found.throughput = find_throughput(self.rig, size, lengths.throughput_s)
        rate, limit = fps_text(found.throughput.fps), found.throughput.limit
        self.say(f"{size} B: throughput {rate} frames/s, limited by the {limit}")
        if "latency" in self.tests and found.throughput.fps > 0:
            for point in latency.find_latency(
                self.rig, size, found.throughput.fps, lengths.latency_s, lengths.latency_repeats
            ):
                found.latency.append(point)
        if "loss" in self.tests:
            for step in frame_loss.find_loss(
                self.rig, size, found.throughput.most_fps, lengths.loss_s
            ):
                found.loss.append(step)
        if "back-to-back" in self.tests:
            found.back_to_back = back_to_back.find_back_to_back(
                self.rig, found.throughput, lengths.burst_repeats
            )
        if "mlrsearch" in self.tests:
            most = found.throughput.most_fps
            found.mlrsearch = mlr.search(self.rig, size, most, lengths.throughput_s, lambda _: None)

    def expected_s(self) -> float:
        """About how long it takes; less where the switch keeps up with the sender."""
        per_size = [self._trials(size) for size in self.sizes]
        if not self.rig.device.is_simulated:
            return sum(seconds + OVERHEAD_S * count for count, seconds in per_size)
        rate = self.rig.device.rate_bps
        return sum(
            seconds * theoretical_fps(size, rate) / SIMULATED_FPS
            for size, (_, seconds) in zip(self.sizes, per_size, strict=True)
        )

    def _trials(self, size: int) -> tuple[float, float]:
        """How many trials of one size there may be, and their time."""
        lengths = self.lengths
        parts = [(SEARCH_TRIALS, lengths.throughput_s)]
        if "latency" in self.tests:
            parts.append((len(latency.SHARES) * lengths.latency_repeats, lengths.latency_s))
        if "loss" in self.tests:
            parts.append((4, lengths.loss_s))
        if "back-to-back" in self.tests:
            parts.append(
                (
                    SEARCH_TRIALS * lengths.burst_repeats,
                    back_to_back.BURST_S_MAX / SEARCH_TRIALS * 2,
                )
            )
        if "mlrsearch" in self.tests:
            parts.append((MLR_TRIALS, lengths.throughput_s * MLR_SHARE))
        return sum(count for count, _ in parts), sum(count * seconds for count, seconds in parts)


def fps_text(fps: float) -> str:
    """Whole frames a second, with spaces between thousands."""
    return f"{int(fps):,}".replace(",", " ")


def parse_tests(text: str) -> tuple[str, ...]:
    """Tests as given to `--tests`."""
    names = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    for name in names:
        if name not in TESTS:
            raise RunRefusedError(
                f"--tests: there is no test '{name}' (hint: {closest(name, TESTS, 'tests')})"
            )
    return names


def sizes_for(
    device: Device, asked: Sequence[int] | None, say: Callable[[str], None]
) -> tuple[int, ...]:
    """The sizes that the path carries; raises `RunRefusedError` for one that was asked for and does
    not fit."""
    for size in asked or ():
        if mtu_of(size) > device.mtu:
            raise RunRefusedError(
                f"--sizes: a frame of {size} B needs an MTU of {mtu_of(size)}, and the path "
                f"has {device.mtu} "
                f"(hint: sizes up to {device.mtu + size - mtu_of(size)}, or a larger MTU)"
            )
    if asked:
        return tuple(asked)
    fitting = tuple(size for size in SIZES if mtu_of(size) <= device.mtu)
    if left := [str(size) for size in SIZES if size not in fitting]:
        say(f"left out, above the MTU of {device.mtu}: frames of {', '.join(left)} B")
    return fitting
