"""Runs programs before and in trials: in a lab, or on this machine."""

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
    """Starts programs, and has a folder for their output."""

    @property
    def scratch(self) -> str:
        """Folder that every user may reach, and that is removed with the runner."""

    @property
    def is_nested(self) -> bool:
        """Whether programs run as the user who started this one, whatever user their command
        states."""

    def start(self, command: Command) -> Running: ...
    def run(self, command: Command, limit_s: float) -> str: ...
