"""The order to the fabric program, and what it answers."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.live.public import FabricError, exec_words, fabric_program, standing_fabric

START_LIMIT_S = 30.0
"""Beyond the time that was asked for."""
HOST_INTERFACE = "eth0"
PS_PER_S = 10**12
RATE_MAX = 10**9


@dataclass(frozen=True)
class SendingInterface:
    """An interface: of a host of a fabric, of a namespace, or of the machine."""

    interface: str
    host: str | None = None
    fabric: str | None = None
    namespace: str | None = None
    is_machine_allowed: bool = False


@dataclass(frozen=True)
class Sending:
    """How frames are sent."""

    threads: int = 1
    delay_ps: int = 0
    rate: int | None = None
    """Frames a second of all threads."""
    count: int | None = None
    length_ps: int = 10 * PS_PER_S
    is_queued: bool = False


def order(
    interface: SendingInterface, sending: Sending, rounds: Sequence[Sequence[bytes]]
) -> dict[str, Any]:
    """What the program reads."""
    return {
        "namespace": f"/run/netns/{interface.namespace}" if interface.namespace else None,
        "interface": interface.interface,
        "is_machine_allowed": interface.is_machine_allowed,
        "rounds": [[frame.hex() for frame in frames] for frames in rounds],
        "threads": sending.threads,
        "delay_ns": sending.delay_ps // 1000,
        "interval_ps": PS_PER_S * sending.threads // sending.rate if sending.rate else 0,
        "count": sending.count or 0,
        "limit_ns": sending.length_ps // 1000,
        "is_queued": sending.is_queued,
    }


def send(
    interface: SendingInterface, sending: Sending, rounds: Sequence[Sequence[bytes]]
) -> Iterator[dict[str, Any]]:
    """Sends round after round; yields the report of each."""
    words = [str(fabric_program()), "blast"]
    if interface.host is not None:
        words = exec_words(standing_fabric(interface.fabric), interface.host, words)
    limit_s = START_LIMIT_S + len(rounds) * sending.length_ps / PS_PER_S
    try:
        done = subprocess.run(
            words,
            input=json.dumps(order(interface, sending, rounds)),
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FabricError(f"the program that sends did not end within {limit_s:g} s") from None
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for answer in answers:
        if answer.get("event") == "failed":
            raise FabricError(str(answer["error"]))
        yield answer
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        raise FabricError(last[0])


def available(path: Path) -> list[str]:
    """Namespaces of the machine that have a name."""
    return sorted(each.name for each in path.iterdir()) if path.is_dir() else []
