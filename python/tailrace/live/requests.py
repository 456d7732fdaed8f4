"""Base classes of request programs: loads with users who wait for each response, and their servers."""

import sys
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.files import write_text
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.listening import LISTEN_LIMIT_S, wait_until_listening
from tailrace.live.lab.program import Program
from tailrace.live.load import Load, Task
from tailrace.live.measure.closings import Meant
from tailrace.live.service import Raw, Service
from tailrace.programs import ask
from tailrace.programs.command import Command, Ended
from tailrace.programs.requests import RequestWork

COPY_LIMIT_S = 60.0


class RequestLoad(Load):
    """Users of a running server. A program implements the start and end of its users, and reads what it wrote."""

    sort = "request-response"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.work = RequestWork.of(task.raw, task.seed)
        self._has_begun = False

    @classmethod
    def server_of(cls, raw: Any) -> str | None:
        """The one server that a program asks."""
        return str(raw["servers"][0] if isinstance(raw, Mapping) else raw.server_hosts[0])

    @abstractmethod
    def begin(self, lab: Lab) -> None:
        """The trial begins."""

    @abstractmethod
    def look(self, lab: Lab) -> None:
        """Is called every few milliseconds after `begin`."""

    @property
    @abstractmethod
    def client_ports(self) -> frozenset[int]:
        """Of its users' connections; none when it ended before they could be read."""

    @property
    def server(self) -> Service:
        """The server that its users ask."""
        assert self.task.service is not None, "loads of requests ask a service"
        return self.task.service

    def address(self, lab: Lab) -> str:
        """Where the server listens."""
        return lab.address(self.work.server, self.work.vlan)

    @property
    def ends(self) -> tuple[str, str]:
        """Most bytes come from the server where responses are larger than requests."""
        own = self.work
        is_from_server = own.response_bytes >= own.request_bytes
        return (own.server, own.client) if is_from_server else (own.client, own.server)

    @property
    def opens(self) -> tuple[str, str]:
        """Users connect to the server."""
        return self.work.client, self.work.server

    @property
    def waiting(self) -> int:
        """Its users."""
        return self.work.users

    def exposed(self, send_buffer_bytes: int) -> float:
        """Of a response of many send buffers, only a wait before the last of them delays users."""
        return min(1.0, send_buffer_bytes / max(1, self.work.response_bytes))

    @property
    def is_finite(self) -> bool:
        """Whether its users have a number of requests to do."""
        return self.work.is_finite

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """All users begin with the trial."""
        if not self._has_begun:
            self._has_begun = True
            self.begin(lab)
        else:
            self.look(lab)

    def connections(self, lab: Lab) -> Meant | None:
        """Those of its users; None for datagrams, and when it ended before they could be read."""
        if not self.client_ports or self.work.is_udp:
            return None
        client, server = self.opens
        return Meant(
            client=client,
            client_address=lab.address(client, self.work.vlan),
            client_ports=self.client_ports,
            server=server,
            server_address=lab.address(server, self.work.vlan),
            server_ports=frozenset({self.server.port}),
            server_sends=self.ends[0] == server,
            count=len(self.client_ports),
        )


class RequestService(Service):
    """A server whose initial state is files, which are copied into the lab's memory."""

    def __init__(self, host: str, workloads: Sequence[Raw], templates: Path) -> None:
        super().__init__(host, workloads, templates)
        self.works = [RequestWork.of(raw, 0) for raw in workloads]
        self._lab: Lab | None = None
        self._running: Program | None = None
        self._configuration = ""

    @abstractmethod
    def write_template(self, folder: Path) -> None:
        """Writes its files, for every account to read."""

    @abstractmethod
    def command(self, folder: str, addresses: Sequence[str], cpus: float | None) -> tuple[Command, str]:
        """The server, whose files and own data are in `folder`, and the text of its configuration `conf` there."""

    @abstractmethod
    def request(self, work: RequestWork) -> bytes:
        """A request of the users of a workload, as they write it."""

    @property
    def name(self) -> str:
        """Of the server in the lab."""
        return f"{self.service_name}-{self.host}"

    @property
    def responses(self) -> list[int]:
        """Sizes of responses, each once."""
        return sorted({work.response_bytes for work in self.works})

    @property
    def users(self) -> int:
        """Of all workloads that ask it."""
        return sum(work.users for work in self.works)

    @property
    def priority(self) -> int:
        """Of its frames. Workloads that ask one server have one priority: others are refused."""
        return int(self.workloads[-1]["priority"])

    @property
    def configuration(self) -> str:
        """As it was written for this trial."""
        return self._configuration

    def make_template(self) -> None:
        """Its files, in the folder of templates: every trial writes the same."""
        self.write_template(self.templates / self.host)

    def start(self, lab: Lab, cpus: float | None) -> None:
        """Copies its files into the lab's memory, and starts it there."""
        folder = f"{lab.scratch}/{self.name}"
        vlans = sorted({work.vlan for work in self.works})
        addresses = [lab.address(self.host, vlan) for vlan in vlans]
        command, self._configuration = self.command(folder, addresses, cpus)
        written = lab.folder / "logs" / f"{self.name}.conf"
        write_text(written, self._configuration)
        self._copy(lab, folder, written, command.user)
        self._lab, self._running = lab, lab.start(command)

    def _copy(self, lab: Lab, folder: str, configuration: Path, user: str | None) -> None:
        owner = [f"--owner={user}"] if user and not lab.is_nested else []
        steps: Iterable[Sequence[str]] = (
            ["install", "--directory", "--mode=0755", *owner, folder],
            ["cp", "--recursive", f"{(self.templates / self.host).absolute()}/.", f"{folder}/files"],
            ["install", "--mode=0644", str(configuration.absolute()), f"{folder}/conf"],
        )
        for number, argv in enumerate(steps):
            lab.run(Command(f"{self.name}-copy-{number}", argv), COPY_LIMIT_S)

    def wait_until_ready(self) -> None:
        """It listens."""
        assert self._lab is not None, "it was started"
        wait_until_listening(self._lab, self.name, self._program, self.port, is_udp=self.works[0].is_udp)

    def verify(self, lab: Lab) -> None:
        """Asks for every size once, from the server's own host, and compares the size of the response."""
        for number, work in enumerate(self.works):
            address = lab.address(self.host, work.vlan)
            argv = [sys.executable, "-I", str(Path(ask.__file__).absolute()), address, str(self.port)]
            argv += ["udp" if work.is_udp else "tcp", self.request(work).hex(), str(work.response_bytes)]
            told = lab.run(Command(f"{self.name}-verify-{number}", argv, host=self.host), LISTEN_LIMIT_S).strip()
            if told != str(work.response_bytes):
                raise FabricError(
                    f"{self.name}: a response of {work.name} has {told} bytes, not {work.response_bytes}"
                    f" (hint: {self.service_name} of another version may write other headers)"
                )

    @property
    def programs(self) -> Sequence[Program]:
        """The server."""
        return [self._running] if self._running else []

    def stop(self) -> Ended:
        """Ends it at once; its connections are over."""
        return self._program.stop()

    @property
    def _program(self) -> Program:
        assert self._running is not None, "it was started"
        return self._running
