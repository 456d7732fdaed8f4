"""How cost and memory grow with the network: fat trees of four sizes with one endless flow for each
host.

The cost of a hop is that of the loop of events: the processor time of the run less that of a run
that ends at once, which is the time to build the network and to gather results. Cache misses are
those of callgrind's model with one last level of `LAST_LEVEL`, in the loop of events; they depend
neither on the processor nor on its load.
"""

import json
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import instructions
import workloads

US = workloads.US
Plan = dict[str, Any]
#: Runs one plan in a process of its own: `run.child`.
Child = Callable[..., dict[str, Any]]
#: Size, associativity, line: a second level of one core, as servers have.
LAST_LEVEL = "1048576,16,64"


@dataclass(frozen=True)
class Size:
    """A fat tree of switches with `k` ports. `counted_ps` is the simulated time whose misses are
    counted."""

    k: int
    stop_ps: int
    counted_ps: int

    @property
    def hosts(self) -> int:
        """All of them."""
        return self.k**3 // 4

    def plan(self, stop_ps: int) -> Plan:
        """W2 in this size."""
        return workloads.fat_tree(self.k, stop_ps)


SIZES = (
    Size(8, 8_000 * US, 2_000 * US),
    Size(16, 1_000 * US, 500 * US),
    Size(24, 500 * US, 250 * US),
    Size(32, 250 * US, 150 * US),
)


def measure(
    child: Child, own_bytes: int, repetitions: int, *, counts: bool
) -> list[dict[str, Any]]:
    """A row for each size. The sizes take turns, round by round."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[int, list[tuple[dict[str, Any], dict[str, Any]]]] = {
            size.k: [] for size in SIZES
        }
        plans = {size.k: written(size, Path(folder)) for size in SIZES}
        for number in range(repetitions):
            for size in SIZES:
                print(f"round {number + 1} of {repetitions}: {size.hosts} hosts", flush=True)
                whole, empty = plans[size.k]
                runs[size.k].append((child(whole), child(empty)))
        for size in SIZES:
            row = summary(size, runs[size.k], own_bytes)
            if counts:
                print(f"{size.hosts} hosts: counting instructions and misses", flush=True)
                row |= counted(size, Path(folder))
            rows.append(row)
    return rows


def written(size: Size, folder: Path) -> tuple[Path, Path]:
    """The plan, and one that ends at once."""
    files = (folder / f"ft{size.k}.json", folder / f"ft{size.k}-empty.json")
    for file, stop_ps in zip(files, (size.stop_ps, 1), strict=True):
        file.write_text(json.dumps(size.plan(stop_ps)))
    return files


def summary(
    size: Size, runs: list[tuple[dict[str, Any], dict[str, Any]]], own_bytes: int
) -> dict[str, Any]:
    """Medians over the rounds."""
    if len({(whole["digest"], whole["packet_hops"]) for whole, _ in runs}) != 1:
        raise RuntimeError(f"{size.hosts} hosts: runs of one plan differ")
    hops = runs[0][0]["packet_hops"]
    costs = [(whole["thread_cpu_s"] - empty["thread_cpu_s"]) / hops * 1e9 for whole, empty in runs]
    return {
        "hosts": size.hosts,
        "digest": runs[0][0]["digest"],
        "packet_hops": hops,
        "ns_per_hop": [
            round(cost, 1) for cost in (statistics.median(costs), min(costs), max(costs))
        ],
        "build_s": round(
            statistics.median(empty["thread_cpu_s"] + empty["parse_s"] for _, empty in runs), 3
        ),
        "memory_mib": round(
            statistics.median(whole["peak_bytes"] - own_bytes for whole, _ in runs) / 2**20, 1
        ),
    }


def counted(size: Size, folder: Path) -> dict[str, float]:
    """Instructions and misses of the last level, per hop of the shortened run."""
    events, hops = instructions.count_with_cache(size.plan(size.counted_ps), folder, LAST_LEVEL)
    misses = events["ILmr"] + events["DLmr"] + events["DLmw"]
    return {
        "instructions_per_hop": round(events["Ir"] / hops, 1),
        "misses_per_hop": round(misses / hops, 2),
    }
