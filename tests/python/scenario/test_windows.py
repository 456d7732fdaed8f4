"""Windows over time: what the plan says of them, and where they are refused."""

import pytest

from lab import load
from tailrace.errors import ScenarioError
from tailrace.scenario.lowering.plan import lower

MS = 10**9


def test_windows_are_wanted_by_the_plan_where_the_scenario_wants_them() -> None:
    assert "windows_ps" not in lower(load().scenario, "dpp", 1)["observe"]
    assert lower(load(observe__windows="1ms").scenario, "dpp", 1)["observe"]["windows_ps"] == MS


@pytest.mark.parametrize(
    ("duration", "enough"), [("5s", "50us"), ("1000s", "10ms"), ("1000001ms", "20ms")]
)
def test_windows_cannot_be_looked_at_without_end(duration: str, enough: str) -> None:
    with pytest.raises(
        ScenarioError,
        match=rf"observe\.windows: windows are looked at too often .*at least {enough}\)",
    ):
        load(experiment__duration=duration, observe__windows="1us")
    load(experiment__duration=duration, observe__windows=enough)
