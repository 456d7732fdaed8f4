"""What receiving a byte costs on this machine: iperf3 over loopback, CPU time of the receiver. Writes stream-cost.json.

No network and no interface: the copy to the program, and the part of the protocol that runs in the receiver's system
calls.
Other programs make it dearer (caches, frequency): the least of the runs is the estimate, and the load is recorded.
Usage: .venv/bin/python reproductions/aws-streams/stream_cost.py
"""

import json
import os
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = HERE / "stream-cost.json"
RUNS, SECONDS, LIMIT_S = 5, 3, 30
PORT = "5998"
ADDRESS = "127.0.0.1"
PS_PER_S = 1e12


def run() -> dict[str, float]:
    """One stream: its rate, and CPU time per byte of the receiver."""
    server = subprocess.Popen(["iperf3", "-s", "-1", "-B", ADDRESS, "-p", PORT], stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        client = ["iperf3", "-c", ADDRESS, "-p", PORT, "-t", str(SECONDS), "-J"]
        end = json.loads(subprocess.run(client, capture_output=True, check=True, timeout=LIMIT_S).stdout)["end"]
    finally:
        server.terminate()
        server.wait(LIMIT_S)
    received = end["sum_received"]
    busy_s = end["cpu_utilization_percent"]["remote_total"] / 100 * received["seconds"]
    return {
        "gbps": round(received["bits_per_second"] / 1e9, 2),
        "ps_per_byte": round(busy_s / received["bytes"] * PS_PER_S),
    }


def cpu_model() -> str:
    """As the kernel calls it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))


def main() -> None:
    """All runs."""
    load, runs = os.getloadavg()[0], [run() for _ in range(RUNS)]
    least = min(one["ps_per_byte"] for one in runs)
    found = {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "load_before": round(load, 1),
        "runs": runs,
        "least_ps_per_byte": least,
        "one_core_gbps": round(8000 / least, 1),
    }
    OUT.write_text(json.dumps(found, indent=1) + "\n")
    print(OUT.read_text())


if __name__ == "__main__":
    main()
