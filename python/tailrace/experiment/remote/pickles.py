"""No pickle of another process is loaded while trials run elsewhere.

Dask loads pickles in many places, and its options cover some of them: `deserializers=` those of
results, nothing those that any message may contain, nor those of exceptions, warnings and types. A
pickle runs code through a class or a function that it names, and Python announces each of these
names (the audit event `pickle.find_class`, PEP 578) before it is looked up. Here all names are
refused but `bytes`, by which Dask frames the text of an error.
"""

import pickletools
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from tailrace.errors import escaped

HARMLESS = frozenset({("builtins", "bytes")})
"""Classes that a pickle may name."""
ERROR_BYTES_MAX = 1_000_000
"""Longer errors are not examined; Dask cuts the text of an error at 10 kB."""
DEATHS_MAX = 1000
"""Deaths that are believed."""
FRAMING = frozenset(
    {
        "tblib.pickling_support",
        "unpickle_exception",
        "unpickle_exception_with_attrs",
        "builtins",
        "__dict__",
        "args",
    }
)
"""Texts by which exceptions are framed."""
TRACEBACK = frozenset({"unpickle_traceback", "tblib", "__cause__"})
"""Texts that end the message of an exception."""
TEXT_MAX = 2000
"""Maximum characters of an error in messages."""


class PickleRefusedError(TypeError):
    """Another process sent a pickle that names a class or a function.

    It is a `TypeError` because Dask expects one for a traceback that it cannot load, and continues
    without it.
    """


class _Trust:
    """Whether this context loads pickles of the command itself."""

    def __init__(self) -> None:
        self.is_open = True


_trust: ContextVar[_Trust | None] = ContextVar("tailrace_trusted_pickles", default=None)


class _Refusals:
    """How many blocks refuse pickles now. The hook is installed once: Python removes none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_installed = False
        self.blocks = 0

    def add(self, count: int) -> None:
        """Adds a block, or takes one away."""
        with self._lock:
            if not self._is_installed:
                sys.addaudithook(_audit)
                self._is_installed = True
            self.blocks += count


_refusals = _Refusals()


@contextmanager
def refused_pickles() -> Iterator[None]:
    """While the block runs, no thread of this process loads a pickle with names: those raise
    `PickleRefusedError`."""
    _refusals.add(1)
    try:
        yield
    finally:
        _refusals.add(-1)


@contextmanager
def own_pickles() -> Iterator[None]:
    """Inside the block, and only in its context, pickles are loaded: they have to be the command's
    own.

    A task that is started inside and goes on after it does not keep the permission.
    """
    trust = _Trust()
    token = _trust.set(trust)
    try:
        yield
    finally:
        trust.is_open = False
        _trust.reset(token)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "pickle.find_class" or not _refusals.blocks or arguments in HARMLESS:
        return
    trust = _trust.get()
    if trust is None or not trust.is_open:
        raise PickleRefusedError(f"a pickle names {arguments[0]}.{arguments[1]}")


@dataclass(frozen=True)
class RemoteError:
    """An exception of a scheduler or a worker, as far as its pickle shows it without being
    loaded."""

    names: tuple[str, ...] = ()
    """The texts of the pickle: names of modules and classes, and the message of the exception."""
    numbers: tuple[int, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, error: BaseException) -> "RemoteError":
        """The form in which Dask raises a remote exception: it keeps the pickle that it could not
        load."""
        content = error.args[0] if error.args else b""
        if isinstance(content, bytes | bytearray | memoryview):
            return cls.read(bytes(content))
        return cls((type(error).__name__, str(error)))

    @classmethod
    def read(cls, data: bytes) -> "RemoteError":
        """The texts and numbers of a pickle, which is walked through and not loaded."""
        if len(data) > ERROR_BYTES_MAX:
            return cls((f"an error of {len(data)} bytes",))
        names: list[str] = []
        numbers: list[int] = []
        try:
            for code, argument, _position in pickletools.genops(data):
                if argument in TRACEBACK:
                    break
                if isinstance(argument, str):
                    names.append(argument)
                elif isinstance(argument, int) and "INT" in code.name:
                    numbers.append(argument)
        except Exception as error:  # noqa: BLE001  whatever is wrong with it, the rest is not read
            names.append(f"an unreadable error ({type(error).__name__})")
        return cls(tuple(names), tuple(numbers))

    @property
    def deaths(self) -> int | None:
        """Workers that died of a task, for Dask's `KilledWorker`; None for any other error."""
        if "KilledWorker" not in self.names or not self.numbers:
            return None
        return max(1, min(DEATHS_MAX, self.numbers[-1] + 1))

    def __str__(self) -> str:
        said = [name for name in self.names if name and name not in FRAMING]
        return printable(": ".join(dict.fromkeys(said))) or "an error without words"


def printable(text: str, most: int = TEXT_MAX) -> str:
    """A text of another process in one line, with terminal control characters escaped."""
    line = " ".join(text[: most + 1].split())
    shown = escaped(line)
    return shown if len(text) <= most else f"{shown[:most]}..."
