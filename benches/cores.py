"""One trial on several threads beside one thread, by turns: `benches/cores.py [--cores 2] [--rounds 3]`.

Fat trees of 1024 and 3456 hosts with links of 10 Gbit/s and 500 ns. Ends with a failure where a digest differs.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from instructions import PROGRAM, build
from workloads import MS, US, Plan, fat_tree

SIZES = ((16, 2 * MS), (24, MS))
"""Ports of a switch, and length of the trial."""
DELAY_PS = US // 2


def plan(ports: int, stop_ps: int) -> Plan:
    """A fat tree with short links."""
    tree = fat_tree(ports, stop_ps)
    return tree | {"links": [link | {"delay_ps": DELAY_PS} for link in tree["links"]]}


def run(path: Path, cores: int) -> tuple[float, str]:
    """Seconds by the clock, with building, and the digest."""
    words = [str(PROGRAM), str(path), *(["--cores", str(cores)] if cores > 1 else [])]
    begun_s = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return time.monotonic() - begun_s, str(json.loads(done.stdout)["digest"])


def main() -> int:
    """Prints seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    build()
    with tempfile.TemporaryDirectory() as folder:
        for ports, stop_ps in SIZES:
            path = Path(folder) / "plan.json"
            path.write_text(json.dumps(plan(ports, stop_ps)), encoding="utf-8")
            ratios = []
            for _ in range(options.rounds):
                (one_s, one), (several_s, several) = run(path, 1), run(path, options.cores)
                if one != several:
                    print(f"{ports**3 // 4} hosts: digests {one} and {several}")
                    return 1
                ratios.append(one_s / several_s)
                print(f"{ports**3 // 4} hosts: {one_s:.2f} s and {several_s:.2f} s: {ratios[-1]:.2f} times", flush=True)
            print(f"{ports**3 // 4} hosts: median {statistics.median(ratios):.2f} times")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
