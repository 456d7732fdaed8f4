"""Effect of the switch's lateness on a trial: compares the trial with a replay of its frames with
perfect timing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailrace.live.lab.fabric import FabricError, ask
from tailrace.outcome.types import Delays, LatenessEffect, Outcome
from tailrace.results.ports.outcome import queue_drops

LOG_BYTES_MAX = 400_000_000
"""Maximum bytes of a trial's log: 5.5 million frames, minutes at the rate of this fabric. The
replay holds it in memory."""
REPLAY_LIMIT_S = 300.0
"""A log of a minute is replayed in seconds."""
FRAMES_MIN = 100
"""A port with fewer frames is not judged."""
US_PER_MS = 1000.0


def mean_share(effect: LatenessEffect) -> float | None:
    """The difference of the mean as a share of the drain time."""
    return (
        None if effect.mean_ms is None or not effect.drain_ms else effect.mean_ms / effect.drain_ms
    )


def p99_share(effect: LatenessEffect) -> float | None:
    """The difference of the percentiles as a share of the drain time."""
    return None if effect.p99_ms is None or not effect.drain_ms else effect.p99_ms / effect.drain_ms


def drop_share(effect: LatenessEffect) -> float:
    """Drops more or fewer, as a share of the frames; 0 where too few went there."""
    return (
        (effect.drops - effect.punctual_drops) / effect.frames
        if effect.frames >= FRAMES_MIN
        else 0.0
    )


def of_log(plan: Path, log: Path, outcome: Outcome) -> dict[str, LatenessEffect] | None:
    """The effect by port; None where there is no whole log."""
    if (
        (outcome.fabric and outcome.fabric.log_error)
        or not log.is_file()
        or log.stat().st_size > LOG_BYTES_MAX
    ):
        return None
    try:
        answer = ask(
            "replay", "--plan", str(plan), "--log", str(log), "--effect", limit_s=REPLAY_LIMIT_S
        )
    except FabricError:
        return None
    effect = answer.get("effect")
    return between(outcome, effect) if effect else None


def between(outcome: Outcome, effect: Mapping[str, Any]) -> dict[str, LatenessEffect]:
    """By port, from the outcome of a trial and the result of its replay."""
    delays = (outcome.fabric and outcome.fabric.delay_us) or {}
    dropped = {f"{port.node}>{port.towards}": queue_drops(port) for port in outcome.ports}
    added_us = float(effect["stops"]["added_mean_us"])
    return {
        port: _effect(delays.get(port), dropped.get(port, 0), passes, added_us)
        for port, passes in effect["ports"].items()
    }


def _effect(
    happened: Delays | None, drops: int, passes: Mapping[str, Any], added_us: float
) -> LatenessEffect:
    punctual, stopped = passes["punctual"], passes["stopped"]
    delay, late = punctual["delay_us"], stopped["delay_us"]
    mean_us = p99_us = slope = None
    if happened and delay and happened.frames and delay["frames"]:
        if happened.frames >= FRAMES_MIN:
            mean_us, p99_us = happened.mean - delay["mean"], happened.p99 - delay["p99"]
        if added_us and late:
            slope = (late["mean"] - delay["mean"]) / added_us
    return LatenessEffect(
        frames=happened.frames if happened else 0,
        drain_ms=passes["drain_us"] / US_PER_MS,
        mean_ms=None if mean_us is None else mean_us / US_PER_MS,
        p99_ms=None if p99_us is None else p99_us / US_PER_MS,
        drops=drops,
        punctual_drops=int(punctual["drops"]),
        slope=slope,
        slope_drops=int(stopped["drops"]) - int(punctual["drops"]),
    )
