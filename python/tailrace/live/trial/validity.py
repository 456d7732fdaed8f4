"""Validity of a live trial: compares errors of the machine and the fabric with the scenario's
bounds."""

from collections.abc import Iterator

from tailrace.live.trial.effect import drop_share, mean_share, p99_share
from tailrace.outcome.types import Fabric, Live, Outcome
from tailrace.programs.envelope import shortfalls
from tailrace.results.compare.fidelity import TAP
from tailrace.scenario.live import Live as Bounds

ONE_PPB = 10**9
LAG_SHARE_MIN = 0.01
"""Lateness of a load generator, as a share of the time of its transactions, below which it is
ignored."""
PPB_PER_PPM = 1000
PS_PER_US = 10**6
US_PER_MS = 1000
PS_PER_MS = 10**9


def reasons(outcome: Outcome, bounds: Bounds) -> list[str]:
    """All reasons for which a trial is invalid."""
    fabric, live = outcome.fabric, outcome.live
    assert fabric is not None, "it is the outcome of a live trial"
    assert live is not None, "it is the outcome of a live trial"
    return [
        *_effect(fabric, bounds),
        *_fabric(fabric, bounds),
        *_lost(fabric),
        *_core_waits(live, bounds),
        *_machine(live, bounds),
        *_generators(outcome, live, bounds),
        *_starts(live, bounds),
        *_disks(outcome),
    ]


def _effect(fabric: Fabric, bounds: Bounds) -> Iterator[str]:
    """The effect of lateness at each port, in the unit of the measurement there."""
    for port, one in (fabric.effect or {}).items():
        for what, ms, share, bound in (
            ("mean", one.mean_ms, mean_share(one), bounds.max_delay_error),
            ("99th percentile of the", one.p99_ms, p99_share(one), bounds.max_delay_error_p99),
        ):
            if ms is not None and share is not None and abs(share) * ONE_PPB > bound:
                queue = f"{abs(share):.1%} of the {one.drain_ms:.3g} ms in which its queue drains"
                yield (
                    f"lateness changed the {what} delay at port {port} by {ms:.2f} ms: {queue},"
                    f" allowed are {bound / ONE_PPB:.1%}{_whose_fault(fabric)}"
                )
        if (share_of_drops := abs(drop_share(one))) * ONE_PPB > bounds.max_drop_error:
            yield (
                f"port {port} dropped {one.drops} frames, a switch without lateness "
                f"{one.punctual_drops}: a "
                "difference of"
                f" {share_of_drops:.2%} of its frames, allowed are "
                f"{bounds.max_drop_error / ONE_PPB:.2%}"
            )


def _core_waits(live: Live, bounds: Bounds) -> Iterator[str]:
    """The waits of a workload's programs for a core."""
    for workload, lost in live.core_waits.items():
        if lost.share * ONE_PPB > bounds.max_core_wait:
            stolen = (
                f" and {lost.stolen_s:.2f} s taken by the hypervisor"
                if lost.stolen_s >= 0.005
                else ""
            )
            yield (
                f"the programs of {workload} waited {lost.wait_s:.2f} s for a core{stolen}: "
                f"{lost.share:.1%} of"
                f" its users' time, allowed are {bounds.max_core_wait / ONE_PPB:.1%}"
            )


def _fabric(fabric: Fabric, bounds: Bounds) -> Iterator[str]:
    late_us = fabric.lateness_us.p99_9 if fabric.lateness_us else None
    if (
        late_us is not None
        and bounds.max_lateness is not None
        and late_us * PS_PER_US > bounds.max_lateness
    ):
        most = _us(bounds.max_lateness)
        yield (
            f"the switch was late: p99.9 is {late_us:,.0f} us, allowed are "
            f"{most}{_whose_fault(fabric)}"
        )
    for port, ppm in (fabric.rate_error_ppm or {}).items():
        if abs(ppm) * PPB_PER_PPM > bounds.max_pacing_error:
            allowed = bounds.max_pacing_error / ONE_PPB
            yield f"port {port} was {abs(ppm) / 1e6:.2%} off its rate, allowed are {allowed:.2%}"
    if fabric.pool_exhausted:
        yield f"the switch ran out of memory for frames {fabric.pool_exhausted} times"
    if fabric.foreign_frames:
        yield f"{fabric.foreign_frames} frames came from outside the lab"


def _whose_fault(fabric: Fabric) -> str:
    """The causes in the machine, and those in the switch itself; nothing where the fabric does not
    distinguish them."""
    stalls, own = fabric.stalls, fabric.own_lateness_us
    if stalls is None or own is None:
        return ""
    stopped = (
        f"the machine did not run it {stalls.count} times, "
        f"{stalls.total_us / US_PER_MS:,.0f} ms in all"
    )
    return f" ({stopped}; p99.9 of its own work is {own.p99_9:,.0f} us)"


def _lost(fabric: Fabric) -> Iterator[str]:
    """Frames that no queue of the scenario dropped: the modelled network did not lose them.

    With a foreign switch, frames that a host could not take were lost in the receive queues of the
    machine's cores, which is part of how such a switch works: they are listed with the costs.
    """
    is_foreign = fabric.kind not in (None, TAP)
    for host, lost in (fabric.frames_lost_outside or {}).items():
        not_taken = 0 if is_foreign else lost.rx_dropped or 0
        frames = not_taken + (lost.tx_dropped or 0) + (lost.write_failed or 0)
        if frames:
            yield f"host {host} lost {frames} frames outside of the modelled queues"


def _machine(live: Live, bounds: Bounds) -> Iterator[str]:
    idle = live.idle_share
    known = [(steal, core) for core, steal in enumerate(live.steal_by_core) if steal is not None]
    steal, core = max(known, default=(0.0, 0))
    if steal * ONE_PPB > bounds.max_steal:
        yield (
            f"the hypervisor took {steal:.1%} of core {core}, allowed are "
            f"{bounds.max_steal / ONE_PPB:.1%}"
        )
    if idle is not None and idle * ONE_PPB < bounds.min_idle:
        yield f"the cores were idle for {idle:.1%}, required are {bounds.min_idle / ONE_PPB:.1%}"


def _generators(outcome: Outcome, live: Live, bounds: Bounds) -> Iterator[str]:
    """Late load, where the lateness is a relevant part of the transactions' latency."""
    took_ps = {one.name: one.latency.mean_ps if one.latency else 0.0 for one in outcome.workloads}
    for workload, lag_us in live.generator_lag_us.items():
        lag_ps = lag_us * PS_PER_US
        if lag_ps > bounds.max_generator_lag and lag_ps > took_ps.get(workload, 0) * LAG_SHARE_MIN:
            allowed = _us(bounds.max_generator_lag)
            yield (
                f"the load generator of {workload} was {lag_us:,.0f} us late on average, "
                f"allowed are {allowed}"
            )


def _starts(live: Live, bounds: Bounds) -> Iterator[str]:
    """Hosts of a workload that did not begin together: the first ones had the network and the
    device for themselves."""
    for workload, skew_ms in live.start_skew_ms.items():
        if skew_ms * PS_PER_MS > bounds.max_start_skew:
            most_ms = bounds.max_start_skew / PS_PER_MS
            yield (
                f"the last host of {workload} began {skew_ms:,.0f} ms after the first one, "
                f"allowed are {most_ms:g} ms"
            )


def _disks(outcome: Outcome) -> Iterator[str]:
    """Disks that are slower than the device that they represent: the disk was measured then, not
    the limits."""
    for workload in outcome.workloads:
        for backing in workload.backing or []:
            for what in shortfalls(backing):
                yield (
                    f"the disk of {workload.name} on {backing.host} is too slow: without "
                    f"limits it {what}"
                )


def _us(bound_ps: int) -> str:
    """Microseconds; below one with the digits that there are."""
    bound_us = bound_ps / PS_PER_US
    return f"{bound_us:,.0f}" if bound_us >= 1 else f"{bound_us:g}"
