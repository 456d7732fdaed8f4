"""Whether a live trial may count: what the machine and the fabric did wrong, against the scenario's bounds."""

from collections.abc import Iterator, Mapping
from typing import Any

from tailrace.scenario.live import Live

ONE_PPB = 10**9
PPB_PER_PPM = 1000
PS_PER_US = 10**6
US_PER_MS = 1000


def reasons(outcome: Mapping[str, Any], bounds: Live) -> list[str]:
    """Every reason why a trial does not count."""
    fabric, live = outcome.get("fabric") or {}, outcome.get("live") or {}
    return [*_fabric(fabric, bounds), *_lost(fabric), *_machine(live, bounds), *_generators(live, bounds)]


def _fabric(fabric: Mapping[str, Any], bounds: Live) -> Iterator[str]:
    late_us = (fabric.get("lateness_us") or {}).get("p99_9")
    if late_us is not None and late_us * PS_PER_US > bounds.max_lateness:
        most = _us(bounds.max_lateness)
        yield f"the switch was late: p99.9 is {late_us:,.0f} us, allowed are {most}{_whose_fault(fabric)}"
    for port, ppm in _rate_errors(fabric):
        if abs(ppm) * PPB_PER_PPM > bounds.max_pacing_error:
            allowed = bounds.max_pacing_error / ONE_PPB
            yield f"port {port} was {abs(ppm) / 1e6:.2%} off its rate, allowed are {allowed:.2%}"
    exhausted = fabric.get("pool_exhausted", 0)
    if exhausted:
        yield f"the switch found no memory for frames {exhausted} times"
    foreign = fabric.get("foreign_frames", 0)
    if foreign:
        yield f"{foreign} frames came from outside the lab"


def _whose_fault(fabric: Mapping[str, Any]) -> str:
    """What the machine did, and what the switch itself did; nothing where the fabric did not tell them apart."""
    stalls, own_us = fabric.get("stalls"), (fabric.get("own_lateness_us") or {}).get("p99_9")
    if not stalls or own_us is None:
        return ""
    stopped = f"the machine let it wait {stalls['count']} times, {stalls['total_us'] / US_PER_MS:,.0f} ms in all"
    return f" ({stopped}; p99.9 of its own work is {own_us:,.0f} us)"


def _rate_errors(fabric: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for port, ppm in (fabric.get("rate_error_ppm") or {}).items():
        if ppm is not None:
            yield str(port), float(ppm)


def _lost(fabric: Mapping[str, Any]) -> Iterator[str]:
    """Frames that no queue of the scenario dropped: the network that was meant did not lose them."""
    for host, lost in (fabric.get("frames_lost_outside") or {}).items():
        frames = sum(int(count) for count in lost.values())
        if frames:
            yield f"{frames} frames of host {host} were lost outside the modelled queues"


def _machine(live: Mapping[str, Any], bounds: Live) -> Iterator[str]:
    steal, idle = live.get("steal_share"), live.get("idle_share")
    if steal is not None and steal * ONE_PPB > bounds.max_steal:
        yield f"the hypervisor took {steal:.1%} of the cores, allowed are {bounds.max_steal / ONE_PPB:.1%}"
    if idle is not None and idle * ONE_PPB < bounds.min_idle:
        yield f"the cores were idle for {idle:.1%}, wanted are {bounds.min_idle / ONE_PPB:.1%}"


def _generators(live: Mapping[str, Any], bounds: Live) -> Iterator[str]:
    for workload, lag_us in (live.get("generator_lag_us") or {}).items():
        if lag_us * PS_PER_US > bounds.max_generator_lag:
            allowed = _us(bounds.max_generator_lag)
            yield f"the load generator of {workload} was {lag_us:,.0f} us late on average, allowed are {allowed}"


def _us(bound_ps: int) -> str:
    """Microseconds; below one with the digits that there are."""
    bound_us = bound_ps / PS_PER_US
    return f"{bound_us:,.0f}" if bound_us >= 1 else f"{bound_us:g}"
