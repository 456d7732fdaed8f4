"""Known traffic of real kernels, captured, fitted and compared: users, gaps, sizes and rates within
10 %.

    unshare --net python studies/fit_round_trip.py [FOLDER]

Two network namespaces and the pair of interfaces between them end with the programs. The client's
side records its frames with the kernel's times. The truth of the gaps is what the client's program
measured: sleeping takes longer than asked for on a busy machine.
"""

import multiprocessing
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import fmean

from tailrace.fit.fitting import FitOptions, fit_capture
from tailrace.scenario.text.distribution import parse_distribution
from tailrace.scenario.text.units import TIME

USERS = 6
GAP_S = 0.02
REQUEST_BYTES = 300
RESPONSE_BYTES = 20_000
SERVICE_S = 0.002
SPAN_S = 8
PORT = 5432
ADDRESSES = ("10.9.0.1", "10.9.0.2")
OFF_MAX = 0.1
ETH_P_ALL = 3
SO_TIMESTAMPNS = 35
"""Socket option of Linux (asm-generic/socket.h): the time of a frame comes with it."""
PCAP_NS = 0xA1B23C4D
SNAP_BYTES = 128
PS_PER_S = 10**12


def serve() -> None:
    """Answers each request after a while; ends with its standard input."""
    run("ip", "link", "set", "lo", "up")
    print("ready", flush=True)
    sys.stdin.readline()
    run("ip", "addr", "add", f"{ADDRESSES[1]}/24", "dev", "fit1")
    run("ip", "link", "set", "fit1", "up")
    listener = socket.create_server((ADDRESSES[1], PORT))
    print("listening", flush=True)
    threading.Thread(target=accept, args=(listener,), daemon=True).start()
    sys.stdin.readline()


def accept(listener: socket.socket) -> None:
    """A thread for each user."""
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def answer(connection: socket.socket) -> None:
    """Requests of one user."""
    while receive(connection, REQUEST_BYTES):
        time.sleep(SERVICE_S)
        connection.sendall(bytes(RESPONSE_BYTES))


def receive(connection: socket.socket, count: int) -> bool:
    """Whether so many bytes came."""
    while count:
        part = connection.recv(count)
        if not part:
            return False
        count -= len(part)
    return True


def use(number: int, gaps: list[float], until: float) -> None:
    """One user."""
    draws = random.Random(number)
    with socket.create_connection((ADDRESSES[1], PORT)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while time.monotonic() < until:
            connection.sendall(bytes(REQUEST_BYTES))
            receive(connection, RESPONSE_BYTES)
            before = time.monotonic()
            time.sleep(draws.expovariate(1 / GAP_S))
            gaps.append(time.monotonic() - before)


def record(path: Path, until: float) -> None:
    """Writes the frames of the client's interface."""
    with (
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as tap,
        path.open("wb") as file,
    ):
        tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
        tap.bind(("fit0", 0))
        tap.settimeout(0.2)
        file.write(struct.pack("<IHHiIII", PCAP_NS, 2, 4, 0, 0, SNAP_BYTES, 1))
        while time.monotonic() < until:
            try:
                frame, ancillary, *_ = tap.recvmsg(1 << 17, 64)
            except TimeoutError:
                continue
            seconds, ns = struct.unpack("<qq", ancillary[0][2][:16])
            kept = frame[:SNAP_BYTES]
            file.write(struct.pack("<IIII", seconds, ns, len(kept), len(frame)) + kept)


def run(*command: str) -> None:
    """A command that must work."""
    subprocess.run(command, check=True, timeout=10)


def main() -> int:
    """Runs the traffic and compares; 1 when a value is off."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="tailrace-fit-"))
    path = folder / "known.pcap"
    command = ("unshare", "--net", sys.executable, __file__, "--serve")
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdout.readline()
        run(
            "ip",
            "link",
            "add",
            "fit0",
            "type",
            "veth",
            "peer",
            "name",
            "fit1",
            "netns",
            str(server.pid),
        )
        run("ip", "addr", "add", f"{ADDRESSES[0]}/24", "dev", "fit0")
        run("ip", "link", "set", "fit0", "up")
        server.stdin.write("\n")
        server.stdin.flush()
        server.stdout.readline()
        begin = time.monotonic()
        recorder = multiprocessing.Process(target=record, args=(path, begin + SPAN_S + 2))
        recorder.start()
        time.sleep(1)
        gaps: list[float] = []
        users = [
            threading.Thread(target=use, args=(one, gaps, begin + 1 + SPAN_S))
            for one in range(USERS)
        ]
        for user in users:
            user.start()
        for user in users:
            user.join(SPAN_S + 10)
        recorder.join(10)
        server.stdin.close()
        server.wait(10)
    return compare(path, gaps)


def compare(path: Path, gaps: list[float]) -> int:
    """Prints each value with its truth."""
    [fit] = fit_capture(path, FitOptions(line_bits_per_s=10**10)).workloads.values()
    of = {one.key: one.value for one in fit.settings}
    [trip] = of["round_trips"]
    rows = (
        ("users", float(of["users"]), float(USERS)),
        ("gap (ms)", parse_distribution(of["gap"], TIME).mean / PS_PER_S * 1e3, fmean(gaps) * 1e3),
        ("rate (1/s)", fit.seen["rate_per_s"], len(gaps) / SPAN_S),
    )
    print(
        f"{fit.kind}: request {trip['request']}, response {trip['response']}, server_time "
        f"{trip['server_time']}"
    )
    is_off = (trip["request"], trip["response"]) != (
        f"{REQUEST_BYTES}B",
        f"{RESPONSE_BYTES // 1000}kB",
    )
    for name, fitted, truth in rows:
        print(f"{name}: fitted {fitted:.4g}, known {truth:.4g} ({fitted / truth - 1:+.1%})")
        is_off |= abs(fitted / truth - 1) > OFF_MAX
    return int(is_off)


if __name__ == "__main__":
    if "--serve" in sys.argv:
        serve()
    else:
        sys.exit(main())
