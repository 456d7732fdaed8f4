"""What lateness did to a trial, from the figures of the trial and of its replay."""

from pathlib import Path
from typing import Any

import pytest

from tailrace.live.trial import effect
from tailrace.live.trial.effect import between, drop_share, mean_share, p99_share
from tailrace.outcome.types import Outcome
from whole import part


def outcome(mean_us: float, p99_us: float, drops: int, frames: int = 5000) -> Outcome:
    """Of a trial with one port of two queues."""
    queues = [{"drops": {"tail-drop": {"frames": drops - 1}}}, {"drops": {"red": {"frames": 1}}}]
    return part(
        Outcome,
        ports=[{"node": "leaf", "towards": "client", "queues": queues}],
        fabric={"delay_us": {"leaf>client": {"frames": frames, "mean": mean_us, "p99": p99_us}}},
    )


def told(mean_us: float, p99_us: float, drops: int) -> dict[str, Any]:
    """Of its replay: 4 ms of queue, and 0.05 ms of lateness that become 0.1 ms of delay and three
    drops."""
    punctual = {"drops": drops, "delay_us": {"frames": 5000, "mean": mean_us, "p99": p99_us}}
    stopped = {
        "drops": drops + 3,
        "delay_us": {"frames": 5000, "mean": mean_us + 100, "p99": p99_us + 400},
    }
    port = {"drain_us": 4000.0, "punctual": punctual, "stopped": stopped}
    none = {"drops": 7, "delay_us": None}
    inner = {"drain_us": 800.0, "punctual": none, "stopped": {**none, "drops": 9}}
    return {"ports": {"leaf>client": port, "leaf>spine": inner}, "stops": {"added_mean_us": 50.0}}


def test_differences_are_told_in_milliseconds_and_as_shares_of_the_drain_time() -> None:
    found = between(outcome(1600.0, 5000.0, 40), told(1400.0, 3800.0, 30))["leaf>client"]
    assert (found.mean_ms, found.p99_ms) == pytest.approx((0.2, 1.2))
    assert (mean_share(found), p99_share(found)) == pytest.approx((0.05, 0.3))
    assert (found.drops, found.punctual_drops) == (40, 30)
    assert drop_share(found) == pytest.approx(0.002)
    assert (found.slope, found.slope_drops) == (2.0, 3)


def test_a_port_between_switches_has_drops_and_no_delay() -> None:
    found = between(outcome(1.0, 2.0, 1), told(1.0, 2.0, 0))["leaf>spine"]
    assert (found.mean_ms, mean_share(found), found.punctual_drops, drop_share(found)) == (
        None,
        None,
        7,
        0.0,
    )


def test_a_port_of_few_frames_decides_nothing() -> None:
    found = between(outcome(9000.0, 9000.0, 40, frames=99), told(0.0, 0.0, 0))["leaf>client"]
    assert (found.mean_ms, found.p99_ms, drop_share(found)) == (None, None, 0.0)


def test_a_log_that_is_not_whole_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "ingress.log"
    assert effect.of_log(tmp_path / "plan.json", log, part(Outcome)) is None, "there is none"
    log.write_bytes(b"12345")
    assert (
        effect.of_log(
            tmp_path / "plan.json", log, part(Outcome, fabric={"log_error": "at its bound"})
        )
        is None
    )
    monkeypatch.setattr(effect, "LOG_BYTES_MAX", 4)
    assert effect.of_log(tmp_path / "plan.json", log, part(Outcome, fabric={})) is None, (
        "it is over the bound"
    )
