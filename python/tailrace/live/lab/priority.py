"""Priority of this process on a machine that is full of programs which weigh more than it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NICE = -20
"""Used where the kernel allows no real-time policy. The weight of this process is then 87 times
that of others in its session. Sessions have equal weight regardless of niceness (sched(7), "The
autogroup feature"), so it does not help everywhere."""


@contextmanager
def ahead_of_programs() -> Iterator[None]:
    """Every thread of this process runs as soon as it can, as with `chrt --rr --reset-on-fork 1`.

    This process sleeps most of the time, and starts and ends programs. Its children are not
    favoured. An ordinary user may not do this; the labs of such a user have the weight of other
    programs.
    """
    before = {thread: _State(thread) for thread in _own_threads()}
    for state in before.values():
        state.raise_()
    try:
        yield
    finally:
        for state in before.values():
            state.restore()


class _State:
    """How one thread is scheduled."""

    def __init__(self, thread: int) -> None:
        self._thread = thread
        self._policy = os.sched_getscheduler(thread)
        self._parameter = os.sched_getparam(thread)
        self._nice = os.getpriority(os.PRIO_PROCESS, thread)

    def raise_(self) -> None:
        with suppress(PermissionError, ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, self._thread, NICE)
            os.sched_setscheduler(
                self._thread, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1)
            )

    def restore(self) -> None:
        with suppress(PermissionError, ProcessLookupError):
            os.sched_setscheduler(self._thread, self._policy, self._parameter)
            os.setpriority(os.PRIO_PROCESS, self._thread, self._nice)


def _own_threads() -> list[int]:
    return [int(task.name) for task in Path("/proc/self/task").iterdir()]
