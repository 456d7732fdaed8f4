"""A workload of storage as it stands in a plan, and what fio writes about it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.errors import ScenarioError
from tailrace.live.refuse import refuse
from tailrace.programs.storage import StorageWork
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.planned import planned_workloads

RAW = {
    "name": "vdb",
    "priority": 0,
    "vlan": None,
    "initiators": ["h1", "h2"],
    "target": "san",
    "device": "memory",
    "protocol": "iscsi",
    "read_ppb": 700_000_000,
    "access": {"random": 1_000_000_000},
    "block": {"constant": 4096},
    "depth": 8,
    "jobs": 2,
    "size_bytes": 64 << 20,
    "think": {"constant": 0},
    "flush_every": 0,
    "requests": 0,
    "bytes": 0,
}


def work(**keys: Any) -> StorageWork:
    """The work of one workload."""
    return StorageWork(RAW | keys, 7)


def write_logs(
    folder: Path, logs: Mapping[tuple[str, int], Sequence[tuple[int, int, int, int]]]
) -> None:
    """Logs by host and number of the job: milliseconds, nanoseconds, direction and bytes of each
    request."""
    for (host, job), lines in logs.items():
        text = "".join(f"{ms}, {ns}, {op}, {size}, 0, 0\n" for ms, ns, op, size in lines)
        (folder / f"requests_lat.{job}.log.{host}").write_text(text, encoding="ascii")


def write_report(
    folder: Path, jobs: Sequence[tuple[str, int, int, int]], *, before: str = ""
) -> None:
    """fio's report: host, error, reads and writes of each job."""
    rows = [
        {
            "jobname": "vdb",
            "hostname": host,
            "error": error,
            "read": _figures(reads),
            "write": _figures(writes),
        }
        for host, error, reads, writes in jobs
    ]
    told = {
        "fio version": "fio-3.33",
        "client_stats": [*rows, {"jobname": "All clients", "hostname": "h2"}],
    }
    (folder / "report.json").write_text(before + json.dumps(told, indent=1), encoding="utf-8")


def _figures(count: int) -> dict[str, Any]:
    return {
        "total_ios": count,
        "iops": count / 2,
        "bw_bytes": count * 2048,
        "lat_ns": {"mean": 250_000.0},
    }


def scenario(**keys: Any) -> dict[str, Any]:
    """A scenario of one workload of storage that live runs have; None omits a key."""
    workload = {
        "kind": "storage",
        "initiators": ["a", "b"],
        "device": "memory",
        "size": "8MiB",
    } | keys
    return {
        "tailrace": 1,
        "name": "s",
        "network": {"topology": {"kind": "star", "hosts": ["a", "b", "c"]}},
        "workloads": {"disk": {key: value for key, value in workload.items() if value is not None}},
        "experiment": {"duration": "2s"},
    }


def planned(**keys: Any) -> StorageWork:
    """The work of that workload, as it stands in a plan."""
    plan = lower(load_scenario(scenario(**keys)).scenario, "base", 1)
    [one] = planned_workloads(json.loads(json.dumps(plan)))
    return StorageWork(one.flat, 7)


def refusals(**keys: Any) -> list[str]:
    """What live runs refuse of that workload."""
    loaded = load_scenario(scenario(**keys))
    try:
        refuse(loaded, loaded.arms)
    except ScenarioError as error:
        return [str(problem).removeprefix("scenario: workloads.disk") for problem in error.problems]
    return []
