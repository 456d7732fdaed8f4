"""Asks a server one request from its own host, and prints how many bytes its response has. A
program of its own, without other modules of tailrace: it is started in a lab.

    ask.py ADDRESS PORT tcp|udp REQUEST_AS_HEX EXPECTED_BYTES
"""

import socket
import sys

LIMIT_S = 5.0
QUIET_S = 0.1
"""A response that is longer than expected would go on within this time."""


def ask(address: str, port: int, is_udp: bool, request: bytes, expected: int) -> int:
    """Size of the response."""
    kind = socket.SOCK_DGRAM if is_udp else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as own:
        own.settimeout(LIMIT_S)
        own.connect((address, port))
        own.sendall(request)
        received = 0
        try:
            while received < expected:
                part = own.recv(65_536)
                if not part:
                    return received
                received += len(part)
            own.settimeout(QUIET_S)
            while part := own.recv(65_536):
                received += len(part)
        except TimeoutError:
            pass
        return received


if __name__ == "__main__":
    address, port, protocol, request, expected = sys.argv[1:]
    size = ask(address, int(port), protocol == "udp", bytes.fromhex(request), int(expected))
    sys.stdout.write(f"{size}\n")
