"""A relay between a guest and a switch that speak vhost-user: it takes features away that one of
them cannot do.

DPDK offers a control queue, which QEMU would serve and nobody does here, and rings that the driver
of User-Mode Linux does not have: a guest that accepts them waits for ever. The relay passes every
message and its files on, and clears these features in the switch's answer. Frames do not pass it:
they are in memory that guest and switch share.

Usage: live_vhost_relay.py SOCKET_FOR_THE_GUEST SOCKET_OF_THE_SWITCH
"""

import array
import os
import select
import socket
import struct
import sys
from dataclasses import dataclass

GET_FEATURES = 1
"""vhost-user protocol, VHOST_USER_GET_FEATURES."""
VERSION_1, PROTOCOL_FEATURES, MAC = 1 << 32, 1 << 30, 1 << 5
KEPT = VERSION_1 | PROTOCOL_FEATURES | MAC
HEADER = struct.Struct("<III")
FILES_MAX = 8
"""VHOST_MEMORY_MAX_NREGIONS."""
BODY_BYTES_MAX = 4096


@dataclass
class Message:
    """One message with the files that came with it."""

    request: int
    flags: int
    body: bytes
    files: list[int]

    @classmethod
    def receive(cls, line: socket.socket) -> "Message | None":
        """The next one; None at the end."""
        files: list[int] = []
        head = _read(line, HEADER.size, files)
        if head is None:
            return None
        request, flags, size = HEADER.unpack(head)
        body = _read(line, min(size, BODY_BYTES_MAX), files)
        return None if body is None else cls(request, flags, body, files)

    def without_features(self) -> "Message":
        """The answer of a switch with few features."""
        if self.request != GET_FEATURES:
            return self
        [features] = struct.unpack("<Q", self.body)
        return Message(self.request, self.flags, struct.pack("<Q", features & KEPT), self.files)

    def send(self, line: socket.socket) -> None:
        """Passes it on and closes its files here."""
        beside = (
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", self.files))]
            if self.files
            else []
        )
        line.sendmsg([HEADER.pack(self.request, self.flags, len(self.body)) + self.body], beside)
        for file in self.files:
            os.close(file)


def _read(line: socket.socket, size: int, files: list[int]) -> bytes | None:
    read = b""
    while len(read) < size:
        part, beside, _, _ = line.recvmsg(size - len(read), socket.CMSG_SPACE(4 * FILES_MAX))
        for level, kind, data in beside:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                found = array.array("i")
                found.frombytes(data[: len(data) - len(data) % found.itemsize])
                files += found
        if not part:
            return None
        read += part
    return read


def relay(guest: socket.socket, switch: socket.socket) -> None:
    """Passes messages on until one of them ends."""
    while True:
        for line in select.select([guest, switch], [], [])[0]:
            message = Message.receive(line)
            if message is None:
                return
            (message.without_features() if line is switch else message).send(
                guest if line is switch else switch
            )


def main() -> None:
    """Waits for one guest."""
    at, towards = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as switch:
        listener.bind(at)
        listener.listen(1)
        guest, _ = listener.accept()
        switch.connect(towards)
        with guest:
            relay(guest, switch)


if __name__ == "__main__":
    main()
