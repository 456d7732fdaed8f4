"""Scenarios whose cause is known by construction: the verdict of `run` names it, without being asked to explain."""

import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

import tailrace
from tailrace.errors import ScenarioWarning
from tailrace.results.text.limiting_text import verdict_words

STAR = "network: {link: {rate: 10Gbit/s}, topology: {kind: star, switch: leaf, hosts: [web, db, bak]}}\n"
LOSSY = (
    "network: {link: {rate: 10Gbit/s}, hosts: [web, db], switches: [leaf],"
    " links: [{between: [web, leaf], loss: 2%}, {between: [db, leaf]}]}\n"
)
DEEP = "switches: {leaf: {buffer: 12MB, policy: q}}\npolicies: {q: {queues: {all: {limit: 6MB}}}}\n"
BACKUP = "  backup: {kind: stream, source: bak, destination: web, connections: 4}\n"
LONG = "hosts: {defaults: {mtu: 9000B}}\nswitches: {leaf: {mtu: 1500B}}\n"
ONE_CORE = "hosts: {db: {cpu: {program_cores: 1}}}\n"
SHOP = "  shop: {kind: oltp, client: web, server: db, users: 20, gap: exponential(4ms), round_trips: "
ASK = "  shop: {kind: requests, client: web, server: db, gap: exponential(4ms), request: 200B, response: 1kB, "
BLOCKS = "  shop: {kind: storage, initiators: [web], target: db, device: d, access: random, block: 4KiB, "


def far(delay: str) -> str:
    """Two hosts at a distance."""
    ends = "left: [db], right: [web]"
    return f"network: {{topology: {{kind: dumbbell, {ends}, bottleneck_rate: 1Gbit/s, bottleneck_delay: {delay}}}}}\n"


class Known(NamedTuple):
    above: str
    """Sections of the scenario before its workloads."""
    workloads: str
    verdict: str


QUEUE = "queue of leaf>web behind backup"
SLOW = "in the slowest 10 % of transactions"
ENTRY = "waiting for an entry of the protocol's queue"
KNOWN = {
    "a queue behind a neighbour": Known(
        STAR + DEEP, SHOP + "[{request: 200B, response: 8kB, server_time: 100us}]}\n" + BACKUP, QUEUE
    ),
    "reads behind a neighbour": Known(
        STAR + DEEP + "devices: {d: {preset: nvme}}\n", BLOCKS + "protocol: nvme-tcp, depth: 1}\n" + BACKUP, QUEUE
    ),
    "the interface of the server": Known(
        STAR,
        ASK + "users: 20}\n  backup: {kind: stream, source: db, destination: bak, connections: 4}\n",
        "queue of a host's interface",
    ),
    "a core": Known(
        STAR + ONE_CORE, SHOP + "[{request: 200B, response: 8kB, server_work: 500us}]}\n", "waiting for a core"
    ),
    "a core of many users": Known(STAR + ONE_CORE, ASK + "users: 40, server_work: 500us}\n", "waiting for a core"),
    "the only worker": Known(
        STAR, ASK + "users: 40, server_time: 500us, concurrency: 1}\n", "waiting for a worker of the server"
    ),
    "two workers, asked by datagrams": Known(
        STAR,
        ASK + "users: 40, server_time: 500us, concurrency: 2, protocol: udp, timeout: 1s}\n",
        "waiting for a worker of the server",
    ),
    "a server that takes its time": Known(STAR, ASK + "users: 4, server_time: 5ms}\n", "work of the server"),
    "a lost tail": Known(LOSSY, SHOP + "[{request: 200B, response: 1kB}]}\n", f"until a tail loss probe, {SLOW}"),
    "a lost tail without probes": Known(
        LOSSY + "hosts: {defaults: {tcp: {tail_loss_probe: false}}}\n",
        SHOP + "[{request: 200B, response: 1kB}]}\n",
        f"until a retransmission timeout, {SLOW}",
    ),
    "a full queue of NVMe over TCP": Known(
        STAR + "devices: {d: {preset: sata-ssd, servers: 6, write_latency: 950us, queue_depth: 1024}}\n",
        BLOCKS + "protocol: nvme-tcp, read: 0, depth: 64, jobs: 16}\n",
        ENTRY,
    ),
    "a drive": Known(
        STAR + "devices: {d: {preset: sata-ssd, servers: 1, read_latency: 950us}}\n",
        BLOCKS + "protocol: nvme-tcp, depth: 4}\n",
        "block device",
    ),
    "a stream of frames that are too long": Known(
        STAR + LONG, "  shop: {kind: stream, source: db, destination: web}\n", "frames longer than the MTU"
    ),
    "answers in frames that are too long": Known(
        STAR + LONG,
        SHOP + "[{request: 200B, response: 8kB}]}\n",
        "frames longer than the MTU",
    ),
    "a small buffer at a distance": Known(
        far("5ms") + "hosts: {defaults: {tcp: {receive_buffer: {maximum: 256KiB}}}}\n",
        "  shop: {kind: oltp, client: web, server: db, users: 1, gap: constant(10ms),"
        " round_trips: [{request: 200B, response: 4MB}]}\n",
        "round trips for a window (propagation and switch latency)",
    ),
    "a distance": Known(far("5ms"), SHOP + "[{request: 200B, response: 1kB}]}\n", "propagation and switch latency"),
    "a slow line": Known(
        "network: {link: {rate: 10Mbit/s}, topology: {kind: star, switch: leaf, hosts: [web, db]}}\n",
        ASK + "users: 1}\n",
        "serialisation",
    ),
    "a policer": Known(
        STAR + "switches: {leaf: {policy: p}}\n"
        "policies: {p: {queues: {all: {limit: 1MB}}, police: {rate: 1Gbit/s, burst: 100kB}}}\n",
        "  shop: {kind: stream, source: db, destination: web}\n",
        "policer's rate",
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_verdict_is_the_known_cause(name: str, tmp_path: Path) -> None:
    known = KNOWN[name]
    ends = "experiment: {duration: 300ms, warm_up: 50ms, trials: 1}\n"
    file = tmp_path / "known.yaml"
    file.write_text(f"tailrace: 1\nname: known\n{known.above}workloads:\n{known.workloads}{ends}", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)  # frames that are too long are warned of
        found = tailrace.run(file, out=tmp_path / "run").summary.arms["base"].workloads["shop"]
    assert found.limits
    assert verdict_words(found.limits) == known.verdict
