"""Instructions per packet-hop, counted by callgrind on the program without an interpreter.

Counted twice: for the shortened job and for the same job that ends at once. The difference is the run without reading
the plan and building the world. Counts do not depend on what else the machine does.
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
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples" / "run_plan"
BUILD_LIMIT_S = 1200
COUNT_LIMIT_S = 600
#: The shortest time that a plan may have.
AT_ONCE_PS = 1


def is_possible() -> bool:
    """Whether valgrind is installed."""
    return shutil.which("valgrind") is not None


def build() -> None:
    """The program that runs a plan file, as optimised as the extension."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "tailrace-sim", "--example", "run_plan"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=BUILD_LIMIT_S)


def per_hop(job: Job) -> float:
    """Instructions of one packet-hop."""
    plan = job.plan()
    with tempfile.TemporaryDirectory() as folder:
        whole, hops = count(shortened(plan, job.counted_ps), Path(folder))
        building, none = count(shortened(plan, AT_ONCE_PS), Path(folder))
    return (whole - building) / (hops - none)


def count(plan: Plan, folder: Path) -> tuple[int, int]:
    """Instructions and packet-hops of one run."""
    file = folder / "plan.json"
    file.write_text(json.dumps(plan))
    tool = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'callgrind.out'}")
    command = [*tool, str(PROGRAM), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=COUNT_LIMIT_S)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"callgrind did not say what it counted: {done.stderr[-500:]}")
    return int(found.group(1)), json.loads(done.stdout)["packet_hops"]
