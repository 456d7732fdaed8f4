"""Entry point of the program; an interrupt prints one line even while modules are being imported."""

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself takes longer than the interpreter's start
import os
import sys

TYPE_CHECKING = False  # as in `typing`: nothing that can wait is imported before the handlers are installed
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

INTERRUPTED = 130
"""Exit code that a shell reports for a program ended by Ctrl-C."""
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
    sys.exit(code)


def answer_interrupts() -> None:
    """SIGINT (Ctrl-C), SIGQUIT (Ctrl-\\), SIGTERM (as batch systems send it) and SIGHUP (of a terminal that is closed)
    raise `KeyboardInterrupt`, and end an import at once.

    An exception in the middle of an import can be lost, or turn into another one. Nothing has to be put away then.
    A signal that the caller has this program ignore stays ignored.
    """
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupted)


def _interrupted(_number: int, frame: "FrameType | None") -> None:
    while frame is not None:
        if frame.f_code.co_filename.startswith(IMPORTING):
            _leave()
        frame = frame.f_back
    raise KeyboardInterrupt


def _leave() -> "NoReturn":
    line = '{"event": "message", "text": "interrupted"}' if "--json" in sys.argv else "interrupted"
    try:
        os.write(2, f"{line}\n".encode())
    finally:  # a closed stderr must not change the exit code
        os._exit(INTERRUPTED)
