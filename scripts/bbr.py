"""Compare the simulated BBR with real kernels: streams that share a port, run by both engines.

`bbr.py --out runs/bbr` runs each case by the simulator and on real kernels in virtual time and
prints goodput, retransmissions, drops, and the mean and largest depth of the queue before the sink.
Goodput has to agree within 10 %.
"""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import tailrace
from tailrace.errors import TailraceError
from tailrace.results.directory.run_directory import Run

BAND = 0.10
FASTER = 4
"""Links of senders are so much faster than the port that they share."""


@dataclass(frozen=True)
class Case:
    """Streams into one port."""

    rate_gbps: int
    round_trip_us: int
    queue: str
    streams: Mapping[str, str]
    """Host and its congestion control."""
    duration: str
    mtu: str = "1500B"
    police: Mapping[str, str] | None = None

    def scenario(self, name: str, trials: int) -> dict[str, Any]:
        """As a scenario."""
        delay = {"delay": f"{self.round_trip_us / 4:g}us"}
        policy: dict[str, Any] = {"queues": {"all": {"limit": self.queue}}}
        if self.police:
            policy["police"] = dict(self.police)
        return {
            "tailrace": 1,
            "name": f"bbr-{name}",
            "network": {
                "link": {"rate": f"{self.rate_gbps * FASTER}Gbit/s", **delay},
                "links": [{"between": ["leaf", "sink"], "rate": f"{self.rate_gbps}Gbit/s"}],
                "topology": {"kind": "star", "switch": "leaf", "hosts": ["sink", *self.streams]},
            },
            "hosts": {
                "defaults": {"mtu": self.mtu},
                **{
                    host: {"tcp": {"congestion_control": control}}
                    for host, control in self.streams.items()
                },
            },
            "switches": {"leaf": {"buffer": "32MB", "policy": "fifo"}},
            "policies": {"fifo": policy},
            "workloads": {
                host: {"kind": "stream", "source": host, "destination": "sink"}
                for host in self.streams
            },
            "observe": {"ports": ["leaf>sink"], "windows": "1ms"},
            "arms": {"fifo": {}},
            "experiment": {"trials": trials, "duration": self.duration},
        }


ONE = {"a": "bbr"}
FOUR = dict.fromkeys("abcd", "bbr")
BOTH = {"a": "bbr", "b": "cubic"}
CASES = {
    "one-short-shallow": Case(1, 100, "50kB", ONE, "1s"),
    "one-long-deep": Case(1, 20_000, "5MB", ONE, "3s"),
    "one-long-shallow": Case(1, 20_000, "250kB", ONE, "3s"),
    "four-shallow": Case(1, 5_000, "150kB", FOUR, "2s"),
    "four-deep": Case(1, 2_000, "1MB", FOUR, "2s"),
    "fast-one-short": Case(10, 100, "250kB", ONE, "300ms", "9000B"),
    "fast-four-deep": Case(10, 2_000, "5MB", FOUR, "400ms", "9000B"),
    "fast-four-shallow": Case(10, 1_000, "300kB", FOUR, "300ms"),
    "with-cubic-deep": Case(1, 2_000, "1MB", BOTH, "3s"),
    "with-cubic-shallow": Case(1, 2_000, "100kB", BOTH, "3s"),
    "policed": Case(1, 5_000, "1MB", ONE, "3s", police={"rate": "200Mbit/s", "burst": "100kB"}),
    "probed": Case(1, 2_000, "1MB", ONE, "11s"),
}


@dataclass(frozen=True)
class Seen:
    """Means over the trials of one engine."""

    goodput_gbps: Mapping[str, float]
    retransmits: float
    drops: float
    depth_mean_bytes: float
    depth_max_bytes: float

    @classmethod
    def of(cls, folder: Path) -> "Seen":
        """From a run directory."""
        outcomes = [trial.outcome for trial in Run.read(folder).valid("fifo")]
        hosts = [workload.name for workload in outcomes[0].workloads]
        queues = [
            port.queues[0] for each in outcomes for port in each.ports if port.towards == "sink"
        ]
        return cls(
            {
                host: fmean(
                    8e3 * each.workloads[i].goodput_bytes / each.end_ps for each in outcomes
                )
                for i, host in enumerate(hosts)
            },
            fmean(
                sum(own.tcp.retransmits or 0 for own in each.workloads if own.tcp)
                for each in outcomes
            ),
            fmean(each.conservation.dropped for each in outcomes if each.conservation),
            fmean(queue.depth_mean_bytes or 0 for queue in queues),
            fmean(queue.depth_max_bytes or 0 for queue in queues),
        )

    def __str__(self) -> str:
        goodput = " ".join(f"{rate:.4g}" for rate in self.goodput_gbps.values())
        depth = f"{self.depth_mean_bytes / 1e3:.1f} {self.depth_max_bytes / 1e3:.1f}"
        return (
            f"{goodput} Gbit/s; sent again {self.retransmits:.0f}; dropped {self.drops:.0f}; "
            f"queue {depth} kB"
        )


def agree(simulated: Seen, exact: Seen) -> bool:
    """Whether the goodput of all, and that of each kind, is within the band."""
    pairs = [(sum(one.goodput_gbps.values()) for one in (simulated, exact))]
    return all(abs(a - b) <= BAND * b for a, b in pairs)


def main() -> int:
    """Prints two lines for each case."""
    parser = argparse.ArgumentParser(prog="bbr", description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--simulated", action="store_true", help="no real kernels")
    parser.add_argument("--out", type=Path, default=Path("runs/bbr"))
    options = parser.parse_args()
    for name in options.cases:
        seen = {}
        for engine in ("simulated",) if options.simulated else ("simulated", "exact"):
            folder = options.out / f"{name}-{engine}"
            try:
                tailrace.run(
                    CASES[name].scenario(name, options.trials), out=folder, exact=engine == "exact"
                )
            except TailraceError as error:
                sys.exit(f"bbr: {error}")
            seen[engine] = Seen.of(folder)
            print(f"{name:20} {engine:10} {seen[engine]}", flush=True)
        if len(seen) > 1 and not agree(seen["simulated"], seen["exact"]):
            print(f"{name:20} outside {BAND:.0%}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
