"""What a byte of a stream costs on this machine: iperf3 over loopback, CPU time of both ends.
Writes stream-cost.json.

No network and no interface: both copies and the protocol; what the receiving soft interrupt does
counts as the sender's, on whose core it runs. Both together are compared with the same sum of the
profile linux-kernel, 280 ps, which gives the clock at which the profile costs as much: that of the
arms `measured` of onprem.yaml. Other programs make it dearer (caches, frequency): the least of the
runs is the estimate, and the load is recorded. Usage: .venv/bin/python
reproductions/aws-streams/stream_cost.py
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
PROFILE_PS, PROFILE_GHZ = 280, 3.4
"""Of the profile linux-kernel: 190 ps to receive a byte and 90 ps to send one
(docs/models/cpu.md)."""


def run() -> dict[str, float]:
    """One stream: its rate, and CPU time per byte of the receiver."""
    server = subprocess.Popen(
        ["iperf3", "-s", "-1", "-B", ADDRESS, "-p", PORT], stdout=subprocess.DEVNULL
    )
    try:
        time.sleep(0.5)
        client = ["iperf3", "-c", ADDRESS, "-p", PORT, "-t", str(SECONDS), "-J"]
        end = json.loads(
            subprocess.run(client, capture_output=True, check=True, timeout=LIMIT_S).stdout
        )["end"]
    finally:
        server.terminate()
        server.wait(LIMIT_S)
    received, used = end["sum_received"], end["cpu_utilization_percent"]
    ps_per_byte = PS_PER_S * received["seconds"] / received["bytes"] / 100
    return {
        "gbps": round(received["bits_per_second"] / 1e9, 2),
        "sender_ps_per_byte": round(used["host_total"] * ps_per_byte),
        "receiver_ps_per_byte": round(used["remote_total"] * ps_per_byte),
    }


def cpu_model() -> str:
    """As the kernel calls it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))


def main() -> None:
    """All runs."""
    load, runs = os.getloadavg()[0], [run() for _ in range(RUNS)]
    least = min(one["sender_ps_per_byte"] + one["receiver_ps_per_byte"] for one in runs)
    found = {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "load_before": round(load, 1),
        "runs": runs,
        "least_ps_per_byte": least,
        "profile_ps_per_byte": PROFILE_PS,
        "profile_clock_ghz": round(PROFILE_GHZ * PROFILE_PS / least, 2),
    }
    OUT.write_text(json.dumps(found, indent=1) + "\n")
    print(OUT.read_text())


if __name__ == "__main__":
    main()
