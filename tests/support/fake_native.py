"""A stand-in for the simulator: reads the same plans, answers at once with plausible outcomes, in
the same types.

Transactions take a fixed time that follows from sizes, link rates and gaps, so that calibration has
something to find. Run as a program it is the command line with this simulator under it.
"""

import array
import hashlib
import json
import os
import signal
import sys
import threading
import types
from typing import Any

from tailrace.scenario.workloads.planned import PlannedWorkload, planned_workloads
from whole import whole

PS_PER_SECOND = 10**12
KILLER = os.environ.get("FAKE_KILLER", "")
"""Part of the names of trials that kill the process that runs them; empty for none."""
WALL_S = float(os.environ.get("FAKE_TRIAL_WALL_S", "0"))


class PlanError(ValueError):
    """As the simulator's."""


class NotDivided(ValueError):  # noqa: N818  the name of the simulator's
    """As the simulator's."""


class Trial:
    """One trial."""

    def __init__(self, plan_json: str, cores: int = 1, is_automatic: bool = False) -> None:
        del cores, is_automatic
        self.plan: dict[str, Any] = json.loads(plan_json)
        if self.plan["version"] != 2:
            raise PlanError("version: only version 2 is known")
        self._cancelled = threading.Event()
        self._share = 0.0

    def run(
        self,
    ) -> tuple[list[str], list[tuple[str, int, int]], dict[str, dict[str, tuple[str, bytes]]]]:
        """The outcome."""
        if KILLER and KILLER in self.plan["name"]:
            os.kill(os.getpid(), signal.SIGKILL)
        if "broken" in self.plan["name"]:
            raise RuntimeError("a queue forgot a frame")
        steps = 20
        for step in range(steps):
            self._share = step / steps
            if WALL_S and self._cancelled.wait(WALL_S / steps):
                break
        outcome = _outcome(self.plan, is_cancelled=self._cancelled.is_set())
        return [json.dumps(whole(outcome))], [], _tables(outcome)

    def unexplained(self) -> list[tuple[str, str]]:
        """Every workload: what is written here has no causes."""
        return [(own["header"]["name"], "a stand-in ran it") for own in self.plan["workloads"]]

    def cores(self) -> int:
        """Always one."""
        return 1

    def progress(self) -> float:
        """0 to 1."""
        return self._share

    def cancel(self) -> None:
        """Stops soon."""
        self._cancelled.set()


def version() -> str:
    """Of the stand-in."""
    return "0.0.0-fake"


def install() -> types.ModuleType:
    """Puts the stand-in where the simulator would be."""
    import tailrace

    module = types.ModuleType("tailrace._native")
    for item in (NotDivided, PlanError, Trial, version):
        setattr(module, item.__name__, item)
    sys.modules["tailrace._native"] = module
    setattr(tailrace, "_native", module)  # noqa: B010  a stub file types the real one
    return module


def _outcome(plan: dict[str, Any], *, is_cancelled: bool) -> dict[str, Any]:
    from whole import whole  # it needs results, which need the simulator

    digest = hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:16]
    share = 1 + int(digest[:4], 16) / 0xFFFF / 100
    alone = len(plan["workloads"]) == 1
    workloads = [
        _workload(raw, plan["stop_at_ps"], share * (1 if alone else 1.5))
        for raw in planned_workloads(plan)
    ]
    times = [w["completion_ps"] for w in workloads]
    end_ps = plan["stop_at_ps"] if None in times else max(times)
    parts = {
        "name": plan["name"],
        "seed": plan["seed"],
        "digest": digest,
        "finished": None not in times,
        "cancelled": is_cancelled,
        "end_ps": end_ps,
        "wall_s": WALL_S,
        "events": 1000,
        "packet_hops": 2000,
        "packets_delivered": 900,
        "conservation": {"sent": 1000, "delivered": 900, "dropped": 60, "in_network": 40},
        "workloads": workloads,
        "ports": [_port(node, towards, plan) for node, towards in plan["observe"]["ports"]],
        "hosts": [_host(host) for host in plan["hosts"]],
    }
    return whole(parts)


def _workload(own: PlannedWorkload, stop_ps: int, slowness: float) -> dict[str, Any]:
    kind, raw = own.kind, own.flat
    cycle_ps = _mean(raw["gap"]) + slowness * _transaction_ps(raw) if kind == "oltp" else 0.0
    wanted = {"oltp": "transactions", "stream": "bytes", "flows": "flows", "datagrams": "count"}[
        kind
    ]
    each = raw[wanted]
    users = raw.get("users", 1)
    needed_ps = (
        _mean(raw["start"]) + each * cycle_ps if kind == "oltp" else stop_ps * 0.5 * slowness
    )
    is_done = bool(each) and needed_ps <= stop_ps
    done = (
        each if is_done else int(min(stop_ps, needed_ps or stop_ps) / cycle_ps) if cycle_ps else 0
    )
    completion_ps = round(needed_ps) if is_done else None
    latency_ps = int(slowness * _transaction_ps(raw)) if kind == "oltp" else 10**9
    tcp = (
        "segments_sent",
        "retransmits",
        "timeouts",
        "tail_loss_probes",
        "fast_recoveries",
        "spurious_retransmits",
    )
    return {
        "name": raw["name"],
        "kind": kind,
        "completion_ps": completion_ps,
        "transactions": done * users if kind == "oltp" else 0,
        "goodput_bytes": 10**6,
        "latency": None if kind == "stream" else _latency(latency_ps, max(1, done)),
        "user_completion_ps": [completion_ps] * users if completion_ps else [],
        "tcp": dict.fromkeys(tcp, 1),
    }


def _latency(ps: int, count: int) -> dict[str, Any]:
    names = ("mean_ps", "min_ps", "p50_ps", "p90_ps", "p95_ps", "p99_ps", "p99_9_ps", "max_ps")
    return {"count": count, **dict.fromkeys(names, ps), "buckets": [[ps, count]]}


def _transaction_ps(raw: dict[str, Any]) -> float:
    trips = [
        _mean(trip["server_time"]) + 8e12 * trip["response_bytes"] / 1e10
        for trip in raw["round_trips"]
    ]
    return float(sum(trips)) + 1e8


def _mean(distribution: dict[str, Any]) -> float:
    [(kind, value)] = distribution.items()
    if kind == "constant":
        return float(value)
    if kind == "uniform":
        return float(value["low"] + value["high"]) / 2
    return float(value.get("mean", value.get("median", 0)))


def _port(node: str, towards: str, plan: dict[str, Any]) -> dict[str, Any]:
    switch = next(s for s in plan["switches"] if s["name"] == node)
    own = next(
        (p["policy"] for p in switch["port_policies"] if p["towards"] == towards), switch["policy"]
    )
    queues = [
        {
            "name": queue["name"],
            "tx_frames": 100,
            "tx_bytes": 100_000,
            "drops": {"tail_drop": {"frames": 6, "bytes": 9000}},
            "marked_frames": 0,
            "depth_max_bytes": 50_000,
            "depth_mean_bytes": 10_000,
        }
        for queue in own["queues"]
    ]
    return {
        "node": node,
        "towards": towards,
        "rate_bps": 10**10,
        "tx_frames": 100,
        "tx_bytes": 100_000,
        "queues": queues,
        "dpp": None,
    }


def _host(host: dict[str, Any]) -> dict[str, Any]:
    drops = 7 if host["nic"]["rx_ring_frames"] == 1 else 0
    return {
        "name": host["name"],
        "rx_frames": 900,
        "nic_queue_drops": 0,
        "rx_ring_drops": drops,
        "cpu_busy_ps": 10**9,
    }


def _tables(outcome: dict[str, Any]) -> dict[str, dict[str, tuple[str, bytes]]]:
    def column(kind: str, values: list[int] | list[float]) -> tuple[str, bytes]:
        return kind, array.array({"u32": "I", "u64": "Q", "f64": "d"}[kind], values).tobytes()

    ports = list(range(len(outcome["ports"])))
    names = list(range(len(outcome["workloads"])))
    return {
        "transactions": {
            "workload": column("u32", names),
            "user": column("u32", [0 for _ in names]),
            "start_ps": column("u64", [0 for _ in names]),
            "latency_ps": column("u64", [10**9 for _ in names]),
        },
        "port_series": {
            "port": column("u32", ports),
            "bin": column("u32", [0 for _ in ports]),
            "start_ps": column("u64", [0 for _ in ports]),
            "queue_mean_bytes": column("f64", [10.5 for _ in ports]),
            "queue_max_bytes": column("u64", [100 for _ in ports]),
            "tx_bytes": column("u64", [1000 for _ in ports]),
            "drop_frames": column("u64", [1 for _ in ports]),
            "mark_frames": column("u64", [0 for _ in ports]),
        },
        "workload_series": {
            "workload": column("u32", names),
            "bin": column("u32", [0 for _ in names]),
            "start_ps": column("u64", [0 for _ in names]),
            "goodput_bytes": column("u64", [1000 for _ in names]),
        },
        "queue_depth": {
            "port": column("u32", ports),
            "depth_bytes": column("u64", [1000 for _ in ports]),
            "time_ps": column("u64", [PS_PER_SECOND for _ in ports]),
        },
    }


if __name__ == "__main__":
    install()
    from tailrace.cli import main

    main()
