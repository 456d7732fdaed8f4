"""The program as fuzzing calls it: in this process, and what of its answers is a finding."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

from check_commands import Answer, called
from tailrace.cli import codes, console
from tailrace.errors import TailraceError, escaped

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "tests" / "fuzz" / "seeds"
REFUSED = (codes.EXPECTATION_FAILED, codes.USAGE, codes.INVALID_TRIAL)


class FindingError(Exception):
    """What the program did is wrong, and it raised nothing."""


@dataclass(frozen=True)
class Format:
    """One format. `read` has the program read a file, gives what it said, and raises for a
    finding."""

    name: str
    suffix: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], str]
    is_binary: bool = False


def program(*words: str) -> Answer:
    """Calls a command in this process, as its entry point does; an internal error is raised."""
    with patch.object(console, "_unexpected", _raised):
        return called(words)


def _raised(error: BaseException) -> NoReturn:
    raise error


def answered(file: Path, *words: str) -> str:
    """What a command said about a file; raises `FindingError` for an exit code or a message that
    says nothing."""
    answer = program(*words)
    if answer.code not in (codes.DONE, *REFUSED):
        raise FindingError(f"{words[0]}: exit code {answer.code}")
    if answer.code == codes.USAGE and file.name not in answer.err:
        raise FindingError(
            f"{words[0]}: the message does not name the file: {answer.err.strip()[:200]}"
        )
    if escaped(answer.out + answer.err) != answer.out + answer.err:
        raise FindingError(
            f"{words[0]}: the output has what a terminal obeys: {escaped(answer.err.strip()[:200])}"
        )
    return f"{answer.code} {answer.err}"


def known_errors(read: Callable[[], object]) -> str:
    """What a function said: nothing, or an error that the user can correct."""
    try:
        read()
    except TailraceError as error:
        return str(error)
    return ""


def globbed(*patterns: str) -> list[bytes]:
    """The files of the repository that match."""
    return [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def own_seeds(name: str) -> list[bytes]:
    """Those that are written down for this alone."""
    return [path.read_bytes() for path in sorted((SEEDS / name).iterdir())]


def scratch() -> Path:
    """The folder in which the process works: inputs, and what is made once."""
    return Path.cwd()


@contextlib.contextmanager
def temporary() -> Iterator[Path]:
    """A folder that is removed."""
    folder = scratch() / "temporary"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)
