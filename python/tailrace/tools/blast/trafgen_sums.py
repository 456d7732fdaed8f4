"""Sums of a packet of trafgen, which are computed when all of its bytes are known."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailrace.programs.internet_sum import internet_sum
from tailrace.tools.blast.line import FrameFileError

RANGES = frozenset({"csumip", "csumicmp"})
"""First and last byte."""
PROTOCOLS = {"csumudp": 17, "csumtcp": 6, "csumudp6": 17, "csumtcp6": 6}
"""Offsets of the IP header and of the header above it, and the protocol of the pseudo header (RFC
768, RFC 9293)."""
ADDRESSES = {4: slice(12, 20), 6: slice(8, 40)}
"""Both addresses within a header of IPv4 (RFC 791) and IPv6 (RFC 8200)."""


@dataclass(frozen=True)
class Sum:
    """A sum with its place in the packet."""

    name: str
    index: int
    values: Sequence[int]
    line: int

    def put(self, frame: bytearray) -> None:
        """Writes it into the packet."""
        frame[self.index : self.index + 2] = internet_sum(self._covered(frame)).to_bytes(2, "big")

    def _covered(self, frame: bytearray) -> bytes:
        first, last = self.values
        if self.name in RANGES:
            if not first <= last < len(frame):
                what = f"{self.name}() ends at byte {last} of {len(frame)}"
                raise FrameFileError(
                    self.line, what, "write its first and its last byte; that of the frame is 0"
                )
            return bytes(frame[first : last + 1])
        # As trafgen does, up to the end of the frame, whatever length its headers say.
        above, addresses = bytes(frame[last:]), ADDRESSES[6 if self.name.endswith("6") else 4]
        if not first + addresses.stop <= last <= self.index:
            what = f"{self.name}({first}, {last}) has no IP header before its own"
            raise FrameFileError(
                self.line, what, f"write where both begin, such as {self.name}(14, 34)"
            )
        pseudo = (
            bytes(frame[first:][addresses])
            + len(above).to_bytes(4, "big")
            + bytes([0, PROTOCOLS[self.name]])
        )
        return pseudo + above
