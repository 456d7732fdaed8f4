"""Predict one load of a real service by the simulator from another, and print how far off it is.

    request_services.py --exact|--live [--program wrk|perf-test|...].. [--rate R] [--trials N]
    [--out DIR]

A small load is run by the real program, and calibrates the simulated server:

- Exact: processor time is free. `server_time` is the difference of the medians of that load, real
  and simulated.
- Live: `server_work` is the processor time that the server used for a request. `server_time` is
  what remains of the real latencies, quantile by quantile, above the simulated median with that
  work.

Then other loads, which were not used, are run both ways.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import convert

from tailrace.outcome.types import Latency
from tailrace.statistics import Histogram

TAILRACE = [sys.executable, "-c", "from tailrace.cli import main; main()"]
LIMIT_S = 300
QUANTILES = (5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
REQUESTS = {"exact": 300, "live": 1500}
"""Of each user."""
P50_MOST, P99_MOST = 0.15, 0.30
PS_PER_S = 10**12
PS_PER_US = 10**6
MACHINE = {
    "max_delay_error": "100%",
    "max_delay_error_p99": "100%",
    "max_drop_error": "100%",
    "max_core_wait": "100%",
    "max_pacing_error": "100%",
    "max_steal": "100%",
    "max_generator_lag": "10s",
}
"""Bounds of live trials: this table is about the service, and says so when the machine was busy."""


@dataclass(frozen=True)
class Load:
    """Users and the size of their responses."""

    users: int
    response_bytes: int
    request_bytes: int = 100
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the workload."""

    @property
    def name(self) -> str:
        """In the table."""
        size = (
            self.request_bytes if self.request_bytes > self.response_bytes else self.response_bytes
        )
        return " ".join(
            [
                f"{self.users} x {size / 1000:g} kB",
                *(f"{key} {value}" for key, value in self.keys.items()),
            ]
        )


NEW = {"connection": "new"}
LOADS = {
    "wrk": (Load(1, 4000), Load(4, 4000), Load(1, 12_000), Load(8, 12_000)),
    # It times the first part of a response: one segment is a whole one.
    "redis-benchmark": (Load(1, 200), Load(4, 200), Load(1, 1400), Load(8, 1400)),
    # It pauses with few queries outstanding.
    # A pipeline is sent at once, and timed to its first part.
    "redis-benchmark -P": tuple(
        Load(users, size, keys={"pipeline": depth})
        for users, size, depth in ((1, 100, 4), (4, 100, 4), (1, 100, 12), (8, 100, 12))
    ),
    "wrk, new": tuple(
        Load(users, size, keys=NEW)
        for users, size in ((1, 4000), (4, 4000), (1, 12_000), (8, 12_000))
    ),
    # Messages of 1 and 4 kB, each confirmed before the next or a few on their way.
    "perf-test": (
        Load(1, 21, 1082),
        Load(2, 21, 1082),
        Load(1, 21, 4154),
        Load(1, 21, 1082, {"pipeline": 4}),
    ),
    "dnsperf": (Load(4, 1000), Load(8, 1000), Load(4, 8000), Load(16, 8000)),
}
"""Of each program: the load of the calibration, and those that are predicted."""


SERVERS: dict[str, dict[str, Any]] = {"redis-benchmark": {"concurrency": 1}}
"""What is known of servers without measuring: one thread of Redis answers. In virtual time, what it
adds to a pipeline is added once, and not by each of its requests.
"""
WITHOUT_WORK = ("perf-test",)
"""Most of the processor time of RabbitMQ in a trial is its start: its time for a request is all
`server_time`."""
EXACT = tuple(name for name in LOADS if name != "perf-test")


@dataclass(frozen=True)
class Place:
    """Where runs are, and what all of them have."""

    folder: Path
    engine: str
    trials: int
    rate: str
    program: str


@dataclass(frozen=True)
class Seen:
    """Of all trials of a load."""

    latencies: Histogram
    rate_per_s: float
    work_us: float
    """Processor time of the server for a request."""
    core_wait: float
    """Largest share of its users' time for which programs waited for a core."""

    def ms(self, percent: float) -> float:
        """A percentile."""
        return (self.latencies.percentile_ps(percent) or 0) / 1e9


def run(at: Place, name: str, load: Load, server: Mapping[str, Any] | None = None) -> Seen:
    """One load by the real program, or simulated with the keys of a server."""
    folder = at.folder / at.program.replace(" ", "-") / f"{load.name.replace(' ', '-')}-{name}"
    folder.mkdir(parents=True)
    workload = {
        "kind": "requests",
        "client": "client",
        "server": "server",
        "users": load.users,
        "requests": REQUESTS[at.engine],
        "request": f"{load.request_bytes}B",
        "response": f"{load.response_bytes}B",
        "load_generator": at.program.split()[0].rstrip(","),
        **load.keys,
        **(server or {}),
    }
    scenario = {
        "tailrace": 1,
        "name": "service",
        "network": {
            "link": {"rate": at.rate},
            "topology": {"kind": "star", "hosts": ["client", "server"]},
        },
        "workloads": {"asking": workload},
        "experiment": {"trials": at.trials, "duration": "30s", "live": MACHINE},
    }
    (folder / "scenario.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    option = [f"--{at.engine}"] if server is None else []
    command = [
        *TAILRACE,
        "run",
        str(folder / "scenario.yaml"),
        *option,
        "--out",
        str(folder / "run"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[3:])}: {done.stderr.strip()}")
    files = sorted((folder / "run" / "trials" / "base").glob("*.json"))
    return seen([json.loads(file.read_text(encoding="utf-8"))["outcome"] for file in files])


def seen(outcomes: Sequence[Mapping[str, Any]]) -> Seen:
    """Trials pooled."""
    workloads = [outcome["workloads"][0] for outcome in outcomes]
    latencies = Histogram.from_outcomes(
        [convert(each["latency"], Latency | None) for each in workloads]
    )
    assert latencies is not None, "every load has requests"
    count = sum(each["transactions"] for each in workloads)
    busy_ps = sum(
        host["cpu_busy_ps"] + host["program_busy_ps"]
        for outcome in outcomes
        for host in outcome["hosts"]
        if host["name"] == "server" and outcome.get("live")
    )
    waits = [
        one["share"]
        for outcome in outcomes
        for one in (outcome.get("live") or {}).get("core_waits", {}).values()
    ]
    seconds = sum(each["completion_ps"] for each in workloads) / PS_PER_S
    return Seen(latencies, count / seconds, busy_ps / count / PS_PER_US, max(waits, default=0.0))


def calibrated(at: Place) -> tuple[dict[str, Any], str]:
    """Keys of the simulated server, and what they are in words."""
    load = LOADS[at.program][0]
    real = run(at, "real", load)
    has_work = at.engine == "live" and at.program not in WITHOUT_WORK
    work = SERVERS.get(at.program, {}) | (
        {"server_work": f"{real.work_us:.3f}us"} if has_work else {}
    )
    model = run(at, "uncalibrated", load, work)
    # A server answers the requests of a connection one after the other: each has its part.
    depth = load.keys.get("pipeline", 1)
    rest_us = {
        percent: max(0.0, (real.ms(percent) - model.ms(50.0)) * 1000 / depth)
        for percent in QUANTILES
    }
    if at.engine == "exact":
        return work | {
            "server_time": f"{rest_us[50.0]:.3f}us"
        }, f"server_time {rest_us[50.0]:.1f} us"
    points, last = [], 0.0
    for percent in QUANTILES:
        last = max(last, rest_us[percent])
        points.append([f"{last:.3f}us", f"{percent}%"])
    points.append(
        [f"{max(last, (real.latencies.max_ps / 1e9 - model.ms(50.0)) * 1000):.3f}us", "100%"]
    )
    used = f"server_work {real.work_us if has_work else 0.0:.1f} us"
    words = f"{used}, server_time p50 {rest_us[50.0]:.1f} us, p99 {rest_us[99.0]:.1f} us"
    return work | {"server_time": {"cdf": points}}, words


def row(program: str, load: Load, real: Seen, model: Seen) -> str:
    """A line of the table."""
    errors = [model.ms(percent) / real.ms(percent) - 1 for percent in (50.0, 99.0)]
    rate = model.rate_per_s / real.rate_per_s - 1
    is_good = abs(errors[0]) <= P50_MOST and abs(errors[1]) <= P99_MOST
    figures = (
        f"{real.ms(50):.3f} | {model.ms(50):.3f} | {errors[0]:+.1%} | {real.ms(99):.3f} | "
        f"{model.ms(99):.3f} |"
    )
    wait = f" | {real.core_wait:.0%}" if real.core_wait else ""
    return (
        f"| {program} | {load.name} | {figures} {errors[1]:+.1%} | {rate:+.1%}"
        f"{wait} | {'within' if is_good else '**outside**'} |"
    )


def main() -> None:
    """Prints a table of all loads of the chosen programs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    engine = parser.add_mutually_exclusive_group(required=True)
    for name in ("exact", "live"):
        engine.add_argument(f"--{name}", dest="engine", action="store_const", const=name)
    parser.add_argument("--program", action="append", choices=LOADS)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--rate", default="1Gbit/s")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    out = chosen.out or Path(tempfile.mkdtemp(prefix="services-"))
    wait = " | waited for a core" if chosen.engine == "live" else ""
    print(
        "| Program | Load | p50 real, ms | simulated | error | p99 real, ms | simulated | "
        f"error | rate{wait} | |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---|" + ("---|" if wait else ""))
    for program in chosen.program or (LOADS if chosen.engine == "live" else EXACT):
        at = Place(out, chosen.engine, chosen.trials, chosen.rate, program)
        server, words = calibrated(at)
        print(f"<!-- {program}: {words} -->", flush=True)
        for load in LOADS[program][1:]:
            print(
                row(program, load, run(at, "real", load), run(at, "model", load, server)),
                flush=True,
            )
    print(f"runs: {out}")


if __name__ == "__main__":
    main()
