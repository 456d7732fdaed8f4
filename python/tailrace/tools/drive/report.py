"""What is told of a drive, as data and as text."""

from dataclasses import asdict, dataclass, field
from typing import Any

from tailrace.tools.drive.drive import Drive
from tailrace.tools.drive.identity import Identity
from tailrace.tools.drive.prove import Seen
from tailrace.tools.drive.split import Split

CONTIGUOUS = "pages behind each other"
SCATTERED = "scattered pages"


@dataclass(frozen=True)
class Inspected:
    """A drive, how one request is split, and what was seen."""

    drive: Drive
    size_bytes: int
    contiguous: Split
    scattered: Split
    seen: Seen | None
    identity: Identity = field(default_factory=Identity)

    @property
    def model(self) -> str | None:
        """As the drive tells it, or else the kernel."""
        return self.identity.model or self.drive.facts["model"]

    @property
    def is_as_predicted(self) -> bool:
        """Whether what was seen lies between the two splits."""
        if self.seen is None:
            return True
        return len(self.contiguous.sizes) <= self.seen.pieces <= len(self.scattered.sizes)

    @property
    def is_slowed(self) -> bool:
        """Whether the link has a lower rate than both ends can."""
        own = self.identity
        is_below = (
            own.link_bits_per_s
            and own.link_most_bits_per_s
            and own.link_bits_per_s < own.link_most_bits_per_s
        )
        return bool(is_below) or (self.drive.link is not None and self.drive.link.is_slowed)

    def data(self) -> dict[str, Any]:
        """As JSON."""
        seen = None
        if self.seen is not None:
            more = {"pieces": self.seen.pieces, "mean_bytes": self.seen.mean_bytes}
            seen = {**asdict(self.seen), **more, "is_as_predicted": self.is_as_predicted}
        return {
            "drive": self.drive.name,
            **self.drive.facts,
            "model": self.model,
            "identity": self.identity.data(),
            "link": asdict(self.drive.link) if self.drive.link else None,
            "lower_drives": list(self.drive.lower),
            "limits": asdict(self.drive.limits),
            "request_bytes": self.size_bytes,
            "split": {"contiguous": asdict(self.contiguous), "scattered": asdict(self.scattered)},
            "seen": seen,
        }

    def text(self) -> str:
        """For people."""
        return "\n".join([*self._what(), "", *self._limits(), "", *self._splits(), *self._proof()])

    def _what(self) -> list[str]:
        facts, own, link = self.drive.facts, self.identity, self.drive.link
        told = [
            ("drive", self.drive.name),
            ("model", self.model),
            ("family", own.family),
            ("firmware", own.firmware or facts["firmware"]),
            ("size", f"{facts['size_bytes'] / 1e9:.1f} GB"),
            ("transport", facts["transport"]),
            ("standard", own.interface),
            ("link", link and f"{link.text}: {link.bytes_per_s / 1e6:.0f} MB/s of data at most"),
            ("slower than it can be", "yes" if self.is_slowed else None),
            (
                "rotational",
                f"{own.rotation_rpm} rpm"
                if own.rotation_rpm
                else "yes"
                if facts["is_rotational"]
                else "no",
            ),
            ("largest transfer", own.transfer_bytes and f"{own.transfer_bytes // 1024} KiB (MDTS)"),
            ("requests under way", facts["queue_depth"]),
            ("of these in the drive", facts["drive_queue_depth"]),
            ("scheduler", facts["scheduler"]),
            ("write cache", facts["write_cache"]),
            ("backing file", facts["backing_file"]),
            ("on top of", ", ".join(self.drive.lower) or None),
            ("told by", ", ".join(("the kernel", *own.told_by))),
        ]
        return [f"{name:<24}{value}" for name, value in told if value is not None]

    def _limits(self) -> list[str]:
        own = self.drive.limits
        told = {
            "max_sectors_kb": own.max_sectors_bytes // 1024,
            "max_hw_sectors_kb": own.max_hw_sectors_bytes // 1024,
            "max_segments": own.max_segments,
            "max_segment_size": own.max_segment_bytes,
            "logical_block_size": own.logical_block_bytes,
            "physical_block_size": own.physical_block_bytes,
        }
        return [f"{name:<24}{value}" for name, value in told.items()]

    def _splits(self) -> list[str]:
        request = f"A request of {self.size_bytes / 1024:g} KiB"
        return [
            _split_text(request, *each)
            for each in ((CONTIGUOUS, self.contiguous), (SCATTERED, self.scattered))
        ]

    def _proof(self) -> list[str]:
        if self.seen is None:
            return []
        own = self.seen
        verdict = "as predicted" if self.is_as_predicted else "NOT as predicted"
        mean = f"{own.pieces:.2f} requests of {own.mean_bytes / 1024:.1f} KiB on average for each"
        return [
            "",
            f"Seen: {own.reads} reads of {own.size_bytes / 1024:g} KiB became {mean}: {verdict}.",
        ]


def _split_text(request: str, of: str, found: Split) -> str:
    if found.limit is None:
        return f"{request} ({of}) stays one."
    return f"{request} ({of}) becomes {len(found.sizes)}: {found.text}, by {found.limit}."
