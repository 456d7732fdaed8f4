"""One rank of an MPI job: waits for the others and for its start, then runs the benchmark of a
workload of kind mpi.

Started by Open MPI with the interpreter that has Debian's mpi4py, outside of the package: it uses
nothing of tailrace. Its argument is the job, JSON beside which it writes: `rank-N.ready`;
`rank-N.times`, two 64-bit numbers for each iteration that counts (start by the wall clock and
duration, in nanoseconds; zeros for those that it did not come to); `rank-N.sizes`, a line of JSON
for each size. The loop is that of the simulator (`crates/programs/src/mpi/script.rs`).
"""

import gc
import importlib
import json
import mmap
import os
import socket
import stat
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

READY = "rank-{}.ready"
TIMES = "rank-{}.times"
SIZES = "rank-{}.sizes"
GO = "go"
"""File with the wall clock at which the ranks begin, in nanoseconds."""
POLL_S = 0.001
SPIN_NS = 2_000_000
"""The last part of the wait for the start is without sleep."""
NUMBER = 8
"""Bytes of a number in `rank-N.times`."""
FLOAT = 4
BYTES_RECEIVED = 128
"""Where `tcpi_bytes_received` is in the kernel's `struct tcp_info` (linux/tcp.h)."""
TCP_INFO_BYTES = 136
SYNCHRONISED = ("allreduce", "alltoall", "bcast")
"""Patterns with a barrier before each iteration."""


def main() -> None:
    """Runs the rank, or the program that the job names instead."""
    path = Path(sys.argv[1])
    job = json.loads(path.read_text(encoding="utf-8"))
    rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
    if job["cores"]:
        os.sched_setaffinity(0, {job["cores"][rank]})
    if job["program"]:
        os.execvp(job["program"][0], job["program"])
    package = importlib.import_module("mpi4py")
    package.rc.threads = False  # a library without locks
    mpi = importlib.import_module("mpi4py.MPI")
    folder = path.parent
    (folder / READY.format(rank)).touch()
    _wait_for_start(folder)
    gc.collect()
    gc.disable()
    _Rank(mpi, job, rank, folder).run()


def _wait_for_start(folder: Path) -> None:
    while not (folder / GO).is_file():
        time.sleep(POLL_S)
    begin_ns = int((folder / GO).read_text(encoding="ascii"))
    while (left_ns := begin_ns - time.time_ns()) > 0:
        if left_ns > SPIN_NS:
            time.sleep((left_ns - SPIN_NS) / 1e9)


class _Rank:
    """The calls of a rank and what it records."""

    def __init__(self, mpi: Any, job: dict[str, Any], rank: int, folder: Path) -> None:
        self._mpi = mpi
        self._world = mpi.COMM_WORLD
        self._job = job
        self._rank = rank
        self._compute = job["compute_ns"][rank] if job["compute_ns"] else []
        self._computed = 0
        total = sum(job["iterations"])
        with (folder / TIMES.format(rank)).open("w+b") as file:
            file.truncate(2 * NUMBER * total)
            self._times = memoryview(mmap.mmap(file.fileno(), 2 * NUMBER * total)).cast("q")
        self._sizes_file = (folder / SIZES.format(rank)).open("w", encoding="utf-8")

    def run(self) -> None:
        """All sizes, in order."""
        at = 0
        for size, iterations in zip(self._job["sizes"], self._job["iterations"], strict=True):
            begun_ns = time.time_ns()
            self._size(size, iterations, at)
            at += iterations
            received, opened = self._connections()
            row = {"bytes": size, "begun_ns": begun_ns, "ended_ns": time.time_ns()}
            self._sizes_file.write(
                json.dumps(row | {"received": received, "opened": opened}) + "\n"
            )
            self._sizes_file.flush()

    def _size(self, size: int, iterations: int, at: int) -> None:
        pattern, warm_up = self._job["pattern"], self._job["warm_up"]
        step = self._step(pattern, size)
        barrier, clock, times = self._world.Barrier, time.perf_counter_ns, self._times
        wall_ns = time.time_ns() - clock()
        is_synchronised = pattern in SYNCHRONISED
        for number in range(warm_up + iterations):
            if is_synchronised or number in (0, warm_up):
                barrier()
            if self._compute:
                self._spin()
            begun = clock()
            step()
            took = clock() - begun
            if number >= warm_up:
                index = 2 * (at + number - warm_up)
                times[index] = wall_ns + begun
                times[index + 1] = took or 1

    def _spin(self) -> None:
        """Computes: the rank is on its core, and makes no progress with messages."""
        end = time.perf_counter_ns() + self._compute[self._computed % len(self._compute)]
        self._computed += 1
        while time.perf_counter_ns() < end:
            pass

    def _step(self, pattern: str, size: int) -> Callable[[], Any]:
        """One iteration of the pattern."""
        world, rank, ranks, kind = self._world, self._rank, self._world.size, self._mpi.BYTE
        out, into = bytearray(size), bytearray(size)
        sent, received = [out, size, kind], [into, size, kind]
        after, before = (rank + 1) % ranks, (rank - 1) % ranks
        if pattern == "pingpong":
            return self._ping_pong(sent, received)
        if pattern == "ring":
            return lambda: world.Sendrecv(sent, after, 1, received, before, 1)
        if pattern == "exchange":
            return self._exchange(sent, received, [bytearray(size), size, kind], (before, after))
        if pattern == "allreduce":
            floats = size // FLOAT
            own, total = [out, floats, self._mpi.FLOAT], [into, floats, self._mpi.FLOAT]
            return lambda: world.Allreduce(own, total, self._mpi.SUM)
        if pattern == "alltoall":
            own, others = (
                [bytearray(size * ranks), size, kind],
                [bytearray(size * ranks), size, kind],
            )
            return lambda: world.Alltoall(own, others)
        if pattern == "bcast":
            return lambda: world.Bcast(sent, 0)
        if pattern == "barrier":
            return lambda: world.Barrier()
        raise ValueError(f"there is no pattern {pattern}")

    def _ping_pong(self, sent: Any, received: Any) -> Callable[[], Any]:
        send, receive = self._world.Send, self._world.Recv
        if self._rank == 0:
            return lambda: (send(sent, 1, 1), receive(received, 1, 1))
        return lambda: (receive(received, 0, 1), send(sent, 0, 1))

    def _exchange(
        self, sent: Any, first: Any, second: Any, others: tuple[int, int]
    ) -> Callable[[], Any]:
        """Tags distinguish the messages of two ranks that are both neighbours of each other."""
        world, wait = self._world, self._mpi.Request.Waitall
        before, after = others

        def step() -> None:
            wait(
                [
                    world.Irecv(first, before, 1),
                    world.Irecv(second, after, 2),
                    world.Isend(sent, after, 1),
                    world.Isend(sent, before, 2),
                ]
            )

        return step

    def _connections(self) -> tuple[int, int]:
        """Received bytes of connections to other ranks so far, and the number of connections that
        this rank has opened."""
        received = opened = 0
        first, count = self._job["ports"]
        ports = range(first, first + count)
        for name in [path.name for path in Path("/proc/self/fd").iterdir()]:
            try:
                if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                    continue
                with socket.socket(fileno=os.dup(int(name))) as found:
                    if found.family != socket.AF_INET:
                        continue
                    own, peer = found.getsockname()[1], found.getpeername()[1]
                    if own not in ports and peer not in ports:
                        continue
                    opened += own not in ports
                    info = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
            except OSError:
                continue  # the listing's own descriptor, or a socket without a peer
            received += struct.unpack_from("Q", info, BYTES_RECEIVED)[0]
        return received, opened


if __name__ == "__main__":
    main()
