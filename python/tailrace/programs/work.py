"""The tasks of a workload's users, and one of their logged transactions."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tailrace.programs.draws import Draw

SEEDS_APART = 64
"""Between the seeds of two draws of a workload: no draw uses more."""


@dataclass(frozen=True)
class Transaction:
    """One transaction; times in microseconds."""

    user: int
    number: int
    """From 1, for each user."""
    begun_us: int
    """Wall clock at which its pause began."""
    intended_us: int
    """Wall clock at which it was meant to send its first statement."""
    ended_us: int

    @property
    def latency_us(self) -> int:
        """From the intended start: waiting for a late load generator counts."""
        return self.ended_us - self.intended_us


@dataclass(frozen=True)
class Work:
    """The tasks of one workload's users."""

    raw: Mapping[str, Any]
    """The workload as it stands in the plan."""
    seed: int
    rows: Mapping[int, int]
    """Rows of each table by the size of its answers."""

    @property
    def name(self) -> str:
        """Name of the workload."""
        return str(self.raw["name"])

    @property
    def vlan(self) -> int:
        """The VLAN of its connections; 0 for none."""
        return int(self.raw.get("vlan") or 0)

    @property
    def port(self) -> int:
        """The port of its server."""
        return int(self.raw["port"])

    @property
    def is_finite(self) -> bool:
        """Whether its users have a number of transactions to do."""
        return bool(self.count)

    @property
    def count(self) -> int:
        """Transactions of each user; 0 for as many as there is time for."""
        return int(self.raw["transactions"])

    @property
    def responses(self) -> list[int]:
        """Size of each answer of a transaction in bytes, in order."""
        return [trip["response_bytes"] for trip in self.raw["round_trips"]]

    def _draw(self, what: str, position: int) -> Draw:
        digest = sha256(f"tailrace/{self.seed}/{self.name}".encode()).digest()
        base = int.from_bytes(digest[:7], "big") * SEEDS_APART
        return Draw(self.raw[what], base + position * (SEEDS_APART // 2))

    @property
    def start(self) -> Draw:
        """Pause before a user's first transaction."""
        return self._draw("start", 0)

    @property
    def gap(self) -> Draw:
        """Pause before every other one."""
        return self._draw("gap", 1)

    def pause_us(self, user: int, number: int) -> int:
        """The pause before this transaction, in microseconds."""
        return (self.start if number == 1 else self.gap).value_us(user, number)
