"""A program that an engine starts: its command, its end, and the last lines of its output."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
    cores: Sequence[int] | None = None
    """Cores of the machine that it may use; None for those of its host."""
    group: str | None = None
    """Name of a control group of its own; None for that of its host."""
    priority: int | None = None
    """Priority of the frames of its sockets, 0 to 7; None for the machine's default, 0."""
    dscp: int | None = None
    """Code point of the TCP connections that it opens; their responses have the same. None for
    0."""
    stdin: str | None = None
    """File with its input; None for none."""
    observes: bool = False
    """Whether it only reads the state of its host, for a moment: it need not be in the control
    group of the host."""
    io: Mapping[str, Any] | None = None
    """Limits on a disk, as `Envelope.order` writes them; None for none."""


@dataclass(frozen=True)
class Ended:
    """The end of a program."""

    exit_code: int | None
    signal: int | None
    user_s: float
    system_s: float
    max_rss_bytes: int
    wall_s: float
    voluntary_switches: int = 0
    """Of all its threads, those that ended before and its children included."""
    involuntary_switches: int = 0

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
            voluntary_switches=int(event.get("voluntary_switches", 0)),
            involuntary_switches=int(event.get("involuntary_switches", 0)),
        )

    @property
    def is_good(self) -> bool:
        """Whether it returned 0."""
        return self.exit_code == 0


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


def complaint(command: Command, ended: Ended | None, errors: Path, output: Path) -> str:
    """A clause about the end of a program, with the last lines of its stderr, or of its stdout."""
    how = "is still running" if ended is None else f"ended with status {ended.exit_code}"
    if ended is not None and ended.signal is not None:
        how = f"was ended by signal {ended.signal}"
    lines = [line.strip() for line in tail(errors) or tail(output)]
    return (
        f"{command.name}: {Path(command.argv[0]).name} {how}: "
        f"{' | '.join(lines) or 'it printed nothing'}"
    )
