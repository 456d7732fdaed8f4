"""Python interface of the simulator: a plan in, an outcome out."""

import array
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import msgspec

from tailrace.errors import TailraceError
from tailrace.experiment.waiting import interruptible
from tailrace.outcome.types import Outcome, Tree

BUILD_DIGITS = 12
"""Hexadecimal digits that identify a build: 48 bits."""
CODES = {"u32": "I", "u64": "Q", "f64": "d"}
"""Column types of tables and their codes in Python's arrays."""
Result = TypeVar("Result")
Columns = dict[str, tuple[str, bytes]]
NativeOutcome = tuple[list[str], list[tuple[str, int, int]], dict[str, Columns]]
"""The outcome as JSON in pieces; where in them lists begin and end, which nothing needs; tables."""


class NativeTrial(Protocol):
    """The interface of `tailrace._native.Trial`."""

    def run(self) -> NativeOutcome: ...
    def explain(self) -> NativeOutcome: ...
    def unexplained(self) -> list[tuple[str, str]]: ...
    def trace(
        self, windows_ps: list[tuple[int, int]], transactions: list[tuple[int, int, int]]
    ) -> dict[str, Columns]: ...
    def spanning_trees(self) -> str: ...
    def parts(self, cores: int) -> int: ...
    def cores(self) -> int: ...
    def progress(self) -> float: ...
    def cancel(self) -> None: ...


@dataclass(frozen=True)
class NotDivided:
    """Why a plan has to do with one core."""

    what: str
    hint: str
    workload: str | None
    """The workload to which it applies."""
    link: Sequence[str] | None
    """The ends of the link to which it applies."""


@dataclass(frozen=True)
class Ran:
    """A trial that ran to its end: its outcome and its tables."""

    outcome: Outcome
    tables: dict[str, Columns] = field(default_factory=dict, repr=False)
    cores: int = 1
    """Cores of the machine on which it ran."""


@dataclass(frozen=True)
class Failed:
    """A trial that an engine rejected, or that ended with an error: it has no outcome."""

    reason: str


@dataclass(frozen=True)
class Cancelled:
    """A trial that was ended before its time."""


class _Beginning(msgspec.Struct):
    """The parts of an outcome that are decoded first: a trial that was ended early has little
    else."""

    cancelled: bool


def column(kind: str, values: Iterable[int] | Iterable[float]) -> tuple[str, bytes]:
    """A column of a table: little-endian, as the simulator's."""
    return kind, array.array(CODES[kind], values).tobytes()


def values(columns: Columns) -> dict[str, Sequence[Any]]:
    """The numbers of a table by column."""
    return {name: array.array(CODES[kind], data) for name, (kind, data) in columns.items()}


def simulator_version() -> str:
    """Version of the built simulator."""
    return str(_module().version())


def simulator_build() -> str:
    """Identifies the build of the simulator; results of two builds are never mixed."""
    file = getattr(_module(), "__file__", None)
    return _hash_of_file(file) if file else simulator_version()


@cache
def _hash_of_file(file: str) -> str:
    """The file of a loaded module: its hash is taken once."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:BUILD_DIGITS]


def make_trial(plan_json: str, *of_cores: int | bool) -> NativeTrial:
    """Parses a plan; raises `TailraceError` when the simulator rejects it. `of_cores`: how many it
    runs on, and whether that is a limit.
    """
    native = _module()
    try:
        return cast(NativeTrial, interruptible(lambda: native.Trial(plan_json, *of_cores)))
    except native.PlanError as error:
        raise TailraceError(f"the simulator rejects this plan: {error}") from None


def parts_of(trial: NativeTrial, cores: int) -> int | NotDivided:
    """Number of parts into which the network of a trial is divided for at most this many cores; or
    the reason why it is not divided."""
    try:
        return interruptible(lambda: trial.parts(cores)) if cores > 1 else 1
    except _module().NotDivided as error:
        return NotDivided(*error.args)


def spanning_trees(plan_json: str) -> list[Tree]:
    """The spanning trees of a plan, as its outcome lists them; raises `TailraceError` when the
    simulator rejects the plan.
    """
    return msgspec.json.decode(make_trial(plan_json).spanning_trees(), type=list[Tree])


def run_trial(trial: NativeTrial) -> Ran:
    """Runs a trial that nothing cancels; raises as `run_or_cancel`."""
    ended = run_or_cancel(trial)
    assert isinstance(ended, Ran), "nothing cancels it"
    return ended


def run_or_cancel(trial: NativeTrial) -> Ran | Cancelled:
    """Runs a trial to its end. A broken invariant in the simulator raises `RuntimeError`; a plan
    that cannot use its cores raises `TailraceError`."""
    try:
        ending = _ending(trial, trial.run)
    except _module().NotDivided as error:
        why = NotDivided(*error.args)
        raise TailraceError(f"several cores: {why.what} (hint: {why.hint})") from None
    return _ended(ending)


def _ended(native: NativeOutcome) -> Ran | Cancelled:
    pieces, _lists, tables = native
    text = "".join(pieces)
    pieces.clear()
    if msgspec.json.decode(text, type=_Beginning).cancelled:
        return Cancelled()
    return Ran(msgspec.json.decode(text, type=Outcome), tables)


def unexplained(plan_json: str) -> dict[str, str]:
    """The workloads of a plan whose latencies are not explained, each with the reason; raises
    `TailraceError` when the simulator rejects the plan.
    """
    return dict(make_trial(plan_json).unexplained())


def explain_trial(trial: NativeTrial) -> Ran | Cancelled:
    """Runs a trial to its end with the causes of its transactions' time as tables."""
    return _ended(_ending(trial, trial.explain))


def trace_trial(
    trial: NativeTrial, windows_ps: list[tuple[int, int]], transactions: list[tuple[int, int, int]]
) -> dict[str, Columns]:
    """Runs a trial to the end of the last window. Returns the tables of the timeline of these
    windows (from, to), and of the connections of these transactions (index of the workload, index
    in the order of completion, user)."""
    return _ending(trial, lambda: trial.trace(windows_ps, transactions))


def _ending(trial: NativeTrial, call: Callable[[], Result]) -> Result:
    """The result of the call on a trial; an interrupt ends the trial, and is raised at once."""
    try:
        return interruptible(call)
    except KeyboardInterrupt:
        trial.cancel()
        raise


def drop_causes() -> list[str]:
    """Names of the causes of drops, in the order of their numbers."""
    return list(_module().drop_causes())


def dropped_by() -> list[str]:
    """Names of dropping components in explanations, in the order of their numbers."""
    return list(_module().dropped_by())


def _module() -> Any:
    try:
        from tailrace import _native
    except ImportError as error:
        raise TailraceError(
            f"the simulator is not built: {error} (hint: run `make build`)"
        ) from None
    return _native
