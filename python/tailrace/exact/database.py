"""Base class of database loads in exact runs: a server that starts from a template, and its
users."""

import math
import os
import pwd
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from tailrace.exact.load import OUTPUT, GuestLoad, GuestProgram, GuestTask
from tailrace.files import make_folder
from tailrace.programs.command import Command
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.needed import Needed
from tailrace.programs.templates import Stock, Template, Templates, sizes_of
from tailrace.programs.transactions import measured
from tailrace.programs.work import Transaction, Work

NOBODY_UID = "65534"
"""Runs a server where the machine has no account for it: databases refuse to run as root."""
MIB = 2**20
SPARE_MIB = 384
"""Of memory for a server besides its data: its shared memory, and processes of users."""
CLIENTS = "/run/tailrace/programs"


Served = tuple[Command, str, Mapping[str, Path]]
"""A server, its folder for the data, and other folders by their sources."""


class GuestDatabase(ABC):
    """A database as guests have it. A module of `exact/programs` has one for each."""

    name: ClassVar[str]
    """In scenarios."""
    protocol: ClassVar[str]
    """By the name of its library."""
    stop_signal: ClassVar[str]
    needs: ClassVar[tuple[Needed, ...]]
    templates_class: ClassVar[type[Templates]]

    def template(self, stock: Stock, sizes: frozenset[int]) -> Template:
        """The template from which it starts."""
        return stock.of(self.templates_class).get(sizes)

    @abstractmethod
    def command(self, task: GuestTask, host: str, addresses: str, users: int) -> Served:
        """The server and its folders."""

    def server(self, task: GuestTask, host: str, addresses: str, users: int) -> GuestProgram:
        """The server of a guest."""
        command, data, others = self.command(task, host, addresses, users)
        copies = {data: self.template(task.templates, sizes_of(task.shared)).data, **others}
        return GuestProgram(
            host,
            command.name,
            command.argv,
            user=_account(command.user or NOBODY_UID),
            copies={target: str(source.absolute()) for target, source in copies.items()},
            stop_signal=self.stop_signal,
            is_server=True,
        )


def _account(name: str) -> str:
    try:
        return pwd.getpwnam(name).pw_name
    except KeyError:
        return NOBODY_UID


class DatabaseGuests(GuestLoad):
    """Users of one workload, and their server."""

    sort = "transactions"
    databases: ClassVar[tuple[GuestDatabase, ...]]
    """Supported databases, the default first."""
    client_needs: ClassVar[tuple[Needed, ...]]
    """Programs of the users."""
    client_signal: ClassVar[str]
    ends_by_signal: ClassVar[bool] = False

    def __init__(self, task: GuestTask) -> None:
        super().__init__(task)
        self.asked = self._database(self.service_of(task.raw))
        self.template = self.asked.template(task.templates, sizes_of(task.shared))
        self.work = Work(task.raw, task.seed, self.template.rows)

    @classmethod
    def needs_with(cls, service: str | None) -> tuple[Needed, ...]:
        """Programs of the users and of their database."""
        return (*cls.client_needs, *cls._database(service).needs)

    @classmethod
    def _database(cls, service: str | None) -> GuestDatabase:
        return next((each for each in cls.databases if each.name == service), cls.databases[0])

    @abstractmethod
    def write_files(self, folder: Path) -> None:
        """Files of the users."""

    @abstractmethod
    def client_command(self, folder: Path, log_prefix: Path, address: str, limit_s: int) -> Command:
        """The users, whose files are in `folder` of the guest."""

    @property
    @abstractmethod
    def finished_by(self) -> Mapping[str, Any]:
        """Output lines that show that all users have done their transactions."""

    @abstractmethod
    def transactions(self, log_prefix: Path) -> list[Transaction]:
        """Every transaction of the log, by user and number."""

    @property
    def memory_mib(self) -> int:
        """The data directory, and the same once more for the pages that are in use."""
        files = (
            Path(folder) / name
            for folder, _, names in os.walk(self.template.data)
            for name in names
        )
        return SPARE_MIB + 2 * sum(file.stat().st_size for file in files) // MIB

    def programs(self) -> Iterator[GuestProgram]:
        """The server, and the users."""
        host, shared = self.server_of(self.task.raw), self.task.shared
        vlans = sorted({int(raw.get("vlan") or 0) for raw in shared})
        addresses = ",".join(self.task.addresses.of(host, vlan) for vlan in vlans)
        users = sum(int(raw["users"]) for raw in shared)
        yield self.asked.server(self.task, host, addresses, users)
        yield self._client()

    def _client(self) -> GuestProgram:
        own = self.work
        folder, here = self.task.folder / "programs" / own.name, Path(CLIENTS) / own.name
        make_folder(folder)
        self.write_files(folder)
        address = self.task.addresses.of(self.server_of(own.raw), own.vlan)
        command = self.client_command(
            here, Path(OUTPUT) / self._log_name, address, math.ceil(self.task.limit_s)
        )
        return self.task.users(
            str(own.raw["client"]),
            command,
            (here, folder),
            stop_signal=self.client_signal,
            finished_by=self.finished_by if own.is_finite else None,
            ends_by_signal=self.ends_by_signal,
        )

    @property
    def _log_name(self) -> str:
        return f"transactions-{self.work.name}"

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the log of transactions."""
        prefix = self.task.output_of(str(self.work.raw["client"])) / self._log_name
        return measured(self.work, self.transactions(prefix), None, interval)
