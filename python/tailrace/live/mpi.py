"""Base class of programs of MPI jobs: the ranks of one workload, started by Open MPI on the hosts
of the lab."""

import json
import os
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tailrace.files import make_folder, write_text
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Load, Refusals, Task
from tailrace.live.measure.closings import Meant
from tailrace.programs import mpi_refusals
from tailrace.programs.command import Command
from tailrace.programs.mpi import PINGPONG, MpiWork
from tailrace.programs.open_mpi import AGENT_TEXT, Launch, complaint

POLL_S = 0.005


class MpiLoad(Load):
    """The ranks of one workload."""

    sort = "mpi-job"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.work = MpiWork(task.raw, task.seed)
        self.folder = Path()
        self._launch: Launch | None = None
        self.starters: list[Program] = []
        """Open MPI's own program of each launch."""
        self._daemons: list[Program] = []
        self._cores: list[int] | None = None
        self._available = 0

    @classmethod
    def refusals(cls, workload: Any) -> Refusals:
        """Features that real ranks do not have."""
        return mpi_refusals.refusals(workload)

    # --- facts ------------------------------------------------------------------------------------

    @property
    def ends(self) -> tuple[str, str]:
        """The host of rank 0, and the first other one."""
        hosts = self.work.hosts
        return hosts[0], hosts[-1] if len(hosts) == 1 else hosts[1]

    @property
    def opens(self) -> tuple[str, str]:
        """A rank that sends first opens the connection."""
        return self.ends

    @property
    def waiting(self) -> int:
        """Ranks."""
        return len(self.work.ranks)

    def exposed(self, send_buffer_bytes: int) -> float:
        """Zero: a rank polls while it waits for a message, so it is always ready, and the kernel
        counts the time in which the switch carries that message on its core as a wait."""
        return 0.0

    @property
    def is_finite(self) -> bool:
        """Every size has a number of iterations."""
        return True

    @property
    def ports(self) -> int:
        """One for each rank of the host with most of them, and each launch: a closed connection
        keeps its port for a minute.
        """
        return self._ports_of_launch * self.launches

    @property
    def _ports_of_launch(self) -> int:
        ranks = self.work.ranks
        return max(ranks.count(host) for host in self.work.hosts)

    @property
    def launches(self) -> int:
        """Number of times that the ranks are started."""
        return 1

    @property
    def launch(self) -> Launch:
        """Where the job is started, after `prepare`."""
        assert self._launch is not None, "it was prepared"
        return self._launch

    def warnings(self) -> list[str]:
        """More ranks than cores."""
        ranks = len(self.work.ranks)
        if ranks <= self._available:
            return []
        what = (
            f"{self.name}: {ranks} ranks share {self._available} cores: its times measure the "
            "scheduler as well"
        )
        return [
            f"{what} (hint: as many ranks as cores, or messages that take longer than a time slice)"
        ]

    # --- the trial --------------------------------------------------------------------------------

    def prepare(self, lab: Lab) -> None:
        """Writes the files of the job."""
        self.folder = (lab.folder / "logs" / f"mpi-files-{self.name}").absolute()
        make_folder(self.folder)
        scratch = f"{lab.scratch}/mpi-{self.name}"
        lab.run(Command(f"mpi-{self.name}-scratch", ["mkdir", "--parents", scratch]), STOP_LIMIT_S)
        addresses = {host: lab.address(host, self.work.vlan) for host in self.work.hosts}
        ports = (self.task.first_port, self._ports_of_launch)
        self._launch = Launch(
            self.work, self.folder, scratch, addresses, ports, has_vlans=lab.has_vlans
        )
        write_text(self.launch.agent, AGENT_TEXT)
        self.launch.agent.chmod(0o755)
        write_text(self.folder / "hosts", self.launch.hostfile())
        self._cores, self._available = cores_of(self.work.ranks, lab)

    def start(self, lab: Lab, program: Sequence[str] | None = None) -> Program:
        """Starts the ranks, or the given program instead."""
        number = len(self.starters)
        launch = replace(
            self.launch,
            ports=(self.task.first_port + number * self._ports_of_launch, self._ports_of_launch),
        )
        job = self.work.job(launch.ports, self._cores) | {"program": program}
        path = self.folder / f"job-{number}.json"
        write_text(path, json.dumps(job))
        self.starters.append(lab.start(launch.command(path, number)))
        return self.starters[-1]

    def start_daemons(self, lab: Lab) -> None:
        """Starts the daemons that Open MPI has requested; raises an error with Open MPI's reason
        when it has failed."""
        for host, words in self.launch.asked():
            self._daemons.append(lab.start(self.launch.daemon(host, words, len(self.starters) - 1)))
        for starter in self.starters:
            if starter.ended is not None and not starter.ended.is_good:
                raise FabricError(complaint(self.work, starter.errors() or starter.output()))

    @property
    def programs(self) -> Sequence[Program]:
        """Starters, which have the ranks of the first host, and daemons, which have those of the
        others."""
        return [*self.starters, *self._daemons]

    @property
    def failed(self) -> Sequence[Program]:
        """None: `start_daemons` gives the reason of a failure."""
        return []

    def stop(self, lab: Lab) -> None:
        """Ends running programs; the times measured until then are kept."""
        for each in [*self.starters, *self._daemons]:
            each.stop()

    def connections(self, lab: Lab) -> Meant | None:
        """The one connection of a pingpong. In other patterns the rank that sends first is not
        known."""
        hosts = self.work.hosts
        if self.work.pattern != PINGPONG or len(hosts) != 2 or len(self.starters) != 1:
            return None
        first, count = self.launch.ports
        return Meant(
            client=hosts[0],
            client_address=self.launch.addresses[hosts[0]],
            client_ports=frozenset(),
            server=hosts[1],
            server_address=self.launch.addresses[hosts[1]],
            server_ports=frozenset(range(first, first + count)),
            server_sends=False,
            count=1,
        )

    @property
    @abstractmethod
    def is_done(self) -> bool:
        """Whether it has ended."""


def cores_of(ranks: Sequence[str], lab: Lab) -> tuple[list[int] | None, int]:
    """The core of each rank, None where there are more ranks than cores, and the number of cores
    that they have."""
    known = sorted(os.sched_getaffinity(0))
    by_host = {host: list(lab.pins.get(host, known)) for host in dict.fromkeys(ranks)}
    available = len(set().union(*by_host.values()))
    chosen: list[int] = []
    for host in ranks:
        free = [core for core in by_host[host] if core not in chosen]
        if not free:
            return None, available
        chosen.append(free[0])
    return chosen, available


def wait_for_files(load: MpiLoad, lab: Lab, paths: Sequence[Path], limit_s: float) -> None:
    """Returns once all of these files are there; raises `FabricError` with Open MPI's reason, or
    after `limit_s`."""
    deadline_s = time.monotonic() + limit_s
    while missing := [path for path in paths if not path.is_file()]:
        load.start_daemons(lab)
        if time.monotonic() > deadline_s:
            said = load.programs[0].errors()
            why = complaint(load.work, said) if said.strip() else f"mpi-{load.name}"
            raise FabricError(
                f"{why}: {len(missing)} of {len(paths)} ranks did not start within {limit_s:g} s"
            )
        time.sleep(POLL_S)
