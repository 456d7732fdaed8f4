"""Outcomes and tables of trials that were never run: drawn so that they look like those of a
database mix."""

import random
from array import array
from math import exp, log, sin
from pathlib import Path
from typing import Any

from arro3.core import Array, Table
from arro3.io import write_parquet

from tailrace.scenario.experiment import trial_seed
from whole import whole

PS_PER_S = 10**12
MIX = {
    "XS": (18_000, 41_805),
    "S": (64_000, 36_585),
    "M": (128_000, 30_612),
    "L1": (32_000_000, 507),
    "L2": (64_000_000, 240),
}
USERS = 20
BINS = 200
FORMATS = {"u64": "Q", "u32": "I", "f64": "d"}
DPP = {
    "normal_frames": 391_204,
    "new_flows": 109_240,
    "resets": 98_112,
    "deferred_resets": 1_204,
    "reordering_resets": 0,
    "evictions": 0,
    "untracked_frames": 0,
}


def hash_of(text: str) -> int:
    """A number that is the same in every process."""
    return random.Random(text).getrandbits(63)


def outcome(
    arm: str, number: int, seed: int, scale: float, times_s: dict[str, float], rng: random.Random
) -> dict[str, Any]:
    """Outcome of one trial."""
    end_ps = int(max(times_s.values()) * PS_PER_S)
    is_solo = arm.startswith("solo:")
    dropped = 0 if is_solo else int(rng.gauss(52_000, 900) * scale)
    small = 0 if arm != "dpp" else int(21 * 40_000 * scale)
    default = _queue(
        "default",
        8_000_000 * scale,
        dropped,
        0 if is_solo else 4_666_000,
        0 if is_solo else 4_190_000,
    )
    queues = [_queue("express", small, 0, 96_000, 2_100)] if arm == "dpp" else []
    sent = int(8_000_000 * scale) + small + dropped
    parts = {
        "name": f"cisco-dpp/{arm}/trial-{number}",
        "seed": trial_seed(seed, number),
        "digest": f"{hash_of(f'{arm}/{number}/{seed}'):016x}",
        "finished": True,
        "cancelled": False,
        "end_ps": end_ps,
        "wall_s": round(rng.gauss(7.4, 0.2), 3),
        "events": sent * 6,
        "packet_hops": sent * 4,
        "packets_delivered": sent - dropped,
        "conservation": {
            "sent": sent,
            "delivered": sent - dropped,
            "dropped": dropped,
            "in_network": 0,
        },
        "workloads": [_workload(w, arm, time_s, scale, rng) for w, time_s in times_s.items()],
        "ports": [
            {
                "node": "leaf1",
                "towards": "client",
                "rate_bps": 10_000_000_000,
                "tx_frames": sent - dropped,
                "tx_bytes": int((sent - dropped) * 8_400),
                "queues": [*queues, default],
                "dpp": DPP | {"prioritised_frames": small} if arm == "dpp" else None,
            }
        ],
        "hosts": [
            {
                "name": name,
                "rx_frames": sent // 2,
                "nic_queue_drops": 0,
                "rx_ring_drops": 0,
                "cpu_busy_ps": int(end_ps * busy),
            }
            for name, busy in (("client", 0.41), *((f"db-{w.lower()}", 0.08) for w in MIX))
        ],
    }
    return whole(parts)


def _workload(
    name: str, arm: str, time_s: float, scale: float, rng: random.Random
) -> dict[str, Any]:
    size, transactions = MIX[name]
    count = max(1, int(transactions * scale)) * USERS
    cycle_ms = time_s * 1_000 / (count / USERS)
    median_ms = max(0.2, cycle_ms - (0 if size > 1_000_000 else 6.8))
    return {
        "name": name,
        "kind": "oltp",
        "completion_ps": int(time_s * PS_PER_S),
        "transactions": count,
        "goodput_bytes": count * size,
        "latency": latency(median_ms, 0.25 if arm != "dpp" else 0.55, count, rng),
        "user_completion_ps": [
            int(time_s * PS_PER_S * (1 - abs(rng.gauss(0, 0.004)))) for _ in range(USERS)
        ],
        "tcp": {
            "segments_sent": count * (size // 8_948 + 1),
            "retransmits": int(abs(rng.gauss(0.0006, 0.0001)) * count * (size // 8_948 + 1)),
            "timeouts": int(abs(rng.gauss(4, 2))),
            "tail_loss_probes": int(abs(rng.gauss(140, 12))),
            "fast_recoveries": int(abs(rng.gauss(300, 18))),
            "spurious_retransmits": int(abs(rng.gauss(3, 2))),
        },
    }


def latency(median_ms: float, sigma: float, count: int, rng: random.Random) -> dict[str, Any]:
    """A log-normal latency histogram with edges 3 % apart, and a tail beyond."""
    drawn = sorted(median_ms * exp(rng.gauss(0, sigma)) for _ in range(min(count, 1_500)))
    repeat, rest = divmod(count, len(drawn))
    counts: dict[int, int] = {}
    for i, value in enumerate(drawn):
        edge = int(exp(int(log(value * 1e9) / 0.03 + 1) * 0.03))
        counts[edge] = counts.get(edge, 0) + repeat + (i < rest)

    def at(share: float) -> int:
        return int(drawn[min(len(drawn) - 1, int(share * len(drawn)))] * 1e9)

    return {
        "count": count,
        "mean_ps": int(sum(drawn) / len(drawn) * 1e9),
        "min_ps": int(drawn[0] * 1e9),
        **{f"p{p}_ps".replace(".", "_"): at(p / 100) for p in (50, 90, 95, 99, 99.9)},
        "max_ps": int(drawn[-1] * 1e9),
        "buckets": [[edge, n] for edge, n in sorted(counts.items())],
    }


def _queue(
    name: str, frames: float, dropped: int, depth_max: int, depth_mean: float
) -> dict[str, Any]:
    drops = {"shared_buffer_full": {"frames": dropped, "bytes": dropped * 9_014}} if dropped else {}
    return {
        "name": name,
        "tx_frames": int(frames),
        "tx_bytes": int(frames * 8_400),
        "drops": drops,
        "marked_frames": 0,
        "depth_max_bytes": depth_max,
        "depth_mean_bytes": depth_mean,
    }


def tables(
    arm: str, scale: float, times_s: dict[str, float], rng: random.Random
) -> dict[str, dict[str, tuple[str, list[Any]]]]:
    """Tables of one trial: name -> column -> (type, values)."""
    end_s = max(times_s.values())
    bin_s = end_s / BINS
    starts = [int(i * bin_s * PS_PER_S) for i in range(BINS)]
    is_solo = arm.startswith("solo:")
    depth = [0.0 if is_solo else _sawtooth(i, rng) for i in range(BINS)]
    rates = {w: _rate(w, time_s, scale) for w, time_s in times_s.items()}
    series: dict[str, list[Any]] = {"workload": [], "bin": [], "start_ps": [], "goodput_bytes": []}
    for index, (name, time_s) in enumerate(times_s.items()):
        for i in range(BINS):
            series["workload"].append(index)
            series["bin"].append(i)
            series["start_ps"].append(starts[i])
            is_active = i * bin_s < time_s
            series["goodput_bytes"].append(
                int(rates[name] * bin_s * max(0.0, rng.gauss(1, 0.06))) if is_active else 0
            )
    edges = [2**k for k in range(10, 23)] + [4_700_000]
    return {
        "port_series": {
            "port": ("u32", [0] * BINS),
            "bin": ("u32", list(range(BINS))),
            "start_ps": ("u64", starts),
            "queue_mean_bytes": ("f64", depth),
            "queue_max_bytes": ("u64", [int(min(4_666_000, d * 1.15 + 9_000)) for d in depth]),
            "tx_bytes": ("u64", [int(sum(rates.values()) * bin_s)] * BINS),
            "drop_frames": (
                "u64",
                [int(rng.expovariate(1 / 6.5)) if d > 4e6 else 0 for d in depth],
            ),
            "mark_frames": ("u64", [0] * BINS),
        },
        "workload_series": {
            k: ("u64" if k in ("start_ps", "goodput_bytes") else "u32", v)
            for k, v in series.items()
        },
        "queue_depth": {
            "port": ("u32", [0] * len(edges)),
            "depth_bytes": ("u64", edges),
            "time_ps": (
                "u64",
                [int(end_s * PS_PER_S / len(edges) * rng.uniform(0.5, 1.5)) for _ in edges],
            ),
        },
        "transactions": {
            "workload": ("u32", [rng.randrange(len(times_s)) for _ in range(500)]),
            "user": ("u32", [rng.randrange(USERS) for _ in range(500)]),
            "start_ps": ("u64", sorted(rng.randrange(int(end_s * PS_PER_S)) for _ in range(500))),
            "latency_ps": ("u64", [int(rng.lognormvariate(22, 0.4)) for _ in range(500)]),
        },
    }


def _sawtooth(index: int, rng: random.Random) -> float:
    phase = (index % 37) / 37
    return (
        max(0.0, (3.5 + 1.1 * phase + 0.15 * sin(index / 5)) * 1e6 * rng.gauss(1, 0.03))
        if index > 3
        else index * 9e5
    )


def _rate(workload: str, time_s: float, scale: float) -> float:
    size, transactions = MIX[workload]
    return size * max(1, int(transactions * scale)) * USERS / time_s


def write_table(path: Path, columns: dict[str, tuple[str, list[Any]]]) -> None:
    """Writes a Parquet file from typed columns."""
    arrays: dict[str, Any] = {
        name: Array.from_buffer(array(FORMATS[kind], values))
        for name, (kind, values) in columns.items()
    }
    write_parquet(Table.from_pydict(arrays), str(path))
