"""Connections, their exchanges, and flows of datagrams, as a profile lists them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tailrace.profile.capture import Profile

UDP = 17
"""Number of the protocol (IANA)."""


@dataclass(frozen=True)
class Exchange:
    """A request with its response; times in ns."""

    request_start_ns: int
    request_end_ns: int
    request_bytes: int
    response_start_ns: int
    response_end_ns: int
    response_bytes: int
    is_pipelined: bool


@dataclass(frozen=True)
class Connection:
    """One TCP connection; addresses are numbers of the profile."""

    client: int
    server: int
    server_port: int
    start_ns: int
    end_ns: int
    client_bytes: int
    server_bytes: int
    client_rtt_ns: int
    """Shortest time from the point of capture to the client and back; 0: not seen."""
    server_rtt_ns: int
    client_mss_bytes: int
    server_mss_bytes: int
    has_syn: bool
    has_end: bool
    exchanges: Sequence[Exchange]
    """Those with a response."""
    client_round_trips: Sequence[tuple[int, int]] = ()
    """Times of acknowledgements without data, each with the time from the point of capture to the
    client and back."""
    server_round_trips: Sequence[tuple[int, int]] = ()

    @property
    def span_ns(self) -> int:
        """From the first to the last frame."""
        return self.end_ns - self.start_ns

    @property
    def payload_bytes(self) -> int:
        """Of both directions."""
        return self.client_bytes + self.server_bytes


@dataclass(frozen=True)
class Datagram:
    """One datagram."""

    at_ns: int
    payload_bytes: int
    is_returned: bool
    """From the destination of its flow to the source."""


@dataclass(frozen=True)
class DatagramFlow:
    """Datagrams between two sockets; the first was sent by the source."""

    source: int
    destination: int
    destination_port: int
    start_ns: int
    end_ns: int
    sent: int
    returned: int
    sent_bytes: int
    returned_bytes: int
    datagrams: Sequence[Datagram]
    """In order; those beyond the limit of the profile's table are missing."""


def connections_of(profile: Profile) -> list[Connection]:
    """All connections with data, in the order of their beginnings."""
    exchanges = _exchanges(profile)
    trips = _round_trips(profile)
    of = profile.columns("connections")
    rows = range(len(of["start_ns"]))
    found = (
        Connection(
            client=of["client_address"][row],
            server=of["server_address"][row],
            server_port=of["server_port"][row],
            start_ns=of["start_ns"][row],
            end_ns=of["end_ns"][row],
            client_bytes=of["client_payload_bytes"][row],
            server_bytes=of["server_payload_bytes"][row],
            client_rtt_ns=of["client_side_rtt_min_ns"][row],
            server_rtt_ns=of["server_side_rtt_min_ns"][row],
            client_mss_bytes=of["client_mss_bytes"][row],
            server_mss_bytes=of["server_mss_bytes"][row],
            has_syn=bool(of["has_syn"][row]),
            has_end=bool(of["has_fin"][row] or of["has_rst"][row]),
            exchanges=exchanges.get(row, ()),
            client_round_trips=trips.get((row, False), ()),
            server_round_trips=trips.get((row, True), ()),
        )
        for row in rows
    )
    return [one for one in found if one.payload_bytes]


def datagram_flows_of(profile: Profile) -> list[DatagramFlow]:
    """All flows over UDP."""
    of, single = profile.columns("datagram_flows"), profile.columns("datagrams")
    datagrams: dict[int, list[Datagram]] = defaultdict(list)
    for row, flow in enumerate(single["flow"]):
        one = Datagram(
            single["at_ns"][row], single["payload_bytes"][row], bool(single["is_returned"][row])
        )
        datagrams[flow].append(one)
    return [
        DatagramFlow(
            source=of["source_address"][row],
            destination=of["destination_address"][row],
            destination_port=of["destination_port"][row],
            start_ns=of["start_ns"][row],
            end_ns=of["end_ns"][row],
            sent=of["sent_frames"][row],
            returned=of["returned_frames"][row],
            sent_bytes=of["sent_payload_bytes"][row],
            returned_bytes=of["returned_payload_bytes"][row],
            datagrams=datagrams.get(row, ()),
        )
        for row in range(len(of["start_ns"]))
        if of["protocol"][row] == UDP
    ]


def _round_trips(profile: Profile) -> dict[tuple[int, bool], list[tuple[int, int]]]:
    of = profile.columns("round_trips")
    found: dict[tuple[int, bool], list[tuple[int, int]]] = defaultdict(list)
    columns = (of["connection"], of["is_server_side"], of["at_ns"], of["rtt_ns"])
    for connection, is_server_side, at_ns, rtt_ns in zip(*columns, strict=True):
        found[connection, bool(is_server_side)].append((at_ns, rtt_ns))
    return found


def _exchanges(profile: Profile) -> dict[int, list[Exchange]]:
    of = profile.columns("exchanges")
    found: dict[int, list[Exchange]] = defaultdict(list)
    for row, connection in enumerate(of["connection"]):
        if of["response_bytes"][row]:
            found[connection].append(
                Exchange(
                    of["request_start_ns"][row],
                    of["request_end_ns"][row],
                    of["request_bytes"][row],
                    of["response_start_ns"][row],
                    of["response_end_ns"][row],
                    of["response_bytes"][row],
                    bool(of["is_pipelined"][row]),
                )
            )
    for listed in found.values():
        listed.sort(key=lambda one: one.request_start_ns)
    return found
