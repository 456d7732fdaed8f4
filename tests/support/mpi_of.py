"""A workload of kind mpi as it stands in a plan, and what its ranks write."""

import array
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.errors import ScenarioError
from tailrace.live.refuse import refuse
from tailrace.programs.mpi import MpiWork
from tailrace.programs.mpi_rank import SIZES, TIMES
from tailrace.programs.open_mpi import Launch
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.planned import planned_workloads


def scenario(**keys: Any) -> dict[str, Any]:
    """A scenario of one job."""
    return {
        "tailrace": 1,
        "name": "s",
        "network": {"topology": {"kind": "star", "hosts": ["a", "b", "c", "d"]}},
        "workloads": {"job": {"kind": "mpi", "hosts": ["a", "b"]} | keys},
        "experiment": {"duration": "2s"},
    }


def planned(**keys: Any) -> MpiWork:
    """The work of that job, as it stands in a plan."""
    plan = lower(load_scenario(scenario(**keys)).scenario, "base", 1)
    [one] = planned_workloads(json.loads(json.dumps(plan)))
    return MpiWork(one.flat, 7)


def refusals(**keys: Any) -> list[str]:
    """What live runs refuse of that job."""
    loaded = load_scenario(scenario(**keys))
    try:
        refuse(loaded, loaded.arms)
    except ScenarioError as error:
        return [str(problem).removeprefix("scenario: workloads.job") for problem in error.problems]
    return []


def launch(work: MpiWork, folder: Path) -> Launch:
    """A launch of it in a folder."""
    addresses = {host: f"10.77.0.{number}" for number, host in enumerate(work.hosts, start=1)}
    return Launch(work, folder, "/run/tailrace/mpi-job", addresses, (5201, 2))


def write_rank(
    folder: Path, rank: int, times: Sequence[tuple[int, int]], sizes: Sequence[Mapping[str, int]]
) -> None:
    """The files of a rank: begin and duration of each iteration, and a line for each size."""
    numbers = array.array("q", [number for pair in times for number in pair])
    (folder / TIMES.format(rank)).write_bytes(numbers.tobytes())
    lines = "".join(json.dumps(dict(size)) + "\n" for size in sizes)
    (folder / SIZES.format(rank)).write_text(lines, encoding="utf-8")
