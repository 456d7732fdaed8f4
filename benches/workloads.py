"""The three benchmark jobs as plans: an incast dumbbell (W1), a fat tree (W2) and the database mix
(W3).

The jobs are those on which other simulators were measured, with their sizes: two bytes of link
header and no further overhead (ns-3's point-to-point device), no interrupt moderation, no timing
noise, and segments that leave one by one (no segmentation offload: with it the senders of W2 hold
back for larger bursts and deliver 1.4 % less). `default_hosts=True` runs the same job with our
usual hosts instead, which send bursts, poll their interface and merge segments.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

Plan = dict[str, Any]

US = 1_000_000
MS = 1_000 * US
S = 1_000 * MS
GBPS = 1_000_000_000
HERE = Path(__file__).parent


def _host(name: str, mtu: int, cc: str, cap: int, default_hosts: bool) -> Plan:
    moderation = (
        {"rx_coalesce_ps": 8 * US, "rx_jitter": {"uniform": {"low": 0, "high": 4 * US}}}
        if default_hosts
        else {"rx_coalesce_ps": 0, "rx_jitter": {"constant": 0}}
    )
    return {
        "name": name,
        "mtu_bytes": mtu,
        "nic": {
            "queue_bytes": 16 << 20,
            "tso_bytes": 65536 if default_hosts else mtu,
            "gro_bytes": 65536,
            "rx_ring_frames": 4096,
            **moderation,
        },
        "cpu": {"per_packet_ps": 0, "per_byte_fs": 0},
        "tcp": {
            "congestion_control": cc,
            "slow_start_exit": "none" if cc == "new-reno" else "hystart",
            "initial_window_segments": 10,
            "window_cap_bytes": cap,
            "ecn": False,
            "sack": True,
            "tail_loss_probe": True,
            "rto_min_ps": 200 * MS,
            "rto_max_ps": 120 * S,
            "delayed_ack_ps": 40 * MS,
            "slow_start_after_idle": True,
            "small_queue_ps": MS,
            "send_buffer": {"initial_bytes": 4 << 20, "maximum_bytes": 4 << 20},
            "receive_buffer": {"initial_bytes": 6 << 20, "maximum_bytes": 6 << 20},
        },
    }


def fifo(limit_bytes: int) -> Plan:
    """One queue with a static limit."""
    queue = {
        "name": "default",
        "service": {"dwrr": 1000},
        "limit": {"bytes": limit_bytes},
        "aqm": "none",
    }
    return {"queues": [queue], "queue_of_priority": [0] * 8, "dpp": None}


def dpp(limit_bytes: int) -> Plan:
    """A strict express queue for the first 20 packets of a flow, beside the default queue."""
    queues = [
        {
            "name": "express",
            "service": {"strict": 1},
            "limit": {"bytes": limit_bytes},
            "aqm": "none",
        },
        {
            "name": "default",
            "service": {"dwrr": 1000},
            "limit": {"bytes": limit_bytes},
            "aqm": "none",
        },
    ]
    table = {
        "max_packets": 20,
        "age_ps": 5 * MS,
        "express_queue": 0,
        "reset": "order-safe",
        "table_entries": 65536,
        "when_full": "evict-oldest",
    }
    return {"queues": queues, "queue_of_priority": [1] * 8, "dpp": table}


def all_mechanisms(limit_bytes: int) -> Plan:
    """The express queue before two weighted classes (60 and 40 %), in which elephants are marked to
    keep 300 kB."""
    afd = {"afd": {"desired_bytes": 300_000, "ecn": True}}
    policy = dpp(limit_bytes)
    classes = [
        {"name": name, "service": {"dwrr": weight}, "limit": {"bytes": limit_bytes}, "aqm": afd}
        for name, weight in (("first", 600), ("second", 400))
    ]
    trap = {
        "byte_count": 1_048_555,
        "age_ps": 50 * US,
        "bandwidth_threshold_bytes": 500,
        "table_entries": 4096,
        "afd_period_ps": 25 * US,
    }
    return {
        **policy,
        "queues": [policy["queues"][0], *classes],
        "queue_of_priority": [1] * 4 + [2] * 4,
        "etrap": trap,
    }


def _switch(name: str, buffer_bytes: int, policy: Plan) -> Plan:
    return {
        "name": name,
        "switching": "store-and-forward",
        "latency_ps": 0,
        "buffer_bytes": buffer_bytes,
        "policy": policy,
        "port_policies": [],
    }


def _plan(name: str, stop_ps: int, **parts: Any) -> Plan:
    return {
        "version": 2,
        "name": name,
        "seed": 1,
        "stop_at_ps": stop_ps,
        "framing": {"header_bytes": 2, "overhead_bytes": 0},
        "clock_offset_ppb": 100_000,
        "observe": {
            "ports": [],
            "series_bins": 0,
            "series_bin_ps": MS,
            "transactions_max": 0,
            "digest": True,
        },
        **parts,
    }


def _link(a: str, b: str, delay_ps: int) -> Plan:
    return {"a": a, "b": b, "rate_bps": 10 * GBPS, "delay_ps": delay_ps}


def _stream(name: str, source: str, destination: str, start_ps: int, **more: Any) -> Plan:
    stream = {
        "source": source,
        "destination": destination,
        "connections": 1,
        "bytes": 0,
        "stagger_ps": 0,
        "pin_forward": [],
        "pin_backward": [],
        **more,
    }
    return {
        "header": {"name": name, "priority": 0, "port": 5432, "start_ps": start_ps},
        "body": {"stream": stream},
    }


def w1(*, default_hosts: bool = False, policy: Plan | None = None, cc: str = "new-reno") -> Plan:
    """Incast: 20 senders, one receiver, 10 Gbit/s, 5 us, MTU 1500, 1 MB tail drop, window cap 1 MB,
    1 s."""
    senders = [f"s{i}" for i in range(20)]
    hosts = [_host(name, 1500, cc, 1_000_000, default_hosts) for name in ["r", *senders]]
    return _plan(
        "W1",
        S,
        hosts=hosts,
        switches=[_switch("sw", 64_000_000, policy or fifo(1_000_000))],
        links=[_link(host["name"], "sw", 5 * US) for host in hosts],
        workloads=[
            _stream(name, name, "r", start_ps=i * 10 * US) for i, name in enumerate(senders)
        ],
    )


#: The costs of the profile `linux-kernel` (docs/models/cpu.md); the page of the processor says
#: where they are from.
KERNEL_COSTS = {
    "per_frame_ps": 630_000,
    "per_poll_ps": 200_000,
    "per_interrupt_ps": 1_000_000,
    "per_send_ps": 1_000_000,
    "system_call_ps": 200_000,
    "read_byte_fs": 95_000,
    "write_byte_fs": 75_000,
    "wake_up_ps": 300_000,
    "idle_exit_ps": 0,
    "context_switch_ps": 400_000,
}
PER_PACKET_PS = 600_000


def w1_processors(*, cores: int = 4, default_hosts: bool = False) -> Plan:
    """W1 where every host has a processor with the costs of a kernel: one core receives, the
    programs share all."""
    plan = w1(default_hosts=default_hosts)
    processor = {
        "cores": cores,
        "slice_ps": 750 * US * cores.bit_length(),
        **KERNEL_COSTS,
        "irq_cores": [0],
        "program_cores": list(range(cores)),
        "budget_frames": 300,
        "budget_ps": 8 * MS,
    }
    for host in plan["hosts"]:
        host["cpu"] = {"per_packet_ps": PER_PACKET_PS, "per_byte_fs": 0, "processor": processor}
    return plan


def w1_all() -> Plan:
    """W1 with everything at once: the senders take turns in two classes and understand marks."""
    plan = w1(policy=all_mechanisms(1_000_000))
    for host in plan["hosts"]:
        host["tcp"]["ecn"] = True
    for number, workload in enumerate(plan["workloads"]):
        workload["header"]["priority"] = 4 * (number % 2)
    return plan


def w2(*, pinned: bool = True, default_hosts: bool = False) -> Plan:
    """Fat tree, k = 8: 128 hosts, 10 Gbit/s, 1 us, 1 MB per port, a cyclic permutation of long
    flows, 10 ms."""
    flows = [
        list(map(int, line.split()))
        for line in (HERE / "fat-tree-k8-permutation.txt").read_text().splitlines()
    ]
    return _fat_tree("W2", 8, flows, 10 * MS, pinned=pinned, default_hosts=default_hosts)


def fat_tree(k: int, stop_ps: int, *, pinned: bool = True) -> Plan:
    """W2 in another size: k * k * k / 4 hosts, one cycle through all of them in a random order, and
    random paths."""
    half, random = k // 2, Random(k)
    order = list(range(k * half * half))
    random.shuffle(order)
    flows = [
        [
            source,
            order[at - len(order) + 1],
            *(random.randrange(half) for _ in range(4)),
            random.randrange(100_000),
        ]
        for at, source in enumerate(order)
    ]
    return _fat_tree(f"FT{len(order)}", k, sorted(flows), stop_ps, pinned=pinned)


def _fat_tree(
    name: str,
    k: int,
    flows: list[list[int]],
    stop_ps: int,
    *,
    pinned: bool,
    default_hosts: bool = False,
) -> Plan:
    """`flows` are source, destination, aggregation switch and core there and back, and start in
    ns."""
    half = k // 2
    hosts = [
        _host(f"h{i}", 1500, "new-reno", 128 * 1024, default_hosts) for i in range(k * half * half)
    ]
    links = [_link(f"h{i}", f"e{i // half}", 1 * US) for i in range(len(hosts))]
    for pod in range(k):
        for agg in range(half):
            links += [
                _link(f"e{pod * half + edge}", f"a{pod * half + agg}", 1 * US)
                for edge in range(half)
            ]
            links += [
                _link(f"a{pod * half + agg}", f"c{agg * half + core}", 1 * US)
                for core in range(half)
            ]
    counts = (("e", k * half), ("a", k * half), ("c", half * half))
    workloads = []
    for source, destination, agg, core, agg_back, core_back, start_ns in flows:
        pins = {
            "pin_forward": _path(half, source, destination, agg, core) if pinned else [],
            "pin_backward": _path(half, destination, source, agg_back, core_back) if pinned else [],
        }
        workloads.append(
            _stream(f"f{source}", f"h{source}", f"h{destination}", start_ps=start_ns * 1000, **pins)
        )
    return _plan(
        name,
        stop_ps,
        hosts=hosts,
        switches=[
            _switch(f"{kind}{i}", 64_000_000, fifo(1_000_000))
            for kind, count in counts
            for i in range(count)
        ],
        links=links,
        workloads=workloads,
    )


def _path(half: int, source: int, destination: int, agg: int, core: int) -> list[str]:
    """Switches from host to host over one aggregation switch of the pod and one core of its
    group."""
    edge_from, edge_to = source // half, destination // half
    if edge_from == edge_to:
        return [f"e{edge_from}"]
    pod_from, pod_to = edge_from // half, edge_to // half
    if pod_from == pod_to:
        return [f"e{edge_from}", f"a{pod_from * half + agg}", f"e{edge_to}"]
    over = [f"a{pod_from * half + agg}", f"c{agg * half + core}", f"a{pod_to * half + agg}"]
    return [f"e{edge_from}", *over, f"e{edge_to}"]


def w3(
    *,
    large: int = 20,
    buffer_bytes: int = 10_000_000,
    cc: str = "cubic",
    seconds: int = 5,
    policy: Plan | None = None,
    default_hosts: bool = False,
    clock_offset_ppb: int = 100_000,
) -> Plan:
    """The database mix: five servers, 20 connections each (large classes: `large`), one client, MTU
    9000."""
    classes = [
        ("XS", 18 * 1024, 20),
        ("S", 64 * 1024, 20),
        ("M", 128 * 1024, 20),
        ("L1", 32 << 20, large),
        ("L2", 64 << 20, large),
    ]
    workloads = []
    for name, size, users in classes:
        if users == 0:
            continue
        small = size < 1 << 20
        gap = {"uniform": {"low": 6_500 * US, "high": 7_500 * US}} if small else {"constant": 0}
        trip = {
            "request_bytes": 100,
            "response_bytes": size,
            "server_time": {"constant": 0},
            "write_bytes": 0,
            "produce_fs_per_byte": 0,
            "consume_fs_per_byte": 0,
        }
        oltp = {
            "client": "client",
            "server": f"db-{name}",
            "users": users,
            "transactions": 0,
            "warmup_transactions": 0,
            "round_trips": [trip],
            "gap": gap,
            "gap_from": "end",
            "start": {"uniform": {"low": 0, "high": 10 * MS}},
        }
        workloads.append(
            {"header": {"name": name, "priority": 0, "port": 5432}, "body": {"oltp": oltp}}
        )
    hosts = [
        _host(name, 9000, cc, 0, default_hosts)
        for name in ["client", *(f"db-{c[0]}" for c in classes)]
    ]
    plan = _plan(
        "W3",
        seconds * S,
        hosts=hosts,
        switches=[_switch("sw", 2 * buffer_bytes, policy or fifo(buffer_bytes))],
        links=[_link(host["name"], "sw", 5 * US) for host in hosts],
        workloads=workloads,
    )
    plan["clock_offset_ppb"] = clock_offset_ppb
    return plan
