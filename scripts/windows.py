"""Compare congestion windows over time of the simulated TCP and of real kernels, for each
congestion control.

`windows.py --out runs/windows` runs four streams of two hosts through one port by both engines,
looks at every window each millisecond (`observe.windows`), and prints means, maxima and how often
the slow-start threshold changed.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import tailrace
from tailrace.errors import TailraceError
from tailrace.results.directory.run_directory import Run
from tailrace.results.directory.tables import read_table

CONTROLS = ("cubic", "new-reno", "dctcp")
CLIENT = 0
"""The side that sends."""
HEAD = (
    f"{'':10} {'':10} {'mean':>8} {'max':>6} {'changes':>8} {'sent again':>10} {'RTT, ms':>8} "
    f"{'Gbit/s':>7}"
)


@dataclass(frozen=True)
class Windows:
    """What the senders of a run did after slow start."""

    mean: float
    highest: int
    changes: float
    """Of the slow-start threshold, in each trial: every reduction changes it, and so does one that
    is taken back."""
    sent_again: float
    """Segments, in each trial."""
    rtt_ms: float
    goodput_gbps: float

    def __str__(self) -> str:
        counts = f"{self.mean:8.1f} {self.highest:6d} {self.changes:8.1f} {self.sent_again:10.1f}"
        return f"{counts} {self.rtt_ms:8.3f} {self.goodput_gbps:7.4f}"


def scenario(control: str, options: argparse.Namespace) -> dict[str, Any]:
    """Streams that share a port; with DCTCP it marks above a fifth of its queue."""
    queue: dict[str, Any] = {"limit": options.buffer}
    if control == "dctcp":
        queue["aqm"] = {"kind": "step", "threshold": options.threshold}
    stream = {
        "kind": "stream",
        "destination": "client",
        "connections": options.connections,
        "stagger": "5ms",
    }
    return {
        "tailrace": 1,
        "name": f"windows-{control}",
        "network": {
            "link": {"rate": options.rate, "delay": "20us"},
            "topology": {"kind": "star", "switch": "leaf", "hosts": ["client", "one", "two"]},
        },
        "hosts": {"defaults": {"tcp": {"congestion_control": control}}},
        "switches": {"leaf": {"buffer": "8MB", "policy": "fifo"}},
        "policies": {"fifo": {"queues": {"all": queue}}},
        "workloads": {name: {**stream, "source": name} for name in ("one", "two")},
        "observe": {"ports": ["leaf>client"], "windows": "1ms"},
        "arms": {"fifo": {}},
        "experiment": {
            "trials": options.trials,
            "duration": options.duration,
            "warm_up": options.warm_up,
        },
    }


def seen(folder: Path) -> Windows:
    """The windows of a run after its warm-up."""
    run = Run.read(folder)
    trials = run.valid("fifo")
    begin_s = max(trial.outcome.counted_from_ps or 0 for trial in trials) / 1e12
    by_end: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in read_table(run, "tcp_windows").rows():
        if row["side"] == CLIENT and row["at_s"] >= begin_s:
            by_end.setdefault((row["trial"], row["workload"], row["connection"]), []).append(row)
    rows = [row for found in by_end.values() for row in found]
    goodput = [sum(one.goodput_bytes for one in trial.outcome.workloads) for trial in trials]
    lengths_s = [trial.counted_ps / 1e12 for trial in trials]
    return Windows(
        mean=mean(row["window_segments"] for row in rows),
        highest=max(row["window_segments"] for row in rows),
        changes=sum(
            changes([row["threshold_segments"] for row in found]) for found in by_end.values()
        )
        / len(trials),
        sent_again=sum(
            found[-1]["retransmits"] - found[0]["retransmits"] for found in by_end.values()
        )
        / len(trials),
        rtt_ms=mean(row["rtt_s"] for row in rows) * 1e3,
        goodput_gbps=mean(
            bits * 8e-9 / length for bits, length in zip(goodput, lengths_s, strict=True)
        ),
    )


def changes(values: Sequence[int]) -> int:
    """How often a value differs from the one before it."""
    return sum(before != after for before, after in pairwise(values))


def main() -> int:
    """Prints two lines for each congestion control."""
    parser = argparse.ArgumentParser(prog="windows", description=__doc__)
    parser.add_argument("--rate", default="1Gbit/s")
    parser.add_argument("--buffer", default="250kB")
    parser.add_argument("--threshold", default="50kB", help="above which the queue of DCTCP marks")
    parser.add_argument("--connections", type=int, default=2, help="of each of two hosts")
    parser.add_argument("--duration", default="3s")
    parser.add_argument("--warm-up", default="500ms")
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("runs/windows"))
    options = parser.parse_args()
    print(HEAD)
    for control in CONTROLS:
        for engine in ("simulated", "exact"):
            folder = options.out / f"{control}-{engine}"
            try:
                tailrace.run(scenario(control, options), out=folder, exact=engine == "exact")
            except TailraceError as error:
                sys.exit(f"windows: {error}")
            print(f"{control:10} {engine:10} {seen(folder)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
