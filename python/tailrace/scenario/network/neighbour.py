"""Neighbours of a host: other load on the same processor, as other machines of a hypervisor are."""

from typing import Annotated, Literal

from pydantic import Field

from tailrace.scenario.network.cpu import NICE_MAX, NICE_MIN, Cores
from tailrace.scenario.text.quantities import Part

TASKS_MAX = 256
"""Most tasks of a neighbour."""


class HostNeighbour(Part):
    """Tasks beside the programs of a host, for which no workload waits. For neighbours that send,
    write a `stream`."""

    kind: Literal["compute", "disk"] = "compute"
    """compute: work without end. disk: writes files, and waits until they are on the disk."""
    tasks: Annotated[int, Field(strict=True, ge=1, le=TASKS_MAX)] = 1
    """Number of tasks."""
    cores: Cores | None = None
    """Cores where they may run. Default: all."""
    nice: Annotated[int, Field(strict=True, ge=NICE_MIN, le=NICE_MAX)] = 0
    """Nice value of each task."""
