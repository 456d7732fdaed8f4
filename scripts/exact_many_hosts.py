"""What an exact trial of many hosts takes: exact_many_hosts.py [HOSTS ...]."""

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kill_directory import program
from machine_picture import tree

HOSTS = (40, 100)
FLOWS_PER_HOST = 5
KIB_PER_MIB = 1_024
LOOK_S = 0.2


def main() -> None:
    """A line for each number of hosts."""
    for count in [int(word) for word in sys.argv[1:]] or HOSTS:
        with tempfile.TemporaryDirectory(prefix="tailrace-exact-hosts-") as folder:
            print(measured(count, Path(folder)), flush=True)


def measured(count: int, folder: Path) -> str:
    """What a star of so many hosts with a few flows costs. Raises `RuntimeError` when it does not run."""
    names = [f"h{number}" for number in range(count)]
    scenario = {
        "tailrace": 1,
        "name": "many-hosts",
        "network": {"topology": {"kind": "star", "hosts": names}, "link": {"rate": "1Gbit/s", "delay": "10us"}},
        "workloads": {
            "web": {
                "kind": "flows",
                "sources": names,
                "destinations": names,
                "sizes": "exponential(15kB)",
                "interarrival": "exponential(2ms)",
                "flows": FLOWS_PER_HOST * count,
            }
        },
        "experiment": {"trials": 1, "duration": "5s"},
    }
    file, out = folder / "scenario.yaml", folder / "run"
    file.write_text(json.dumps(scenario), encoding="utf-8")
    command = [*program(), "run", "--exact", str(file), "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        most_kib = 0
        while running.poll() is None:
            most_kib = max(most_kib, sum(proportional_kib(process.pid) for process in tree(running.pid)[1:]))
            time.sleep(LOOK_S)
        if running.returncode != 0:
            raise RuntimeError(running.stderr.read() if running.stderr else "")
    outcome = json.loads(next(out.glob("trials/*/1.json")).read_text(encoding="utf-8"))
    exact = outcome["exact"]
    return (
        f"{count} hosts: {most_kib / KIB_PER_MIB:.0f} MiB (engine and guests, proportional set size), "
        f"{exact['start_wall_s']:.1f} s to start, {exact['run_wall_s']:.1f} s to run "
        f"{outcome['end_ps'] / 1e12:.2f} s with {FLOWS_PER_HOST * count} flows"
    )


def proportional_kib(pid: int) -> int:
    """Memory of a process, what it shares divided by those who share it; nothing of one that has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0


if __name__ == "__main__":
    main()
