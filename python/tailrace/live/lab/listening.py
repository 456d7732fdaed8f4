"""Waiting until a server listens."""

import time

from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.programs.command import Command

LISTEN_LIMIT_S = 10.0
POLL_S = 0.02


def wait_until_listening(
    lab: Lab,
    name: str,
    server: Program,
    port: int,
    *,
    is_udp: bool = False,
    limit_s: float = LISTEN_LIMIT_S,
) -> None:
    """Returns once a server has its socket; raises `FabricError` when it ends before, or does not
    listen within the limit.

    `name` is the name of the check, unique in the lab.
    """
    deadline_s = time.monotonic() + limit_s
    attempt = 0
    while time.monotonic() < deadline_s:
        if server.ended is not None:
            raise FabricError(server.complaint())
        attempt += 1
        argv = [
            "ss",
            "--no-header",
            "--udp" if is_udp else "--tcp",
            "--listening",
            "--numeric",
            f"sport = :{port}",
        ]
        probe = Command(f"{name}-listens-{attempt}", argv, host=server.command.host, observes=True)
        if lab.run(probe, LISTEN_LIMIT_S).strip():
            return
        time.sleep(POLL_S)
    raise FabricError(
        f"{server.command.name}: it did not listen within {limit_s:g} s; {server.complaint()}"
    )
