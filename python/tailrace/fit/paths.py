"""Where a capture was taken between two hosts, and what the network takes of the times in it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tailrace.fit.conversations import Connection

NEAR = 4
"""An end whose round trip is this many times shorter than the other's is at the point of capture."""


class Vantage(StrEnum):
    """The point of capture."""

    CLIENT = "client"
    SERVER = "server"
    SWITCH = "switch"


@dataclass(frozen=True)
class Path:
    """Round trips from the point of capture to both ends, the shortest, in ns; 0: not seen."""

    client_rtt_ns: int
    server_rtt_ns: int
    vantage: Vantage

    @property
    def rtt_ns(self) -> int:
        """From end to end."""
        return self.client_rtt_ns + self.server_rtt_ns

    def service_ns(self, seen_ns: int) -> int:
        """The server's part of the time from the end of a request to the start of its response."""
        return max(0, seen_ns - self.server_rtt_ns)

    def think_ns(self, seen_ns: int) -> int:
        """The client's part of the time from the end of a response to the next request."""
        return max(0, seen_ns - self.client_rtt_ns)

    def latency_ns(self, seen_ns: int) -> int:
        """What the client saw of the time from the start of a request to the end of its response."""
        return seen_ns + self.client_rtt_ns


def path_of(connections: Iterable[Connection], stated: Vantage | None) -> Path:
    """The path of connections between the same two hosts."""
    listed = list(connections)
    client = min((one.client_rtt_ns for one in listed if one.client_rtt_ns), default=0)
    server = min((one.server_rtt_ns for one in listed if one.server_rtt_ns), default=0)
    return Path(client, server, stated or _seen(client, server))


def _seen(client_rtt_ns: int, server_rtt_ns: int) -> Vantage:
    if client_rtt_ns and client_rtt_ns * NEAR <= server_rtt_ns:
        return Vantage.CLIENT
    if server_rtt_ns and server_rtt_ns * NEAR <= client_rtt_ns:
        return Vantage.SERVER
    return Vantage.SWITCH
