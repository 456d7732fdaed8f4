"""Fidelity of live trials: lateness, pacing, losses outside of the modelled queues, cores, load
generators."""

from collections.abc import Callable, Iterable, Sequence

from tailrace.outcome.types import Fabric, LatenessEffect, Live
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.format.numbers import THIN_SPACE, digits_text
from tailrace.results.summary.hosts import Fidelity

TAP = "tap"
"""The fabric that executes the policies: tailrace's built-in switch, the default of a live run."""

PPM_PER_PERCENT = 10_000

LiveTrial = tuple[Live, Fabric]


def summarise_fidelity(trials: Sequence[Trial]) -> Fidelity | None:
    """The worst value of every figure over the valid trials of an arm; None for simulated
    trials."""
    outcomes = [trial.outcome for trial in trials]
    found = [(one.live, one.fabric) for one in outcomes if one.live and one.fabric]
    if not found:
        return None
    return Fidelity(
        lateness_p50_us=_worst(
            fabric.lateness_us.p50 if fabric.lateness_us else None for _, fabric in found
        ),
        lateness_p99_us=_worst(
            fabric.lateness_us.p99 if fabric.lateness_us else None for _, fabric in found
        ),
        lateness_p99_9_us=_worst(
            fabric.lateness_us.p99_9 if fabric.lateness_us else None for _, fabric in found
        ),
        lateness_max_us=_worst(
            fabric.lateness_us.max if fabric.lateness_us else None for _, fabric in found
        ),
        delay_error_ms=_worst_effect(found, lambda port: port.mean_ms),
        delay_error_p99_ms=_worst_effect(found, lambda port: port.p99_ms),
        drop_error=_worst_effect(found, lambda port: float(port.drops - port.punctual_drops)),
        core_wait_share=_worst(
            wait.share for live, _ in found for wait in live.core_waits.values()
        ),
        own_lateness_p99_9_us=_worst(
            fabric.own_lateness_us.p99_9 if fabric.own_lateness_us else None for _, fabric in found
        ),
        stalls_us=_worst(fabric.stalls.total_us if fabric.stalls else None for _, fabric in found),
        pacing_error_ppm=_worst(
            abs(ppm) for _, fabric in found for ppm in (fabric.rate_error_ppm or {}).values()
        ),
        frames_lost_outside=sum(_lost(fabric) for _, fabric in found),
        switch_share=_worst(fabric.cpu.switch_share for _, fabric in found),
        steal_share=_worst(live.steal_share for live, _ in found),
        idle_share=min(_known(live.idle_share for live, _ in found), default=None),
        generator_lag_us=_worst(lag for live, _ in found for lag in live.generator_lag_us.values()),
        begin_skew_ms=_worst(live.begin_skew_ms for live, _ in found),
        congestion_controls=sorted(
            {name for live, _ in found for name in live.congestion_controls}
        ),
    )


def engine_name(run: Run) -> str:
    """`simulated`, `exact` or `live`."""
    return run.manifest.engine


def fabric_name(run: Run) -> str | None:
    """The fabric of a live run; None for a simulated one."""
    return run.manifest.fabric or TAP if engine_name(run) == "live" else None


def fidelity_rows(arms: Iterable[tuple[str, Fidelity | None]]) -> list[list[str]]:
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
    for name, fidelity in arms:
        if fidelity is None:
            continue
        pacing = fidelity.pacing_error_ppm
        figures = [
            fidelity.delay_error_ms,
            fidelity.delay_error_p99_ms,
            fidelity.drop_error,
            _percent(fidelity.core_wait_share),
            fidelity.lateness_p99_9_us,
            None if pacing is None else pacing / PPM_PER_PERCENT,
            _percent(fidelity.idle_share),
            _percent(fidelity.steal_share),
            fidelity.generator_lag_us,
        ]
        rows.append([name, *(digits_text(figure).replace(THIN_SPACE, " ") for figure in figures)])
    return rows


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100


def _worst_effect(
    found: Sequence[LiveTrial], of: Callable[[LatenessEffect], float | None]
) -> float | None:
    """The largest absolute difference between a trial and a switch without lateness."""
    ports = [port for _, fabric in found for port in (fabric.effect or {}).values()]
    return _worst(None if (off := of(port)) is None else abs(off) for port in ports)


def _lost(fabric: Fabric) -> int:
    hosts = (fabric.frames_lost_outside or {}).values()
    return sum(
        (own.rx_dropped or 0) + (own.tx_dropped or 0) + (own.write_failed or 0) for own in hosts
    )


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _worst(values: Iterable[float | None]) -> float | None:
    return max(_known(values), default=None)
