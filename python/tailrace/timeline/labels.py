"""Names of frames and of their events, shared by traces and captures."""

from tailrace.results.format.numbers import size_text, span_text
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.timeline.log import INTERFACE, Drop, Frame, Hop, Log
from tailrace.timeline.queues import Depths, behind, depth_at, waited_from

SYN, ACK, FIN, PSH, ECE, CWR, RST = 1, 2, 4, 8, 16, 32, 2048
"""Bits of `tailrace_wire::Flags`."""
WAIT_NAMED_PS_MIN = 100_000
"""Waits from 100 ns on are named."""
REPEATED = {
    "fast_retransmission": "repeated after duplicate acknowledgements or reordering",
    "probe": "repeated by a tail loss probe",
    "timeout": "repeated after a retransmission timeout",
}
"""The reason of a retransmission, by the part of the latency that it ended."""


def label(log: Log, frame: Frame) -> str:
    """`request 200 B`, `response 1448 B`, `data 1448 B`, `ack`, and the repeated data; `frame 1514
    B` without header."""
    if not frame.has_header:
        return f"frame {frame.frame_bytes} B"
    if frame.flags & SYN:
        return "syn-ack" if frame.flags & ACK else "syn"
    if frame.flags & RST:
        return "reset"
    if not frame.payload_bytes:
        return "fin" if frame.flags & FIN else "ack"
    again = " (again)" if frame.repeats is not None else ""
    return f"{_what(log, frame)} {frame.payload_bytes} B{again}"


def _what(log: Log, frame: Frame) -> str:
    kind = log.kinds.get(log.sockets[frame.sender].workload)
    if kind and facts_of(kind).is_unasked:
        return "data"
    return "response" if frame.sender % 2 else "request"


def waited(log: Log, wire: str, hop: Hop) -> str | None:
    """`waited 310 us at leaf>client behind bulk 97 %`; None for a shorter wait."""
    from_ps = waited_from(log, hop)
    wait_ps = hop.start_ps - from_ps
    if wait_ps < WAIT_NAMED_PS_MIN:
        return None
    whose = shares(behind(log.hops[wire], from_ps, hop.start_ps))
    before = "at least " if hop.since_ps is None else ""
    return f"waited {before}{span_text(wait_ps)} at {wire}" + (f" behind {whose}" if whose else "")


def shares(of: dict[str, int]) -> str:
    """`bulk 97 %, orders 3 %`; shares that would be 0 % are left out."""
    texts = {name: f"{100 * time / max(1, sum(of.values())):.0f} %" for name, time in of.items()}
    return ", ".join(f"{name} {share}" for name, share in texts.items() if share != "0 %")


def dropped(log: Log, wire: str, drop: Drop, depths: Depths) -> str:
    """`dropped at leaf>client: tail-drop, queue 5 MB`; without the queue where the log is not whole
    any more."""
    where = f"the interface before {wire}" if drop.cause == INTERFACE else wire
    is_whole = log.whole_until_ps is None or drop.at_ps < log.whole_until_ps
    return f"dropped at {where}: {drop.cause}" + (
        f", queue {size_text(depth_at(depths, drop.at_ps))}" if is_whole else ""
    )
