"""wrk: a thread with one connection for each user, the script of all, and its log of requests.

wrk's own histogram is of the whole run, and is corrected for its guess of requests that were not
sent (`stats_correct` in wrk.c). The script logs every request with its times instead, so that
warm-up, end and pauses are distinguishable, and nothing is corrected: a latency counts from the
intended time of a request.

With a new connection for each request, wrk opens the next one when a response is complete, before
the pause, and goes on when it is open: the handshake of a connection counts to the request before
it. Each latency has one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tailrace.programs import lua, nginx
from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.needed import Needed
from tailrace.programs.requests import Found, RequestWork, pause_refusals, refusals, users_refusals
from tailrace.scenario.workloads.requests import Requests

PROGRAM = "wrk"
SCRIPT = Path(__file__).with_name("wrk.lua")
USERS_MAX = 256
"""Each user is a thread with an interpreter."""
START_GRACE_S = 60
"""wrk's own time limit exceeds the trial's by this; the trial ends it first."""
TOTAL = re.compile(r"^total ((?:[a-z]+ \d+ ?)+)$", re.MULTILINE)
SOCKET_ERRORS = ("connect", "read", "write")
LOST = re.compile(r"^lost (\d+) (\d+)$", re.MULTILINE)

WRK = Needed(PROGRAM, "wrk", "-v", "workloads of kind requests with wrk")


def wrk_refusals(workload: Requests) -> Found:
    """Features that wrk, or nginx for it, does not have."""
    yield from refusals(PROGRAM, workload, opens=True)
    yield from pause_refusals(PROGRAM, workload)
    if workload.is_udp:
        yield ("protocol",), "HTTP 1.1 uses tcp", "write protocol: tcp, or load_generator: dnsperf"
    yield from users_refusals(workload, USERS_MAX, f"{PROGRAM} needs a thread for each user")
    request, response = workload.sizes
    if request is None or response is None:
        return
    is_kept = workload.connection == "kept"
    least = len(request_text(int(response.mean), is_kept=is_kept))
    if not least <= request.mean <= nginx.REQUEST_BYTES_MAX:
        what = f"a request of {PROGRAM} has {least} to {nginx.REQUEST_BYTES_MAX} bytes"
        yield ("request",), what, "write a size in this range"
    if "constant" in response.raw and nginx.body_bytes(int(response.mean), is_kept=is_kept) is None:
        what = f"no response of nginx has {response.mean:.0f} bytes with its headers"
        yield (
            ("response",),
            what,
            f"write at least {nginx.least_bytes(is_kept=is_kept)}B, or another number of bytes",
        )


def request_text(response_bytes: int, request_bytes: int = 0, *, is_kept: bool = True) -> str:
    """A request of this size, by the length of its host's name; the smallest one for 0. The server
    closes a connection that is not to be kept after its response."""
    begin = f"GET /{nginx.file_name(response_bytes, is_kept=is_kept)} HTTP/1.1\r\nHost: "
    end = "\r\n\r\n" if is_kept else "\r\nConnection: close\r\n\r\n"
    return begin + "s" * max(1, request_bytes - len(begin) - len(end)) + end


@dataclass(frozen=True)
class Script:
    """wrk as the users of a workload."""

    work: RequestWork

    def text(self, log_prefix: Path) -> str:
        """The script, in Lua."""
        own = self.work
        settings: dict[str, int | str] = {
            "log_prefix": str(log_prefix),
            "request_text": request_text(
                own.response_bytes, own.request_bytes, is_kept=own.is_kept
            ),
            "requests_max": own.count,
        }
        draws = lua.function("start_us", own.start) + lua.function("gap_us", own.gap)
        return lua.shared() + lua.settings(settings) + draws + SCRIPT.read_text(encoding="utf-8")

    def command(self, file: Path, address: str, limit_s: int) -> Command:
        """wrk for this workload; it ends at SIGINT, or by itself some time after `limit_s`."""
        users = str(self.work.users)
        argv = [
            PROGRAM,
            "--threads",
            users,
            "--connections",
            users,
            "--duration",
            f"{limit_s + START_GRACE_S}s",
        ]
        argv += ["--latency", "--script", str(file), f"http://{address}:{self.work.port}/"]
        raw = self.work.raw
        return Command(
            f"wrk-{self.work.name}",
            argv,
            host=self.work.client,
            priority=raw["priority"] or None,
            dscp=raw.get("dscp") or None,
        )

    def require_sound(self, said: str) -> None:
        """Raises `ProgramError` for errors that wrk has counted, and for responses of another
        size."""
        total = self._total(said)
        if lost := LOST.findall(said):
            user, number = lost[0]
            raise ProgramError(
                f"wrk-{self.work.name}: the server closed a connection under {len(lost)} "
                "requests, first request"
                f" {number} of user {user}"
            )
        if errors := {name: total[name] for name in (*SOCKET_ERRORS, "status") if total[name]}:
            counted = ", ".join(f"{name} {count}" for name, count in errors.items())
            raise ProgramError(f"wrk-{self.work.name}: errors of sockets or status: {counted}")
        size = self.work.response_bytes
        # A response of each user may have come in part.
        if not 0 <= total["bytes"] - total["requests"] * size <= self.work.users * size:
            mean = total["bytes"] / max(1, total["requests"])
            raise ProgramError(
                f"wrk-{self.work.name}: a response has {mean:.1f} bytes on average, not {size}"
            )

    def _total(self, said: str) -> Mapping[str, int]:
        found = TOTAL.search(said)
        if found is None:
            raise ProgramError(f"wrk-{self.work.name}: it ended without its totals")
        words = found[1].split()
        return {name: int(count) for name, count in zip(words[::2], words[1::2], strict=True)}
