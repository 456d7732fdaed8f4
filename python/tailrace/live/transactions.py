"""Base class of loads of transactions: users of a database, each with one transaction at a time."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.live.lab.lab import Lab
from tailrace.live.load import Load, Refusals, Task
from tailrace.live.measure.closings import Meant
from tailrace.live.service import Service
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.transactions import measured, refusals
from tailrace.programs.work import Transaction, Work
from tailrace.scenario.workloads.oltp import Oltp


class TransactionLoad(Load):
    """Users of a running server. A program implements the start and end of its users, and reads their logs."""

    sort = "transactions"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.work = Work(task.raw, task.seed, self.rows(task.service))
        self._has_begun = False

    @classmethod
    def server_of(cls, raw: Any) -> str | None:
        """The database's."""
        return str(raw["server"] if isinstance(raw, Mapping) else raw.server)

    @classmethod
    @abstractmethod
    def rows(cls, service: Service | None) -> Mapping[int, int]:
        """Rows of each table of the server by the size of its answers."""

    @abstractmethod
    def begin(self, lab: Lab) -> None:
        """The trial begins: users begin with their first pause."""

    @abstractmethod
    def look(self, lab: Lab) -> None:
        """Is called every few milliseconds after `begin`."""

    @property
    @abstractmethod
    def client_ports(self) -> frozenset[int]:
        """Of its users' connections; none when it ended before they could be read."""

    @abstractmethod
    def transactions(self) -> list[Transaction]:
        """Every transaction of its log, by user and number."""

    @abstractmethod
    def lag_us(self, whole: Sequence[Transaction]) -> float | None:
        """How late transactions began on average, in microseconds; None where it is not known."""

    @classmethod
    def refusals(cls, workload: Oltp) -> Refusals:
        """Problems: pauses that cannot be computed again."""
        return refusals(cls.load_name, workload)

    @property
    def server(self) -> Service:
        """The server that its users ask."""
        assert self.task.service is not None, "registered loads of transactions ask a service"
        return self.task.service

    @property
    def ends(self) -> tuple[str, str]:
        """Most bytes come from the server."""
        return str(self.task.raw["server"]), str(self.task.raw["client"])

    @property
    def opens(self) -> tuple[str, str]:
        """Users connect to the server."""
        return str(self.task.raw["client"]), str(self.task.raw["server"])

    @property
    def waiting(self) -> int:
        """Its users."""
        return int(self.task.raw["users"])

    def exposed(self, send_buffer_bytes: int) -> float:
        """While more of an answer is to be sent than a socket holds, a program that waits delays nothing: of an answer
        of many send buffers that is so but for the last of them."""
        return min(1.0, send_buffer_bytes / max(1, *self.work.responses))

    @property
    def is_finite(self) -> bool:
        """Whether its users have a number of transactions to do."""
        return self.work.is_finite

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """All users begin with the trial."""
        if not self._has_begun:
            self._has_begun = True
            self.begin(lab)
        else:
            self.look(lab)

    def connections(self, lab: Lab) -> Meant | None:
        """Those of its users; None when it ended before they could be read."""
        if not self.client_ports:
            return None
        client, server = self.opens
        return Meant(
            client=client,
            client_address=lab.address(client, self.work.vlan),
            client_ports=self.client_ports,
            server=server,
            server_address=lab.address(server, self.work.vlan),
            server_ports=frozenset({self.server.port}),
            server_sends=True,
            count=len(self.client_ports),
        )

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the log of transactions."""
        whole = self.transactions()
        return measured(self.work, whole, self.lag_us(whole), interval)
