"""Where programs are started before and in trials: a lab, or this machine."""

from pathlib import Path
from typing import Protocol

from tailrace.programs.command import Command, Ended


class Running(Protocol):
    """A program that was started."""

    command: Command

    @property
    def err_path(self) -> Path: ...
    @property
    def ended(self) -> Ended | None: ...
    def stop(self, first: str = "TERM") -> Ended: ...
    def complaint(self) -> str: ...


class ProgramRunner(Protocol):
    """Starts programs, and has a folder for what they write."""

    @property
    def scratch(self) -> str:
        """Folder that every user may reach, and that is gone with the place."""

    @property
    def is_nested(self) -> bool:
        """Whether programs run as the user who started this one, whatever their command says."""

    def start(self, command: Command) -> Running: ...
    def run(self, command: Command, limit_s: float) -> str: ...
