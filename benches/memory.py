"""Memory of one host, one port and one flow: differences between the largest resident sets of whole
runs.

memory.py [--k K]    fat trees of switches with K ports, 16 unless said

Runs in processes of their own: two hosts at one switch, all hosts at one switch, and the fat tree,
all with one flow; the fat tree with one endless flow for each second host, and for each host. A
port has its wire, a host its interface and its stack, a flow two sockets, and what it has in
flight; each has its share of the plan and of the outcome.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import instructions
import workloads

Plan = dict[str, Any]
RUN_LIMIT_S = 600
#: Long enough for windows to be full.
STOP_PS = 1_000 * workloads.US


def main(arguments: list[str]) -> int:
    """Measures and prints."""
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--k", type=int, default=16, help="ports of a switch (default 16)")
    k = made.parse_args(arguments).k
    instructions.build()
    tree = workloads.fat_tree(k, STOP_PS)
    flows, hosts = tree["workloads"], len(tree["hosts"])
    plans = {
        "none": star(tree, 2),
        "star": star(tree, hosts),
        "tree": tree | {"workloads": one_flow(tree)},
        "half": tree | {"workloads": flows[::2]},
        "full": tree,
    }
    peaks = {name: peak_bytes(plan) for name, plan in plans.items()}
    found = shares(peaks, hosts, tree_ports(tree), len(flows))
    print(json.dumps({"hosts": hosts, "peak_bytes": peaks, **found}, indent=2))
    return 0


def shares(peaks: dict[str, int], hosts: int, ports: int, flows: int) -> dict[str, int]:
    """Bytes of each. The star has one port for each host, the tree `ports`."""
    port = (peaks["tree"] - peaks["star"]) / (ports - hosts)
    host = (peaks["star"] - peaks["none"]) / (hosts - 2) - port
    flow = (peaks["full"] - peaks["half"]) / (flows - len(range(0, flows, 2)))
    return {
        "bytes_per_host": round(host),
        "bytes_per_port": round(port),
        "bytes_per_flow": round(flow),
    }


def star(tree: Plan, hosts: int) -> Plan:
    """So many of the hosts at the first switch, with one flow."""
    switch = tree["switches"][0]
    kept = tree["hosts"][:hosts]
    links = [tree["links"][0] | {"a": host["name"], "b": switch["name"]} for host in kept]
    return tree | {"hosts": kept, "switches": [switch], "links": links, "workloads": one_flow(tree)}


def one_flow(tree: Plan) -> list[Any]:
    """Between the first two hosts, wherever they are: a plan has a workload."""
    flow = tree["workloads"][0]
    ends = {"source": tree["hosts"][0]["name"], "destination": tree["hosts"][1]["name"]}
    stream = flow["body"]["stream"] | ends | {"pin_forward": [], "pin_backward": []}
    return [{"header": flow["header"], "body": {"stream": stream}}]


def tree_ports(tree: Plan) -> int:
    """Ports of switches: links to hosts have one, the others two."""
    return 2 * len(tree["links"]) - len(tree["hosts"])


def peak_bytes(plan: Plan) -> int:
    """The largest resident set of a process that only runs it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plan.json"
        file.write_text(json.dumps(plan))
        command = [str(instructions.PROGRAM), str(file), "--peak"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=RUN_LIMIT_S
        )
    found = re.fullmatch(r"VmHWM:\s+(\d+) kB", done.stderr.strip())
    if found is None:
        raise RuntimeError(f"run_plan --peak tells no VmHWM: {done.stderr[-500:]}")
    return int(found.group(1)) * 1024


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
