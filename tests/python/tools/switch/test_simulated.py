"""A simulated switch is measured as what it is: line rate to one frame, its latency, its buffer."""

from typing import Any

import pytest

from tailrace.errors import RunRefusedError
from tailrace.scenario.loading import load_scenario
from tailrace.tools.switch.back_to_back import find_back_to_back
from tailrace.tools.switch.devices.simulated import SimulatedSwitch, default_scenario
from tailrace.tools.switch.frames import SIZES
from tailrace.tools.switch.latency import find_latency
from tailrace.tools.switch.rig import Rig
from tailrace.tools.switch.throughput import find_throughput
from tailrace.tools.switch.trial import TrialRequest

TRIAL_S = 0.002
LINE_FPS = (14_880_952, 8_445_945, 4_528_985, 2_349_624, 1_197_318, 961_538, 812_743, 138_304)
BUFFER_BYTES = 100_000
SLOW_BPS = 10**9


def funnel(**changes: Any) -> SimulatedSwitch:
    """A switch whose exit is a tenth as fast as its entrance, with a queue of 100 kB."""
    data = {
        "tailrace": 1,
        "name": "funnel",
        "network": {
            "switches": ["sw"],
            "hosts": ["a", "b"],
            "links": [
                {"between": ["a", "sw"], "rate": "10Gbit/s"},
                {"between": ["b", "sw"], "rate": "1Gbit/s"},
            ],
        },
        "hosts": {"defaults": {"mtu": "1500B"}},
        "switches": {"defaults": {"policy": "one"}},
        "policies": {"one": {"queues": {"all": {"limit": "100kB"}}}},
        "workloads": {"none": {"kind": "stream", "source": "a", "destination": "b", "size": "1kB"}},
        "experiment": {"duration": "1s"},
    }
    return SimulatedSwitch(load_scenario(data | changes), None, None, None)


@pytest.mark.parametrize(("size", "fps"), list(zip(SIZES, LINE_FPS, strict=True)))
def test_the_simulated_switch_has_line_rate_to_one_frame(size: int, fps: int) -> None:
    rig = Rig(SimulatedSwitch(default_scenario(), None, None, None))
    found = find_throughput(rig, size, TRIAL_S)
    assert (found.whole_fps, found.limit) == (fps, "line")
    [trial] = rig.trials
    assert trial.forwarded == trial.offered == int(TRIAL_S * 1e12) // trial.request.interval_ps


@pytest.mark.parametrize("size", SIZES)
def test_the_latency_of_an_idle_switch_is_its_pipeline(size: int) -> None:
    rig = Rig(SimulatedSwitch(default_scenario(), None, None, None))
    fps = LINE_FPS[SIZES.index(size)]
    wire_ns = (size + 20) * 8 / 10
    for point in find_latency(rig, size, fps, TRIAL_S, repeats=1):
        assert point.latency is not None
        # Stored and sent again, 0.5 us of each line, 1 us of the pipeline.
        assert point.latency.mean == pytest.approx(2 * wire_ns + 2 * 500 + 1000, abs=0.01)
        assert point.switch_ns == pytest.approx(1000, abs=0.01)


@pytest.mark.parametrize("size", [64, 512, 1518])
def test_a_slower_exit_is_found_with_what_its_queue_adds(size: int) -> None:
    rig = Rig(funnel())
    found = find_throughput(rig, size, 0.02)
    exit_fps = SLOW_BPS / ((size + 20) * 8)
    held = BUFFER_BYTES // (size - 4)
    assert found.limit == "switch"
    # The queue holds what came too fast, the transmitter has one, and one is under way.
    assert 0 <= (found.fps - exit_fps) * 0.02 - held <= 3


@pytest.mark.parametrize("size", [64, 512, 1518])
def test_the_longest_burst_is_the_queue_divided_by_what_the_exit_leaves(size: int) -> None:
    rig = Rig(funnel())
    throughput = find_throughput(rig, size, 0.2)
    found = find_back_to_back(rig, throughput, repeats=1)
    held = BUFFER_BYTES // (size - 4)
    assert found.bursts[0] == pytest.approx(held / (1 - 0.1), abs=3)
    assert found.buffer_frames == pytest.approx(held, rel=0.01, abs=3)


def test_the_same_trial_has_the_same_result() -> None:
    request = TrialRequest.at(64, 100_000, TRIAL_S)
    assert funnel().run(request) == funnel().run(request)


def test_hosts_are_chosen_by_name_and_unknown_ones_are_refused() -> None:
    loaded = default_scenario()
    back = SimulatedSwitch(loaded, None, "receiver", None)
    assert (back.source, back.destination) == ("receiver", "sender")
    with pytest.raises(RunRefusedError, match=r"there is no host 'sendr'.*sender"):
        SimulatedSwitch(loaded, None, "sendr", None)
    with pytest.raises(RunRefusedError, match="two hosts"):
        SimulatedSwitch(loaded, None, "sender", "sender")
    with pytest.raises(RunRefusedError, match="there is no arm"):
        SimulatedSwitch(loaded, "none", None, None)
