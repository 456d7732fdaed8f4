"""What travels between the command and a worker: trials there, outcomes back, both as JSON text."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from tailrace.experiment.native import Cancelled, Columns, Failed, Ran, simulator_build
from tailrace.outcome.types import Outcome


@dataclass(frozen=True)
class Build:
    """The software that runs a trial; results of two builds are never mixed."""

    version: str
    simulator: str

    def __str__(self) -> str:
        return f"tailrace {self.version}, simulator {self.simulator}"


def own_build() -> Build:
    """The build of this process."""
    return Build(_package_version(), simulator_build())


@cache
def _package_version() -> str:
    try:
        return version("tailrace")
    except PackageNotFoundError:
        return "not installed"


@dataclass(frozen=True)
class Task:
    """One trial."""

    number: int
    """Of the trial in its stage."""
    plan: str
    plan_hash: str

    @classmethod
    def of(cls, number: int, plan: str) -> "Task":
        """A trial with the hash of its plan."""
        return cls(number, plan, hash_of(plan))


@dataclass(frozen=True)
class Batch:
    """Trials that one worker runs one after the other."""

    build: Build
    tasks: tuple[Task, ...]

    def text(self) -> str:
        """As JSON."""
        return json.dumps({"build": asdict(self.build), "tasks": [asdict(task) for task in self.tasks]})

    @classmethod
    def parse(cls, text: str) -> "Batch":
        """From JSON; a key that is missing or unknown raises `TypeError`."""
        raw = json.loads(text)
        return cls(Build(**raw["build"]), tuple(Task(**task) for task in raw["tasks"]))


@dataclass(frozen=True)
class Answer:
    """One trial that a worker ran."""

    number: int
    plan_hash: str
    outcome: str
    """As JSON; empty of a trial without one."""
    wall_s: float
    tables: Mapping[str, Columns] = field(default_factory=dict)
    failed: str | None = None
    """Why the trial has failed; None where it has not. With neither this nor an outcome it was cancelled."""
    panic: str = ""
    """The error that ended the trial and has to end the run; empty without one."""

    @classmethod
    def of(cls, task: Task, ended: Ran | Failed | Cancelled, wall_s: float) -> "Answer":
        """How a trial ended."""
        match ended:
            case Ran():
                outcome = msgspec.json.encode(ended.outcome).decode()
                return cls(task.number, task.plan_hash, outcome, wall_s, ended.tables)
            case Failed():
                return cls(task.number, task.plan_hash, "", wall_s, failed=ended.reason)
            case Cancelled():
                return cls(task.number, task.plan_hash, "", wall_s)

    @property
    def ended(self) -> Ran | Failed | Cancelled:
        """How the trial ended."""
        if self.failed is not None:
            return Failed(self.failed)
        if not self.outcome:
            return Cancelled()
        return Ran(msgspec.json.decode(self.outcome, type=Outcome), dict(self.tables))


@dataclass(frozen=True)
class Answers:
    """What a worker did of a batch; trials that it left out run later."""

    worker: str
    answers: tuple[Answer, ...] = ()
    refused: str = ""
    """Why the worker ran nothing; empty when it did."""

    def raw(self) -> dict[str, Any]:
        """As plain values, so that reading them needs no class of this package on the scheduler."""
        return asdict(self)

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> "Answers":
        """From plain values."""
        return cls(raw["worker"], tuple(Answer(**answer) for answer in raw["answers"]), raw["refused"])


def hash_of(plan: str) -> str:
    """The hash of the text of a plan, by which a worker knows that it has the plan that was sent."""
    return hashlib.sha256(plan.encode()).hexdigest()
