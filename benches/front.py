"""How the work of the Python front grows with the network: instructions of `tailrace run` without
the simulation.

callgrind counts every instruction of the process: the interpreter, the scenario's checks, plans,
results and report, and what the extension does to read a plan and to build and describe a network.
The scenario is web-search flows on a fat tree that end after a microsecond, before anything
arrives. Of three sizes, the differences leave out what does not depend on the size, such as
imports. Threads wait for each other by the clock, so that counts differ a little.
"""

import os
import re
import subprocess
import sys
import tempfile
from math import log
from pathlib import Path
from typing import Any

MAIN = "from tailrace.cli import main; main()"
COUNT_LIMIT_S = 1800
#: Ports of the switches of three fat trees, which have k^3/4 hosts.
SIZES = (4, 8, 16)
SCENARIO = """
tailrace: 1
name: front
network: {{topology: {{kind: fat-tree, k: {k}}}}}
workloads: {{web: {{kind: flows, sizes: web-search, load: 30%}}}}
experiment: {{duration: 1us, trials: 1}}
"""


def measure() -> dict[str, Any]:
    """Instructions by number of hosts, and the exponent of their growth."""
    counted: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        run(SIZES[0], Path(folder))  # so that compiling modules counts nowhere
    for k in SIZES:
        print(f"front, {hosts(k)} hosts: counting instructions", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            counted[hosts(k)] = count(k, Path(folder))
    return {
        "instructions": {str(number): found for number, found in counted.items()},
        "exponent": exponent(counted),
    }


def hosts(k: int) -> int:
    """Hosts of a fat tree."""
    return k**3 // 4


def exponent(counted: dict[int, int]) -> float:
    """The power of the number of hosts with which instructions grow, told from three sizes of one
    ratio.

    Of `a + b n^e` at n, rn and r^2 n the differences are as r^e.
    """
    (n, first), (_, second), (_, third) = sorted(counted.items())
    ratio = sorted(counted)[1] / n
    return round(log((third - second) / (second - first)) / log(ratio), 3)


def count(k: int, folder: Path) -> int:
    """Instructions of one `tailrace run`."""
    said = run(
        k,
        folder,
        "valgrind",
        "--tool=callgrind",
        f"--callgrind-out-file={folder / 'callgrind.out'}",
    )
    found = re.search(r"Collected : (\d+)", said)
    if found is None:
        raise RuntimeError(f"callgrind did not say what it counted: {said[-500:]}")
    return int(found.group(1))


def run(k: int, folder: Path, *tool: str) -> str:
    """One `tailrace run` under a tool; returns what was said on stderr."""
    scenario = folder / "front.yaml"
    scenario.write_text(SCENARIO.format(k=k))
    program = (
        sys.executable,
        "-c",
        MAIN,
        "run",
        str(scenario),
        "--out",
        str(folder / "run"),
        "--jobs",
        "1",
    )
    environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [*tool, *program],
        capture_output=True,
        text=True,
        check=True,
        timeout=COUNT_LIMIT_S,
        env=environment,
    )
    return done.stderr
