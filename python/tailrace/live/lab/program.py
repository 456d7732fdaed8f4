"""Programs of a lab: starting, waiting and stopping."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from tailrace.live.lab.fabric import FabricError
from tailrace.programs.command import Command, Ended, complaint

STOP_GRACE_S = 5.0
"""Time between SIGTERM and SIGKILL."""
STOP_LIMIT_S = 30.0
"""Time for started transactions to end; the largest take seconds."""


class Keeper(Protocol):
    """The interface of a lab to its programs."""

    def out_path(self, name: str) -> Path: ...
    def err_path(self, name: str) -> Path: ...
    def ended(self, name: str) -> Ended | None: ...
    def wait(self, programs: "Sequence[Program]", limit_s: float) -> list[Ended]: ...
    def call(self, op: str, **arguments: Any) -> dict[str, Any]: ...


class Program:
    """A program that was started in a lab."""

    def __init__(self, lab: Keeper, command: Command, pid: int) -> None:
        self._lab = lab
        self.command = command
        self.pid = pid

    @property
    def out_path(self) -> Path:
        """File with its stdout."""
        return self._lab.out_path(self.command.name)

    @property
    def err_path(self) -> Path:
        """File with its stderr."""
        return self._lab.err_path(self.command.name)

    def errors(self) -> str:
        """Its stderr so far."""
        return self.err_path.read_text(encoding="utf-8", errors="replace")

    def output(self) -> str:
        """Its stdout so far."""
        return self.out_path.read_text(encoding="utf-8", errors="replace")

    @property
    def ended(self) -> Ended | None:
        """How it ended; None while it runs."""
        return self._lab.ended(self.command.name)

    def wait(self, limit_s: float) -> Ended:
        """Waits for its end; raises `FabricError` when it takes longer."""
        return self._lab.wait([self], limit_s)[0]

    def signal(self, name: str) -> None:
        """Sends a signal, by its name without SIG; does nothing if the program has ended."""
        if self.ended is not None:
            return
        try:
            self._lab.call("signal", name=self.command.name, signal=name)
        except FabricError:
            if self.ended is None:  # its end was reported before the answer
                raise

    def stop(self, first: str = "TERM") -> Ended:
        """Terminates it, and kills it if it does not end in time."""
        self.signal(first)
        try:
            return self.wait(STOP_GRACE_S)
        except FabricError:
            self.signal("KILL")
            return self.wait(STOP_GRACE_S)

    def require(self, limit_s: float) -> Ended:
        """Waits for a successful end; raises `FabricError` with the last lines of its stderr
        otherwise."""
        ended = self.wait(limit_s)
        if not ended.is_good:
            raise FabricError(self.complaint())
        return ended

    def complaint(self) -> str:
        """A clause about its end, with the last lines of its stderr."""
        return complaint(self.command, self.ended, self.err_path, self.out_path)
