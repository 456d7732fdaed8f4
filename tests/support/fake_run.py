"""Run directories that look like those of real trials, made in a second: Cisco's mix with the
published times.

The numbers are drawn, not simulated. What matters is that every file and key of a run directory is
there.
"""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fake_trial import MIX, PS_PER_S, USERS, outcome, tables, write_table
from tailrace.outcome.stored import FORMAT
from tailrace.results import Run
from tailrace.scenario.lowering.plan import plan_hash
from whole import stored, whole_plan

COMPLETION_S = {
    "fifo": {"XS": 572, "S": 585, "M": 672, "L1": 646, "L2": 651},
    "dpp": {"XS": 390, "S": 396, "M": 479, "L1": 641, "L2": 642},
}


@dataclass
class FakeRun:
    """What to make. Trials in `failed` and `invalid` are recorded as such; those in `missing` are
    left out."""

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
            _write_json(path / "plans" / f"{arm}.json", self._plan(arm))
            for number in range(1, self.trials + 1):
                self._write_trial(path, arm, number)
        if self.with_solo:
            for workload in MIX:
                stem = path / "trials" / f"solo-{workload}" / "1"
                self._write_outcome(
                    stem,
                    f"solo:{workload}",
                    1,
                    {workload: 300 * random.Random(workload).gauss(1, 0.001)},
                )
        return path

    def manifest(self) -> dict[str, Any]:
        """The manifest of the run."""
        order = [[arm, number] for arm in self.arms for number in range(1, self.trials + 1)]
        random.Random(self.seed).shuffle(order)
        return {
            "manifest_version": FORMAT,
            "name": self.name,
            "description": "Five databases answer one client over one congested 10 Gbit/s port.",
            "state": "interrupted" if self.missing else "complete",
            "started": "2026-03-02T09:14:03Z",
            "finished": "2026-03-02T09:15:01Z",
            "command": [
                "tailrace",
                "run",
                "reproductions/cisco-dpp/scenario.yaml",
                "--scale",
                f"{self.scale:g}",
            ],
            "versions": {"tailrace": "0.1.0", "native": "0.1.0", "python": "3.11.7"},
            "machine": {
                "cpu": "AMD EPYC 9B45",
                "cores": 2,
                "kernel": "Linux 6.18",
                "memory_bytes": 25_000_000_000,
            },
            "seed": self.seed,
            "scale": self.scale,
            "trials": self.trials,
            "workload_scale": {
                name: max(1, int(n * self.scale)) / n for name, (_, n) in MIX.items()
            },
            "baseline": self.arms[0],
            "arms": list(self.arms),
            "workloads": list(MIX),
            "plan_hashes": {arm: self._plan_hash(arm) for arm in self.arms},
            "order": [f"{arm}/{number}" for arm, number in order],
            "overrides": {
                arm: {"switches.leaf1.policy": arm} if arm != "fifo" else {} for arm in self.arms
            },
            "assumptions": ASSUMPTIONS,
            "expectations": [],
        }

    def _write_trial(self, path: Path, arm: str, number: int) -> None:
        stem = path / "trials" / arm / str(number)
        if (arm, number) in self.missing:
            return
        if (arm, number) in self.failed:
            self._store(
                stem, arm, number, None, status="failed", reason="the simulator ran out of memory"
            )
            return
        rng = random.Random(f"{self.seed}/{arm}/{number}")
        times = {
            w: t * self.factor * rng.gauss(1, self.spread)
            for w, t in COMPLETION_S.get(arm, COMPLETION_S["dpp"]).items()
        }
        status = {"status": "invalid", "reason": "12 frames were dropped in the ring of client"}
        self._write_outcome(
            stem, arm, number, times, status if (arm, number) in self.invalid else {}
        )

    def _write_outcome(
        self,
        stem: Path,
        arm: str,
        number: int,
        times: dict[str, float],
        extra: dict[str, str] | None = None,
    ) -> None:
        rng = random.Random(f"outcome/{self.seed}/{arm}/{number}")
        times_s = {w: t * max(1, int(MIX[w][1] * self.scale)) / MIX[w][1] for w, t in times.items()}
        self._store(
            stem,
            arm,
            number,
            outcome(arm, number, self.seed, self.scale, times_s, rng),
            **(extra or {}),
        )
        for table, columns in tables(arm, self.scale, times_s, rng).items():
            write_table(stem.parent / f"{stem.name}.{table}.parquet", columns)

    def _store(
        self, stem: Path, arm: str, number: int, parts: dict[str, Any] | None, **head: str
    ) -> None:
        stored(
            stem.with_suffix(".json"), arm, number, parts, plan_hash=self._plan_hash(arm), **head
        )

    def _plan(self, arm: str) -> dict[str, Any]:
        """Runs whose times differ by a factor have other plans."""
        return plan(arm, self.scale) | {"clock_offset_ppb": int(50_000 / self.factor)}

    def _plan_hash(self, arm: str) -> str:
        return plan_hash(self._plan(arm))


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
    {
        "name": "DPP age period",
        "value": "5 ms",
        "mark": "seen",
        "range": "",
        "source": "C11-738425, p. 5",
    },
    {
        "name": "receive cost at the client",
        "value": "1.5 us per packet",
        "mark": "fitted",
        "range": "0.5 to 3 us",
        "source": "one value for all ten cells",
    },
]


def plan(arm: str, scale: float) -> dict[str, Any]:
    """As much of a plan as the report looks at."""
    default = {
        "name": "default",
        "service": {"dwrr": 1000},
        "limit": {"alpha-milli": 14_000},
        "aqm": "none",
    }
    express = {
        "name": "express",
        "service": {"strict": 1},
        "limit": {"bytes": 1_000_000},
        "aqm": "none",
    }
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
    parts = {
        "version": 2,
        "name": f"cisco-dpp/{arm}/trial-1",
        "seed": 1001,
        "stop_at_ps": int(2_000 * PS_PER_S * scale),
        "framing": {"header_bytes": 14, "overhead_bytes": 24},
        "clock_offset_ppb": 50_000,
        "hosts": [
            {"name": name, "mtu_bytes": 9000, "tcp": {"congestion_control": "cubic"}}
            for name in names
        ],
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
        "links": [
            {"a": name, "b": "leaf1", "rate_bps": 10_000_000_000, "delay_ps": 500_000}
            for name in names
        ],
        "workloads": [
            {
                "header": {"name": w, "priority": 0, "port": 5432},
                "body": {
                    "oltp": {
                        "client": "client",
                        "server": f"db-{w.lower()}",
                        "users": USERS,
                        "transactions": int(n * scale),
                        "round_trips": [{"response_bytes": size}],
                    }
                },
            }
            for w, (size, n) in MIX.items()
        ],
    }
    return whole_plan(**parts)


def change_plan(run: Path, arm: str, **parts: Any) -> None:
    """Gives the plan that a run has kept of an arm these parts; the run no longer says which plan
    it is."""
    file, manifest = run / "plans" / f"{arm}.json", run / "manifest.json"
    changed = {key: value for key, value in whole_plan(**parts).items() if key in parts}
    _write_json(file, json.loads(file.read_text(encoding="utf-8")) | changed)
    held = json.loads(manifest.read_text(encoding="utf-8"))
    held["plan_hashes"].pop(arm, None)
    _write_json(manifest, held)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def cut_off_in_the_last(folder: Path) -> Run:
    """A run of four trials, in the last of which so many transactions of XS are cut off in the arm
    fifo that its upper percentiles, and those of all trials together, are lower bounds.
    """
    path = FakeRun(trials=4).write(folder / "run")
    last = path / "trials" / "fifo" / "4.json"
    made = json.loads(last.read_text(encoding="utf-8"))
    [own] = [workload for workload in made["outcome"]["workloads"] if workload["name"] == "XS"]
    longest, count = 2 * own["latency"]["max_ps"], own["latency"]["count"] // 10
    own["cut_off"] = {"count": count, "longest_ps": longest, "buckets": [[longest, count]]}
    last.write_text(json.dumps(made), encoding="utf-8")
    return Run.read(path)
