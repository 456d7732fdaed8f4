"""Messages between the command and a worker: trials as JSON text, outcomes as MessagePack bytes.

Neither side trusts the other more than necessary: texts and bytes name no class, and are checked
against the types here before they are used.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import msgspec

from tailrace.errors import TailraceError
from tailrace.experiment.native import Cancelled, Columns, Failed, Ran, simulator_build
from tailrace.experiment.remote.pickles import printable
from tailrace.outcome.types import Outcome

ITEM_BYTES = {"u32": 4, "u64": 8, "f64": 8}
"""Types of columns, and bytes of a value."""
TABLE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
"""A table is stored in a file of its name."""

ESCAPED = re.compile(r"\\[bfnrtu]")
"""How JSON writes signs that a terminal would obey. No name has one."""
UNDECODABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""Errors of decoding."""


class UnreadableAnswerError(TailraceError):
    """A worker's answer does not match the request; the text states the fault."""


class Build(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The software that runs a trial; results of two builds are never mixed."""

    version: str
    simulator: str

    def __str__(self) -> str:
        return printable(f"tailrace {self.version}, simulator {self.simulator}")


def own_build() -> Build:
    """The build of this process."""
    return Build(_package_version(), simulator_build())


@cache
def _package_version() -> str:
    try:
        return version("tailrace")
    except PackageNotFoundError:
        return "not installed"


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One trial."""

    number: int
    """Of the trial in its stage."""
    plan: str
    plan_hash: str

    @classmethod
    def of(cls, number: int, plan: str) -> "Task":
        """A trial with the hash of its plan."""
        return cls(number, plan, hash_of(plan))


class Batch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Trials that one worker runs one after the other."""

    build: Build
    tasks: tuple[Task, ...]

    def text(self) -> str:
        """As JSON."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def parse(cls, text: str) -> "Batch":
        """From JSON; a key that is missing or unknown raises `msgspec.ValidationError`."""
        return msgspec.json.decode(text, type=cls)


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One trial that a worker ran."""

    number: int
    plan_hash: str
    outcome: str
    """As JSON; empty of a trial without one."""
    wall_s: float
    tables: dict[str, Columns] = {}
    failed: str | None = None
    """Why the trial has failed; None where it has not. With neither this nor an outcome it was
    cancelled."""
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
        """How the trial ended; raises `UnreadableAnswerError`."""
        if self.failed is not None:
            return Failed(printable(self.failed))
        if not self.outcome:
            return Cancelled()
        refuse_tables(self.tables)
        if not self.outcome.isprintable() or ESCAPED.search(self.outcome):
            raise UnreadableAnswerError("an outcome with signs that are not printable")
        try:
            return Ran(msgspec.json.decode(self.outcome, type=Outcome), self.tables)
        except UNDECODABLE as error:
            raise UnreadableAnswerError(
                f"an outcome that is none: {printable(str(error))}"
            ) from None


class Answers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The results of a worker for a batch; trials that it omitted run later."""

    worker: str
    answers: tuple[Answer, ...] = ()
    refused: str = ""
    """Why the worker ran nothing; empty when it did."""

    def packed(self) -> bytes:
        """As MessagePack: reading it needs no class of this package on the scheduler."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def read(cls, packed: object) -> "Answers":
        """Decodes MessagePack; raises `UnreadableAnswerError` for any other input."""
        if not isinstance(packed, bytes):
            raise UnreadableAnswerError(f"bytes were expected, and a {type(packed).__name__} came")
        try:
            answers = msgspec.msgpack.decode(packed, type=cls)
        except UNDECODABLE as error:
            raise UnreadableAnswerError(printable(str(error))) from None
        if any(not 0 <= answer.wall_s < float("inf") for answer in answers.answers):
            raise UnreadableAnswerError("a trial's time is no time")
        return msgspec.structs.replace(
            answers, worker=printable(answers.worker), refused=printable(answers.refused)
        )

    def by_task(self, tasks: tuple[Task, ...]) -> Mapping[int, Answer]:
        """The answers by the index of their task; raises `UnreadableAnswerError` for answers to
        other tasks."""
        index_of = {task.number: index for index, task in enumerate(tasks)}
        found: dict[int, Answer] = {}
        for answer in self.answers:
            index = index_of.pop(answer.number, None)
            if index is None or answer.plan_hash != tasks[index].plan_hash:
                raise UnreadableAnswerError("a trial that was not asked for")
            found[index] = answer
        return found


def refuse_tables(tables: Mapping[str, Columns]) -> None:
    """Raises `UnreadableAnswerError` for tables that cannot be stored: names, types and lengths are
    a worker's."""
    for name, columns in tables.items():
        if TABLE_NAME.fullmatch(name) is None:
            raise UnreadableAnswerError(f"a table of the name {printable(name, 80)!r}")
        rows = set()
        for kind, data in columns.values():
            if kind not in ITEM_BYTES or len(data) % ITEM_BYTES[kind]:
                raise UnreadableAnswerError(f"the table {name} has a column that is none")
            rows.add(len(data) // ITEM_BYTES[kind])
        if len(rows) > 1:
            raise UnreadableAnswerError(f"the table {name} has columns of different lengths")


def hash_of(plan: str) -> str:
    """The hash of the text of a plan, with which a worker verifies the plan that it received."""
    return hashlib.sha256(plan.encode()).hexdigest()
