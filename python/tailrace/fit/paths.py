"""The point of capture between two hosts, and the network's part of the captured times."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tailrace.fit.conversations import Connection
from tailrace.fit.waiting import Waits

NEAR = 4
"""An end whose round trip is this many times shorter than the other's is at the point of
capture."""


class Vantage(StrEnum):
    """The point of capture."""

    CLIENT = "client"
    SERVER = "server"
    SWITCH = "switch"


@dataclass(frozen=True)
class NetworkPart:
    """The delay that queues of the model add to the server's times, as a shift and a spread."""

    less_ns: float = 0.0
    """Taken from each time."""
    share: float = 1.0
    """Factor for the rest."""
    within_ns: float = 0.0
    """Simulated and captured latencies were made to agree to this, and so well the mean of the rest
    is known."""

    def without(self, seen_ns: int) -> int:
        """The server's part."""
        return round(max(0.0, seen_ns - self.less_ns) * self.share)


@dataclass(frozen=True)
class Path:
    """Round trips from the point of capture to both ends, the shortest, in ns; 0: not seen."""

    client_rtt_ns: int
    server_rtt_ns: int
    vantage: Vantage
    to_client: Waits
    """Waiting between the point of capture and the client."""
    to_server: Waits
    network: NetworkPart | None = None
    """The modelled network's part of the times to responses."""
    farther_ns: int = 0
    """Excess of its round trip over that of the model's links, which is the shortest of the
    capture."""

    @property
    def rtt_ns(self) -> int:
        """From end to end."""
        return self.client_rtt_ns + self.server_rtt_ns

    def service_ns(self, from_ns: int, until_ns: int) -> int:
        """The server's part of the time from the end of a request to the start of its response, and
        the excess of the path."""
        seen_ns = self.served_ns(from_ns, until_ns)
        return seen_ns if self.network is None else self.network.without(seen_ns)

    def served_ns(self, from_ns: int, until_ns: int) -> int:
        """The same with the delay that the queues of the model add."""
        return max(0, until_ns - from_ns - self.to_server.near(until_ns)) + self.farther_ns

    def think_ns(self, from_ns: int, until_ns: int) -> int:
        """The client's part of the time from the end of a response to the next request."""
        return max(0, until_ns - from_ns - self.to_client.near(from_ns))

    def latency_ns(self, from_ns: int, until_ns: int) -> int:
        """The latency for the client, from the start of a request to the end of its response."""
        return until_ns - from_ns + self.to_client.near(until_ns)


def path_of(connections: Iterable[Connection], stated: Vantage | None) -> Path:
    """The path of connections between the same two hosts."""
    listed = list(connections)
    client = min((one.client_rtt_ns for one in listed if one.client_rtt_ns), default=0)
    server = min((one.server_rtt_ns for one in listed if one.server_rtt_ns), default=0)
    to_client = Waits((trip for one in listed for trip in one.client_round_trips), client)
    to_server = Waits((trip for one in listed for trip in one.server_round_trips), server)
    return Path(client, server, stated or _seen(client, server), to_client, to_server)


def _seen(client_rtt_ns: int, server_rtt_ns: int) -> Vantage:
    if client_rtt_ns and client_rtt_ns * NEAR <= server_rtt_ns:
        return Vantage.CLIENT
    if server_rtt_ns and server_rtt_ns * NEAR <= client_rtt_ns:
        return Vantage.SERVER
    return Vantage.SWITCH
