"""Whether the frames of a trial are accounted for."""

from tailrace.outcome.types import Outcome


def unaccounted(outcome: Outcome) -> str:
    """`3 of 10 frames are unaccounted for`; empty where none is, and of fabrics that do not count
    frames (`--fabric bridge`, `ovs`).
    """
    frames = outcome.conservation
    if frames is None:
        return ""
    missing = frames.sent - frames.delivered - frames.dropped - frames.in_network
    return f"{missing} of {frames.sent} frames are unaccounted for" if missing else ""
