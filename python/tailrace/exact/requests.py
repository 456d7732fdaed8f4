"""Base class of request programs in exact runs: a server with files, and a client."""

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from tailrace.exact.load import OUTPUT, GuestLoad, GuestProgram, GuestTask
from tailrace.files import make_folder, write_text
from tailrace.programs.command import Command
from tailrace.programs.requests import RequestWork

SERVERS = "/run/tailrace/servers"
CLIENTS = "/run/tailrace/programs"
MIB = 2**20
SPARE_MIB = 128
"""Of memory for programs besides the data of the server."""


class RequestGuests(GuestLoad):
    """Users of one workload, and their server."""

    sort = "request-response"
    server_name: ClassVar[str]
    """Name of the server's program."""
    server_signal: ClassVar[str] = "TERM"
    client_signal: ClassVar[str | None] = None
    """Ends a client that does not end by itself."""

    def __init__(self, task: GuestTask) -> None:
        super().__init__(task)
        self.work = RequestWork.of(task.raw, task.seed)
        self._configurations: dict[str, str] = {}
        self.shared = [RequestWork.of(raw, task.seed) for raw in task.shared]

    @classmethod
    def server_of(cls, raw: Mapping[str, Any]) -> str:
        """The single server that a program uses."""
        return str(raw["servers"][0])

    @abstractmethod
    def write_files(self, folder: Path) -> None:
        """Files of the server for all workloads that use it."""

    @abstractmethod
    def server_command(self, folder: str, addresses: list[str]) -> tuple[Command, str]:
        """The server, whose files are in `folder`/files, and the text of `folder`/conf."""

    @abstractmethod
    def write_client_files(self, folder: Path, output: Path) -> None:
        """Files of the client; in the guest it writes into `output`."""

    @abstractmethod
    def client_command(self, folder: Path, address: str, limit_s: int) -> Command:
        """The client, whose files are in `folder` of the guest."""

    @property
    def finished_by(self) -> Mapping[str, Any] | None:
        """Output lines that show that all users have done their requests; None for a client that
        ends by itself."""
        return None

    @property
    def memory_mib(self) -> int:
        """The responses of the server, and the same once more for its read buffers."""
        return SPARE_MIB + 2 * sum(work.response_bytes for work in self.shared) // MIB

    def programs(self) -> Iterator[GuestProgram]:
        """The server, and the client."""
        yield self._server()
        yield self._client()

    @property
    def configurations(self) -> Mapping[str, str]:
        """The server's."""
        return self._configurations

    def report(self) -> str:
        """The client's stdout."""
        return self.said()[0]

    def said(self) -> tuple[str, str]:
        """The stdout and stderr of the client."""
        name = self.client_command(Path(CLIENTS), "", 0).name
        outputs = self.outputs[self.work.client, name]
        out, errors = (
            file.read_text(encoding="utf-8", errors="replace")
            for file in (outputs.out, outputs.errors)
        )
        return out, errors

    def _server(self) -> GuestProgram:
        host = self.work.server
        name = f"{self.server_name}-{host}"
        here, folder = f"{SERVERS}/{name}", self.task.folder / "programs" / name
        make_folder(folder)
        vlans = sorted({work.vlan for work in self.shared})
        command, configuration = self.server_command(
            here, [self.task.addresses.of(host, vlan) for vlan in vlans]
        )
        self._configurations[name] = configuration
        self.write_files(folder / "files")
        write_text(folder / "conf", configuration)
        return GuestProgram(
            host,
            name,
            command.argv,
            user=command.user,
            copies={here: str(folder.absolute())},
            stop_signal=self.server_signal,
            is_server=True,
        )

    def _client(self) -> GuestProgram:
        own = self.work
        here, folder = Path(CLIENTS) / own.name, self.task.folder / "programs" / own.name
        make_folder(folder)
        self.write_client_files(folder, Path(OUTPUT))
        address = self.task.addresses.of(own.server, own.vlan)
        command = self.client_command(here, address, math.ceil(self.task.limit_s))
        finished_by = self.finished_by if own.is_finite else None
        folders = (here, folder)
        return self.task.users(
            own.client, command, folders, stop_signal=self.client_signal, finished_by=finished_by
        )
