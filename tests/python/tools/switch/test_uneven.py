"""What the searches make of trials that a machine has disturbed, and of switches that do not lose
evenly."""

from dataclasses import dataclass, field, replace

import pytest

from fake_switch import FakeSwitch
from tailrace.tools.switch.back_to_back import BURST_S_MAX, find_back_to_back
from tailrace.tools.switch.frame_loss import find_loss
from tailrace.tools.switch.frames import PS_PER_S, theoretical_fps
from tailrace.tools.switch.latency import find_latency
from tailrace.tools.switch.mlr import GOAL_LOSS_RATIOS, search
from tailrace.tools.switch.rig import REPEATS_MAX, Rig
from tailrace.tools.switch.throughput import find_throughput
from tailrace.tools.switch.trial import Latency, Trial, TrialRequest

DISTURBED = ["paused"] * (1 + REPEATS_MAX)
"""A trial that stays invalid."""
SECOND = TrialRequest(64, 10**6, 10**6)
"""A million frames in a second."""


@dataclass
class Uneven(FakeSwitch):
    """Loses a frame in these trials; each has a latency of its number."""

    losing: list[bool] = field(default_factory=list)
    paused_share: float = 0.0

    def run(self, request: TrialRequest) -> Trial:
        """As its class, with what is asked for."""
        trial = super().run(request)
        number = float(len(self.requests))
        if self.losing and self.losing.pop(0):
            trial = replace(trial, forwarded=trial.forwarded - 1)
        if self.paused_share:
            kept = round(trial.offered * (1 - self.paused_share))
            paused_s = request.duration_s * self.paused_share
            trial = replace(
                trial, offered=kept, forwarded=min(kept, trial.forwarded), paused_s=paused_s
            )
        return replace(trial, latency=Latency(*[number] * 7))


# RFC 5180 appendix A.1: throughput of Ethernet in frames per second at 10, 100, 1000 and 10 000
# Mbit/s. For 4096 bytes at 1000 Mbit/s it prints 30,396: its own formula gives 30 369, and ten
# times that in the next column.
RFC_5180 = {
    64: (14_880, 148_809, 1_488_095, 14_880_952),
    128: (8_445, 84_459, 844_594, 8_445_945),
    256: (4_528, 45_289, 452_898, 4_528_985),
    512: (2_349, 23_496, 234_962, 2_349_624),
    1024: (1_197, 11_973, 119_731, 1_197_318),
    1280: (961, 9_615, 96_153, 961_538),
    1518: (812, 8_127, 81_274, 812_743),
    1522: (810, 8_106, 81_063, 810_635),
    2048: (604, 6_044, 60_444, 604_448),
    4096: (303, 3_036, 30_369, 303_691),
    8192: (152, 1_522, 15_221, 152_216),
    9216: (135, 1_353, 13_534, 135_339),
}


@pytest.mark.parametrize(("size", "published"), RFC_5180.items())
def test_full_lines_have_the_frame_rates_of_rfc_5180(size: int, published: tuple[int, ...]) -> None:
    assert tuple(int(theoretical_fps(size, 10**power)) for power in (7, 8, 9, 10)) == pytest.approx(
        published, abs=1
    )


def test_a_throughput_rests_on_both_trials_between_which_it_lies() -> None:
    trials = find_throughput(Rig(FakeSwitch(3e6, is_simulated=False)), 64, 0.1).trials
    for sound, is_marked in ((trials - 2, True), (trials - 4, False)):
        device = FakeSwitch(3e6, is_simulated=False, invalid=[""] * sound + DISTURBED)
        assert find_throughput(Rig(device), 64, 0.1).invalid == is_marked


def test_the_loss_curve_ends_with_two_clean_trials_in_succession() -> None:
    device = Uneven(1e9, losing=[True, False, True, False, False, True])
    assert [point.percent for point in find_loss(Rig(device), 64, 1e6, 0.1)] == [
        100,
        90,
        80,
        70,
        60,
    ]


def test_latencies_of_repetitions_are_averaged_and_one_invalid_one_marks_the_point() -> None:
    device = Uneven(1e9, invalid=["", *DISTURBED])
    first, second, *_ = find_latency(Rig(device), 64, 1e6, 0.1, repeats=2)
    # The second trial was repeated twice: the first and the fourth count, then the fifth and the
    # sixth.
    assert (first.latency, second.latency) == (Latency(*[2.5] * 7), Latency(*[5.5] * 7))
    assert (first.invalid, second.invalid) == (True, False)


def test_a_paused_sender_is_not_short_of_what_it_could_not_send() -> None:
    half = Trial(SECOND, offered=500_000, forwarded=500_000, sending_s=1.0, paused_s=0.5)
    assert (half.is_short, half.offered_fps) == (False, SECOND.fps)
    slow = replace(half, offered=400_000, forwarded=300_000)
    assert (slow.is_short, slow.offered_fps, slow.forwarded_fps) == (True, 800_000, 600_000)


def test_what_a_paused_sender_has_not_sent_is_no_loss_of_the_switch() -> None:
    found = search(Rig(Uneven(1e9, paused_share=0.25)), 64, 1e6, 0.1, lambda _: None)
    assert [goal.lower_fps for goal in found.goals] == pytest.approx(
        [1e6] * len(GOAL_LOSS_RATIOS), rel=0.01
    )


def test_bursts_last_two_seconds_at_most_and_are_as_fast_as_the_sender() -> None:
    device = FakeSwitch(
        1e5, buffer_frames=10**9, sender_limit_fps=4e5, is_simulated=False, blocked_share=0.9
    )
    rig = Rig(device)
    throughput = find_throughput(rig, 64, 0.1)
    assert throughput.limit == "switch"
    asked = len(device.requests)
    found = find_back_to_back(rig, throughput, repeats=1)
    bursts = device.requests[asked:]
    assert {burst.interval_ps for burst in bursts} == {round(PS_PER_S / 4e5)}
    assert max(burst.duration_s for burst in bursts) == pytest.approx(BURST_S_MAX)
    assert found.bursts == (round(BURST_S_MAX * 4e5),)


def test_bursts_are_not_tested_where_the_generator_is_the_limit() -> None:
    rig = Rig(FakeSwitch(5e6, sender_limit_fps=4e5, is_simulated=False))
    found = find_back_to_back(rig, find_throughput(rig, 64, 0.1), repeats=1)
    assert (found.bursts, "generator" in found.why_not) == ((), True)
