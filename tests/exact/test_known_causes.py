"""Scenarios with known causes, on real kernels: their counters name the cause, and are named as the
source."""

import json
from pathlib import Path

import pytest

import machine

STAR = (
    "network: {link: {rate: 1Gbit/s, delay: 10us}, topology: {kind: star, switch: leaf, hosts: "
    "[web, db, bak]}}\n"
)
FAR = STAR.replace("10us", "5ms")
DEEP = "switches: {leaf: {policy: q}}\npolicies: {q: {queues: {all: {limit: 1MB}}}}\n"
LONG = "hosts: {defaults: {mtu: 9000B}}\nswitches: {leaf: {mtu: 1500B}}\n"
COPY = "  shop: {kind: stream, source: db, destination: web}\n"
SHOP = (
    "  shop: {kind: oltp, client: web, server: db, users: 4, gap: exponential(4ms), "
    "round_trips: [{response: 8kB}]}\n"
)
BACKUP = "  backup: {kind: stream, source: bak, destination: web, connections: 2}\n"
WAITS = "nothing that counters know"
KNOWN = {
    "a policer": (
        STAR
        + "switches: {leaf: {policy: p}}\n"
        + "policies: {p: {queues: {all: {limit: 1MB}}, police: {rate: 200Mbit/s, burst: 50kB}}}\n",
        COPY,
        "rate_cap",
    ),
    "frames that are too long": (
        STAR + "hosts: {defaults: {mtu: 9000B}}\nswitches: {leaf: {mtu: 1500B}}\n",
        COPY,
        "mtu",
    ),
    "a receive buffer": (
        FAR + "hosts: {web: {tcp: {receive_buffer: 200kB}}}\n",
        COPY,
        "receive_window",
    ),
    "a send buffer": (FAR + "hosts: {db: {tcp: {send_buffer: 100kB}}}\n", COPY, "send_buffer"),
    "a neighbour in the queue": (STAR + DEEP, COPY + BACKUP, "congestion"),
    "answers behind a neighbour": (STAR + DEEP, SHOP + BACKUP, WAITS),
}
"""Sections before the workloads, the workloads, and the verdict of `shop`."""
LABEL = "by the kernel's counters"


@pytest.mark.parametrize("name", KNOWN)
def test_the_counters_of_the_kernel_name_the_cause_and_are_named(name: str, tmp_path: Path) -> None:
    above, workloads, verdict = KNOWN[name]
    file, out = tmp_path / "known.yaml", tmp_path / "run"
    ends = "experiment: {duration: 600ms, warm_up: 200ms, trials: 1}\n"
    file.write_text(
        f"tailrace: 1\nname: known\n{above}workloads:\n{workloads}{ends}", encoding="utf-8"
    )
    done = machine.tailrace("run", str(file), "--exact", "--out", str(out), "--full")
    assert done.returncode == 0, done.stderr
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    limits = result["arms"]["base"]["workloads"]["shop"]["limits"]
    assert limits["measured_by"] == "kernel"
    assert verdict in (limits["limited_by"], WAITS)
    assert LABEL in " ".join(done.stdout.split())
    assert LABEL in (out / "report.html").read_text(encoding="utf-8").replace("&#39;", "'")
    told = machine.tailrace("explain", str(out))
    assert told.returncode == 0
    assert LABEL in " ".join(told.stdout.split())
    assert ("run the same scenario without --exact" in told.stderr) == (verdict == WAITS)
