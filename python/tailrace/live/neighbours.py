"""Neighbours of a live trial: stress-ng on the cores of the machine, in control groups of their
own.

They stand for other machines of a hypervisor: each has a control group beside those of the hosts,
so that the scheduler divides cores between it and them, and not between its tasks and theirs.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tailrace.files import make_folder
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.programs.command import Command
from tailrace.programs.needed import Needed
from tailrace.scenario.scenario import Scenario

NEEDED = Needed("stress-ng", "stress-ng", "--version", "neighbours of hosts")
GRACE_S = 60
"""A neighbour ends this long after the longest possible trial, if it was not ended before."""
WARM_S = 0.3
"""stress-ng starts its workers within tens of milliseconds."""
FILE_BYTES = "16M"
WRITE_BYTES = "64K"
"""Each task of kind `disk` writes one file of 16 MB again and again, 64 KB at a time."""


@dataclass(frozen=True)
class NeighbourLoad:
    """One neighbour of the plan."""

    host: str
    """Or hypervisor."""
    raw: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Of its program in the lab."""
        return f"neighbour-{self.host}-{self.raw['name']}"

    def command(self, lab: Lab, limit_s: float) -> Command:
        """The load, which runs until it is ended."""
        folder = lab.folder / "neighbours" / self.name
        make_folder(folder)
        nice = int(self.raw.get("nice", 0))
        argv = ["nice", "-n", str(nice)] if nice else []
        argv += ["stress-ng", *self._stressor(), "--timeout", f"{round(limit_s) + GRACE_S}s"]
        argv += ["--temp-path", str(folder.absolute()), "--metrics-brief"]
        return Command(self.name, argv, cores=self.raw.get("cores"), group=self.name)

    def _stressor(self) -> list[str]:
        tasks = str(self.raw["tasks"])
        match _kind(self.raw):
            case "compute":
                return ["--cpu", tasks, "--cpu-method", "int64"]
            case "disk":
                options = [
                    "--hdd-bytes",
                    FILE_BYTES,
                    "--hdd-write-size",
                    WRITE_BYTES,
                    "--hdd-opts",
                    "sync",
                ]
                return ["--hdd", tasks, *options]
            case other:
                raise FabricError(f"{self.name}: there is no neighbour of kind {other!r}")


class Neighbours:
    """All neighbours of a trial."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        """Those of its hosts and hypervisors: all of them are on the one machine."""
        nodes = [(host["name"], host) for host in plan["hosts"]]
        nodes += [(own["switch"], own) for own in plan.get("hypervisors", [])]
        self._loads = [
            NeighbourLoad(name, raw) for name, node in nodes for raw in node.get("neighbours", [])
        ]
        self.programs: list[Program] = []

    def start(self, lab: Lab, limit_s: float) -> None:
        """Starts them all; raises `FabricError` where one ends at once."""
        self.programs = [lab.start(load.command(lab, limit_s)) for load in self._loads]
        if self.programs:
            time.sleep(WARM_S)
            self.require_running()

    def require_running(self) -> None:
        """Raises `FabricError` for a neighbour that has ended: the measurement would lack it."""
        for program in self.programs:
            if program.ended is not None:
                raise FabricError(
                    f"{program.complaint()} (a neighbour runs until the end of the trial)"
                )

    def stop(self) -> None:
        """Ends them, and waits until they have ended."""
        for program in self.programs:
            program.stop("INT")

    def report(self) -> dict[str, str]:
        """The report of each by stress-ng."""
        return {program.command.name: _report(program) for program in self.programs}


def _kind(raw: Mapping[str, Any]) -> str:
    """Of a host's neighbour it stands in the plan; a hypervisor's with work until a wait uses the
    disk."""
    return str(raw.get("kind") or ("disk" if raw.get("work_ps") else "compute"))


def _report(program: Program) -> str:
    return "\n".join(part.strip() for part in (program.errors(), program.output()) if part.strip())


def needs_of(arms: Iterable[Scenario]) -> list[Needed]:
    """Programs that neighbours require: none where no arm has any."""
    has_any = any(arm.host(host).neighbours for arm in arms for host in arm.graph.hosts)
    return [NEEDED] if has_any else []
