"""Speed and memory of profiles of captures: writes captures, profiles each several times, and
prints medians.

`benches/captures.py [--repeats N] [--frames N]`. A child process profiles each capture, so that
memory is its own. Time is that of the processor, of the user and of the system: reading from the
page cache is part of it.
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from child import load, peak_bytes

MAGIC_NS = 0xA1B23C4D
START_NS = 1_700_000_000_000_000_000
GAP_NS = 1000
LINK = bytes.fromhex("0200000000010200000000020800")
ACK = 0x10
JOBS = {
    "1514 bytes, 100 connections": (1514, 100, 1_500_000),
    "64 bytes, 100 connections": (64, 100, 6_000_000),
    "70 bytes, 1 000 000 connections": (70, 1_000_000, 3_000_000),
    "70 bytes, 1 500 000 connections": (70, 1_500_000, 3_000_000),
}
"""Size of a frame, connections that take turns, and frames."""
CHUNK_FRAMES = 10_000
LIMIT_S = 600


def write(path: Path, size_bytes: int, connections: int, frames: int) -> None:
    """Writes a capture: full segments of connections that take turns."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", MAGIC_NS, 2, 4, 0, 0, 65_535, 1))
        chunk: list[bytes] = []
        for record in _records(size_bytes, connections, frames):
            chunk.append(record)
            if len(chunk) == CHUNK_FRAMES:
                file.write(b"".join(chunk))
                chunk.clear()
        file.write(b"".join(chunk))


def _records(size_bytes: int, connections: int, frames: int) -> Iterator[bytes]:
    payload = bytes(size_bytes - len(LINK) - 40)
    for number in range(frames):
        connection, turn = number % connections, number // connections
        time_ns = START_NS + number * GAP_NS
        source, port = (10 << 24) + 1 + (connection >> 12), 1024 + (connection & 0xFFF)
        ends = struct.pack(">II", source, 11 << 24)
        seq = (1 + turn * len(payload)) & 0xFFFFFFFF
        yield (
            struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, size_bytes, size_bytes)
            + LINK
            + struct.pack(">BBHHHBBH", 0x45, 0, size_bytes - len(LINK), 0, 0, 64, 6, 0)
            + ends
            + struct.pack(">HHIIBBHHH", port, 443, seq, 1, 0x50, ACK, 65_535, 0, 0)
            + payload
        )


def profile(path: Path) -> dict[str, Any]:
    """Profiles a capture in this process."""
    native = load()
    started = process_time()
    text, _ = native.profile_capture(str(path), "{}")
    cpu_s = process_time() - started
    told = json.loads(text)
    return {
        "cpu_s": cpu_s,
        "frames": told["capture"]["frames"],
        "bytes": told["capture"]["read_bytes"],
        "evicted": told["flow_summary"]["evicted"],
        "peak_bytes": peak_bytes(),
    }


def main() -> None:
    """Measures all jobs, or the one capture of a child."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--frames", type=int, help="frames of each capture; default: those of the job"
    )
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        print(json.dumps(profile(given.child)))
        return
    print("| Frames | CPU s: median (least–most) | million frames/s | GB/s | MiB | evicted |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, (size_bytes, connections, frames) in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "made.pcap"
            write(path, size_bytes, connections, given.frames or frames)
            runs = [_in_child(path) for _ in range(given.repeats)]
        times = [run["cpu_s"] for run in runs]
        middle, last = median(times), runs[-1]
        print(
            f"| {name} | {middle:.2f} ({min(times):.2f}–{max(times):.2f}) | "
            f"{last['frames'] / middle / 1e6:.1f} | {last['bytes'] / middle / 1e9:.2f} | "
            f"{last['peak_bytes'] / 2**20:.0f} | {last['evicted']} |"
        )


def _in_child(path: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", str(path)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT_S)
    measured: dict[str, Any] = json.loads(answer.stdout)
    return measured


if __name__ == "__main__":
    main()
