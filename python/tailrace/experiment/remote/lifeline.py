"""Ends a worker whose command has ended: the workers of `--on slurm` load it before anything else
(`dask worker --preload`).

A job ends its processes only when Slurm knows them. With `proctrack/linuxproc` it loses a worker
whose shell has ended, and a scheduler whose machine is gone closes no connection. So the worker
checks by itself.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

CHECK_EVERY_S = 5.0
"""Seconds between two checks."""
ALONE_S = 60.0
"""A scheduler that accepts no connection for this time is gone."""
CONNECT_S = 5.0
"""Time in which a scheduler accepts one."""
CLOSE_S = 10.0
"""Time to close in order, after which the process ends at once."""
ENDED = 1
"""Exit code of a worker that ends here."""


def dask_setup(worker: Any) -> None:
    """Called by Dask when the worker starts."""
    host, port = worker.scheduler.address.partition("://")[2].rsplit(":", 1)
    watch = Lifeline(os.getppid(), lambda: accepts(host.strip("[]"), int(port)))
    threading.Thread(target=_watch, args=(watch, worker), daemon=True).start()


class Lifeline:
    """Whether the shell of the job and the scheduler are there."""

    def __init__(
        self,
        parent: int,
        is_answered: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._parent = parent
        self._is_answered = is_answered
        self._clock = clock
        self._answered_s = clock()

    def broken(self) -> str:
        """Why the worker is to end; empty while it is not."""
        if os.getppid() != self._parent:
            return "the process that started this worker has ended"
        if self._is_answered():
            self._answered_s = self._clock()
        elif self._clock() - self._answered_s > ALONE_S:
            return f"the scheduler has accepted no connection for {ALONE_S:g} s"
        return ""


def accepts(host: str, port: int) -> bool:
    """Whether something accepts a connection there."""
    try:
        socket.create_connection((host, port), timeout=CONNECT_S).close()
    except OSError:
        return False
    return True


def _watch(lifeline: Lifeline, worker: Any) -> None:
    while not (why := lifeline.broken()):
        if worker.status.name in ("closed", "failed"):
            why = "the worker is closed, and its process was left"
            break
        time.sleep(CHECK_EVERY_S)
    os.write(2, f"tailrace: {why}: ending\n".encode())
    worker.loop.add_callback(
        worker.close
    )  # the running trial is cancelled, and the scheduler is notified
    time.sleep(CLOSE_S)
    os._exit(ENDED)
