"""Reads the ingress log of a live trial as the responses of its databases.

An answer is known by its frames alone: when the request entered, when the first and the last frame
of the answer did, and when the next request of the connection came. The time before the first frame
is the server's work on a whole row, the time after the last frame the client's.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tailrace.live.lab.fabric import FabricError

FILE = "ingress.log"
"""Name of the log in the folder of a lab."""
NAME = b"tailrace-log\x01\0\0\0"
"""First bytes of a log with its version, as `crates/fabric/src/log` writes them."""
RECORD = struct.Struct("<BQQ5B5H40x")
"""A record of 72 bytes: kind, arrival and advance in ps, the frame's marks, then its size, its
hosts by number (to, from) and its ports (source, destination); the rest is not used."""
PIECE_RECORDS = 8192
"""A log is read in pieces of 600 kB: that of a minute has hundreds of megabytes."""
TAGGED = 8
"""Bit of a frame's first mark: its tag is written on the link of its host, and its size has the
tag."""
TAG_BYTES = 4
"""802.1Q."""
FRAME = 0
"""Kind of a record: a frame, neither the beginning nor the end of the measured interval."""
HEADER_BYTES = 66
"""Ethernet 14, IPv4 20, TCP 20, timestamps 12."""
ACK_BYTES_MAX = HEADER_BYTES + 28
"""An acknowledgement with three blocks of SACK (RFC 2018); statements are longer."""
PS_PER_MS = 10**9

Connection = tuple[int, int, int]
"""Numbers of client and server in the plan, and the client's port."""


@dataclass(frozen=True)
class Answer:
    """One answer; times in picoseconds since the lab's start, taken where frames enter the
    switch."""

    connection: Connection
    requested_ps: int
    first_ps: int
    last_ps: int
    size_bytes: int
    """Payload, including retransmissions."""
    next_ps: int | None = None
    """The next request of the connection; None for its last answer."""

    @property
    def before_ms(self) -> float:
        """From the request to the first frame."""
        return (self.first_ps - self.requested_ps) / PS_PER_MS

    @property
    def sending_ms(self) -> float:
        """From the first frame to the last."""
        return (self.last_ps - self.first_ps) / PS_PER_MS

    @property
    def after_ms(self) -> float | None:
        """From the last frame to the next request, with the pause if there is one."""
        return None if self.next_ps is None else (self.next_ps - self.last_ps) / PS_PER_MS


def answers(log: Path, port: int) -> list[Answer]:
    """Every answer of every server on this port, as they ended; raises `FabricError` where there is
    no log."""
    requested: dict[Connection, int] = {}
    under_way: dict[Connection, Answer] = {}
    ended: list[Answer] = []
    for at_ps, frame_bytes, connection, is_request in _segments(log, port):
        if is_request:
            if connection in under_way:
                ended.append(replace(under_way.pop(connection), next_ps=at_ps))
            requested[connection] = at_ps
            continue
        payload = frame_bytes - HEADER_BYTES
        known = under_way.get(connection)
        if known is not None:
            under_way[connection] = replace(
                known, last_ps=at_ps, size_bytes=known.size_bytes + payload
            )
        elif connection in requested:
            under_way[connection] = Answer(connection, requested[connection], at_ps, at_ps, payload)
    return ended + list(under_way.values())


def _segments(log: Path, port: int) -> Iterator[tuple[int, int, Connection, bool]]:
    """Time, size (no tag), connection of every segment with data between a database and its users,
    and whether it is a request."""
    for kind, at_ps, _, mark, *_, wire_bytes, to_host, from_host, source, destination in _records(
        log
    ):
        if kind != FRAME:
            continue
        frame_bytes = wire_bytes - TAG_BYTES if mark & TAGGED else wire_bytes
        if destination == port and frame_bytes > ACK_BYTES_MAX:
            yield at_ps, frame_bytes, (from_host, to_host, source), True
        elif source == port and frame_bytes > HEADER_BYTES:
            yield at_ps, frame_bytes, (to_host, from_host, destination), False


def _records(log: Path) -> Iterator[tuple[int, ...]]:
    with log.open("rb") as file:
        if file.read(len(NAME)) != NAME:
            raise FabricError(
                f"{log}: the log is not of this version (hint: run the trial again with "
                "--log-ingress)"
            )
        while piece := file.read(RECORD.size * PIECE_RECORDS):
            whole = len(piece) // RECORD.size * RECORD.size
            yield from RECORD.iter_unpack(piece[:whole])
