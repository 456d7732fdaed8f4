"""Waits for a call of native code in a thread, so that the command answers an interrupt while the
call goes on."""

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
TICK_S = 0.1
"""Between two checks whether the call has ended. A wait without limit could not be interrupted on
every system."""


def interruptible(call: Callable[[], Result]) -> Result:
    """The result or the exception of the call. An interrupt is raised at once, and leaves the call
    to the end of the process.

    Native code releases the interpreter, but Python handles a signal in the main thread only, after
    its call. So another thread makes the call.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    found: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            found.append(call())
        except BaseException as error:  # noqa: BLE001  raised again in the caller's thread, a panic too
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(TICK_S)
    if errors:
        raise errors[0]
    return found[0]
