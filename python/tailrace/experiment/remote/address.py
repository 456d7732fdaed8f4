"""The address of a Dask scheduler, and whether something answers there.

This module imports nothing large: an absent scheduler is told before Dask and the scenario are loaded.
"""

import re
import socket
from collections.abc import Callable

from tailrace.errors import RunRefusedError

DASK = re.compile(r"dask://(?P<host>[^\s:/]+|\[[0-9a-fA-F:.]+\]):(?P<port>\d{1,5})/?")
PORT_MAX = 65535
REACH_S = 2.0
"""Time in which the machine of a scheduler has to accept a connection."""
SILENT_TOLD_S = 1.5
"""After this time without a first byte from the scheduler, the command says that it waits."""
GREETING_S = 10.0
"""Time in which it then has to send that byte: a scheduler greets, but may be busy."""


def dask_parts(on: str) -> tuple[str, int]:
    """Host and port of `dask://HOST:PORT`; raises `RunRefusedError` when it is not one."""
    found = DASK.fullmatch(on)
    if found is None or not 0 < int(found["port"]) <= PORT_MAX:
        raise RunRefusedError(
            f"--on {on}: not a place where trials can run (hint: local, dask://HOST:PORT such as dask://127.0.0.1:8786,"
            " or slurm)"
        )
    return found["host"], int(found["port"])


def dask_address(on: str) -> str:
    """The address of a scheduler as Dask writes it; raises `RunRefusedError` when it is not one."""
    host, port = dask_parts(on)
    return f"tcp://{host}:{port}"


def refuse_absent(on: str, say: Callable[[str], None]) -> None:
    """Raises `RunRefusedError` when nothing answers at `dask://HOST:PORT`; any other place passes.

    It takes at most `REACH_S` when nothing accepts the connection. When something accepts it and is silent, `say` is
    called after `SILENT_TOLD_S`, and the refusal comes `GREETING_S` later.
    """
    if not on.startswith("dask://"):
        return
    host, port = dask_parts(on)
    try:
        with socket.create_connection((host.strip("[]"), port), timeout=REACH_S) as connection:
            if _greets(connection, on, say):
                return
        why = "it closes the connection"
    except TimeoutError as error:
        why = str(error)
    except OSError as error:
        why = error.strerror or str(error)
    raise RunRefusedError(absent_words(on, why))


def _greets(connection: socket.socket, on: str, say: Callable[[str], None]) -> bool:
    connection.settimeout(SILENT_TOLD_S)
    try:
        return bool(connection.recv(1))
    except TimeoutError:
        say(f"{on}: it accepts the connection and says nothing; waiting {GREETING_S:g} s more")
    connection.settimeout(GREETING_S)
    try:
        return bool(connection.recv(1))
    except TimeoutError:
        raise TimeoutError("it accepts the connection and says nothing") from None


def absent_words(on: str, why: str) -> str:
    """That no scheduler answers, why, and what to do."""
    return (
        f"--on {on}: no Dask scheduler answers: {why} (hint: start one with"
        " `dask scheduler --host 127.0.0.1`, and check address, port and firewall)"
    )
