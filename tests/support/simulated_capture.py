"""All frames of a simulated trial on the link of one host, in both directions, as a capture."""

import struct
from pathlib import Path
from typing import Any

from tailrace.experiment.native import drop_causes, make_trial, trace_trial, values
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.timeline.chosen import NO_NUMBER
from tailrace.timeline.headers import headers, shift_of
from tailrace.timeline.log import Log, read_log
from traffic import MAGIC_NS, NS_PER_S, SNAP_BYTES

PS_PER_NS = 1000


def capture(
    scenario: Path | dict[str, Any],
    out: Path,
    wires: tuple[str, str],
    changes: dict[str, Any] | None = None,
) -> Path:
    """Simulates the first trial and writes a pcap file with the frames of both wires, when they
    begin to be sent."""
    plan = lower(load_scenario(scenario, changes).scenario, "base", 1)
    text = canonical_json(plan)
    windows = [(0, int(plan["stop_at_ps"]))]
    users = [
        (number, NO_NUMBER, user)
        for number, workload in enumerate(plan["workloads"])
        for user in range(users_of(workload["body"]))
    ]
    tables = trace_trial(make_trial(text), windows, users)
    log = read_log(
        {name: values(columns) for name, columns in tables.items()}, plan, windows, drop_causes()
    )
    out.write_bytes(_pcap(log, wires))
    return out


def users_of(body: dict[str, Any]) -> int:
    """Users or connections of a workload in a plan."""
    [kind] = body.values()
    listed = kind.get("connections", 0)
    return int(kind.get("users") or (len(listed) if isinstance(listed, list) else listed))


def _pcap(log: Log, wires: tuple[str, str]) -> bytes:
    shift = shift_of(max(frame.window_bytes for frame in log.frames.values()))
    seen = [
        (hop.start_ps // PS_PER_NS, hop.frame)
        for wire in wires
        for hop in log.hops[wire]
        if hop.frame in log.frames
    ]
    parts = [struct.pack("<IHHiIII", MAGIC_NS, 2, 4, 0, 0, SNAP_BYTES, 1)]
    for at_ns, number in sorted(seen):
        frame = log.frames[number]
        content = headers(frame, log.sockets[frame.sender], log.sockets[frame.sender ^ 1], shift)
        kept = (content + bytes(SNAP_BYTES))[: min(SNAP_BYTES, frame.frame_bytes)]
        seconds, ns = divmod(at_ns, NS_PER_S)
        parts.append(struct.pack("<IIII", seconds, ns, len(kept), frame.frame_bytes) + kept)
    return b"".join(parts)
