"""Base class of loads whose users are those of one program, which connect to a running server."""

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Load, Task
from tailrace.live.measure import closings
from tailrace.live.measure.closings import Meant
from tailrace.live.service import Service
from tailrace.programs.command import Command, Ended
from tailrace.programs.work import Work

US_PER_S = 10**6


class UserLoad(Load):
    """Users of a running server: one program, which starts with the trial.

    A program that reports how many of its users are done is ended when all are. All others end by
    themselves.
    """

    end_signal: ClassVar[str] = "INT"
    """Signal that ends the program; its output is then complete."""
    work: Work
    """The work of its users; set by the base class of its sort."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.begun_wall_us = 0
        """When its program was started, by the wall clock."""
        self._command: Command | None = None
        self._started: Program | None = None
        self._is_over = False
        self._ports: frozenset[int] = frozenset()
        self._polls = 0

    @abstractmethod
    def command(self, lab: Lab) -> Command:
        """The program. Its files are written before this returns."""

    def have_users_done(self, errors: str) -> bool:
        """Whether the program reports in its stderr that all of its users have done their work."""
        return False

    def require_good(self, ended: Ended) -> None:
        """Raises `FabricError` unless the program has ended as it should at the end of the
        trial."""
        if not ended.is_good:
            raise FabricError(self.started.complaint())

    @property
    @abstractmethod
    def host_of_users(self) -> str:
        """Host of the program."""

    @property
    @abstractmethod
    def host_asked(self) -> str:
        """Host of the server."""

    @property
    def has_connections(self) -> bool:
        """Whether each user keeps one TCP connection."""
        return True

    @property
    def server(self) -> Service:
        """The server that its users use."""
        assert self.task.service is not None, "these loads ask a service"
        return self.task.service

    def address(self, lab: Lab) -> str:
        """Where the server listens."""
        return lab.address(self.host_asked, self.work.vlan)

    @property
    def started(self) -> Program:
        """Its program, after the begin of the trial."""
        assert self._started is not None, "it was started"
        return self._started

    @property
    def opens(self) -> tuple[str, str]:
        """Users connect to the server."""
        return self.host_of_users, self.host_asked

    @property
    def is_finite(self) -> bool:
        """Whether its users have a number of things to do."""
        return self.work.is_finite

    def prepare(self, lab: Lab) -> None:
        """Writes its files."""
        self._command = self.command(lab)

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """All users begin with the trial."""
        if not self.begun_wall_us:
            self.begun_wall_us = time.time_ns() // 1000
            self.begin(lab)
        else:
            self.poll(lab)

    def begin(self, lab: Lab) -> None:
        """The trial begins."""
        assert self._command is not None, "it was prepared"
        self._started = lab.start(self._command)

    def poll(self, lab: Lab) -> None:
        """Is called every few milliseconds after `begin`: ends the program when its users have done
        their work."""
        if not self._is_over and self.is_done:
            self._end(lab)

    @property
    def programs(self) -> Sequence[Program]:
        """The program."""
        return [self._started] if self._started else []

    @property
    def is_done(self) -> bool:
        """Whether every user has done its work."""
        if self._started is None:
            return False
        if self._is_over or self._started.ended is not None:
            return True
        return self.is_finite and self.have_users_done(self._started.errors())

    def stop(self, lab: Lab) -> None:
        """Requests the end; running transactions may finish."""
        if self._started is None:
            return
        if not self._is_over:
            self._end(lab)
        self.require_good(self._started.wait(STOP_LIMIT_S))

    def _end(self, lab: Lab) -> None:
        """Its connections are open until then."""
        self.read_ports(lab)
        self.started.signal(self.end_signal)
        self._is_over = True

    def read_ports(self, lab: Lab) -> None:
        """Notes the ports of its connections while they are open."""
        if self.has_connections and self.started.ended is None:
            self._ports = closings.client_ports(lab, self.started, self.server.port, self._polls)
            self._polls += 1

    @property
    def client_ports(self) -> frozenset[int]:
        """Of its users' connections; none for datagrams, and when it ended before they could be
        read."""
        return self._ports

    def connections(self, lab: Lab) -> Meant | None:
        """Those of its users; None when they are not known."""
        if not self.client_ports or not self.has_connections:
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

    def said(self) -> str:
        """Its stdout."""
        return self.started.output()
