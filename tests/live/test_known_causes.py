"""Live scenarios whose cause is known by construction: the fabric's log names it, without being
asked for."""

import json
from pathlib import Path

import pytest

import machine

STAR = (
    "network: {link: {rate: 100Mbit/s}, topology: {kind: star, switch: "
    "leaf, hosts: [web, db, bak]}}\n"
)
DEEP = "switches: {leaf: {policy: q}}\npolicies: {q: {queues: {all: {limit: 1MB}}}}\n"
NARROW = (
    "network: {hosts: [web, db], switches: [leaf], links: ["
    "{between: [db, leaf], rate: 100Mbit/s}, {between: [web, leaf], rate: 10Mbit/s}]}\n"
)
ENDS = (
    "experiment:\n  trials: 1\n  duration: 60s\n  live: {max_delay_error: 100%, "
    "max_delay_error_p99: 100%,"
    " max_drop_error: 100%, max_core_wait: 100%, max_pacing_error: 100%, max_steal: 100%, "
    "max_generator_lag: 10s}\n"
)
SHOP = "  shop: {kind: oltp, client: web, server: db, gap: exponential(4ms), "
KNOWN = {
    "a queue behind a neighbour": (
        STAR + DEEP,
        SHOP + "users: 2, transactions: 60, round_trips: [{response: 8kB}]}\n"
        "  backup: {kind: stream, source: bak, destination: web, connections: 2}\n",
        "queue of leaf>web behind backup",
    ),
    "answers of many users": (
        NARROW + DEEP,
        SHOP + "users: 12, transactions: 20, round_trips: [{response: 18kB}]}\n",
        "queue of leaf>web behind its own frames",
    ),
    "a slow line": (
        STAR.replace("100Mbit/s", "500kbit/s"),
        SHOP + "users: 1, transactions: 40, round_trips: [{response: 1kB}]}\n",
        "serialisation",
    ),
    "a distance": (
        STAR.replace("100Mbit/s", "100Mbit/s, delay: 10ms"),
        SHOP + "users: 2, transactions: 40, round_trips: [{response: 1kB}]}\n",
        "propagation and switch latency",
    ),
}
"""Sections before the workloads, the workloads, and the verdict of `shop`."""


@pytest.mark.parametrize("name", KNOWN)
def test_the_fabric_names_the_known_cause(name: str, tmp_path: Path) -> None:
    above, workloads, verdict = KNOWN[name]
    file, out = tmp_path / "known.yaml", tmp_path / "run"
    file.write_text(
        f"tailrace: 1\nname: known\n{above}workloads:\n{workloads}{ENDS}", encoding="utf-8"
    )
    machine.run_live(file, out)
    limits = json.loads((out / "result.json").read_text(encoding="utf-8"))["arms"]["base"][
        "workloads"
    ]["shop"]["limits"]
    assert (limits["limited_by"].partition(";")[0], limits["measured_by"]) == (verdict, "fabric")
    told = machine.tailrace("explain", str(out), "--slowest", "1")
    assert f"shop base: {limits['limited_by']}" in " ".join(told.stdout.split())
