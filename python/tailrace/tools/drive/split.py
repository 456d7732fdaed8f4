"""Into which requests the block layer splits one, and by which limit (`block/blk-merge.c` of
Linux).

A request of a program is a list of pieces of memory. Pages that lie behind each other are one
segment, up to `max_segment_size`; pages that do not are a segment each. Which it is depends on the
buffer, so that two splits bound what happens: that of a buffer whose pages all lie behind each
other, and that of one where none does.
"""

from dataclasses import dataclass

from tailrace.tools.drive.drive import Limits

PAGE_BYTES = 4096


@dataclass(frozen=True)
class Split:
    """The requests that one becomes."""

    sizes: tuple[int, ...]
    limit: str | None
    """The key of the limit that cuts; None where none does."""

    @property
    def text(self) -> str:
        """For people: sizes in KiB, equal ones together."""
        parts: list[list[int]] = []
        for size in self.sizes:
            if parts and parts[-1][1] == size:
                parts[-1][0] += 1
            else:
                parts.append([1, size])
        return " + ".join(f"{count} x {size / 1024:g} KiB" for count, size in parts)


def split(size_bytes: int, limits: Limits, *, is_contiguous: bool) -> Split:
    """The requests of one that begins at a multiple of its size."""
    segment_bytes = (
        limits.max_segment_bytes if is_contiguous else min(PAGE_BYTES, limits.max_segment_bytes)
    )
    by_key = {
        "max_sectors_kb": limits.max_sectors_bytes,
        "max_hw_sectors_kb": limits.max_hw_sectors_bytes,
        "max_segments": limits.max_segments * segment_bytes,
    }
    if limits.chunk_bytes:
        by_key["chunk_sectors"] = limits.chunk_bytes
    key = min(by_key, key=lambda each: by_key[each])
    # A request that is cut ends at a whole physical block, unless that is larger than the request.
    block = (
        limits.physical_block_bytes
        if by_key[key] >= limits.physical_block_bytes
        else limits.logical_block_bytes
    )
    most = max(limits.logical_block_bytes, by_key[key] // block * block)
    if size_bytes <= most:
        return Split((size_bytes,), None)
    whole, rest = divmod(size_bytes, most)
    return Split((most,) * whole + ((rest,) if rest else ()), key)
