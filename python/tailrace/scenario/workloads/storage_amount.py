"""How many requests and pieces of them a trial with storage simulates, predicted before it runs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from tailrace.scenario.network.device import Device
from tailrace.scenario.text.units import exact_size
from tailrace.scenario.workloads.base import Found, Surroundings
from tailrace.scenario.workloads.storage_keys import StorageKeys

PS_PER_S = 10**12
MILLI = 1000
MILLION = 10**6
STEPS_MAX = 10 * MILLION
"""Requests and pieces of a trial. A core of 2 to 3 GHz simulates some 300 000 requests over iSCSI
in a second, 900 000 without a network, and 2 million pieces (measured with blocks of 512 B): beyond
this a trial takes tens of seconds.
"""
UNDERWAY_MAX = MILLION
"""Pieces under way at the same time. All of a request are made when it is submitted."""


@dataclass(frozen=True)
class Amount:
    """What a trial of one workload has to do."""

    requests: float | None
    """The most requests of all initiators in a trial; None where only the network bounds them."""
    pieces_per_request: int
    """Of the mean length."""
    piece_bytes: int
    underway: int
    """Pieces under way at the same time, at most."""
    key: str
    """The key that decides how many there are."""

    @classmethod
    def of(cls, work: StorageKeys, around: Surroundings) -> Self:
        """Predicts it from a workload without problems."""
        device = around.devices[work.device].effective
        assert device.limits is not None, "every device has limits"
        piece = device.limits.piece_bytes
        pieces = max(1, math.ceil(work.block.mean / piece))
        users = work.jobs * len(work.initiators)
        requests = min(_bounds(work, around, device, pieces), default=None)
        underway = pieces * users * work.depth
        key = "requests" if work.requests else "bytes" if work.bytes else "block"
        return cls(requests, pieces, piece, underway, key)

    def cautions(self) -> Found:
        """A warning about pieces under way, or else about a trial that takes long."""
        each = f"{self.pieces_per_request} pieces of {exact_size(self.piece_bytes)}"
        if self.underway > UNDERWAY_MAX and self.pieces_per_request > 1:
            what = (
                f"a request is {each}, and {self.underway / MILLION:.3g} million may be under "
                "way at the same time"
            )
            yield (
                ("block",),
                f"{what}: they take memory and time",
                "write a smaller block, or larger limits of its device",
            )
        elif self.requests is not None and self.requests * self.pieces_per_request > STEPS_MAX:
            split = f", each of {each}" if self.pieces_per_request > 1 else ""
            what = (
                f"a trial simulates up to {self.requests / MILLION:.3g} million "
                f"requests{split}: it may take minutes"
            )
            yield (self.key,), what, "write larger blocks, fewer requests, or a shorter trial"


def mean_latency_ps(work: StorageKeys, device: Device) -> float:
    """Mean time of a server for a piece of the reads and writes of a workload, of a device with all
    its values."""
    assert device.read_latency is not None, "every device has latencies"
    assert device.write_latency is not None, "every device has latencies"
    return (
        device.read_latency.mean * work.read + device.write_latency.mean * (100 - work.read)
    ) / 100


def _bounds(
    work: StorageKeys, around: Surroundings, device: Device, pieces: int
) -> Iterator[float]:
    """Bounds of the requests of a trial: what they are told to do, their pace, and what the devices
    can do."""
    users = work.jobs * len(work.initiators)
    seconds = max(0, around.duration_ps - work.start) / PS_PER_S
    of_a_job = work.requests or (
        math.ceil(work.bytes / max(1.0, work.block.mean)) if work.bytes else 0
    )
    if of_a_job:
        yield of_a_job * users
    if work.rate is not None:
        yield work.rate / MILLI * seconds * len(work.initiators)
    elif work.arrivals is not None:
        yield seconds * PS_PER_S / work.arrivals.mean * len(work.initiators)
    elif work.target is not None and not of_a_job:
        return
    devices = 1 if work.target is not None else len(work.initiators)
    for rate in _device_rates(work, device, pieces):
        yield rate * seconds * devices


def _device_rates(work: StorageKeys, device: Device, pieces: int) -> Iterator[float]:
    """Requests per second that one device can do at most."""
    if latency_ps := mean_latency_ps(work, device):
        yield (device.servers or 1) * PS_PER_S / latency_ps / pieces
    shares = ((work.read / 100, device.read_rate), (1 - work.read / 100, device.write_rate))
    link_s = max(share * work.block.mean / rate for share, rate in shares if rate)
    if link_s > 0:
        yield 1 / link_s
