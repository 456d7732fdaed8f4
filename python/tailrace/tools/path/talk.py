"""The programs that send and receive probes: starting them in a namespace, and talking to them."""

import json
import secrets
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from tailrace.errors import TailraceError
from tailrace.tools.path.search import Attempt

PROGRAM = Path(__file__).with_name("agent.py")
ANSWER_GRACE_S = 10.0
"""For an answer, beyond the time that the command takes by itself."""
STOP_GRACE_S = 2.0
GAP_S = 0.01
"""Between probes: at most 100 a second."""
WAIT_MIN_S, WAIT_MAX_S = 0.2, 2.0
WAIT_FACTOR = 20
"""A probe is lost when it has not arrived after so many times what the small ones took, within
these bounds."""


class ProbeError(TailraceError):
    """A path cannot be probed."""


class Agent:
    """The program in one namespace. A context manager: the program ends with the block."""

    def __init__(self, where: str, enter: Sequence[str]) -> None:
        self.where = where
        self._words = [*enter, sys.executable, "-I", str(PROGRAM)]
        self._process: subprocess.Popen[bytes] | None = None
        self._held = b""
        self.token = secrets.randbits(63)

    def __enter__(self) -> "Agent":
        try:
            self._process = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise ProbeError(
                f"{self.where}: cannot start {self._words[0]}: {error.strerror}"
            ) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        with suppress(OSError):  # it has ended already
            process.stdin.close()
        try:
            process.wait(STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_GRACE_S)
        process.stdout.close()
        process.stderr.close()

    def ask(self, op: str, takes_s: float = 0.0, **arguments: Any) -> dict[str, Any]:
        """The answer to a command; raises `ProbeError` with what the program says instead."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        command = {"op": op, "token": self.token, **arguments}
        try:
            process.stdin.write((json.dumps(command) + "\n").encode())
            process.stdin.flush()
        except OSError:
            raise self._has_ended() from None
        answer: dict[str, Any] = json.loads(self._line(time.monotonic() + takes_s + ANSWER_GRACE_S))
        if "error" in answer:
            raise ProbeError(f"{self.where}: {answer['error']}")
        return answer

    def _line(self, deadline_s: float) -> bytes:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        while b"\n" not in self._held:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or not select.select([process.stdout], [], [], left_s)[0]:
                raise ProbeError(f"{self.where}: the prober does not answer")
            part = process.stdout.read1(65_536)  # type: ignore[attr-defined]
            if not part:
                raise self._has_ended()
            self._held += part
        line, _, self._held = self._held.partition(b"\n")
        return line

    def _has_ended(self) -> ProbeError:
        assert self._process is not None
        assert self._process.stderr is not None
        said = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        return ProbeError(
            f"{self.where}: {said[-1] if said else 'the prober has ended without a word'}"
        )


class Sender:
    """Numbers the probes of one direction, and adapts the time for which it waits."""

    def __init__(self) -> None:
        self._next = 0
        self._wait_s = WAIT_MAX_S
        self.bursts = 0

    def burst(self, payload_bytes: int, count: int) -> tuple[dict[str, Any], float]:
        """The arguments of a burst, and how long sending and waiting for it may take."""
        first, self._next = self._next, self._next + count
        self.bursts += 1
        arguments = {
            "bytes": payload_bytes,
            "first": first,
            "count": count,
            "gap_s": GAP_S,
            "wait_s": self._wait_s,
        }
        return arguments, count * GAP_S + self._wait_s

    def learn(self, took_s: float, count: int) -> None:
        """A burst of small probes took so long."""
        self._wait_s = min(
            WAIT_MAX_S, max(WAIT_MIN_S, WAIT_FACTOR * (took_s - (count - 1) * GAP_S))
        )


def attempt_of(
    payload_bytes: int, sent: dict[str, Any], received: int, fragment: int = 0
) -> Attempt:
    """What was seen of a burst."""
    needs = sent.get("needs_fragments") or {}
    icmp = sent.get("icmp") or {}
    words = f"{icmp['error']}, says {icmp['from']}" if icmp else sent.get("refused")
    return Attempt(
        payload_bytes,
        sent["sent"],
        received,
        sent["mtu"] if sent["too_long"] else None,
        needs.get("mtu"),
        needs.get("from"),
        words,
        fragment,
    )
