"""Lowers the block devices that workloads use."""

from typing import Any

from tailrace.scenario.network.device import Device, known_devices
from tailrace.scenario.scenario import Scenario

Raw = dict[str, Any]
BITS = 8


def lower_devices(scenario: Scenario) -> Raw:
    """The `devices` of a plan, in the order in which workloads name them; none where the scenario
    uses none."""
    known = known_devices(scenario.devices)
    used = dict.fromkeys(
        device for each in scenario.running.values() for _, device in each.used_devices()
    )
    return {"devices": [_device(name, known[name].effective) for name in used]} if used else {}


def _device(name: str, own: Device) -> Raw:
    limits, cache, rotation = own.limits, own.cache, own.rotation
    # The checks of a scenario refuse a device that lacks one of these.
    assert limits is not None
    assert own.read_rate is not None
    assert own.write_rate is not None
    assert own.read_latency is not None
    assert own.write_latency is not None
    raw: Raw = {
        "name": name,
        "servers": own.servers,
        "read_latency": own.read_latency.raw,
        "write_latency": own.write_latency.raw,
        "read_bps": own.read_rate * BITS,
        "write_bps": own.write_rate * BITS,
        "is_duplex": own.link == "duplex",
        "queue_depth": own.queue_depth,
        "sector_bytes": own.sector_bytes,
        "limits": {
            "max_sectors_bytes": limits.max_sectors,
            "max_segments": limits.max_segments,
            "segment_bytes": limits.segment,
            "transfer_bytes": limits.transfer or 0,
        },
    }
    if cache is not None and cache.size:
        raw["cache"] = {"bytes": cache.size, "latency_ps": cache.latency}
    if rotation is not None:
        raw["head"] = {
            "turn_ps": own.turn_ps,
            "seek_track_ps": rotation.seek_track,
            "seek_full_ps": rotation.seek_full,
            "capacity_bytes": own.capacity,
        }
    return raw
