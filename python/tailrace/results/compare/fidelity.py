"""Fidelity of live trials: lateness, pacing, losses outside of the modelled queues, cores, load generators."""

from collections.abc import Callable, Sequence
from typing import Any

from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.format.numbers import THIN_SPACE, digits_text

TAP = "tap"
"""The fabric that executes the policies: tailrace's built-in switch, the default of a live run."""

PPM_PER_PERCENT = 10_000

Outcome = dict[str, Any]


def summarise_fidelity(trials: Sequence[Trial]) -> dict[str, Any] | None:
    """The worst value of every figure over the valid trials of an arm; None for simulated trials."""
    outcomes = [trial.outcome for trial in trials if trial.outcome.get("live")]
    if not outcomes:
        return None
    return {
        "lateness_p50_us": _worst(outcomes, lambda o: _late(o, "p50")),
        "lateness_p99_us": _worst(outcomes, lambda o: _late(o, "p99")),
        "lateness_p99_9_us": _worst(outcomes, lambda o: _late(o, "p99_9")),
        "lateness_max_us": _worst(outcomes, lambda o: _late(o, "max")),
        "delay_error_ms": _worst(outcomes, lambda o: _of_ports(o, "mean_ms")),
        "delay_error_p99_ms": _worst(outcomes, lambda o: _of_ports(o, "p99_ms")),
        "drop_error": _worst(outcomes, _drop_error),
        "core_wait_share": _worst(
            outcomes, lambda o: max((w["share"] for w in (o["live"].get("core_waits") or {}).values()), default=None)
        ),
        "own_lateness_p99_9_us": _worst(outcomes, lambda o: _late(o, "p99_9", "own_lateness_us")),
        "stalls_us": _worst(outcomes, lambda o: (o["fabric"].get("stalls") or {}).get("total_us")),
        "pacing_error_ppm": _worst(outcomes, _pacing_error_ppm),
        "frames_lost_outside": sum(_lost(outcome) for outcome in outcomes),
        "switch_share": _worst(outcomes, lambda o: (o["fabric"].get("cpu") or {}).get("switch_share")),
        "steal_share": _worst(outcomes, lambda o: o["live"].get("steal_share")),
        "idle_share": _least(outcomes, lambda o: o["live"].get("idle_share")),
        "generator_lag_us": _worst(outcomes, lambda o: max(o["live"]["generator_lag_us"].values(), default=None)),
        "begin_skew_ms": _worst(outcomes, lambda o: o["live"].get("begin_skew_ms")),
        "congestion_controls": sorted({name for o in outcomes for name in o["live"].get("congestion_controls", [])}),
    }


def engine_name(run: Run) -> str:
    """`simulated`, `exact` or `live`."""
    return str(run.manifest.get("engine", "simulated"))


def fabric_name(run: Run) -> str | None:
    """The fabric of a live run; None for a simulated one."""
    return str(run.manifest.get("fabric", TAP)) if engine_name(run) == "live" else None


def fidelity_rows(summary: dict[str, Any]) -> list[list[str]]:
    """A text table with a row for each arm; only the head for a simulated run."""
    rows = [
        [
            "worst value over trials",
            "delay off, ms",
            "p99 off, ms",
            "drops off",
            "no core, %",
            "late p99.9, us",
            "rate error, %",
            "idle, %",
            "stolen, %",
            "load late, us",
        ]
    ]
    arms = {**summary["arms"], **{f"{name} alone": arm for name, arm in summary["solo"].items()}}
    for name, arm in arms.items():
        if fidelity := arm["fidelity"]:
            pacing = fidelity["pacing_error_ppm"]
            figures = [
                fidelity["delay_error_ms"],
                fidelity["delay_error_p99_ms"],
                fidelity["drop_error"],
                None if fidelity["core_wait_share"] is None else fidelity["core_wait_share"] * 100,
                fidelity["lateness_p99_9_us"],
                None if pacing is None else pacing / PPM_PER_PERCENT,
                *(
                    None if share is None else share * 100
                    for share in (fidelity["idle_share"], fidelity["steal_share"])
                ),
                fidelity["generator_lag_us"],
            ]
            rows.append([name, *(digits_text(figure).replace(THIN_SPACE, " ") for figure in figures)])
    return rows


def _late(outcome: Outcome, percentile: str, which: str = "lateness_us") -> float | None:
    value = (outcome["fabric"].get(which) or {}).get(percentile)
    return None if value is None else float(value)


def _pacing_error_ppm(outcome: Outcome) -> float | None:
    errors = [abs(ppm) for ppm in (outcome["fabric"].get("rate_error_ppm") or {}).values() if ppm is not None]
    return max(errors, default=None)


def _of_ports(outcome: Outcome, key: str) -> float | None:
    """The largest absolute difference between the trial and a switch without lateness."""
    ports = (outcome["fabric"].get("effect") or {}).values()
    return max((abs(port[key]) for port in ports if port[key] is not None), default=None)


def _drop_error(outcome: Outcome) -> float | None:
    ports = (outcome["fabric"].get("effect") or {}).values()
    return max((float(abs(port["drops"] - port["punctual_drops"])) for port in ports), default=None)


def _lost(outcome: Outcome) -> int:
    lost = outcome["fabric"].get("frames_lost_outside") or {}
    return sum(int(frames) for host in lost.values() for frames in host.values())


def _worst(outcomes: Sequence[Outcome], of: Callable[[Outcome], float | None]) -> float | None:
    return max((value for outcome in outcomes if (value := of(outcome)) is not None), default=None)


def _least(outcomes: Sequence[Outcome], of: Callable[[Outcome], float | None]) -> float | None:
    return min((value for outcome in outcomes if (value := of(outcome)) is not None), default=None)
