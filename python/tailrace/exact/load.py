"""The interface of a real program in an exact run: the programs of the guests, and the figures in
their logs.

There is no communication with a guest while it runs. Everything that a program does is determined
before: its words, its start, its end.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from tailrace.errors import KeyPath
from tailrace.programs.command import Command
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.needed import Needed
from tailrace.programs.templates import Stock
from tailrace.scenario.programs import SERVICE_KEY
from tailrace.scenario.scenario import Scenario

Refusals = Iterator[tuple[KeyPath, str, str]]
"""Keys below the workload, problem, hint."""
OUTPUT = "/run/tailrace/out"
"""Folder of a guest that is the folder `out` of its host on the machine
(`crates/exact/src/init/mounts.rs`)."""
START_NS = 10**9
"""From the start of programs to time zero of the plan (`crates/exact/src/spec.rs`)."""
BEGUN_WALL_US = (1_577_836_800 + 2) * 10**6
"""Time zero of the plan by the clock of a guest, which begins in 2020."""


@dataclass(frozen=True)
class GuestProgram:
    """A program of a guest, as `tailrace-exact run --programs` reads it."""

    host: str
    name: str
    words: Sequence[str]
    is_awaited: bool = False
    delay_ns: int = 0
    user: str | None = None
    copies: Mapping[str, str] = field(default_factory=dict)
    """Where the copy of a folder of the machine is in the guest, and the folder."""
    stop_signal: str | None = None
    is_server: bool = False
    finished_by: Mapping[str, Any] | None = None
    ends_by_signal: bool = False
    """Whether the signal that ends it is its end: it then has no status."""

    @property
    def raw(self) -> dict[str, Any]:
        """For the file of programs."""
        return {
            "words": list(self.words),
            "is_awaited": self.is_awaited,
            "delay_ns": self.delay_ns,
            "user": self.user,
            "copies": [{"from": source, "to": target} for target, source in self.copies.items()],
            "stop_signal": self.stop_signal,
            "is_server": self.is_server,
            "finished_by": self.finished_by,
        }


@dataclass(frozen=True)
class GuestTask:
    """The task of a program, and its resources."""

    raw: Mapping[str, Any]
    """The workload in the format of the plan."""
    seed: int
    limit_s: float
    """Length of the trial."""
    is_awaited: bool
    """Whether the trial lasts until it has done its work."""
    folder: Path
    """Folder of the trial."""
    addresses: "Addresses"
    templates: Stock
    shared: Sequence[Mapping[str, Any]]
    """All workloads of the plan that use the same server through the same program."""
    devices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Block devices of the plan, by name."""

    def output_of(self, host: str) -> Path:
        """Where the files of a guest's folder `OUTPUT` are on the machine."""
        return self.folder / "hosts" / host / "out"

    def users(
        self,
        host: str,
        command: Command,
        folders: tuple[Path, Path],
        *,
        stop_signal: str | None,
        finished_by: Mapping[str, Any] | None,
        ends_by_signal: bool = False,
    ) -> "GuestProgram":
        """The users of the workload, who begin with the trial. `folders` are their folder in the
        guest and here."""
        here, folder = folders
        return GuestProgram(
            host,
            command.name,
            command.argv,
            is_awaited=self.is_awaited,
            delay_ns=START_NS,
            copies={str(here): str(folder.absolute())},
            stop_signal=stop_signal,
            finished_by=finished_by,
            ends_by_signal=ends_by_signal,
        )


class Addresses:
    """IPv4 addresses of the hosts of a plan: by the rule of every lab
    (`crates/network/src/address.rs`)."""

    def __init__(self, hosts: Sequence[str], vlans: Sequence[int]) -> None:
        self._numbers = {host: number for number, host in enumerate(hosts, 1)}
        self._networks = {vlan: 77 + number for number, vlan in enumerate(sorted({0, *vlans}))}

    def of(self, host: str, vlan: int) -> str:
        """Of a host in a VLAN; 0 for none."""
        high, low = divmod(self._numbers[host], 256)
        return f"10.{self._networks[vlan]}.{high}.{low}"


@dataclass(frozen=True)
class Outputs:
    """The output of a guest's program."""

    folder: Path
    number: int
    """Of the program in its guest."""

    @property
    def errors(self) -> Path:
        """File with its stderr."""
        return self.folder / f"{self.number}.err"

    @property
    def out(self) -> Path:
        """File with its stdout."""
        return self.folder / f"{self.number}.out"


class GuestLoad(ABC):
    """The load of one workload."""

    load_name: ClassVar[str]
    """Its name in scenarios."""
    sort: ClassVar[str]
    needs: ClassVar[tuple[Needed, ...]] = ()
    services: ClassVar[tuple[str, ...]] = ()
    """Names of the services that it supports, the default first."""
    has_one_port: ClassVar[bool] = True
    """Whether its server listens at one port for all of its workloads."""

    def __init__(self, task: GuestTask) -> None:
        self.task = task
        self.outputs: dict[tuple[str, str], Outputs] = {}
        """Of every program, by host and name: known when the trial is over."""

    @classmethod
    def server_of(cls, raw: Mapping[str, Any]) -> str:
        """Host of the server of a workload in a plan."""
        return str(raw["server"])

    @classmethod
    def service_of(cls, raw: Mapping[str, Any]) -> str | None:
        """Name of the service that a workload in a plan uses; None for a load with a server of its
        own."""
        return str(raw.get(SERVICE_KEY) or cls.services[0]) if cls.services else None

    @classmethod
    def needs_with(cls, service: str | None) -> tuple[Needed, ...]:
        """Programs that it requires for a service, the default for None."""
        return cls.needs

    @classmethod
    @abstractmethod
    def refusals(cls, workload: Any, scenario: Scenario) -> Refusals:
        """Problems of a workload of the scenario that this program does not support."""

    @property
    @abstractmethod
    def memory_mib(self) -> int:
        """Memory of its guests besides that of their kernel."""

    @abstractmethod
    def programs(self) -> Iterator[GuestProgram]:
        """Programs that guests start. Programs of one name and host, of several workloads, are one
        program."""

    @property
    def configurations(self) -> Mapping[str, str]:
        """Text of the configuration of each server that has one, by its program."""
        return {}

    def report(self) -> str:
        """The program's report at its end, for results; empty where its log contains everything."""
        return ""

    @abstractmethod
    def measured(self, interval: MeasuredInterval) -> Measured:
        """The measurements of the interval, from its logs."""


def programs_file(programs: Sequence[GuestProgram]) -> str:
    """The file of programs: by host."""
    by_host: dict[str, list[dict[str, Any]]] = {}
    for program in programs:
        by_host.setdefault(program.host, []).append(program.raw)
    return json.dumps(by_host)
