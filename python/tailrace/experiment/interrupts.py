"""Termination signals during a run: the first requests an orderly end, the second ends it at
once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, Ctrl-\\, SIGTERM (as batch systems send it) and SIGHUP (of a terminal that is closed)."""


@dataclass
class Interrupts:
    """The termination signals that have come."""

    count: int = 0


@contextmanager
def counted_interrupts() -> Iterator[Interrupts]:
    """Counts termination signals instead of raising; the second one raises.

    Signals that the caller ignores stay ignored, as nohup(1) requires. Signals can be counted in
    the main thread only; in any other thread this does nothing.
    """
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return

    def count(_signal: int, _frame: FrameType | None) -> None:
        interrupts.count += 1
        if interrupts.count > 1:
            raise KeyboardInterrupt

    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, count) for number in heard}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
