"""A trial as a run directory keeps it: what it is of, how it ended, and its outcome."""

from functools import cache
from os import SEEK_END
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from tailrace.files import named, write_bytes
from tailrace.outcome.types import Outcome

T = TypeVar("T")

FORMAT: Literal[2] = 2
"""Version of run directories: 1 had the keys of a stored trial among those of its outcome."""
HEAD_BYTES = 4000
"""Bytes of a file in which its head ends, unless names or the reason are long."""
INDENTED_BYTES_MAX = 100_000
"""A larger file is one line: indented, that of a large network would be several times as long."""
OUTCOME = b'"outcome":'
"""Where the head ends. In a text it would have backslashes before its quotation marks."""
TOO_DEEP = "its values are nested too deeply"

MAGIC = b"PAR1"
"""First and last bytes of a Parquet file."""

Status = Literal["ok", "invalid", "failed", "cancelled"]


class TrialHead(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """What is known of a trial besides its outcome."""

    format: Literal[2]
    """`FORMAT`."""
    arm: str
    """Name of its arm."""
    trial: int
    """Its number in the arm, from 1."""
    plan_hash: str
    """Of the arm's plan, in hexadecimal."""
    status: Status
    """A failed trial has no outcome, an invalid one has an outcome that is left out of all averages."""
    reason: str = ""
    """Why it is not ok."""
    is_machine_fault: bool = False
    """Whether it is invalid for what the machine did alone: repeating it does not select results."""
    unfinished: list[str] = []
    """Workloads that did not finish, of a trial that is invalid for nothing else: its rates and latencies are
    results.
    """
    cores: int = 1
    """Of the machine, that it ran on."""


class StoredTrial(TrialHead, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A trial. The outcome is the last key: its head can be read without it."""

    outcome: Outcome | None
    """None of a trial that failed."""


class OtherFormatError(ValueError):
    """A file of another version."""


class _Version(Struct):
    format: int = 1


@cache
def _decoder() -> msgspec.json.Decoder[StoredTrial]:
    """Made when the first trial is read: it takes as long as many small commands take altogether."""
    return msgspec.json.Decoder(StoredTrial)


_HEADS = msgspec.json.Decoder(TrialHead)
_VERSIONS = msgspec.json.Decoder(_Version)


def write_stored(path: Path, stored: StoredTrial) -> None:
    """Writes a trial atomically; raises `OSError` with the file's name."""
    content = msgspec.json.encode(stored)
    if len(content) <= INDENTED_BYTES_MAX:
        content = msgspec.json.format(content, indent=1)
    write_bytes(path, content + b"\n")


def read_stored(path: Path, arm: str, trial: int) -> StoredTrial:
    """A trial in its place. Raises `OSError`, or `ValueError` with what is wrong and where: the path of a key, the
    version of another format, or that it is another trial.
    """
    with named(path):
        content = path.read_bytes()
    found = _decoded(_decoder(), content, content)
    if (found.arm, found.trial) != (arm, trial):
        raise ValueError(f"it is of trial {found.arm}/{found.trial}, in the place of {arm}/{trial}")
    return found


def read_head(path: Path) -> TrialHead:
    """The head of a stored trial, of which little is read; raises as `read_stored`."""
    with named(path), path.open("rb") as file:
        content = file.read(HEAD_BYTES)
        if OUTCOME not in content:
            content += file.read()
    head = content.partition(OUTCOME)[0].rstrip().removesuffix(b",") + b"}"
    return _decoded(_HEADS, head, content)


def _decoded(decoder: msgspec.json.Decoder[T], part: bytes, content: bytes) -> T:
    """What a part of a file holds; raises as `read_stored`."""
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


def is_whole_table(path: Path) -> bool:
    """Whether both ends of a Parquet file are there."""
    with named(path), path.open("rb") as file:
        begins = file.read(len(MAGIC))
        file.seek(-min(len(MAGIC), file.seek(0, SEEK_END)), SEEK_END)
        return begins == file.read() == MAGIC


def format_words(found: object) -> str:
    """What is said of a file of another version."""
    return f"it has format {found}, and this version of tailrace reads format {FORMAT}"
