"""By how much rates must be divided on a machine, from trials that are judged as any other."""

from collections.abc import Sequence

import pytest

from tailrace.live import divisor
from tailrace.live.divisor import Tried, fact
from tailrace.live.engine import LiveEngine
from tailrace.live.machine import doctor


@pytest.fixture
def held_from(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The divisor from which on trials count; 4 unless a test says otherwise."""
    least = [4]

    def reasons(_engine: LiveEngine, tried: int) -> Sequence[str]:
        return [] if tried >= least[0] else [f"the programs waited for {100 // tried}%"]

    monkeypatch.setattr(divisor, "_reasons", reasons)
    monkeypatch.setattr(doctor, "require", lambda *_loads, **_kinds: {})
    monkeypatch.setattr(LiveEngine, "close", lambda _engine: None)
    return least


def test_the_first_divisor_with_a_valid_trial_is_recommended(held_from: list[int]) -> None:
    said: list[str] = []
    tried = divisor.measure(said.append)
    assert [one.divisor for one in tried] == [1, 2, 4]
    assert said[-1] == "a trial of 4 s at 250 Mbit/s"
    told = fact(tried)
    assert told.value == "250 Mbit/s for each port at an MTU of 9000 B"
    assert told.advice == (
        "for a scenario of 1 Gbit/s: --live-scale 4; at 1000 Mbit/s the programs waited for 100%;"
        " at 500 Mbit/s the programs waited for 50%"
    )


def test_a_quiet_machine_needs_no_divisor(held_from: list[int]) -> None:
    held_from[0] = 1
    told = fact(divisor.measure(lambda _text: None))
    assert (told.value, told.advice) == ("1000 Mbit/s for each port at an MTU of 9000 B", "")


def test_a_machine_that_holds_nothing_is_told_why(held_from: list[int]) -> None:
    held_from[0] = 100
    tried = divisor.measure(lambda _text: None)
    assert [one.is_held for one in tried] == [False] * 5
    told = fact([Tried(16, ["the switch was late"])])
    assert (told.value, told.advice) == (
        "less than 62.5 Mbit/s for each port",
        "at 62.5 Mbit/s the switch was late",
    )


@pytest.mark.usefixtures("fake_lab")
def test_its_trials_are_those_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(divisor, "TRIAL_S", 0.2)
    tried = divisor.measure(lambda _text: None)
    assert [(one.divisor, one.reasons) for one in tried] == [(1, [])]
