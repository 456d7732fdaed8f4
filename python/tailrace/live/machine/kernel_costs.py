"""Measures the costs of the kernel's work for programs on a core of this machine, for hosts with a
modelled processor.

One core, loopback, no load generator: system calls, copies, the path of a small segment from `send`
to the receive buffer of its peer, and the switch between two processes that wake each other by
pipes, on one core and on two. All are times of the kernel (`getrusage`), so that neither the
interpreter nor other programs count.
"""

import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tailrace.scenario.network.cpu import PROFILES

MEASURE_S = 0.8
"""Length of each measurement: the kernel divides time between user and system by 200 ticks or
more."""
BLOCK = 8
"""Writes before as many reads: they fit any socket buffer."""
LARGE_BYTES = 16_384
"""A write whose copy is most of its cost, and that is one segment over loopback (MTU 65 536)."""
ECHO = "import os\nwhile (one := os.read(0, 1)):\n    os.write(1, one)\n"
NS_PER_S = 10**9


@dataclass(frozen=True)
class KernelCosts:
    """Kernel time in nanoseconds."""

    cores: int
    receive_small: float
    """Reading one byte from a TCP socket."""
    receive_large: float
    send_small: float
    """Writing one byte to a TCP socket, up to the receive buffer of the peer: over loopback the
    sender does both."""
    send_large: float
    hand_over: float
    """From one process to another that waits for a byte in a pipe, on the same core, without the
    pipe's own work."""
    hand_over_apart: float
    """The same between two idle cores."""

    def quantities(self) -> dict[str, str]:
        """Keys of `cpu` as a scenario has them."""
        return {key: f"{round(value_ns * 1000)}ps" for key, value_ns in self._keys().items()}

    def _keys(self) -> dict[str, float]:
        """Values of `cpu` in nanoseconds. Costs that are measured together are divided as in the
        profile `linux-kernel`."""
        usual = PROFILES["linux-kernel"]
        arrival = usual.per_packet + usual.per_frame + usual.per_poll
        packet = max(0.0, self.send_small - self.receive_small) / (usual.per_send + arrival)
        hand_over = self.hand_over / (usual.wake_up + usual.context_switch)
        return {
            "system_call": self.receive_small,
            "per_send": packet * usual.per_send,
            "per_packet": packet * usual.per_packet,
            "per_frame": packet * usual.per_frame,
            "per_poll": packet * usual.per_poll,
            "wake_up": hand_over * usual.wake_up,
            "idle_exit": max(0.0, self.hand_over_apart - self.hand_over),
            "context_switch": hand_over * usual.context_switch,
            "read_byte": max(0.0, self.receive_large - self.receive_small) / (LARGE_BYTES - 1),
            "write_byte": max(0.0, self.send_large - self.send_small) / (LARGE_BYTES - 1),
        }


def measure(say: Callable[[str], None]) -> KernelCosts:
    """Measures for about four seconds."""
    with _on_one_core() as allowed:
        say("reads and writes of a TCP connection over loopback")
        send_small, receive_small = _transfer(1)
        send_large, receive_large = _transfer(LARGE_BYTES)
        say("two processes that wake each other")
        pipe = _own_pipe()
        hand_over, apart = (
            max(0.0, _ping_pong(core) - pipe) for core in (max(allowed), min(allowed))
        )
    return KernelCosts(
        os.cpu_count() or 1, receive_small, receive_large, send_small, send_large, hand_over, apart
    )


def fragment(found: KernelCosts) -> str:
    """The costs as YAML for `tailrace run --calibrated FILE`: every host is a machine like this
    one."""
    lines = [
        "# The processor of this machine, by `tailrace lab calibrate --processor`: kernel "
        "time, over loopback.",
        f"# One byte: read {found.receive_small:.0f} ns, write to the peer's buffer "
        f"{found.send_small:.0f} ns;"
        f" {LARGE_BYTES} bytes: {found.receive_large:.0f} and {found.send_large:.0f} ns.",
        f"# From one process to the next on a core: {found.hand_over:.0f} ns; to one on an idle "
        f"core: {found.hand_over_apart:.0f} ns.",
        "# How a write is divided between sending and receiving, and a hand-over between "
        "wake-up and switch, is",
        "# assumed (profile `linux-kernel`).",
        "hosts:",
        "  defaults:",
        "    cpu:",
        f"      cores: {found.cores}",
    ]
    lines += [f"      {key}: {value}" for key, value in found.quantities().items()]
    return "\n".join(lines) + "\n"


@contextmanager
def _on_one_core() -> Iterator[set[int]]:
    """The cores that were allowed before."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield allowed
    finally:
        os.sched_setaffinity(0, allowed)


def _used(who: int) -> tuple[float, float]:
    used = resource.getrusage(who)
    return used.ru_utime, used.ru_stime


def _transfer(size: int) -> tuple[float, float]:
    """Kernel time of a write and of a read of `size` bytes, in nanoseconds."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as sender,
    ):
        receiver, _ = listener.accept()
        with receiver:
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            payload, rounds = b"x" * size, 0
            wrote_ns = read_ns = 0
            user_s, _ = _used(resource.RUSAGE_THREAD)
            end = time.monotonic() + 2 * MEASURE_S
            while time.monotonic() < end:
                begin = time.thread_time_ns()
                for _ in range(BLOCK):
                    sender.sendall(payload)
                middle = time.thread_time_ns()
                for _ in range(BLOCK):
                    receiver.recv(size, socket.MSG_WAITALL)
                wrote_ns, read_ns, rounds = (
                    wrote_ns + middle - begin,
                    read_ns + time.thread_time_ns() - middle,
                    rounds + 1,
                )
            # The interpreter's part is the same for both.
            user_ns = (_used(resource.RUSAGE_THREAD)[0] - user_s) * NS_PER_S / (2 * BLOCK * rounds)
    return max(0.0, wrote_ns / (BLOCK * rounds) - user_ns), max(
        0.0, read_ns / (BLOCK * rounds) - user_ns
    )


def _own_pipe() -> float:
    """Kernel time of writing a byte to a pipe and of reading it."""
    out, into = os.pipe()
    try:
        return _kernel_ns(lambda: _exchange(out, into), resource.RUSAGE_THREAD)
    finally:
        os.close(out)
        os.close(into)


def _exchange(out: int, into: int) -> None:
    os.write(into, b"x")
    os.read(out, 1)


def _kernel_ns(act: Callable[[], None], *whose: int) -> float:
    """Kernel time of one call."""
    before, count = sum(_used(who)[1] for who in whose), 0
    end = time.monotonic() + MEASURE_S
    while time.monotonic() < end:
        for _ in range(64):
            act()
        count += 64
    return (sum(_used(who)[1] for who in whose) - before) * NS_PER_S / count


def _ping_pong(core: int) -> float:
    """Kernel time from one process to another on this core, with the pipe's work."""
    others = _used(resource.RUSAGE_CHILDREN)[1]
    with subprocess.Popen(
        [sys.executable, "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as echo:
        os.sched_setaffinity(echo.pid, {core})
        assert echo.stdin is not None
        assert echo.stdout is not None
        out, into = echo.stdout.fileno(), echo.stdin.fileno()
        _exchange(out, into)  # it has started
        stat = Path(f"/proc/{echo.pid}/stat").read_text(encoding="ascii")
        started_s = int(stat.rsplit(")", 1)[1].split()[12]) / os.sysconf("SC_CLK_TCK")
        count = 0
        own = _used(resource.RUSAGE_THREAD)[1]
        end = time.monotonic() + 2 * MEASURE_S
        while time.monotonic() < end:
            _exchange(out, into)
            count += 1
        own = _used(resource.RUSAGE_THREAD)[1] - own
    theirs = _used(resource.RUSAGE_CHILDREN)[1] - others - started_s
    return (own + theirs) * NS_PER_S / (2 * count)
