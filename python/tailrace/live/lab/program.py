"""Programs of a lab: starting, waiting and stopping."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tailrace.live.lab.fabric import FabricError

STOP_GRACE_S = 5.0
"""Time between SIGTERM and SIGKILL."""
STOP_LIMIT_S = 30.0
"""Time for started transactions to end; the largest take seconds."""
TAIL_LINES = 6
"""Lines of a program's stderr that a message quotes."""
TAIL_BYTES = 8192


@dataclass(frozen=True)
class Command:
    """A program to start, with its arguments; it is never run by a shell."""

    name: str
    """Name, unique in the lab; used in the names of its logs."""
    argv: Sequence[str]
    host: str | None = None
    """Host whose network it uses; None for the lab's own namespace, which has no network."""
    user: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    cpus: float | None = None
    """Cores that all programs of the host share; None for all cores."""
    priority: int | None = None
    """Priority of the frames of its sockets, 0 to 7; None for the machine's default, 0."""
    dscp: int | None = None
    """Code point of the TCP connections that it opens; their responses have the same. None for 0."""


@dataclass(frozen=True)
class Ended:
    """The end of a program."""

    exit_code: int | None
    signal: int | None
    user_s: float
    system_s: float
    max_rss_bytes: int
    wall_s: float

    @classmethod
    def read(cls, event: Mapping[str, Any]) -> "Ended":
        """The end of a program from an event of the fabric."""
        status = event["status"]
        return cls(
            exit_code=status.get("exit"),
            signal=status.get("signal"),
            user_s=float(event.get("user_s", 0)),
            system_s=float(event.get("system_s", 0)),
            max_rss_bytes=int(event.get("max_rss_bytes", 0)),
            wall_s=float(event.get("wall_s", 0)),
        )

    @property
    def is_good(self) -> bool:
        """Whether it returned 0."""
        return self.exit_code == 0


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
        """Waits for a successful end; raises `FabricError` with the last lines of its stderr otherwise."""
        ended = self.wait(limit_s)
        if not ended.is_good:
            raise FabricError(self.complaint())
        return ended

    def complaint(self) -> str:
        """A clause about its end, with the last lines of its stderr."""
        ended = self.ended
        how = "is still running" if ended is None else f"ended with status {ended.exit_code}"
        if ended is not None and ended.signal is not None:
            how = f"was ended by signal {ended.signal}"
        lines = [line.strip() for line in tail(self.err_path) or tail(self.out_path)]
        program = Path(self.command.argv[0]).name
        return f"{self.command.name}: {program} {how}: {' | '.join(lines) or 'it printed nothing'}"


def tail(path: Path, lines: int = TAIL_LINES) -> list[str]:
    """The last lines of a file; none where it is not there."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()][-lines:]
