"""The searches find what a switch of known rate and buffer has, and repeat what the machine
spoils."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_switch import FakeSwitch
from tailrace.errors import RunRefusedError
from tailrace.tools.switch.back_to_back import find_back_to_back
from tailrace.tools.switch.frame_loss import find_loss
from tailrace.tools.switch.frames import SIZES, interval_ps, parse_sizes, theoretical_fps
from tailrace.tools.switch.latency import SHARES, find_latency
from tailrace.tools.switch.mlr import GOAL_LOSS_RATIOS, search
from tailrace.tools.switch.rig import REPEATS_IN_ALL, REPEATS_MAX, Rig
from tailrace.tools.switch.throughput import find_throughput

TEN_GIGABIT = 10**10


def test_a_full_line_of_10_gigabit_has_the_published_frames_per_second() -> None:
    published = (14_880_952, 8_445_945, 4_528_985, 2_349_624, 1_197_318, 961_538, 812_743, 138_304)
    assert tuple(int(theoretical_fps(size, TEN_GIGABIT)) for size in SIZES) == published
    assert interval_ps(64, TEN_GIGABIT) == 67_200


@given(st.floats(1e4, 1.4e7), st.sampled_from(SIZES), st.booleans())
def test_throughput_is_found_to_the_resolution(fps: float, size: int, is_simulated: bool) -> None:
    rig = Rig(FakeSwitch(fps, is_simulated=is_simulated))
    found = find_throughput(rig, size, 1.0)
    ideal = theoretical_fps(size, TEN_GIGABIT)
    if fps >= ideal:
        assert (found.limit, found.whole_fps, found.trials) == ("line", int(ideal), 1)
        return
    # A second of frames is counted whole; the interval is a whole number of picoseconds.
    close = 2 + found.fps * found.fps * 2e-12 if is_simulated else fps * 0.011 + 2
    assert found.limit == "switch"
    assert fps - close <= found.fps <= fps + close


def test_a_buffer_adds_its_frames_divided_by_the_length_of_a_trial() -> None:
    for duration_s in (0.1, 1.0):
        found = find_throughput(Rig(FakeSwitch(1e6, buffer_frames=1000)), 64, duration_s)
        assert found.fps == pytest.approx(1e6 + 1000 / duration_s, rel=1e-4)


def test_a_sender_that_is_too_slow_is_the_limit_and_is_told() -> None:
    found = find_throughput(Rig(FakeSwitch(5e6, sender_limit_fps=4e5, is_simulated=False)), 64, 1.0)
    assert (found.limit, found.trials) == ("generator", 1)
    assert found.fps == pytest.approx(4e5, rel=1e-3)
    assert found.most_fps == pytest.approx(4e5, rel=1e-3)


def test_a_switch_that_forwards_nothing_has_a_throughput_of_zero() -> None:
    assert find_throughput(Rig(FakeSwitch(0.0)), 64, 0.01).fps == 0


def test_an_invalid_trial_is_repeated_and_counted() -> None:
    device = FakeSwitch(1e9, invalid=["paused"])
    rig = Rig(device)
    assert not find_throughput(rig, 64, 0.01).invalid
    assert (len(rig.trials), rig.invalid) == (2, 1)


def test_trials_that_stay_invalid_count_and_are_marked() -> None:
    rig = Rig(FakeSwitch(1e9, invalid=["paused"] * 10))
    assert find_throughput(rig, 64, 0.01).invalid
    assert len(rig.trials) == REPEATS_MAX + 1


def test_repetitions_end_for_the_whole_measurement() -> None:
    rig = Rig(FakeSwitch(1e9, invalid=["paused"] * 1000))
    for _ in range(REPEATS_IN_ALL):
        rig.at_fps(64, 1e5, 0.01)
    assert len(rig.trials) == 2 * REPEATS_IN_ALL


def test_a_switch_that_takes_no_more_is_the_limit_and_not_the_sender() -> None:
    device = FakeSwitch(5e6, sender_limit_fps=4e5, is_simulated=False, blocked_share=0.9)
    assert find_throughput(Rig(device), 64, 1.0).limit == "switch"


def test_latency_is_measured_at_every_share_without_that_of_an_empty_path() -> None:
    points = list(find_latency(Rig(FakeSwitch(1e9)), 64, 1e6, 0.1, repeats=2))
    assert [point.percent for point in points] == list(SHARES)
    assert [point.fps for point in points] == pytest.approx(
        [1e6 * share / 100 for share in SHARES], rel=1e-4
    )
    assert {point.switch_ns for point in points} == {1.5}


def test_the_loss_curve_falls_to_two_trials_without_loss() -> None:
    points = list(find_loss(Rig(FakeSwitch(6.5e5)), 64, 1e6, 1.0))
    assert [point.percent for point in points] == [100, 90, 80, 70, 60, 50]
    expected = [
        1 - 6.5e5 / point.offered_fps if point.offered_fps > 6.5e5 else 0 for point in points
    ]
    assert [point.loss_ratio for point in points] == pytest.approx(expected, abs=1e-4)


@given(st.integers(10, 100_000), st.floats(0.05, 0.9))
def test_the_corrected_buffer_of_rfc_9004_is_the_buffer(frames: int, share: float) -> None:
    ideal = theoretical_fps(64, TEN_GIGABIT)
    rig = Rig(FakeSwitch(ideal * share, buffer_frames=frames))
    throughput = find_throughput(rig, 64, 60.0)
    found = find_back_to_back(rig, throughput, repeats=1)
    assert found.buffer_frames is not None
    # Throughput is high by the buffer in 60 s, bursts are whole frames.
    assert found.buffer_frames == pytest.approx(frames, rel=0.02 / (1 - share), abs=3)


def test_bursts_are_not_tested_where_nothing_is_lost() -> None:
    rig = Rig(FakeSwitch(1e9))
    found = find_back_to_back(rig, find_throughput(rig, 64, 0.01), repeats=1)
    assert found.bursts == ()
    assert "line" in found.why_not
    assert found.as_data()["back_to_back_frames"] is None


def test_a_search_for_goals_finds_bounds_around_the_rate() -> None:
    rig = Rig(FakeSwitch(3e6))
    found = search(rig, 64, 1e7, 1.0, lambda _: None)
    assert [goal.loss_ratio for goal in found.goals] == list(GOAL_LOSS_RATIOS)
    for goal in found.goals:
        most = 3e6 / (1 - goal.loss_ratio)
        assert goal.lower_fps is not None
        assert goal.upper_fps is not None
        assert goal.lower_fps <= most * 1.001 <= goal.upper_fps * 1.002
        assert goal.upper_fps / goal.lower_fps < 1.011
    assert found.trials == len(rig.trials) <= 54


def test_goals_above_zero_are_met_by_a_switch_that_always_loses_a_little() -> None:
    found = search(Rig(FakeSwitch(3e6, base_loss=0.0005)), 64, 1e7, 1.0, lambda _: None)
    by_ratio = {goal.loss_ratio: goal for goal in found.goals}
    assert by_ratio[0.0].lower_fps is None, "no rate is without loss"
    assert by_ratio[0.0].as_data()["goal_result"] == "irregular"
    assert by_ratio[0.001].lower_fps == pytest.approx(3e6, rel=0.02)


@pytest.mark.parametrize(
    ("text", "what"), [("64,big", "'big'"), ("63", "'63'"), ("", "''"), ("9300", "'9300'")]
)
def test_sizes_that_are_none_are_refused(text: str, what: str) -> None:
    with pytest.raises(RunRefusedError, match=what):
        parse_sizes(text)
    assert parse_sizes("64, 1518B,64") == (64, 1518)
