"""Instructions per packet-hop, counted by callgrind on the program without an interpreter.

Counted in the loop of events of the shortened job: without reading the plan, building the world and
gathering results, which grow with connections and not with hops. Counts do not depend on what else
the machine does.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from jobs import Job, Plan, shortened

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = (
    Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "dist" / "examples" / "run_plan"
)
BUILD_LIMIT_S = 1200
COUNT_LIMIT_S = 3600
#: The loop of events, and what it calls.
LOOP = "*World*advance*"
#: First levels of the modelled caches: size, associativity, line.
FIRST_LEVEL = "32768,8,64"
#: What callgrind counts with a model of caches, in its order: instructions, reads, writes and
#: their misses.
EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")


def is_possible() -> bool:
    """Whether valgrind is installed."""
    return shutil.which("valgrind") is not None


def build() -> None:
    """The program that runs a plan file, as optimised as the extension of a wheel."""
    command = [
        "cargo",
        "build",
        "--profile",
        "dist",
        "--locked",
        "--quiet",
        "-p",
        "tailrace-sim",
        "--example",
        "run_plan",
    ]
    subprocess.run(command, cwd=ROOT, check=True, timeout=BUILD_LIMIT_S)


def per_hop(job: Job) -> float:
    """Instructions of one packet-hop."""
    with tempfile.TemporaryDirectory() as folder:
        instructions, hops = count(shortened(job.plan(), job.counted_ps), Path(folder))
    return instructions / hops


def count(plan: Plan, folder: Path) -> tuple[int, int]:
    """Instructions in the loop, and packet-hops, of one run."""
    events, hops = collected(plan, folder)
    return events[0], hops


def count_with_cache(plan: Plan, folder: Path, last_level: str) -> tuple[dict[str, int], int]:
    """The same with the misses of a model of caches whose last level has this size, associativity
    and line."""
    caches = [f"--{level}={FIRST_LEVEL}" for level in ("I1", "D1")]
    events, hops = collected(plan, folder, "--cache-sim=yes", *caches, f"--LL={last_level}")
    return dict(zip(EVENTS, events, strict=True)), hops


def collected(plan: Plan, folder: Path, *options: str) -> tuple[list[int], int]:
    """What callgrind counts in the loop of one run, and packet-hops."""
    file = folder / "plan.json"
    file.write_text(json.dumps(plan))
    out = f"--callgrind-out-file={folder / 'callgrind.out'}"
    tool = ("valgrind", "--tool=callgrind", *options, f"--toggle-collect={LOOP}", out)
    command = [*tool, str(PROGRAM), str(file)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=COUNT_LIMIT_S
    )
    found = re.search(r"Collected : ([\d ]+)", done.stderr)
    if found is None or found.group(1).strip() == "0":
        raise RuntimeError(f"callgrind counted nothing in {LOOP}: {done.stderr[-500:]}")
    return [int(number) for number in found.group(1).split()], json.loads(done.stdout)[
        "packet_hops"
    ]
