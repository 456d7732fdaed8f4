"""Measures the divisor of rates that this machine needs at present, with short trials of a small
mix."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.experiment.divide import divided
from tailrace.experiment.engine import outcome_of
from tailrace.live import registry
from tailrace.live.engine import LiveEngine
from tailrace.live.machine import doctor
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower

RATE_BPS = 10**9
"""Rate of a port of the mix before division, in bit/s."""
MTU_BYTES = 9000
DIVISORS = (1, 2, 4, 8, 16)
TRIAL_S = 4
"""Long enough for some thousand frames and hundreds of samples of core waits."""


@dataclass(frozen=True)
class Tried:
    """One divisor, and the reasons for which its trial was invalid."""

    divisor: int
    reasons: Sequence[str]

    @property
    def is_held(self) -> bool:
        """Whether the trial was valid."""
        return not self.reasons


def measure(say: Callable[[str], None]) -> list[Tried]:
    """Tries increasing divisors until a trial is valid, for at most a minute.

    Raises `RunRefusedError` where live runs cannot start.
    """
    doctor.require(registry.needs_of(registry.choice(kind, {}) for kind in ("oltp", "stream")))
    tried: list[Tried] = []
    with tempfile.TemporaryDirectory(prefix="tailrace-divisor-") as name:
        engine = LiveEngine(say=say)
        engine.open(Path(name))
        try:
            for divisor in DIVISORS:
                say(f"a trial of {TRIAL_S} s at {_mbps(divisor)} Mbit/s")
                tried.append(Tried(divisor, _reasons(engine, divisor)))
                if tried[-1].is_held:
                    break
        finally:
            engine.close()
    return tried


def fact(tried: Sequence[Tried]) -> "doctor.Fact":
    """The line of the doctor about these attempts."""
    last = tried[-1]
    why = "; ".join(
        f"at {_mbps(one.divisor)} Mbit/s {one.reasons[0]}" for one in tried if one.reasons
    )
    if not last.is_held:
        return doctor.Fact(
            "rates now", f"less than {_mbps(last.divisor)} Mbit/s for each port", None, why
        )
    held = f"{_mbps(last.divisor)} Mbit/s for each port at an MTU of {MTU_BYTES} B"
    advice = (
        f"for a scenario of {RATE_BPS / 1e9:g} Gbit/s: --live-scale {last.divisor}"
        if last.divisor > 1
        else ""
    )
    return doctor.Fact("rates now", held, None, "; ".join(text for text in (advice, why) if text))


def _reasons(engine: LiveEngine, divisor: int) -> list[str]:
    loaded = divided(load_scenario(_mix()), divisor)
    plan = lower(loaded.scenario, "base", 1)
    return engine.reasons(outcome_of(engine.trial(canonical_json(plan))), loaded.scenario)


def _mix() -> dict[str, Any]:
    """Users of a database behind a port that a stream keeps full, as in the tutorial."""
    orders = {
        "kind": "oltp",
        "client": "client",
        "server": "db",
        "users": 16,
        "round_trips": [{"response": "64kB"}],
        "gap": "exponential(100ms)",
    }
    return {
        "tailrace": 1,
        "name": "divisor",
        "network": {
            "link": {"rate": f"{RATE_BPS}bit/s"},
            "topology": {"kind": "star", "switch": "leaf", "hosts": ["client", "db", "bulk"]},
        },
        "hosts": {"defaults": {"mtu": f"{MTU_BYTES}B"}},
        "switches": {"leaf": {"policy": "fifo"}},
        "policies": {"fifo": {"queues": {"normal": {"limit": "500kB"}}}},
        "workloads": {
            "orders": orders,
            "backup": {
                "kind": "stream",
                "source": "bulk",
                "destination": "client",
                "connections": 2,
            },
        },
        "experiment": {"duration": f"{TRIAL_S}s", "trials": 1},
    }


def _mbps(divisor: int) -> str:
    return f"{RATE_BPS / divisor / 1e6:g}"
