"""Run directories that look like those of real trials, made in a second: Cisco's mix with the published times.

The numbers are drawn, not simulated. What matters is that every file and key of a run directory is there.
"""

import json
import random
import struct
from dataclasses import dataclass, field
from math import exp, log, sin
from pathlib import Path
from typing import Any

from arro3.core import Array, DataType, Field, Schema
from arro3.core import Table as ArrowTable
from arro3.io import write_parquet

PS_PER_S = 10**12
MIX = {
    "XS": (18_000, 41_805),
    "S": (64_000, 36_585),
    "M": (128_000, 30_612),
    "L1": (32_000_000, 507),
    "L2": (64_000_000, 240),
}
COMPLETION_S = {
    "fifo": {"XS": 572, "S": 585, "M": 672, "L1": 646, "L2": 651},
    "dpp": {"XS": 390, "S": 396, "M": 479, "L1": 641, "L2": 642},
}
USERS = 20
BINS = 400
FORMATS = {"u64": ("Q", DataType.uint64()), "u32": ("I", DataType.uint32()), "f64": ("d", DataType.float64())}


@dataclass
class FakeRun:
    """What to make. Trials in `failed` and `invalid` are recorded as such; those in `missing` are left out."""

    name: str = "cisco-dpp"
    trials: int = 6
    scale: float = 0.05
    seed: int = 1
    spread: float = 0.006
    arms: tuple[str, ...] = ("fifo", "dpp")
    factor: float = 1.0
    with_solo: bool = True
    failed: set[tuple[str, int]] = field(default_factory=set)
    invalid: set[tuple[str, int]] = field(default_factory=set)
    missing: set[tuple[str, int]] = field(default_factory=set)

    def write(self, path: Path) -> Path:
        """Writes the directory and returns it."""
        path.mkdir(parents=True)
        _write_json(path / "manifest.json", self.manifest())
        (path / "scenario.yaml").write_text("tailrace: 1\nname: cisco-dpp\n", encoding="utf-8")
        for arm in self.arms:
            _write_json(path / "plans" / f"{arm}.json", plan(arm, self.scale))
            for number in range(1, self.trials + 1):
                self._write_trial(path, arm, number)
        if self.with_solo:
            for workload in MIX:
                stem = path / "trials" / f"solo-{workload}" / "1"
                self._write_outcome(
                    stem, f"solo:{workload}", 1, {workload: 300 * random.Random(workload).gauss(1, 0.001)}
                )
        return path

    def manifest(self) -> dict[str, Any]:
        """The manifest of the run."""
        order = [[arm, number] for arm in self.arms for number in range(1, self.trials + 1)]
        random.Random(self.seed).shuffle(order)
        return {
            "format": 1,
            "name": self.name,
            "description": "Five databases answer one client over one congested 10 Gbit/s port.",
            "state": "interrupted" if self.missing else "complete",
            "started": "2026-03-02T09:14:03Z",
            "finished": "2026-03-02T09:15:01Z",
            "command": f"tailrace run reproductions/cisco-dpp/scenario.yaml --scale {self.scale:g}",
            "versions": {"tailrace": "0.1.0", "native": "0.1.0", "python": "3.11.7"},
            "machine": {"cpu": "AMD EPYC 9B45", "cores": 2, "kernel": "Linux 6.18", "memory_bytes": 25_000_000_000},
            "seed": self.seed,
            "scale": self.scale,
            "trials": self.trials,
            "baseline": self.arms[0],
            "arms": list(self.arms),
            "workloads": list(MIX),
            "plan_hashes": {arm: f"{abs(hash_of(arm)):016x}" for arm in self.arms},
            "order": order,
            "assumptions": ASSUMPTIONS,
            "expectations": [],
        }

    def _write_trial(self, path: Path, arm: str, number: int) -> None:
        stem = path / "trials" / arm / str(number)
        if (arm, number) in self.missing:
            return
        if (arm, number) in self.failed:
            _write_json(stem.with_suffix(".json"), {"status": "failed", "reason": "the simulator ran out of memory"})
            return
        luck = random.Random(f"{self.seed}/{arm}/{number}")
        times = {w: t * self.factor * luck.gauss(1, self.spread) for w, t in COMPLETION_S[arm].items()}
        status = {"status": "invalid", "reason": "12 frames were dropped in the ring of client"}
        self._write_outcome(stem, arm, number, times, status if (arm, number) in self.invalid else {})

    def _write_outcome(
        self, stem: Path, arm: str, number: int, times: dict[str, float], extra: dict[str, str] | None = None
    ) -> None:
        luck = random.Random(f"outcome/{self.seed}/{arm}/{number}")
        times_s = {w: t * self.scale for w, t in times.items()}
        _write_json(
            stem.with_suffix(".json"), outcome(arm, number, self.seed, self.scale, times_s, luck) | (extra or {})
        )
        for table, columns in tables(arm, self.scale, times_s, luck).items():
            write_table(stem.parent / f"{stem.name}.{table}.parquet", columns)


def hash_of(text: str) -> int:
    """A number that is the same in every process."""
    return random.Random(text).getrandbits(63)


def outcome(
    arm: str, number: int, seed: int, scale: float, times_s: dict[str, float], luck: random.Random
) -> dict[str, Any]:
    """Outcome of one trial."""
    end_ps = int(max(times_s.values()) * PS_PER_S)
    is_solo = arm.startswith("solo:")
    dropped = 0 if is_solo else int(luck.gauss(52_000, 900) * scale)
    small = 0 if arm != "dpp" else int(21 * 40_000 * scale)
    default = _queue("default", 8_000_000 * scale, dropped, 0 if is_solo else 4_666_000, 0 if is_solo else 4_190_000)
    queues = [_queue("express", small, 0, 96_000, 2_100)] if arm == "dpp" else []
    sent = int(8_000_000 * scale) + small + dropped
    return {
        "name": f"cisco-dpp/{arm}/trial-{number}",
        "seed": seed * 1_000 + number,
        "digest": f"{hash_of(f'{arm}/{number}/{seed}'):016x}",
        "finished": True,
        "cancelled": False,
        "end_ps": end_ps,
        "wall_s": round(luck.gauss(7.4, 0.2), 3),
        "events": sent * 6,
        "packet_hops": sent * 4,
        "packets_delivered": sent - dropped,
        "conservation": {"sent": sent, "delivered": sent - dropped, "dropped": dropped, "in_network": 0},
        "workloads": [_workload(w, arm, time_s, scale, luck) for w, time_s in times_s.items()],
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


DPP = {
    "normal_frames": 391_204,
    "new_flows": 109_240,
    "resets": 98_112,
    "deferred_resets": 1_204,
    "reordering_resets": 0,
    "evictions": 0,
    "untracked_frames": 0,
}
ASSUMPTIONS = [
    {
        "name": "users per database",
        "value": "20",
        "mark": "derived",
        "range": "18 to 20",
        "source": "load that saturates the port, with the counts taken per user",
    },
    {
        "name": "shared buffer",
        "value": "5 MB",
        "mark": "assumed",
        "range": "5 to 30 MB",
        "source": "one slice of six of a 30 MB switch",
    },
    {
        "name": "gap between transactions",
        "value": "6.8 ms, exponential",
        "mark": "derived",
        "range": "6.5 to 8 ms",
        "source": "table 1: cycle alone less the service time",
    },
    {"name": "DPP age period", "value": "5 ms", "mark": "seen", "range": "", "source": "C11-738425, p. 5"},
    {
        "name": "receive cost at the client",
        "value": "1.5 us per packet",
        "mark": "fitted",
        "range": "0.5 to 3 us",
        "source": "one value for all ten cells",
    },
]


def _workload(name: str, arm: str, time_s: float, scale: float, luck: random.Random) -> dict[str, Any]:
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
        "latency": latency(median_ms, 0.25 if arm != "dpp" else 0.55, count, luck),
        "user_completion_ps": [int(time_s * PS_PER_S * (1 - abs(luck.gauss(0, 0.004)))) for _ in range(USERS)],
        "tcp": {
            "segments_sent": count * (size // 8_948 + 1),
            "retransmits": int(abs(luck.gauss(0.0006, 0.0001)) * count * (size // 8_948 + 1)),
            "timeouts": int(abs(luck.gauss(4, 2))),
            "tail_loss_probes": int(abs(luck.gauss(140, 12))),
            "fast_recoveries": int(abs(luck.gauss(300, 18))),
            "spurious_retransmits": int(abs(luck.gauss(3, 2))),
        },
    }


def latency(median_ms: float, sigma: float, count: int, luck: random.Random) -> dict[str, Any]:
    """A log-normal latency histogram with edges 3 % apart, and a tail beyond."""
    drawn = sorted(median_ms * exp(luck.gauss(0, sigma)) for _ in range(min(count, 4_000)))
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


def _queue(name: str, frames: float, dropped: int, depth_max: int, depth_mean: float) -> dict[str, Any]:
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
    arm: str, scale: float, times_s: dict[str, float], luck: random.Random
) -> dict[str, dict[str, tuple[str, list[Any]]]]:
    """Tables of one trial: name -> column -> (type, values)."""
    end_s = max(times_s.values())
    bin_s = end_s / BINS
    starts = [int(i * bin_s * PS_PER_S) for i in range(BINS)]
    is_solo = arm.startswith("solo:")
    depth = [0.0 if is_solo else _sawtooth(i, luck) for i in range(BINS)]
    rates = {w: _rate(w, time_s, scale) for w, time_s in times_s.items()}
    series: dict[str, list[Any]] = {"workload": [], "bin": [], "start_ps": [], "goodput_bytes": []}
    for index, (name, time_s) in enumerate(times_s.items()):
        for i in range(BINS):
            series["workload"].append(index)
            series["bin"].append(i)
            series["start_ps"].append(starts[i])
            is_active = i * bin_s < time_s
            series["goodput_bytes"].append(int(rates[name] * bin_s * max(0.0, luck.gauss(1, 0.06))) if is_active else 0)
    edges = [2**k for k in range(10, 23)] + [4_700_000]
    return {
        "port_series": {
            "port": ("u32", [0] * BINS),
            "bin": ("u32", list(range(BINS))),
            "start_ps": ("u64", starts),
            "queue_mean_bytes": ("f64", depth),
            "queue_max_bytes": ("u64", [int(min(4_666_000, d * 1.15 + 9_000)) for d in depth]),
            "tx_bytes": ("u64", [int(sum(rates.values()) * bin_s)] * BINS),
            "drop_frames": ("u64", [int(luck.expovariate(1 / 6.5)) if d > 4e6 else 0 for d in depth]),
            "mark_frames": ("u64", [0] * BINS),
        },
        "workload_series": {k: ("u64" if k in ("start_ps", "goodput_bytes") else "u32", v) for k, v in series.items()},
        "queue_depth": {
            "port": ("u32", [0] * len(edges)),
            "depth_bytes": ("u64", edges),
            "time_ps": ("u64", [int(end_s * PS_PER_S / len(edges) * luck.uniform(0.5, 1.5)) for _ in edges]),
        },
        "transactions": {
            "workload": ("u32", [luck.randrange(len(times_s)) for _ in range(500)]),
            "user": ("u32", [luck.randrange(USERS) for _ in range(500)]),
            "start_ps": ("u64", sorted(luck.randrange(int(end_s * PS_PER_S)) for _ in range(500))),
            "latency_ps": ("u64", [int(luck.lognormvariate(22, 0.4)) for _ in range(500)]),
        },
    }


def _sawtooth(index: int, luck: random.Random) -> float:
    phase = (index % 37) / 37
    return (
        max(0.0, (3.5 + 1.1 * phase + 0.15 * sin(index / 5)) * 1e6 * luck.gauss(1, 0.03)) if index > 3 else index * 9e5
    )


def _rate(workload: str, time_s: float, scale: float) -> float:
    size, transactions = MIX[workload]
    return size * max(1, int(transactions * scale)) * USERS / time_s


def write_table(path: Path, columns: dict[str, tuple[str, list[Any]]]) -> None:
    """Writes a Parquet file from typed columns."""
    arrays, fields = [], []
    for name, (kind, values) in columns.items():
        code, data_type = FORMATS[kind]
        arrays.append(Array.from_buffer(memoryview(struct.pack(f"<{len(values)}{code}", *values)).cast("B").cast(code)))
        fields.append(Field(name, data_type))
    write_parquet(ArrowTable.from_arrays(arrays, schema=Schema(fields)), str(path))


def plan(arm: str, scale: float) -> dict[str, Any]:
    """As much of a plan as the report looks at."""
    default = {"name": "default", "service": {"dwrr": 1000}, "limit": {"alpha-milli": 14_000}, "aqm": "none"}
    express = {"name": "express", "service": {"strict": 1}, "limit": {"bytes": 1_000_000}, "aqm": "none"}
    is_dpp = arm == "dpp"
    dpp = {
        "max_packets": 20,
        "age_ps": 5 * 10**9,
        "express_queue": 0,
        "reset": "order-safe",
        "table_entries": 4096,
        "when_full": "evict-oldest",
    }
    policy = {
        "queues": [express, default] if is_dpp else [default],
        "queue_of_priority": [0] * 8,
        "dpp": dpp if is_dpp else None,
    }
    names = ["client", *(f"db-{w.lower()}" for w in MIX)]
    return {
        "version": 1,
        "name": f"cisco-dpp/{arm}/trial-1",
        "seed": 1001,
        "stop_at_ps": 2_000 * PS_PER_S,
        "framing": {"header_bytes": 14, "overhead_bytes": 24},
        "clock_offset_ppb": 50_000,
        "hosts": [{"name": name, "mtu_bytes": 9000, "tcp": {"congestion_control": "cubic"}} for name in names],
        "switches": [
            {
                "name": "leaf1",
                "switching": "store-and-forward",
                "latency_ps": 1_000_000,
                "buffer_bytes": 5_000_000,
                "policy": policy,
                "port_policies": [],
            }
        ],
        "links": [{"a": name, "b": "leaf1", "rate_bps": 10_000_000_000, "delay_ps": 500_000} for name in names],
        "workloads": [
            {
                "oltp": {
                    "name": w,
                    "client": "client",
                    "server": f"db-{w.lower()}",
                    "users": USERS,
                    "transactions": int(n * scale),
                    "round_trips": [{"response_bytes": size}],
                }
            }
            for w, (size, n) in MIX.items()
        ],
    }


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
