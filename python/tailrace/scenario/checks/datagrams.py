"""Datagrams whose sizes do not all fit the MTU: the largest are sent shorter than the scenario says."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.checks.workloads import UDP_IPV4_HEADERS_BYTES
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.workload import Datagrams

MEAN_LOSS_MIN = 1e-3
"""A mean that falls by less than this share is not told."""

Found = Iterator[tuple[KeyPath, str, str]]


def cautions(scenario: Scenario) -> Found:
    """One warning for each workload of datagrams whose mean size the MTU changes."""
    for name, workload in scenario.running.items():
        if isinstance(workload, Datagrams):
            yield from _cut(("workloads", name, "sizes"), workload, scenario.host(workload.source).mtu)


def _cut(at: KeyPath, datagrams: Datagrams, mtu: int) -> Found:
    sizes, room = datagrams.sizes, mtu - UDP_IPV4_HEADERS_BYTES
    if sizes.largest <= room:
        return
    mean = sizes.mean_up_to(room)
    if sizes.mean - mean < MEAN_LOSS_MIN * sizes.mean:
        return
    what = (
        f"an MTU of {mtu} bytes holds at most {room} bytes of a datagram: {100 * sizes.above(room):.2g} % of them are "
        f"cut to that, and the mean is {mean:.0f} instead of {sizes.mean:.0f} bytes"
    )
    hint = f"write sizes that fit, such as uniform(64B, {room}B), or give '{datagrams.source}' a larger mtu"
    yield at, what, hint
