"""The address of a Dask scheduler, and a check that it responds.

This module imports nothing large: an absent scheduler is reported before Dask and the scenario are
loaded.
"""

import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass

from tailrace.errors import RunRefusedError

TLS = "tls"
DASK = re.compile(
    rf"(?P<scheme>dask|{TLS})://(?P<host>[^\s:/]+|\[[0-9a-fA-F:.]+\]):(?P<port>[0-9]{{1,5}})/?"
)
PORT_MAX = 65535
REACH_S = 2.0
"""Time in which the machine of a scheduler has to accept a connection."""
SILENCE_NOTICE_S = 1.5
"""After this time without a first byte from the scheduler, the command reports that it waits."""
GREETING_S = 10.0
"""Time in which it then has to send that byte: a scheduler greets, but may be busy."""


@dataclass(frozen=True)
class SchedulerAddress:
    """Where a scheduler listens."""

    host: str
    port: int
    is_encrypted: bool

    @classmethod
    def parse(cls, on: str) -> "SchedulerAddress":
        """From `dask://HOST:PORT` or `tls://HOST:PORT`; raises `RunRefusedError` when it is
        neither."""
        found = DASK.fullmatch(on)
        if found is None or not 0 < int(found["port"]) <= PORT_MAX:
            raise RunRefusedError(
                f"--on {on}: not a place where trials can run (hint: local, dask://HOST:PORT such "
                "as dask://127.0.0.1:8786, tls://HOST:PORT, or slurm)"
            )
        return cls(found["host"], int(found["port"]), found["scheme"] == TLS)

    def __str__(self) -> str:
        """As Dask writes it."""
        return f"{'tls' if self.is_encrypted else 'tcp'}://{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether its traffic stays on this machine."""
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return self.host == "localhost"

    def connect(self) -> socket.socket:
        """A connection; raises `OSError` after `REACH_S` at most."""
        return socket.create_connection((self.host.strip("[]"), self.port), timeout=REACH_S)


def refuse_absent(on: str, say: Callable[[str], None]) -> None:
    """Raises `RunRefusedError` when no scheduler responds at `dask://HOST:PORT` or
    `tls://HOST:PORT`; all other values pass.

    It takes at most `REACH_S` when the connection is not accepted. When it is accepted without a
    greeting, `say` is called after `SILENCE_NOTICE_S`, and the refusal comes `GREETING_S` later;
    with TLS the client speaks first, and `Credentials.refuse_stranger` waits for the greeting.
    """
    if not on.startswith(("dask://", f"{TLS}://")):
        return
    address = SchedulerAddress.parse(on)
    try:
        with address.connect() as connection:
            if address.is_encrypted or greets(connection, on, say):
                return
        why = "it closes the connection"
    except TimeoutError as error:
        why = str(error)
    except OSError as error:
        why = error.strerror or str(error)
    raise RunRefusedError(absent_words(on, why))


def greets(connection: socket.socket, on: str, say: Callable[[str], None]) -> bool:
    """Whether a scheduler sends its first byte; raises `TimeoutError` when it stays silent."""
    connection.settimeout(SILENCE_NOTICE_S)
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
    """The error for an absent scheduler, with the reason and a hint."""
    return (
        f"--on {on}: no Dask scheduler answers: {why} (hint: start one with"
        " `dask scheduler --host 127.0.0.1`, and check address, port and "
        "firewall; a scheduler with TLS is"
        " tls://HOST:PORT)"
    )
