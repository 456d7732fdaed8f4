"""Connections of a capture by client, server and port, with their exchanges."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tailrace.profile.capture import Profile

TCP_HEADERS = 40
"""IPv4 and TCP without options: what a stated MSS leaves out of an MTU (RFC 9293 section 3.7.1)."""


@dataclass(frozen=True)
class Exchange:
    """A request and its response; times in nanoseconds since the beginning of the capture."""

    request_start: int
    request_end: int
    request_bytes: int
    response_start: int
    response_end: int
    response_bytes: int


@dataclass
class Connection:
    """One connection of TCP."""

    start: int
    end: int
    client_bytes: int
    """Payload that the client sent."""
    server_bytes: int
    client_rtt: int
    """Smallest time from the point of the capture to the client and back; 0 where it is unknown."""
    server_rtt: int
    mss: int
    has_syn: bool
    is_closed: bool
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def rtt(self) -> int:
        """From end to end and back, at least."""
        return self.client_rtt + self.server_rtt


@dataclass
class Group:
    """Connections of one client to one port of a server."""

    client: int
    server: int
    """Places in the list of addresses."""
    port: int
    connections: list[Connection] = field(default_factory=list)

    @property
    def payload_bytes(self) -> int:
        """Both ways."""
        return sum(one.client_bytes + one.server_bytes for one in self.connections)


@dataclass(frozen=True)
class Datagrams:
    """Datagrams between two sockets."""

    source: int
    destination: int
    source_port: int
    destination_port: int
    start: int
    end: int
    sent: int
    returned: int
    sent_bytes: int
    returned_bytes: int


def groups_of(profile: Profile) -> list[Group]:
    """Groups of connections with payload, those with the most bytes first."""
    rows = profile.columns("connections")
    found: dict[tuple[int, int, int], Group] = {}
    connections: list[Connection] = []
    begin = first_ns(profile)
    for row in range(len(rows["start_ns"])):
        key = (rows["client_address"][row], rows["server_address"][row], rows["server_port"][row])
        connection = Connection(
            rows["start_ns"][row] - begin,
            rows["end_ns"][row] - begin,
            rows["client_payload_bytes"][row],
            rows["server_payload_bytes"][row],
            _known(rows["client_side_rtt_min_ns"][row]),
            _known(rows["server_side_rtt_min_ns"][row]),
            max(rows["client_mss_bytes"][row], rows["server_mss_bytes"][row]),
            bool(rows["has_syn"][row]),
            bool(rows["has_fin"][row] or rows["has_rst"][row]),
        )
        connections.append(connection)
        if connection.client_bytes + connection.server_bytes:
            found.setdefault(key, Group(*key)).connections.append(connection)
    for number, exchange in _exchanges(profile, begin):
        if not exchange.request_bytes or not exchange.response_bytes:
            continue  # the end of the capture cut it
        connections[number].exchanges.append(exchange)
    return sorted(
        found.values(), key=lambda group: -sum(one.client_bytes + one.server_bytes for one in group.connections)
    )


def first_ns(profile: Profile) -> int:
    """When the first flow of the tables began."""
    starts = [*profile.columns("connections")["start_ns"], *profile.columns("datagram_flows")["start_ns"]]
    return min(starts, default=0)


def _known(time_ns: int) -> int:
    """A time of the tables; unknown ones are the largest number or zero."""
    return 0 if time_ns >= 2**63 else time_ns


def _exchanges(profile: Profile, begin: int) -> Iterator[tuple[int, Exchange]]:
    rows = profile.columns("exchanges")
    for row in range(len(rows["connection"])):
        yield (
            rows["connection"][row],
            Exchange(
                rows["request_start_ns"][row] - begin,
                rows["request_end_ns"][row] - begin,
                rows["request_bytes"][row],
                rows["response_start_ns"][row] - begin,
                rows["response_end_ns"][row] - begin,
                rows["response_bytes"][row],
            ),
        )


def datagrams_of(profile: Profile) -> list[Datagrams]:
    """Flows of UDP with payload."""
    rows: dict[str, Sequence[int]] = profile.columns("datagram_flows")
    begin, udp = first_ns(profile), 17
    return [
        Datagrams(
            rows["source_address"][row],
            rows["destination_address"][row],
            rows["source_port"][row],
            rows["destination_port"][row],
            rows["start_ns"][row] - begin,
            rows["end_ns"][row] - begin,
            rows["sent_frames"][row],
            rows["returned_frames"][row],
            rows["sent_payload_bytes"][row],
            rows["returned_payload_bytes"][row],
        )
        for row in range(len(rows["start_ns"]))
        if rows["protocol"][row] == udp and rows["sent_payload_bytes"][row]
    ]
