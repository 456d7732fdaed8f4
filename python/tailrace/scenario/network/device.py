"""Block devices: servers, latencies, rates, queue, splitting, cache and head, and presets of known
ones."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from tailrace.scenario.text.quantities import (
    Count,
    DataRate,
    Part,
    Size,
    Time,
    TimeDistribution,
    merged,
)

PresetName = Literal["sata-ssd", "nvme", "disk-7200", "memory"]
PIECES_MAX = 65_536
"""Most servers, and most pieces in a device."""
PS_PER_MIN = 60 * 10**12


class Limits(Part):
    """The largest pieces that the block layer makes of requests."""

    max_sectors: Size | None = None
    """Largest piece (Linux `queue/max_sectors_kb`). Default: 1280KiB."""
    max_segments: Annotated[Count, Field(ge=1, le=PIECES_MAX)] | None = None
    """Segments of a piece (`queue/max_segments`). Default: 128."""
    segment: Size | None = None
    """Bytes of a segment: a page, unless the pages of a buffer are contiguous. Default: 4KiB."""
    transfer: Size | None = None
    """The device's own limit, such as MDTS of NVMe. Default: none."""

    @property
    def piece_bytes(self) -> int:
        """The largest piece of a request; a sector of 512 bytes where no limit has a value."""
        stated = [self.max_sectors, self.transfer, (self.max_segments or 0) * (self.segment or 0)]
        return max(512, min((size for size in stated if size), default=512))


class Cache(Part):
    """Write-back cache of a device."""

    size: Size | None = None
    """Data that is written and not yet on the medium; 0B for no cache."""
    latency: Time | None = None
    """Time from the last byte of a piece to the completion of its write."""


class Rotation(Part):
    """The head of a disk."""

    rpm: Annotated[Count, Field(ge=1, le=100_000)] | None = None
    """Turns per minute."""
    seek_track: Time | None = None
    """Shortest seek."""
    seek_full: Time | None = None
    """Seek over the whole disk; one over a part takes the shortest, and more by the root of the
    distance."""


class Device(Part):
    """A block device with its queue in the block layer. Keys override those of the preset."""

    preset: PresetName | None = None
    """A known device."""
    servers: Annotated[Count, Field(ge=1, le=PIECES_MAX)] | None = None
    """Pieces of requests that the medium serves at the same time: channels of a drive. Default:
    1."""
    read_latency: TimeDistribution | None = None
    """Time of a server to read a piece."""
    write_latency: TimeDistribution | None = None
    """Time of a server to write a piece."""
    read_rate: DataRate | None = None
    """Most data that is read per second, on the medium and on the link to the host."""
    write_rate: DataRate | None = None
    """Most data that is written per second."""
    link: Literal["shared", "duplex"] | None = None
    """Whether data that is read and data that is written share the time of the link. Default:
    shared."""
    queue_depth: Annotated[Count, Field(ge=1, le=PIECES_MAX)] | None = None
    """Pieces that the device takes at the same time; others wait in the block layer. Default:
    32."""
    sector: Literal["512B", "4096B", "4KiB"] | None = None
    """Least unit of requests. Default: 512B."""
    limits: Limits | None = None
    """How the block layer splits requests."""
    cache: Cache | None = None
    """Write-back cache. Default: none."""
    rotation: Rotation | None = None
    """The head of a disk, which has one server. Default: none."""
    capacity: Size | None = None
    """Bytes of the whole disk; required with `rotation`."""

    @property
    def effective(self) -> "Device":
        """With the values of its preset and of every device under its own."""
        below = merged(PLAIN, PRESETS[self.preset]) if self.preset else PLAIN
        return merged(below, self)

    @property
    def sector_bytes(self) -> int:
        """Least unit of requests."""
        return 512 if self.effective.sector == "512B" else 4096

    @property
    def turn_ps(self) -> int | None:
        """Time of one turn of a disk."""
        rotation = self.effective.rotation
        return round(PS_PER_MIN / rotation.rpm) if rotation and rotation.rpm else None


PLAIN = Device.model_validate(
    {
        "servers": 1,
        "link": "shared",
        "queue_depth": 32,
        "sector": "512B",
        # Linux: BLK_DEF_MAX_SECTORS of 6.x [S]; 128 segments as drivers of SATA and NVMe have [S:
        # CacheLib issue 302].
        "limits": {"max_sectors": "1280KiB", "max_segments": 128, "segment": "4KiB"},
    },
)
"""Properties of a device without a preset."""

PRESETS: Mapping[str, Device] = {
    # Samsung SSD of "How to identify SSD types and measure performance" (n0derunner.com): 540 and
    # 520 MB/s, 98 000 and 90 000 requests/s of 4 KiB at a depth of 32 [S]; 10 000 reads/s at a
    # depth of 1 [S: data sheet of 850 EVO]. Servers and latencies give these rates [D: 10 / 98
    # 000/s, 10 / 90 000/s]. `max_sectors_kb` of 512 and 128 segments as in "Why does my SSD not
    # issue 1MB IO's?" [S]. Latency of the cache [D]: 40 000 writes/s at a depth of 1, less the
    # link; its size [A]: 1 MiB to 1 GiB.
    "sata-ssd": Device.model_validate(
        {
            "servers": 10,
            "read_latency": "102040ns",
            "write_latency": "111111ns",
            "read_rate": "540MB/s",
            "write_rate": "520MB/s",
            "queue_depth": 32,
            "limits": {"max_sectors": "512KiB", "max_segments": 128, "segment": "4KiB"},
            "cache": {"size": "4MiB", "latency": "17us"},
        },
    ),
    # Samsung 970 EVO 1TB, PCIe 3.0 x4: 3400 and 2500 MB/s, 500 000 and 450 000 requests/s [S: its
    # data sheet]. Number of servers [A]: 16 to 64, by 15 000 reads/s at a depth of 1; latencies
    # [D]. 128 segments of 4 KiB [S: CacheLib issue 302], queues of 1023 [S: Linux `nvme`]. Cache
    # [A]: 10 to 20 us, 1 MiB to 1 GiB.
    "nvme": Device.model_validate(
        {
            "servers": 33,
            "read_latency": "66us",
            "write_latency": "73300ns",
            "read_rate": "3400MB/s",
            "write_rate": "2500MB/s",
            "link": "duplex",
            "queue_depth": 1023,
            "limits": {"max_sectors": "1280KiB", "max_segments": 128, "segment": "4KiB"},
            "cache": {"size": "16MiB", "latency": "15us"},
        },
    ),
    # 7200 rpm, a mean seek of 8.5 ms [S: Hitachi Deskstar 7K1000.C, typical reads], 1 ms to the
    # next track [S: Hitachi 7K320]; the longest follows from the mean, (8.5 - 1) x 15 / 8 + 1 [D].
    # 150 MB/s [A], 100 to 250.
    "disk-7200": Device.model_validate(
        {
            "servers": 1,
            "read_latency": "0s",
            "write_latency": "0s",
            "read_rate": "150MB/s",
            "write_rate": "150MB/s",
            "queue_depth": 32,
            "rotation": {"rpm": 7200, "seek_track": "1ms", "seek_full": "15060us"},
            "capacity": "1TB",
        },
    ),
    # A file in memory: no medium, a copy of each page [A]: 0.5 to 5 us, 2 to 20 GB/s.
    "memory": Device.model_validate(
        {
            "servers": 64,
            "read_latency": "1us",
            "write_latency": "1us",
            "read_rate": "8GB/s",
            "write_rate": "8GB/s",
            "queue_depth": 1024,
            "limits": {"max_sectors": "1280KiB", "max_segments": 128, "segment": "4KiB"},
        },
    ),
}
"""Presets by name. Marks: [S] in the source named, [D] derived from it, [A] assumed, with a
range."""


def known_devices(declared: Mapping[str, Device]) -> dict[str, Device]:
    """The devices that a workload may name: presets, and those of the scenario, which may have the
    name of a preset."""
    return {name: Device(preset=name) for name in PRESETS} | dict(declared)  # type: ignore[arg-type]  # names of presets
