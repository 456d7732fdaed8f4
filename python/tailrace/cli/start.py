"""Entry point of the program; an interrupt prints one line even while modules are being
imported."""

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself takes longer than the interpreter's start
import _thread
import os
import sys
import time

from tailrace.cli.codes import INTERRUPTED

TYPE_CHECKING = (
    False  # as in `typing`: nothing that can wait is imported before the handlers are installed
)
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn

AGAIN_S = 0.01
"""After this time an interrupt comes again that was raised where no exception leaves."""
IMPORTING = "<frozen importlib"
"""File name of the frames of an import."""


def main() -> None:
    """Entry point of the program."""
    answer_interrupts()
    try:
        from tailrace.cli.app import app
        from tailrace.cli.completion import prepare_answer
        from tailrace.cli.console import guarded, outlive_readers

        prepare_answer()
        outlive_readers()
        code = guarded(app)
    except KeyboardInterrupt:
        _leave()
    if code == INTERRUPTED:
        _end_at_once()
    sys.exit(code)


def answer_interrupts() -> None:
    """SIGINT (Ctrl-C), SIGQUIT (Ctrl-\\), SIGTERM (as batch systems send it) and SIGHUP (of a
    terminal that is closed) raise `KeyboardInterrupt`, and end an import at once.

    An exception in the middle of an import can be lost, or turn into another one. Nothing has to be
    put away then. A signal that the caller has this program ignore stays ignored. An exception that
    is raised in a finalizer is lost: the interrupt comes again.
    """
    sys.unraisablehook = _lost
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupted)


def _lost(found: "Any") -> None:
    if found.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(found)
        return
    number = (
        found.exc_value.args[0]
        if found.exc_value is not None and found.exc_value.args
        else signal.SIGINT
    )
    # In this function it would be lost once more. Signals are answered in one thread, which is this
    # one.
    _thread.start_new_thread(_interrupt_again, (_thread.get_ident(), number))


def _interrupt_again(thread: int, number: int) -> None:
    time.sleep(AGAIN_S)
    signal.pthread_kill(thread, number)


def _end_at_once() -> "NoReturn":
    """To free the plans and outcomes of a network of thousands of hosts takes a second."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # none, full, closed: the exit code stays
            continue
    os._exit(INTERRUPTED)


def _interrupted(number: int, frame: "FrameType | None") -> None:
    while frame is not None:
        if frame.f_code.co_filename.startswith(IMPORTING):
            _leave()
        frame = frame.f_back
    raise KeyboardInterrupt(number)


def _leave() -> "NoReturn":
    line = '{"event": "message", "text": "interrupted"}' if "--json" in sys.argv else "interrupted"
    try:
        os.write(2, f"{line}\n".encode())
    finally:  # a closed stderr must not change the exit code
        os._exit(INTERRUPTED)
