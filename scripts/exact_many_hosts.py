"""What an exact trial of many hosts takes: exact_many_hosts.py [--bulk] [HOSTS ...]."""

import argparse
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from kill_directory import program
from machine_picture import tree

HOSTS = (40, 100)
FLOWS_PER_HOST = 5
BULK_CONNECTIONS = 4
"""From each host to the next: what they have written and cannot send fills the send buffers."""
BULK_DURATION = "100ms"
KIB_PER_MIB = 1_024
LOOK_S = 0.2


def main() -> None:
    """A line for each number of hosts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hosts", nargs="*", type=int, default=HOSTS)
    parser.add_argument(
        "--bulk", action="store_true", help="full lines and send buffers instead of a few flows"
    )
    chosen = parser.parse_args()
    for count in chosen.hosts:
        with tempfile.TemporaryDirectory(prefix="tailrace-exact-hosts-") as folder:
            print(measured(count, Path(folder), is_bulk=chosen.bulk), flush=True)


def workloads(names: list[str], *, is_bulk: bool) -> dict[str, dict[str, Any]]:
    """A few flows between all, or streams from each host to the next."""
    if is_bulk:
        pairs = zip(names, names[1:] + names[:1], strict=True)
        stream = {"kind": "stream", "connections": BULK_CONNECTIONS}
        return {
            f"from-{one}": stream | {"source": one, "destination": other} for one, other in pairs
        }
    web = {
        "kind": "flows",
        "sources": names,
        "destinations": names,
        "flows": FLOWS_PER_HOST * len(names),
    }
    return {"web": web | {"sizes": "exponential(15kB)", "interarrival": "exponential(2ms)"}}


def measured(count: int, folder: Path, *, is_bulk: bool) -> str:
    """What a star of so many hosts costs. Raises `RuntimeError` when it does not run."""
    names = [f"h{number}" for number in range(count)]
    scenario = {
        "tailrace": 1,
        "name": "many-hosts",
        "network": {
            "topology": {"kind": "star", "hosts": names},
            "link": {"rate": "1Gbit/s", "delay": "10us"},
        },
        "workloads": workloads(names, is_bulk=is_bulk),
        "experiment": {"trials": 1, "duration": BULK_DURATION if is_bulk else "5s"},
    }
    file, out = folder / "scenario.yaml", folder / "run"
    file.write_text(json.dumps(scenario), encoding="utf-8")
    command = [*program(), "run", "--exact", str(file), "--out", str(out)]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as running:
        most_kib = 0
        while running.poll() is None:
            most_kib = max(
                most_kib, sum(proportional_kib(process.pid) for process in tree(running.pid)[1:])
            )
            time.sleep(LOOK_S)
        if running.returncode != 0:
            raise RuntimeError(running.stderr.read() if running.stderr else "")
    outcome = json.loads(next(out.glob("trials/*/1.json")).read_text(encoding="utf-8"))["outcome"]
    exact = outcome["exact"]
    what = f"{BULK_CONNECTIONS * count} streams" if is_bulk else f"{FLOWS_PER_HOST * count} flows"
    return (
        f"{count} hosts: {most_kib / KIB_PER_MIB:.0f} MiB (engine and guests, proportional set "
        f"size), {exact['start_wall_s']:.1f} s to start, {exact['run_wall_s']:.1f} s to run "
        f"{outcome['end_ps'] / 1e12:.2f} s with {what}"
    )


def proportional_kib(pid: int) -> int:
    """Memory of a process, what it shares divided by those who share it; nothing of one that has
    ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0


if __name__ == "__main__":
    main()
