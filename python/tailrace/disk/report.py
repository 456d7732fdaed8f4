"""What is told of a drive, as data and as text."""

from dataclasses import asdict, dataclass
from typing import Any

from tailrace.disk.drive import Drive
from tailrace.disk.prove import Seen
from tailrace.disk.split import Split

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

    @property
    def is_as_predicted(self) -> bool:
        """Whether what was seen lies between the two splits."""
        if self.seen is None:
            return True
        return len(self.contiguous.sizes) <= self.seen.pieces <= len(self.scattered.sizes)

    def data(self) -> dict[str, Any]:
        """As JSON."""
        seen = None
        if self.seen is not None:
            more = {"pieces": self.seen.pieces, "mean_bytes": self.seen.mean_bytes}
            seen = {**asdict(self.seen), **more, "is_as_predicted": self.is_as_predicted}
        return {
            "drive": self.drive.name,
            **self.drive.facts,
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
        facts = self.drive.facts
        told = [
            ("drive", self.drive.name),
            ("model", facts["model"]),
            ("size", f"{facts['size_bytes'] / 1e9:.1f} GB"),
            ("transport", facts["transport"]),
            ("rotational", "yes" if facts["is_rotational"] else "no"),
            ("requests under way", facts["queue_depth"]),
            ("of these in the drive", facts["drive_queue_depth"]),
            ("scheduler", facts["scheduler"]),
            ("write cache", facts["write_cache"]),
            ("backing file", facts["backing_file"]),
            ("on top of", ", ".join(self.drive.lower) or None),
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
        return [_split_text(request, *each) for each in ((CONTIGUOUS, self.contiguous), (SCATTERED, self.scattered))]

    def _proof(self) -> list[str]:
        if self.seen is None:
            return []
        own = self.seen
        verdict = "as predicted" if self.is_as_predicted else "NOT as predicted"
        mean = f"{own.pieces:.2f} requests of {own.mean_bytes / 1024:.1f} KiB on average for each"
        return ["", f"Seen: {own.reads} reads of {own.size_bytes / 1024:g} KiB became {mean}: {verdict}."]


def _split_text(request: str, of: str, found: Split) -> str:
    if found.limit is None:
        return f"{request} ({of}) stays one."
    return f"{request} ({of}) becomes {len(found.sizes)}: {found.text}, by {found.limit}."
