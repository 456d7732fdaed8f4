"""Problems and warnings of requests of storage."""

from collections.abc import Sequence
from typing import Any

from tailrace.errors import closest
from tailrace.scenario.network.device import Device
from tailrace.scenario.text.units import TIME, exact_size
from tailrace.scenario.workloads.base import Found, Surroundings
from tailrace.scenario.workloads.loops import ARRIVAL_GAP_PS_MIN
from tailrace.scenario.workloads.storage_amount import Amount, mean_latency_ps
from tailrace.scenario.workloads.storage_keys import StorageKeys

__all__ = ["TIME", "cautions", "problems"]
REQUEST_BYTES_MAX = 2**32 - 1
DEVICE_BYTES_MAX = 2**60
UNDER_WAY_MAX = 2**22
"""Pieces and units of the requests that an initiator has under way, as in the engine
(`crates/plan`): all of them can begin at one moment, which takes up to a second, and each takes
memory.
"""


def problems(work: StorageKeys, around: Surroundings) -> Found:
    """Problems of its values; all named hosts exist."""
    if len(set(work.initiators)) < len(work.initiators):
        yield ("initiators",), "a host is named twice", "name each host once"
    yield from _target_problems(work)
    device = around.devices.get(work.device)
    if device is None:
        hint = closest(work.device, list(around.devices), "devices")
        yield (
            ("device",),
            f"there is no device '{work.device}'",
            f"{hint}; others are declared in `devices`",
        )
    else:
        yield from _size_problems(work, device)
    yield from _pace_problems(work, around)


def _target_problems(work: StorageKeys) -> Found:
    if work.protocol == "local":
        if work.target is not None:
            what = "with `protocol: local` the device is in the initiator"
            yield ("target",), what, "omit target, or write a protocol that reaches another host"
    elif work.target is None:
        yield (), f"protocol {work.protocol} has no `target`", "name the host with the device"


def _size_problems(work: StorageKeys, device: Device) -> Found:
    sector = device.sector_bytes
    area = work.size // work.jobs
    for value in stated_sizes(work.block.raw):
        if value == 0 or value % sector:
            what = (
                f"{exact_size(value)} is not a multiple of the sector of {sector} B of "
                f"'{work.device}'"
            )
            yield ("block",), what, f"write {max(1, round(value / sector)) * sector}B"
            return
    if work.block.largest < sector:
        yield (
            ("block",),
            f"a block is less than a sector of {sector} B",
            f"write at least {sector}B",
        )
    elif work.block.largest > min(area, REQUEST_BYTES_MAX):
        share = f", which {work.jobs} jobs share" if work.jobs > 1 else ""
        block = exact_size(round(work.block.largest))
        what = f"a block of {block} does not fit the area of {exact_size(work.size)}{share}"
        yield ("size",), what, "write a larger size, or a smaller block"
    else:
        yield from _piece_problems(work, device)
    whole = device.effective
    capacity = whole.capacity if whole.rotation is not None else None
    if capacity and work.size > capacity:
        what = f"the area is larger than the device of {exact_size(capacity)}"
        yield ("size",), what, f"write at most {capacity}B"
    elif capacity and work.offset + work.size > capacity:
        what = f"the area ends behind the device of {exact_size(capacity)}"
        yield ("offset",), what, f"write at most {capacity - work.size}B"
    elif work.offset + work.size > DEVICE_BYTES_MAX:
        yield ("offset",), "a device has at most 2^60 bytes", "write a lower offset"
    if work.offset % sector:
        what = (
            f"{exact_size(work.offset)} is not a multiple of the sector of {sector} B of "
            f"'{work.device}'"
        )
        yield ("offset",), what, f"write {work.offset // sector * sector}B"


def _piece_problems(work: StorageKeys, device: Device) -> Found:
    limits = device.effective.limits
    cuts = [
        limits.piece_bytes if limits else 0,
        (work.session.unit_bytes if work.session else 0) or 0,
    ]
    least = min((cut for cut in cuts if cut), default=REQUEST_BYTES_MAX)
    pieces = work.jobs * work.depth * -(-int(work.block.largest) // least)
    if pieces > UNDER_WAY_MAX:
        at_once = (
            f"{work.jobs * work.depth} requests at a time are cut into {pieces} pieces of "
            f"{exact_size(least)}"
        )
        yield (
            ("block",),
            f"{at_once}, more than {UNDER_WAY_MAX}",
            "write a smaller block, jobs or depth",
        )


def stated_sizes(raw: Any) -> Sequence[int]:
    """The sizes that a distribution names one by one; none where it draws from a range."""
    match raw:
        case {"constant": int(value)}:
            return [value]
        case _:
            return []


def _pace_problems(work: StorageKeys, around: Surroundings) -> Found:
    if work.rate is not None and work.arrivals is not None:
        yield (
            ("arrivals",),
            "`rate` and `arrivals` both say when requests begin",
            "omit one of them",
        )
    if work.rate == 0:
        yield ("rate",), "`rate` must be greater than zero", "write a rate such as 1000/s"
    elif work.rate is not None and 10**15 / work.rate < ARRIVAL_GAP_PS_MIN:
        yield ("rate",), "more than 100 million requests per second", "write a rate such as 1000/s"
    if work.arrivals is not None and work.arrivals.mean < ARRIVAL_GAP_PS_MIN:
        yield (
            ("arrivals",),
            "a mean gap below 10ns is more than 100 million requests per second",
            "write a longer gap",
        )
    if work.think is not None and (work.rate is not None or work.arrivals is not None):
        yield (
            ("think",),
            "`think` has no effect where requests begin by themselves",
            "omit it, or omit rate and arrivals",
        )
    if work.requests is not None and work.bytes is not None:
        yield ("bytes",), "`requests` and `bytes` both end the jobs", "omit one of them"
    if work.bytes == 0:
        yield ("bytes",), "`bytes` must be greater than zero", "write a size such as 1GiB"
    if work.start >= around.duration_ps:
        what = "the workload starts after the end of the trial"
        yield ("start",), what, "lower start or raise experiment.duration"


def cautions(work: StorageKeys, around: Surroundings) -> Found:
    """Warnings; the scenario has no problems."""
    yield from Amount.of(work, around).cautions()
    if work.read == 100 and work.flush_every:
        yield ("flush_every",), "without writes nothing is flushed", "omit it, or lower read"
    device = around.devices[work.device].effective
    gap = (
        10**15 / work.rate
        if work.rate
        else work.arrivals.mean
        if work.arrivals is not None
        else 0.0
    )
    if gap and device.rotation is None:
        load = (
            mean_latency_ps(work, device)
            / gap
            / (device.servers or 1)
            * (len(work.initiators) if work.target else 1)
        )
        if load > 1:
            what = (
                f"requests ask for {load:.3g} times what the servers of '{work.device}' do: "
                "their queue grows"
            )
            yield ("rate" if work.rate else "arrivals",), what, "write fewer requests per second"
