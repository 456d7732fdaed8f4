"""`make bench-peers PEER_HTSIM=path`: a peer that the user has built, and this simulator, by turns
in one run.

Each round runs a job once with each of them, so that a disturbance of the machine meets both; what
counts is the ratio of a round. Packet-hops are those that each of them really made: the peer
acknowledges every packet. The tables are written into README.md, with the processor that they were
measured on.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import workloads
from peers import htsim
from run import child, machine
from table import grouped, put, row_of

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "beside.json"
BEGIN = "<!-- begin: written by beside.py -->"
END = "<!-- end: written by beside.py -->"
MS = workloads.MS
Plan = dict[str, Any]

JOBS: dict[str, tuple[str, Callable[[], Plan]]] = {
    "W1": ("incast, 20 senders, 1 s", workloads.w1),
    "W2": ("fat tree, 128 hosts, 10 ms", workloads.w2),
    "FT16": ("fat tree, 16 hosts, 40 ms", lambda: workloads.fat_tree(4, 40 * MS)),
    "FT432": ("fat tree, 432 hosts, 4 ms", lambda: workloads.fat_tree(12, 4 * MS)),
    "FT1024": ("fat tree, 1024 hosts, 2 ms", lambda: workloads.fat_tree(16, 2 * MS)),
    "FT3456": ("fat tree, 3456 hosts, 1 ms", lambda: workloads.fat_tree(24, 1 * MS)),
}


def main(arguments: list[str]) -> int:
    """Measure by turns, print and write the table."""
    options = parser().parse_args(arguments)
    try:
        measured = measure(options.only or list(JOBS), options.rounds, Path(options.htsim))
    except htsim.PeerError as error:
        print(f"bench-peers: {error}", file=sys.stderr)
        return 2
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    is_same = (
        kept.get("machine") == machine()
    )  # figures of two processors do not stand in one table
    jobs = (kept["jobs"] if is_same else {}) | measured
    flags = os.environ.get("PEER_CXXFLAGS", htsim.FLAGS)
    results = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine(),
        "flags": flags,
        "note": options.note,
        "jobs": jobs,
    }
    RESULTS.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    put(render(results), BEGIN, END)
    print(render(results))
    return 0


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "--htsim", required=True, help="a tree of csg-htsim whose libhtsim.a is built"
    )
    made.add_argument("--rounds", type=int, default=7, help="rounds of each job")
    made.add_argument(
        "--only", action="append", choices=list(JOBS), help="only this job; repeatable"
    )
    made.add_argument(
        "--note", default="", help="what to know about the machine, e.g. that others used it"
    )
    return made


def measure(names: list[str], rounds: int, tree: Path) -> dict[str, Any]:
    """Each job in rounds. Raises `PeerError` when the peer cannot be used."""
    measured = {}
    with tempfile.TemporaryDirectory() as folder:
        program = htsim.build(tree, Path(folder))
        own_bytes = min(child()["peak_bytes"] for _ in range(3))
        for name in names:
            plan, job = JOBS[name][1](), Path(folder) / f"{name}.job"
            file = Path(folder) / f"{name}.json"
            file.write_text(json.dumps(plan))
            job.write_text(htsim.job_of(plan))
            hops = htsim.run(program, job, "count")["packet_hops"]
            pairs = []
            for number in range(rounds):
                print(f"{name}: round {number + 1} of {rounds}", flush=True)
                pairs.append(_round(file, program, job, is_own_first=number % 2 == 0))
            measured[name] = summary(plan, pairs, hops, own_bytes)
    return measured


def _round(file: Path, program: Path, job: Path, *, is_own_first: bool) -> list[dict[str, Any]]:
    """Ours and the peer's, in turns."""
    own = child(file) if is_own_first else None
    peer = htsim.run(program, job)
    return [own or child(file), peer]


def summary(
    plan: Plan, pairs: list[list[dict[str, Any]]], peer_hops: int, own_bytes: int
) -> dict[str, Any]:
    """Medians of each, and the ratio of every round."""
    own_hops = pairs[0][0]["packet_hops"]
    own = [pair[0]["thread_cpu_s"] / own_hops * 1e9 for pair in pairs]
    peer = [pair[1]["process_cpu_s"] / peer_hops * 1e9 for pair in pairs]
    ratios = [theirs / ours for ours, theirs in zip(own, peer, strict=True)]
    return {
        "hosts": len(plan["hosts"]),
        "rounds": len(pairs),
        "hops": [own_hops, peer_hops],
        "delivered": [pairs[0][0]["packets_delivered"], pairs[0][1]["packets_delivered"]],
        "ns_per_hop": [round(statistics.median(each), 1) for each in (own, peer)],
        "ratio": [round(each, 2) for each in (statistics.median(ratios), min(ratios), max(ratios))],
        "mib": [
            round(
                (statistics.median(pair[0]["peak_bytes"] for pair in pairs) - own_bytes) / 2**20, 1
            ),
            round(statistics.median(pair[1]["peak_bytes"] for pair in pairs) / 2**20, 1),
        ],
    }


def render(results: dict[str, Any]) -> str:
    """The table."""
    where = results["machine"]
    lines = [
        f"Measured on {results['date']} by turns on one processor: {where['cpu']}, "
        f"{where['cores']} cores; htsim built with `{results['flags']}`. {results['note']}".strip(),
        "",
        row_of(
            "Job",
            "",
            "ns per hop: tailrace",
            "htsim",
            "ratio: median (least–most)",
            "MiB: tailrace",
            "htsim",
            "delivered: tailrace",
            "htsim",
        ),
        "|---|---" + "|---:" * 7 + "|",
    ]
    for name, (what, _) in JOBS.items():
        if name in results["jobs"]:
            row = results["jobs"][name]
            median, least, most = row["ratio"]
            ns, mib, delivered = (
                row["ns_per_hop"],
                row["mib"],
                [grouped(each) for each in row["delivered"]],
            )
            ratio = f"{median:.2f} ({least:.2f}–{most:.2f}, {row['rounds']} rounds)"
            lines.append(
                row_of(
                    name,
                    what,
                    f"{ns[0]:.0f}",
                    f"{ns[1]:.0f}",
                    ratio,
                    f"{mib[0]:.1f}",
                    f"{mib[1]:.1f}",
                    *delivered,
                )
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
