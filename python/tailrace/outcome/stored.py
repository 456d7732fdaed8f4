"""A trial as a run directory stores it: its identity, its end, and its outcome."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO, Literal, TypeVar

import msgspec
from msgspec import Struct

from tailrace.errors import listed
from tailrace.files import BYTES_MAX
from tailrace.outcome.types import Outcome

T = TypeVar("T")

FORMAT: Literal[3] = 3
"""Version of run directories: 1 had the keys of a stored trial among those of its outcome, and 2
fewer required keys.

It goes up with every change of the types of outcomes by which files of before cannot be read, or
mean something else: a key that is new and required, is gone, or is of another type.
"""
HEAD_BYTES = 4000
"""Bytes of a file in which its head ends, unless names or the reason are long."""
INDENTED_BYTES_MAX = 100_000
"""A larger file is one line: indented, that of a large network would be several times as long."""
OUTCOME = b'"outcome":'
"""Where the head ends. In a text it would have backslashes before its quotation marks."""
TOO_DEEP = "its values are nested too deeply"

Status = Literal["ok", "invalid", "failed", "cancelled"]


class TrialHead(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Properties of a trial besides its outcome."""

    format: Literal[3]
    """`FORMAT`."""
    arm: str
    """Name of its arm."""
    trial: int
    """Its number in the arm, from 1."""
    plan_hash: str
    """Of the arm's plan, in hexadecimal."""
    status: Status
    """A failed trial has no outcome, an invalid one has an outcome that is left out of all
    averages."""
    reason: str = ""
    """Why it is not ok."""
    is_machine_fault: bool = False
    """Whether all reasons for its invalidity lie in the machine: repeating it does not select
    results."""
    unfinished: list[str] = []
    """Workloads that did not finish, for a trial without other reasons of invalidity: its rates and
    latencies are results."""
    cores: int = 1
    """Cores of the machine on which it ran."""


class StoredTrial(TrialHead, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A trial. The outcome is the last key: its head can be read without it."""

    outcome: Outcome | None
    """None of a trial that failed."""


@dataclass(frozen=True)
class Planned:
    """The planned properties of a trial."""

    arm: str
    trial: int
    """Its number in the arm."""
    seed: int
    """Of the trial."""
    workloads: Sequence[tuple[str, str]] | None
    """Their names and kinds, in the order of the plan; None where the run has not kept it."""


class OtherFormatError(ValueError):
    """A file of another version."""


class _Version(Struct):
    format: int = 1


@cache
def _decoder() -> msgspec.json.Decoder[StoredTrial]:
    """Made when the first trial is read: it takes as long as many small commands take
    altogether."""
    return msgspec.json.Decoder(StoredTrial)


_HEADS = msgspec.json.Decoder(TrialHead)
_VERSIONS = msgspec.json.Decoder(_Version)


def stored_bytes(stored: StoredTrial) -> bytes:
    """The content of the file of a trial."""
    content = msgspec.json.encode(stored)
    if len(content) <= INDENTED_BYTES_MAX:
        content = msgspec.json.format(content, indent=1)
    return content + b"\n"


def read_stored(content: bytes, planned: Planned) -> StoredTrial:
    """The trial in the content of its file.

    Raises `ValueError` with the fault and its location: the path of a key, the version of another
    format, or that it is another trial than the planned one.
    """
    found = _decoded(_decoder(), content, content)
    if (found.arm, found.trial) != (planned.arm, planned.trial):
        raise ValueError(
            f"it is of trial {found.arm}/{found.trial}, in the place of "
            f"{planned.arm}/{planned.trial}"
        )
    if found.outcome is not None and (fault := _fault(found.outcome, planned)):
        raise ValueError(fault)
    return found


def _fault(outcome: Outcome, planned: Planned) -> str:
    """Why an outcome cannot be that of the planned trial; empty where it can."""
    if outcome.seed != planned.seed:
        return (
            f"it is of a run of another seed: this trial has {planned.seed}, not "
            f"{outcome.seed} - at `$.outcome.seed`"
        )
    workloads = [(own.name, own.kind) for own in outcome.workloads]
    if planned.workloads is not None and workloads != [*planned.workloads]:
        differing = _words(workloads), _words(planned.workloads)
        return (
            f"its workloads are {differing[0]}, and planned are {differing[1]} - at "
            "`$.outcome.workloads`"
        )
    # A trial in which everything has an end may be over before the warm-up.
    counted_from = [own.counted_from_ps for own in outcome.workloads]
    counted_from += [] if outcome.finished else [outcome.counted_from_ps or 0]
    if outcome.end_ps < max(counted_from, default=0) or not outcome.end_ps:
        return (
            f"it ends at {outcome.end_ps} ps, before anything was counted - at `$.outcome.end_ps`"
        )
    return ""


def _words(workloads: Sequence[tuple[str, str]]) -> str:
    return listed([f"{name} ({kind})" for name, kind in workloads]) or "none"


def read_head(file: BinaryIO) -> TrialHead:
    """The head of a stored trial, of which little is read; raises `OSError`, or as
    `read_stored`."""
    content = file.read(HEAD_BYTES)
    if OUTCOME not in content:
        content += file.read(BYTES_MAX)
    head = content.partition(OUTCOME)[0].rstrip().removesuffix(b",") + b"}"
    return _decoded(_HEADS, head, content)


def _decoded(decoder: msgspec.json.Decoder[T], part: bytes, content: bytes) -> T:
    """The value of a part of a file; raises as `read_stored`."""
    try:
        return decoder.decode(part)
    except ValueError:
        _refuse_other_format(content)
        raise
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def _refuse_other_format(content: bytes) -> None:
    """Raises `OtherFormatError` where that is why a file cannot be read."""
    try:
        found = _VERSIONS.decode(content).format
    except (ValueError, RecursionError):
        return
    if found != FORMAT:
        raise OtherFormatError(format_words(found))


def format_words(found: object) -> str:
    """The error for a file of another version."""
    return f"it has format {found}, and this version of tailrace reads format {FORMAT}"
