"""A client of AMQP 0-9-1 for checks, on the broker's own host. A program of its own, without other
modules of tailrace: it is started in a lab.

    amqp.py ADDRESS PORT sizes BODY_BYTES QUEUE    publishes one message to a new queue and consumes it; prints the
                                                   bytes of what was published, of its confirm and
                                                   of the delivery
    amqp.py ADDRESS PORT fill BODY_BYTES QUEUE COUNT MAX_BYTES
                                                   makes a queue of at most so many bytes, with
                                                   messages; prints COUNT
    amqp.py ADDRESS PORT count QUEUE               prints how many messages a queue has ready
"""  # noqa: E501

import socket
import struct
import sys

LIMIT_S = 20.0
METHOD, HEADER, BODY = 1, 2, 3
END = b"\xce"
FRAME_BYTES = 8
"""AMQP 0-9-1, section 2.3.5: a header of 7 bytes and an end of 1."""
FRAME_MAX = 131_072
BATCH = 500
"""Messages that are on their way without a confirm."""
PERSISTENT = b"\x10\x00\x02"
"""Flags of a content header with one property, the delivery mode."""


def short(text: str) -> bytes:
    """A short string."""
    return bytes([len(text)]) + text.encode()


class Client:
    """One connection with one channel."""

    def __init__(self, address: str, port: int) -> None:
        self._socket = socket.create_connection((address, port), LIMIT_S)
        self._buffer = b""
        self._socket.sendall(b"AMQP\x00\x00\x09\x01")
        self.expect(10, 10)
        plain = (
            b"\x00\x00\x00\x00"
            + short("PLAIN")
            + struct.pack(">I", 12)
            + b"\x00guest\x00guest"
            + short("en_US")
        )
        self.call(0, 10, 11, plain, (10, 30))
        self.send(0, 10, 31, struct.pack(">HIH", 1, FRAME_MAX, 0))
        self.call(0, 10, 40, short("/") + b"\x00\x00", (10, 41))
        self.call(1, 20, 10, b"\x00", (20, 11))

    def send(self, channel: int, class_id: int, method: int, arguments: bytes) -> int:
        """A method; returns its bytes."""
        return self._write(METHOD, channel, struct.pack(">HH", class_id, method) + arguments)

    def call(
        self, channel: int, class_id: int, method: int, arguments: bytes, answer: tuple[int, int]
    ) -> bytes:
        """A method and the arguments of its answer."""
        self.send(channel, class_id, method, arguments)
        return self.expect(*answer)[0]

    def expect(self, class_id: int, method: int) -> tuple[bytes, int]:
        """The arguments of the next method, and its bytes; raises for another one, such as a
        refusal."""
        kind, payload, size = self.frame()
        found = struct.unpack(">HH", payload[:4])
        if kind != METHOD or found != (class_id, method):
            raise SystemExit(f"the broker sent method {found}: {payload[4:]!r}")
        return payload[4:], size

    def frame(self) -> tuple[int, bytes, int]:
        """The next frame: its type, payload and bytes."""
        kind, _, size = struct.unpack(">BHI", self._read(7))
        return kind, self._read(size + 1)[:-1], size + FRAME_BYTES

    def publish(self, queue: str, body: bytes) -> int:
        """A persistent, mandatory message to the default exchange; returns its bytes."""
        written = self.send(1, 60, 40, b"\x00\x00" + short("") + short(queue) + b"\x01")
        written += self._write(HEADER, 1, struct.pack(">HHQ", 60, 0, len(body)) + PERSISTENT)
        step = FRAME_MAX - FRAME_BYTES
        return written + sum(
            self._write(BODY, 1, body[at : at + step]) for at in range(0, len(body), step)
        )

    def delivery(self, body_bytes: int) -> int:
        """The bytes of a delivery of so many bytes."""
        _, size = self.expect(60, 60)
        size += self.frame()[2]
        while body_bytes > 0:
            _, payload, taken = self.frame()
            body_bytes -= len(payload)
            size += taken
        return size

    def count(self, queue: str) -> int:
        """Messages that a queue has ready; raises when there is no such queue."""
        answer = self.call(1, 50, 10, b"\x00\x00" + short(queue) + b"\x01" + b"\x00" * 4, (50, 11))
        return int(struct.unpack(">I", answer[1 + len(queue) : 5 + len(queue)])[0])

    def _write(self, kind: int, channel: int, payload: bytes) -> int:
        data = struct.pack(">BHI", kind, channel, len(payload)) + payload + END
        self._socket.sendall(data)
        return len(data)

    def _read(self, size: int) -> bytes:
        while len(self._buffer) < size:
            part = self._socket.recv(65_536)
            if not part:
                raise SystemExit("the broker closed the connection")
            self._buffer += part
        found, self._buffer = self._buffer[:size], self._buffer[size:]
        return found


def sizes(client: Client, body_bytes: int, queue: str) -> tuple[int, int, int]:
    """Bytes of a message as it is published, of its confirm, and of its delivery."""
    client.call(1, 50, 10, b"\x00\x00" + short(queue) + b"\x08" + b"\x00" * 4, (50, 11))
    client.call(1, 85, 10, b"\x00", (85, 11))
    published = client.publish(queue, bytes(body_bytes))
    _, confirmed = client.expect(60, 80)
    client.call(1, 60, 20, b"\x00\x00" + short(queue) + short("") + b"\x02" + b"\x00" * 4, (60, 21))
    return published, confirmed, client.delivery(body_bytes)


def fill(client: Client, body_bytes: int, queue: str, count: int, max_bytes: int) -> int:
    """Makes a queue, and publishes messages to it; returns how many it then has."""
    limit = short("x-max-length-bytes") + b"l" + struct.pack(">q", max_bytes)
    table = struct.pack(">I", len(limit)) + limit
    client.call(1, 50, 10, b"\x00\x00" + short(queue) + b"\x00" + table, (50, 11))
    client.call(1, 85, 10, b"\x00", (85, 11))
    unconfirmed: set[int] = set()
    for number in range(1, count + 1):
        client.publish(queue, bytes(body_bytes))
        unconfirmed.add(number)
        while len(unconfirmed) >= (BATCH if number < count else 1):
            # A delivery tag, which counts messages, and whether it stands for all before it, too.
            tag, is_multiple = struct.unpack(">QB", client.expect(60, 80)[0])
            unconfirmed -= {one for one in unconfirmed if one <= tag} if is_multiple else {tag}
    return client.count(queue)


def main(words: list[str]) -> str:
    """What is printed."""
    address, port, what, *rest = words
    client = Client(address, int(port))
    if what == "count":
        return str(client.count(rest[0]))
    if what == "fill":
        return str(fill(client, int(rest[0]), rest[1], int(rest[2]), int(rest[3])))
    return " ".join(map(str, sizes(client, int(rest[0]), rest[1])))


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]) + "\n")
