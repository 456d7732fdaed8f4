"""Semantic checks for block devices."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.network.device import Device, Limits
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.text.units import exact_size

REQUIRED = {
    "read_latency": "80us",
    "write_latency": "100us",
    "read_rate": "540MB/s",
    "write_rate": "520MB/s",
}
"""Keys that a device without a preset must have, each with an example."""
ROTATION = {"rpm": "7200", "seek_track": "1ms", "seek_full": "15ms"}
DEVICE_BYTES_MAX = 2**60

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario) -> Found:
    """Problems of every device."""
    for name, device in scenario.devices.items():
        yield from (
            ((*("devices", name), *key), what, hint)
            for key, what, hint in _problems(device.effective)
        )


def _problems(device: Device) -> Found:
    for key, example in REQUIRED.items():
        if getattr(device, key) is None:
            yield (), f"the device has no `{key}`", f"write {key}: {example}, or preset: sata-ssd"
    for key in ("read_rate", "write_rate"):
        if getattr(device, key) == 0:
            yield (
                (key,),
                f"`{key}` must be greater than zero",
                f"write a rate such as {REQUIRED[key]}",
            )
    if device.limits is not None:
        yield from _limit_problems(device.limits, device.sector_bytes)
    if device.cache is not None:
        yield from _cache_problems(device)
    if device.rotation is not None:
        yield from _rotation_problems(device)


def _limit_problems(limits: Limits, sector: int) -> Found:
    for key in ("max_sectors", "segment", "transfer"):
        size = getattr(limits, key)
        if size is not None and size < sector:
            what = f"{exact_size(size)} is less than a sector of {sector} B"
            yield ("limits", key), what, f"write at least {sector}B"


def _cache_problems(device: Device) -> Found:
    cache = device.cache
    if cache is None or cache.size == 0:
        return
    if cache.size is None:
        yield ("cache",), "the cache has no `size`", "write size: 4MiB"
    elif cache.size < device.sector_bytes:
        yield (
            ("cache", "size"),
            "the cache does not hold a sector",
            f"write at least {device.sector_bytes}B",
        )
    if cache.latency is None:
        yield ("cache",), "the cache has no `latency`", "write latency: 20us"


def _rotation_problems(device: Device) -> Found:
    rotation = device.rotation
    if rotation is None:
        return
    for key, example in ROTATION.items():
        if getattr(rotation, key) is None:
            yield (
                ("rotation",),
                f"the head has no `{key}`",
                f"write {key}: {example}, or preset: disk-7200",
            )
    if (
        rotation.seek_track is not None
        and rotation.seek_full is not None
        and rotation.seek_track > rotation.seek_full
    ):
        yield (
            ("rotation", "seek_track"),
            "the shortest seek is longer than the longest",
            "write seek_track: 1ms",
        )
    if device.servers != 1:
        yield (
            ("servers",),
            f"a disk has one head, not {device.servers} servers",
            "write servers: 1, or omit rotation",
        )
    if not device.capacity:
        yield (), "a disk has no `capacity`", "write capacity: 1TB"
    elif device.capacity > DEVICE_BYTES_MAX:
        yield ("capacity",), "a disk has at most 2^60 bytes", "write capacity: 1TB"
