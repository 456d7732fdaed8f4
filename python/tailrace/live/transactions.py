"""Base class of loads of transactions: users of a database, each with one transaction at a time."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.live.database import DatabaseService
from tailrace.live.load import Refusals, Task
from tailrace.live.service import Service
from tailrace.live.users import UserLoad
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.transactions import measured, refusals
from tailrace.programs.work import Transaction, Work
from tailrace.scenario.workloads.oltp import Oltp


class TransactionLoad(UserLoad):
    """Users of a running database. A program implements its command, and reads the logs of its
    users."""

    sort = "transactions"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.work: Work = Work(task.raw, task.seed, self.rows(task.service))

    @classmethod
    def server_of(cls, raw: Any) -> str | None:
        """The database's."""
        return str(raw["server"] if isinstance(raw, Mapping) else raw.server)

    @classmethod
    def rows(cls, service: Service | None) -> Mapping[int, int]:
        """Rows of each table of the server by the size of its answers."""
        assert isinstance(service, DatabaseService), "loads of transactions ask a database"
        return service.rows

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
    def host_of_users(self) -> str:
        """The client."""
        return str(self.task.raw["client"])

    @property
    def host_asked(self) -> str:
        """The database's."""
        return str(self.task.raw["server"])

    @property
    def ends(self) -> tuple[str, str]:
        """Most bytes come from the server."""
        return self.host_asked, self.host_of_users

    @property
    def waiting(self) -> int:
        """Its users."""
        return int(self.task.raw["users"])

    def exposed(self, send_buffer_bytes: int) -> float:
        """While more of an answer is to be sent than a socket holds, a program that waits delays
        nothing: of an answer of many send buffers that is so but for the last of them."""
        return min(1.0, send_buffer_bytes / max(1, *self.work.responses))

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the log of transactions."""
        whole = self.transactions()
        return measured(self.work, whole, self.lag_us(whole), interval)
