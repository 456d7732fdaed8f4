"""Base classes of request programs: loads with users who wait for each response, and their
servers."""

import sys
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tailrace.files import write_text
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.listening import LISTEN_LIMIT_S, wait_until_listening
from tailrace.live.lab.program import Program
from tailrace.live.load import Task
from tailrace.live.service import Raw, Service
from tailrace.live.users import UserLoad
from tailrace.programs import ask
from tailrace.programs.command import Command, Ended
from tailrace.programs.requests import RequestWork

COPY_LIMIT_S = 60.0
CHECK_LIMIT_S = 60.0


@dataclass(frozen=True)
class Check:
    """A Python program that sends requests to a server, and the output if sizes are those of the
    scenario."""

    file: str
    words: Sequence[str]
    what: str
    """Noun for the objects with these sizes."""
    expected: str


class RequestLoad(UserLoad):
    """Users of a running server, each with one request at a time."""

    sort = "request-response"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.work: RequestWork = RequestWork.of(task.raw, task.seed)

    @classmethod
    def server_of(cls, raw: Any) -> str | None:
        """The single server that a program uses."""
        return str(raw["servers"][0] if isinstance(raw, Mapping) else raw.server_hosts[0])

    @property
    def host_of_users(self) -> str:
        """The one client."""
        return self.work.client

    @property
    def host_asked(self) -> str:
        """The one server."""
        return self.work.server

    @property
    def has_connections(self) -> bool:
        """Datagrams have none; others have one for each request."""
        return not self.work.is_udp and self.work.is_kept

    @property
    def ends(self) -> tuple[str, str]:
        """Most bytes come from the server where responses are larger than requests."""
        own = self.work
        is_from_server = own.response_bytes >= own.request_bytes
        return (own.server, own.client) if is_from_server else (own.client, own.server)

    @property
    def waiting(self) -> int:
        """Its users."""
        return self.work.users

    def exposed(self, send_buffer_bytes: int) -> float:
        """Of a response of many send buffers, only a wait before the last of them delays users."""
        return min(1.0, send_buffer_bytes / max(1, self.work.response_bytes))


class RequestService(Service):
    """A server whose initial state is files, which are copied into the lab's memory."""

    listen_limit_s: ClassVar[float] = LISTEN_LIMIT_S

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
    def command(
        self, folder: str, addresses: Sequence[str], cpus: float | None
    ) -> tuple[Command, str]:
        """The server, whose files and own data are in `folder`, and the text of its configuration
        `conf` there."""

    @abstractmethod
    def check(self, work: RequestWork, address: str) -> "Check":
        """The check that a response of a workload has its size."""

    def ask(self, work: RequestWork, address: str, request: bytes) -> "Check":
        """Sends one request, in the form that the users send."""
        expected = str(work.response_bytes)
        protocol = "udp" if work.is_udp else "tcp"
        return Check(
            ask.__file__,
            [address, str(self.port), protocol, request.hex(), expected],
            "a response",
            expected,
        )

    @property
    def name(self) -> str:
        """Of the server in the lab."""
        return f"{self.service_name}-{self.host}"

    @property
    def users(self) -> int:
        """Users of all workloads that use it."""
        return sum(work.users for work in self.works)

    @property
    def priority(self) -> int:
        """Priority of its frames. Workloads with a common server have one priority: others are
        refused."""
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
            [
                "cp",
                "--recursive",
                f"{(self.templates / self.host).absolute()}/.",
                f"{folder}/files",
            ],
            ["install", "--mode=0644", str(configuration.absolute()), f"{folder}/conf"],
        )
        for number, argv in enumerate(steps):
            lab.run(Command(f"{self.name}-copy-{number}", argv), COPY_LIMIT_S)

    def wait_until_ready(self) -> None:
        """It listens."""
        assert self._lab is not None, "it was started"
        is_udp, limit_s = self.works[0].is_udp, self.listen_limit_s
        wait_until_listening(
            self._lab, self.name, self._program, self.port, is_udp=is_udp, limit_s=limit_s
        )

    def verify(self, lab: Lab) -> None:
        """Requests every size once, from the server's own host, and compares the size of the
        response."""
        for number, work in enumerate(self.works):
            check = self.check(work, lab.address(self.host, work.vlan))
            found = self.run(lab, f"verify-{number}", check)
            if found != check.expected:
                raise FabricError(
                    f"{self.name}: {check.what} of {work.name} has {found} bytes, not "
                    f"{check.expected}"
                    f" (hint: {self.service_name} of another version may write other headers)"
                )

    def run(self, lab: Lab, name: str, check: "Check") -> str:
        """Runs a Python program on the server's own host; returns its output."""
        argv = [sys.executable, "-I", str(Path(check.file).absolute()), *check.words]
        return lab.run(Command(f"{self.name}-{name}", argv, host=self.host), CHECK_LIMIT_S).strip()

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
