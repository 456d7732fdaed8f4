"""Stages of a command that are not trials: reading a scenario, making plans, writing a report. None
stays silent."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tailrace.experiment.reporter import PLAIN_LINE_EVERY_S, Reporter, Terminal

QUIET_S = 1.5
"""A stage that takes no longer is not mentioned where lines stay."""


@contextmanager
def working(reporter: Reporter, what: str) -> Iterator[None]:
    """Reports the current activity and its duration: on a terminal at once, elsewhere in a line at
    intervals."""
    if isinstance(reporter, Terminal):
        with reporter.status(what):
            yield
        return
    ended = threading.Event()

    def report() -> None:
        began_s, wait_s = time.monotonic(), QUIET_S
        while not ended.wait(wait_s):
            reporter.say(f"{what}: {time.monotonic() - began_s:.0f} s so far")
            wait_s = PLAIN_LINE_EVERY_S

    reporting = threading.Thread(target=report, daemon=True)
    reporting.start()
    try:
        yield
    finally:
        ended.set()
        reporting.join()
