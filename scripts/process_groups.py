"""Ending groups of processes: a check, and all that it started."""

import os
import signal
import time
from contextlib import suppress

STOP_GRACE_S = 5
"""After the interrupt, how long a check may take to end before it is killed."""


def stop_groups(*groups: int) -> None:
    """Stop checks and what they started, first politely."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + STOP_GRACE_S
        running = [group for group in groups if has_got(group, number)]
        while running and time.monotonic() < deadline:
            time.sleep(0.05)
            running = [group for group in running if has_got(group, 0)]
        if not running:
            return


def has_got(group: int, number: int) -> bool:
    """Whether a signal was sent: a group that has ended gets none, but its head is there until it
    is waited for."""
    with suppress(ChildProcessError):
        os.waitpid(group, os.WNOHANG)
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True
