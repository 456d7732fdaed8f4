"""What this process does with sockets."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def watched_sockets() -> Iterator[list[str]]:
    """The events of sockets while the block runs: `socket.__new__`, `socket.bind` and the others of
    Python's audit."""
    seen: list[str] = []
    is_over = False

    def audit(event: str, _arguments: object) -> None:
        if event.startswith("socket.") and not is_over:
            seen.append(event)

    sys.addaudithook(audit)  # Python removes none
    try:
        yield seen
    finally:
        is_over = True
