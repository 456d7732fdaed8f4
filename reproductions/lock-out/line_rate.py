"""How much of its line a host of a live trial used, from the log of what entered the switch
(`--log-ingress`).

    line_rate.py RUN FROM TO      for every logged trial of the run: the frames from host FROM to host TO

`summary.py` does the same for all logged trials that it is given.

The fabric lets a frame arrive no sooner than its line carries it, so frames of a host that always
has something to send follow each other without a gap. What is missing is the sum of the gaps: in
parts per million of the time, by length. A long gap is a sender that had nothing to send (the
window of its connections) or a machine that stood still; short ones are the shaper of its
interface, which then owes tokens.
"""  # noqa: E501

import json
import statistics
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from tailrace.live.measure.ingress import FILE, FRAME, NAME, RECORD

WIRE_OVERHEAD_BYTES = 24
"""Preamble, check sequence and gap."""
BEGIN, END = 1, 2
"""Kinds of records: the measured interval begins, and ends."""
EDGES_US = (1, 50, 500, 5_000, 10_000_000)
"""Between these lengths gaps are added up; below the first one a gap is a rounding."""
PS_PER_US = 10**6
PS_PER_S = 10**12
FRAMES_MIN = 100
"""A host with fewer frames is not the one that fills the port."""
WINDOW_PS = 500 * 10**9


def main(arguments: list[str]) -> int:
    """One line for each trial."""
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    print(
        "trial: mean of the line, median of windows of 500 ms, idle in ppm (gaps) by length of "
        "the gap in us"
    )
    for line in lines_of(Path(arguments[0]), arguments[1], arguments[2]):
        idle = ", ".join(
            f"{gaps['us']}: {gaps['ppm']:.0f} ({gaps['count']})" for gaps in line["idle"]
        )
        print(f"{line['trial']}: {line['mean']:.5f}, {line['median']:.5f}, {idle}")
    return 0


def lines_of(run: Path, source: str, destination: str) -> list[dict[str, Any]]:
    """What each logged trial of a run shows in which the source sends to the destination."""
    found = []
    scenario = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["name"]
    for log in sorted(run.glob(f"live/ingress/*/{FILE}")):
        plan = plan_of(run, log.parent.name)
        hosts = [host["name"] for host in plan["hosts"]]
        rate_bps = next(
            link["rate_bps"] for link in plan["links"] if source in (link["a"], link["b"])
        )
        frames, span = frames_of(log, hosts.index(source), hosts.index(destination))
        if len(frames) > FRAMES_MIN:
            name = log.parent.name.removeprefix(f"{scenario}-")
            found.append(
                {
                    "trial": name,
                    "source": source,
                    "rate_bps": rate_bps,
                    **describe(frames, span, rate_bps),
                }
            )
    return found


def plan_of(run: Path, trial: str) -> dict[str, Any]:
    """The plan of the arm of which this is a trial."""
    arm = next(
        path.stem for path in (run / "plans").glob("*.json") if f"-{path.stem}-trial-" in trial
    )
    plan: dict[str, Any] = json.loads((run / "plans" / f"{arm}.json").read_text(encoding="utf-8"))
    return plan


def frames_of(
    log: Path, source: int, destination: int
) -> tuple[list[tuple[int, int]], tuple[int, int]]:
    """Arrival in ps and bytes of each frame of the pair within the measured interval, and the
    interval."""
    frames: list[tuple[int, int]] = []
    begin, end = 0, 2**63
    raw = log.read_bytes()
    for offset in range(len(NAME), len(raw) - RECORD.size + 1, RECORD.size):
        record = RECORD.unpack_from(raw, offset)
        kind, at_ps, size, to, sender = record[0], record[1], record[8], record[9], record[10]
        if kind == BEGIN:
            begin = at_ps
        elif kind == END:
            end = at_ps
        elif kind == FRAME and (sender, to) == (source, destination):
            frames.append((at_ps, size))
    return [frame for frame in frames if begin <= frame[0] <= end], (begin, end)


def describe(frames: list[tuple[int, int]], span: tuple[int, int], rate_bps: int) -> dict[str, Any]:
    """The figures of one trial."""
    time_ps = frames[-1][0] - frames[0][0]
    wire_ps = [(size + WIRE_OVERHEAD_BYTES) * 8 * PS_PER_S / rate_bps for _, size in frames]
    gaps = [
        later[0] - earlier[0] - taken
        for (earlier, later), taken in zip(pairwise(frames), wire_ps, strict=False)
    ]
    windows: dict[int, float] = {}
    for (at_ps, _), taken in zip(frames, wire_ps, strict=True):
        window = (at_ps - span[0]) // WINDOW_PS
        windows[window] = windows.get(window, 0.0) + taken
    whole = [
        share / WINDOW_PS
        for window, share in windows.items()
        if span[0] + (window + 1) * WINDOW_PS <= span[1]
    ]
    idle = []
    for low, high in pairwise(EDGES_US):
        found = [gap for gap in gaps if low * PS_PER_US <= gap < high * PS_PER_US]
        idle.append(
            {"us": f"{low} to {high}", "ppm": sum(found) / time_ps * 1e6, "count": len(found)}
        )
    return {"mean": sum(wire_ps) / time_ps, "median": statistics.median(whole), "idle": idle}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
