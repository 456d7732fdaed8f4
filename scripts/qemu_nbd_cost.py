"""What qemu-nbd adds between fio and a device of the network: the same nbdkit, asked directly and
through it, in turn.

    .venv/bin/python scripts/qemu_nbd_cost.py            # 3 rounds of 5 s each; two minutes
    .venv/bin/python scripts/qemu_nbd_cost.py --rounds 1

nbdkit serves memory over a Unix socket, so that neither a network nor a disk takes part. Live runs
of iSCSI have qemu-nbd in the place where it is here (docs/how-to/live-storage.md). Medians over the
rounds.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

SIZE = "256M"
RUN_S = 5
PATTERNS = (
    ("randread", "4k", 1),
    ("randwrite", "4k", 1),
    ("randread", "4k", 32),
    ("read", "1M", 8),
    ("write", "1M", 8),
)
"""As fio calls them: access, block, depth."""
READY_S = 10
NEEDED = ("nbdkit", "qemu-nbd", "fio")


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        print(f"not installed: {', '.join(missing)} (hint: make live-deps)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name, ExitStack() as servers:
        direct, through = (Path(name) / each for each in ("direct.sock", "through.sock"))
        servers.enter_context(
            serving(["nbdkit", "--foreground", "--unix", str(direct), "memory", SIZE], direct)
        )
        # As in live runs: no cache of its own, one session for all jobs of fio.
        qemu = [
            "qemu-nbd",
            "-f",
            "raw",
            "--cache=none",
            "-t",
            "-e",
            "8",
            "-k",
            str(through),
            f"nbd+unix:///?socket={direct}",
        ]
        servers.enter_context(serving(qemu, through))
        print(
            "| Requests | Depth | p50 direct, us | p50 through, us | Added, us | Direct, 1/s | "
            "Through, 1/s | Kept |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for access, block, depth in PATTERNS:
            found = [
                [measured(socket, access, block, depth) for socket in (direct, through)]
                for _ in range(rounds)
            ]
            (p50, rate), (p50_through, rate_through) = (
                [median(each[place][figure] for each in found) for figure in (0, 1)]
                for place in (0, 1)
            )
            print(
                f"| {access}, {block} | {depth} | {p50:.1f} | {p50_through:.1f} | "
                f"{p50_through - p50:.1f} "
                f"| {rate:.0f} | {rate_through:.0f} | {100 * rate_through / rate:.0f} % |",
                flush=True,
            )
    print(f"\nMedians of {rounds} rounds of {RUN_S} s. Load of a minute: {os.getloadavg()[0]:.1f}.")
    return 0


@contextmanager
def serving(command: list[str], socket: Path) -> Iterator[None]:
    """A server, once its socket is there; it ends with the context."""
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + READY_S
        while not socket.exists():
            if server.poll() is not None or time.monotonic() > limit:
                sys.exit(f"{command[0]} does not serve")
            time.sleep(0.02)
        yield
    finally:
        server.terminate()
        server.wait(timeout=10)


def measured(socket: Path, access: str, block: str, depth: int) -> tuple[float, float]:
    """Median latency in microseconds, and requests a second."""
    command = [
        "fio",
        "--name=one",
        "--ioengine=nbd",
        f"--uri=nbd+unix:///?socket={socket}",
        f"--size={SIZE}",
        "--time_based",
    ]
    command += [
        f"--runtime={RUN_S}",
        "--ramp_time=1",
        f"--rw={access}",
        f"--bs={block}",
        f"--iodepth={depth}",
        "--output-format=json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S + 60, check=True)
    found: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0][
        "write" if "write" in access else "read"
    ]
    return found["clat_ns"]["percentile"]["50.000000"] / 1000, found["iops"]


if __name__ == "__main__":
    sys.exit(main())
