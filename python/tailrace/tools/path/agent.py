"""A program that sends and receives probes on a host. It reads commands and writes answers, one
JSON object on a line.

It runs in the namespace of a host, from its file, and imports only the standard library: it must
start quickly. Probes have DF set and ignore what the kernel has learnt of the path
(`IP_PMTUDISC_PROBE`, ip(7)), so that each is a measurement; the kernel still refuses what is above
the MTU of the interface.
"""

import errno
import json
import os
import select
import socket
import struct
import sys
import time
from typing import Any

IP_MTU_DISCOVER = 10
IP_RECVERR = 11
IP_MTU = 14
IP_RECVFRAGSIZE = 25
IP_PMTUDISC_PROBE = 3
"""Numbers of linux/in.h that Python does not name."""
ECHO_REPLY, ECHO_REQUEST = 0, 8
"""Types of ICMP messages (RFC 792)."""
ORIGIN_ICMP = 2
"""SO_EE_ORIGIN_ICMP of linux/errqueue.h."""
EXTENDED_ERROR = struct.Struct("=IBBBBII")
"""struct sock_extended_err: errno, origin, type, code, padding, info, data."""
HEADER = struct.Struct("!QI")
"""What every probe begins with: a number drawn for this program, and its own number."""
ICMP_HEADER = struct.Struct("!BBHHH")
RECEIVE_BYTES = 4 << 20
"""Receive buffer: room for every probe of a burst."""
DATAGRAM_BYTES_MAX = 65_535
UINT16 = 0xFFFF


class Udp:
    """One way: sends datagrams to the program of another host, and receives those of it."""

    def __init__(self) -> None:
        self.socket = _prepared(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.socket.bind(("0.0.0.0", 0))
        self.arrived: set[int] = set()

    def send(self, command: dict[str, Any]) -> dict[str, Any]:
        """Sends a burst."""
        to = (command["to"], command["port"])
        with _prepared(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sender:
            sender.connect(to)
            answer = _send_burst(
                sender, command, lambda number: _payload(command["token"], number, command["bytes"])
            )
            return answer | _errors(sender)

    def receive(self, command: dict[str, Any]) -> dict[str, Any]:
        """Waits until all of these have arrived, or for so long."""
        wanted = set(range(command["first"], command["first"] + command["count"]))
        deadline = time.monotonic() + command["wait_s"]
        while not wanted <= self.arrived and (left_s := deadline - time.monotonic()) > 0:
            if select.select([self.socket], [], [], left_s)[0]:
                data = self.socket.recv(DATAGRAM_BYTES_MAX)
                if len(data) >= HEADER.size:
                    token, number = HEADER.unpack_from(data)
                    self.arrived |= {number} if token == command["token"] else set()
        return {"received": len(wanted & self.arrived)}


class Echo:
    """There and back: echo requests, which any host answers."""

    def __init__(self) -> None:
        try:
            self.socket = _prepared(
                socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
            )
            self.is_raw = True
        except PermissionError:
            # Ordinary users may have sockets for echo requests (net.ipv4.ping_group_range).
            self.socket = _prepared(
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
            )
            self.is_raw = False
        self.socket.setsockopt(socket.IPPROTO_IP, IP_RECVFRAGSIZE, 1)
        self.identity = os.getpid() & UINT16

    def send(self, command: dict[str, Any]) -> dict[str, Any]:
        """Sends a burst and waits for the replies."""
        self.socket.connect((command["to"], 0))
        started = time.monotonic()
        answer = _send_burst(self.socket, command, lambda number: self._request(command, number))
        wanted = set(range(command["first"], command["first"] + command["count"]))
        got: set[int] = set()
        largest_fragment = 0
        deadline = time.monotonic() + (command["wait_s"] if answer["sent"] else 0)
        while got != wanted and (left_s := deadline - time.monotonic()) > 0:
            if not select.select([self.socket], [], [], left_s)[0]:
                break
            try:
                data, ancillary, _, _ = self.socket.recvmsg(DATAGRAM_BYTES_MAX, 256)
            except OSError:
                continue  # an ICMP error, which waits in the error queue
            number = self._number_of(data, command["token"])
            if number in wanted:
                got.add(number)
                for level, kind, value in ancillary:
                    if (level, kind) == (socket.IPPROTO_IP, IP_RECVFRAGSIZE):
                        largest_fragment = max(largest_fragment, struct.unpack("=i", value[:4])[0])
        waited = {
            "received": len(got),
            "largest_fragment_bytes": largest_fragment,
            "took_s": time.monotonic() - started,
        }
        return answer | _errors(self.socket) | waited

    def _request(self, command: dict[str, Any], number: int) -> bytes:
        payload = _payload(command["token"], number, command["bytes"])
        header = (ECHO_REQUEST, 0, 0, self.identity, number & UINT16)
        total = checksum(ICMP_HEADER.pack(*header) + payload)
        return ICMP_HEADER.pack(ECHO_REQUEST, 0, total, *header[3:]) + payload

    def _number_of(self, data: bytes, token: int) -> int | None:
        """The number of the probe that this message answers."""
        message = data[(data[0] & 0x0F) * 4 :] if self.is_raw and data else data
        if len(message) < ICMP_HEADER.size + HEADER.size or message[0] != ECHO_REPLY:
            return None
        found, number = HEADER.unpack_from(message, ICMP_HEADER.size)
        return int(number) if found == token else None


def checksum(data: bytes) -> int:
    """The checksum of the Internet (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total > UINT16:
        total = (total & UINT16) + (total >> 16)
    return int(UINT16 - total)


def _payload(token: int, number: int, size: int) -> bytes:
    return (HEADER.pack(token, number) + bytes(size))[:size]


def _prepared(made: socket.socket) -> socket.socket:
    made.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
    made.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
    return made


def _send_burst(sender: socket.socket, command: dict[str, Any], message: Any) -> dict[str, Any]:
    """Sends probes at a bounded rate. Ends at the first that the kernel finds too long.

    Other refusals are not the end: an earlier probe may have been answered by an ICMP error, which
    the next call of `send` tells, and ENOBUFS says that the interface has dropped this one.
    """
    refused = None
    for number in range(command["first"], command["first"] + command["count"]):
        if number > command["first"]:
            time.sleep(command["gap_s"])
        try:
            sender.send(message(number))
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                sent = number - command["first"]
                return {
                    "sent": sent,
                    "too_long": True,
                    "mtu": sender.getsockopt(socket.IPPROTO_IP, IP_MTU),
                }
            if error.errno != errno.ECONNREFUSED:
                refused = os.strerror(error.errno or 0)
    return {"sent": command["count"], "too_long": False} | ({"refused": refused} if refused else {})


def _errors(sender: socket.socket) -> dict[str, Any]:
    """What routers and the other end have answered in ICMP errors: "fragmentation needed" with its
    MTU, and others."""
    found: dict[str, Any] = {}
    while True:
        try:
            _, ancillary, _, _ = sender.recvmsg(1, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except OSError:
            return found
        for level, kind, value in ancillary:
            if (level, kind) == (socket.IPPROTO_IP, IP_RECVERR) and len(
                value
            ) >= EXTENDED_ERROR.size:
                code, origin, _, _, _, info, _ = EXTENDED_ERROR.unpack_from(value)
                if origin == ORIGIN_ICMP:
                    # The address of who has answered follows: struct sockaddr_in.
                    offender = socket.inet_ntoa(value[EXTENDED_ERROR.size + 4 :][:4])
                    found |= (
                        {"needs_fragments": {"mtu": info, "from": offender}}
                        if code == errno.EMSGSIZE
                        else {"icmp": {"error": os.strerror(code), "from": offender}}
                    )


def _route(command: dict[str, Any]) -> dict[str, Any]:
    """The address of a name, and the MTU of the way to it as the kernel knows it."""
    try:
        address = socket.getaddrinfo(command["name"], None, socket.AF_INET, socket.SOCK_DGRAM)[0][
            4
        ][0]
    except OSError as error:
        return {"error": f"there is no IPv4 address of '{command['name']}': {error.strerror}"}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((address, 9))
        except OSError as error:
            return {"error": f"there is no route to {address}: {error.strerror}"}
        return {
            "address": address,
            "mtu": asking.getsockopt(socket.IPPROTO_IP, IP_MTU),
            "from": asking.getsockname()[0],
        }


def main() -> None:
    """Answers commands until there are no more."""
    made: dict[str, Any] = {}
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = _answer(command, made)
        except OSError as error:
            answer = {"error": f"{error.strerror or error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _answer(command: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    if command["op"] == "route":
        return _route(command)
    if command["op"] == "echo":
        made.setdefault("echo", Echo())
        answer: dict[str, Any] = made["echo"].send(command)
        return answer
    udp = made.setdefault("udp", Udp())
    if command["op"] == "listen":
        return {"port": udp.socket.getsockname()[1]}
    told: dict[str, Any] = udp.send(command) if command["op"] == "send" else udp.receive(command)
    return told


if __name__ == "__main__":
    main()
