"""`make bench`: measures the jobs, writes results.json and the table in README.md.

run.py                        measure everything that can be measured here
run.py --only W1 --only W2    these jobs; the others keep their figures
run.py --cisco 1              the published experiment with this share of its counts, and no jobs
run.py --front                the growth of the Python front with the network, and no jobs
run.py --sizes                how cost and memory grow with the network, and no jobs
run.py --table                write the table from results.json again
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cisco
import front
import instructions
import sizes
import table
from jobs import JOBS, Job

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
CHILD = HERE / "child.py"
CHILD_LIMIT_S = 600
CLOCKS = ("wall_s", "process_cpu_s", "thread_cpu_s", "parse_s")


def main(arguments: list[str]) -> int:
    """Measure and write."""
    options = parser().parse_args(arguments)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"jobs": {}}
    if options.cisco is not None:
        results["cisco"] = cisco.measure(options.cisco)
        save(results)
    elif options.front:
        results["front"] = front.measure()
        save(results)
    elif options.sizes:
        results["sizes"] = measure_sizes(options)
        save(results)
    elif not options.table:
        chosen = [job for job in JOBS if not options.only or job.name in options.only]
        measured = measure(chosen, options.repetitions)
        if instructions.is_possible() and not options.no_instructions:
            instructions.build()
            for job in chosen:
                print(f"{job.name}: counting instructions", flush=True)
                measured[job.name]["instructions_per_hop"] = round(instructions.per_hop(job), 1)
            if not options.only:
                results["front"] = front.measure()
        if not options.only:
            results["sizes"] = measure_sizes(options)
        results["jobs"] = results["jobs"] | measured
        results |= {"machine": machine(), "note": options.note, "date": today()}
        save(results)
    table.write(results)
    print(table.render(results))
    return 0


def measure_sizes(options: argparse.Namespace) -> dict[str, Any]:
    """Fat trees of several sizes."""
    counts = instructions.is_possible() and not options.no_instructions
    if counts:
        instructions.build()
    own_bytes = min(child()["peak_bytes"] for _ in range(3))
    rows = sizes.measure(child, own_bytes, options.repetitions, counts=counts)
    return {
        "rows": rows,
        "last_level": sizes.LAST_LEVEL,
        "machine": machine(),
        "note": options.note,
        "date": today(),
    }


def today() -> str:
    """The date of a measurement."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def save(results: dict[str, Any]) -> None:
    """Keeps what was measured."""
    RESULTS.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "--repetitions", type=int, default=5, help="runs of each job, one round after the other"
    )
    made.add_argument(
        "--only",
        action="append",
        choices=[job.name for job in JOBS],
        help="only this job; repeatable",
    )
    made.add_argument("--no-instructions", action="store_true", help="do not count instructions")
    made.add_argument(
        "--cisco",
        type=float,
        metavar="SCALE",
        help="the published experiment, this share of its counts",
    )
    made.add_argument(
        "--front", action="store_true", help="only how the Python front grows with the network"
    )
    made.add_argument(
        "--sizes", action="store_true", help="only how cost and memory grow with the network"
    )
    made.add_argument(
        "--note", default="", help="what to know about the machine, e.g. that others used it"
    )
    made.add_argument("--table", action="store_true", help="measure nothing, write the table")
    return made


def measure(jobs: list[Job], repetitions: int) -> dict[str, dict[str, Any]]:
    """Every job so many times, in rounds, so that a disturbance of the machine meets all of
    them."""
    runs: dict[str, list[dict[str, Any]]] = {job.name: [] for job in jobs}
    with tempfile.TemporaryDirectory() as folder:
        plans = {job.name: Path(folder) / f"{job.name}.json" for job in jobs}
        for job in jobs:
            plans[job.name].write_text(json.dumps(job.plan()))
        own_bytes = min(child()["peak_bytes"] for _ in range(3))
        for number in range(repetitions):
            for job in jobs:
                print(f"round {number + 1} of {repetitions}: {job.name}", flush=True)
                runs[job.name].append(child(plans[job.name]))
    return {name: summarise(name, measured, own_bytes) for name, measured in runs.items()}


def child(*plan: Path) -> dict[str, Any]:
    """One fresh process."""
    command = [sys.executable, str(CHILD), *map(str, plan)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=CHILD_LIMIT_S
    )
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def summarise(name: str, runs: list[dict[str, Any]], own_bytes: int) -> dict[str, Any]:
    """Medians and extremes. The same plan must do the same, so that only the clocks may differ."""
    for key in ("digest", "packet_hops", "packets_delivered", "events"):
        if len({run[key] for run in runs}) != 1:
            raise RuntimeError(f"{name}: {key} differs between runs of the same plan")
    first = runs[0]
    summary: dict[str, Any] = {
        key: first[key] for key in ("digest", "packet_hops", "packets_delivered", "events")
    }
    summary["repetitions"] = len(runs)
    for clock in CLOCKS:
        seconds = [run[clock] for run in runs]
        spread = {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds)}
        summary[clock] = {key: round(value, 4) for key, value in spread.items()}
    beyond = [run["peak_bytes"] - own_bytes for run in runs]
    summary["memory_mib"] = round(statistics.median(beyond) / 2**20, 1)
    return summary


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )
    return {"cpu": model, "cores": os.cpu_count(), "python": platform.python_version()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
