"""A trace under construction: the common part of the modules that draw its groups of tracks."""

from collections import defaultdict
from dataclasses import dataclass, field

from tailrace.timeline.labels import REPEATED
from tailrace.timeline.log import Frame, Log
from tailrace.timeline.perfetto import Writer

CAUSE_FLOWS = 1 << 40
"""Flows from a frame to the frames that it caused count from here; those that follow a frame, from
0."""
USER_FLOWS = 1 << 41
"""Flows from and to users count from here."""


@dataclass
class Drawing:
    """The trace so far, and facts about the log."""

    log: Log
    writer: Writer = field(default_factory=Writer)
    own_slices: int = 0
    other_slices: int = 0
    left_out: int = 0
    causes: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """By frame, the frames that were sent because of it."""
    whose: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    """By frame, the names of its transactions."""
    flows: dict[str, int] = field(default_factory=dict)
    """By name of the transaction, the flow from its user; that to its user has the next number."""
    tracks: dict[str, int] = field(default_factory=dict)
    """Of transactions, by their names."""

    def frame_args(self, frame: Frame) -> dict[str, int | str]:
        """Arguments of whatever stands for a frame; times in picoseconds."""
        if not frame.has_header:
            known: dict[str, int | str] = {"frame": frame.id, "frame_bytes": frame.frame_bytes}
            known["entered_ps"] = frame.handed_ps
            return (
                known
                if frame.delivered_ps is None
                else {**known, "delivered_ps": frame.delivered_ps}
            )
        args: dict[str, int | str] = {
            "frame": frame.id,
            "seq": frame.seq,
            "ack": frame.ack,
            "payload_bytes": frame.payload_bytes,
            "frame_bytes": frame.frame_bytes,
            "window_bytes": frame.window_bytes,
            "handed_ps": frame.handed_ps,
        }
        if frame.delivered_ps is not None:
            args["delivered_ps"] = frame.delivered_ps
        if frame.repeats is not None:
            args["repeats"] = frame.repeats
            args["why"] = REPEATED.get(frame.prior_part or "", "repeated in the same recovery")
        if frame.sack:
            args["sack"] = ", ".join(f"{left}-{right}" for left, right in frame.sack)
        if whose := self.whose.get(frame.id):
            args["of"] = ", ".join(whose)
        return args
