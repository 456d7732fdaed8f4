"""`tailrace blast` beside trafgen (netsniff-ng) in one run: frames a second of the same interface, by its own counters.

    .venv/bin/python scripts/blast_beside_trafgen.py              # as root; 9 pairs for each size and number of threads
    .venv/bin/python scripts/blast_beside_trafgen.py --pairs 3

Both send the same frame by the loopback interface of a network namespace of their own, in turn; which of the two goes
first changes from pair to pair. The rate is what the interface counts (`tx_packets`) from half a second after the
start on, so that neither the start of a program nor what it says of itself matters.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

INTERFACE = "lo"
SETTLE_S, WINDOW_S = 0.5, 1.5
"""Waited after the start, and measured."""
SIZES = (60, 1514)
"""Shortest and longest frame of Ethernet, without the check sequence."""
THREADS = (1, 2)
HEAD = bytes.fromhex("0200000000020200000000018000")
"""Two addresses of local administration, and a type that is nobody's (802: a length of 0x8000 is none)."""


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=9)
    pairs = parser.parse_args().pairs
    namespace = f"blast-{os.getpid()}"
    ip("netns", "add", namespace)
    try:
        ip("-n", namespace, "link", "set", INTERFACE, "up")
        print("| frame, bytes | threads | blast, frames/s | trafgen, frames/s | blast / trafgen | blast ahead |")
        print("|---|---|---|---|---|---|")
        with tempfile.TemporaryDirectory() as folder:
            for size in SIZES:
                for threads in THREADS:
                    print(compare(Path(folder), namespace, size, threads, pairs), flush=True)
    finally:
        ip("netns", "delete", namespace)
    load = os.getloadavg()[1]
    print(f"\nMedians of {pairs} pairs in turn, and of their ratios. Load of 5 minutes: {load:.1f}.")
    return 0


def compare(folder: Path, namespace: str, size: int, threads: int, pairs: int) -> str:
    """A row of the table."""
    frame = HEAD + bytes(size - len(HEAD))
    plain, packets = folder / "frame.txt", folder / "frame.cfg"
    plain.write_text(frame.hex() + "\n", encoding="ascii")
    packets.write_text("{ " + ", ".join(f"0x{byte:02x}" for byte in HEAD) + f", fill(0x00, {size - len(HEAD)}) }}\n")
    tailrace = [str(Path(sys.executable).with_name("tailrace")), "blast", str(plain), "--netns", namespace]
    tailrace += ["--interface", INTERFACE, "--threads", str(threads), "--for", f"{SETTLE_S + WINDOW_S + 2}s"]
    trafgen = ["ip", "netns", "exec", namespace, "trafgen", "--in", str(packets), "--out", INTERFACE]
    trafgen += ["--cpus", str(threads), "--num", "0"]
    rates: dict[str, list[float]] = {"blast": [], "trafgen": []}
    for pair in range(pairs):
        both = [("blast", tailrace), ("trafgen", trafgen)]
        for name, command in both if pair % 2 == 0 else reversed(both):
            rates[name].append(rate(namespace, command))
    ratios = [one / other for one, other in zip(rates["blast"], rates["trafgen"], strict=True)]
    ahead = sum(ratio >= 1 for ratio in ratios)
    medians = [f"{median(rates[name]):,.0f}".replace(",", " ") for name in ("blast", "trafgen")]
    return f"| {size} | {threads} | {' | '.join(medians)} | {median(ratios):.2f} | {ahead} of {pairs} |"


def rate(namespace: str, command: list[str]) -> float:
    """Frames a second that the interface counts while a command sends."""
    before = sent(namespace)
    sender = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        limit = time.monotonic() + 20
        while sent(namespace) == before:
            if sender.poll() is not None or time.monotonic() > limit:
                output = sender.communicate()[0] if sender.poll() is not None else b""
                sys.exit(f"{' '.join(command)} sends nothing: {output.decode(errors='replace')[-500:]}")
            time.sleep(0.01)
        time.sleep(SETTLE_S)
        start, began = sent(namespace), time.monotonic()
        time.sleep(WINDOW_S)
        return (sent(namespace) - start) / (time.monotonic() - began)
    finally:
        if sender.poll() is None:
            os.killpg(sender.pid, signal.SIGINT)
        try:
            sender.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(sender.pid, signal.SIGKILL)
            sender.communicate()


def sent(namespace: str) -> int:
    """Frames that the interface has sent."""
    command = ["ip", "netns", "exec", namespace, "cat", f"/sys/class/net/{INTERFACE}/statistics/tx_packets"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def ip(*arguments: str) -> None:
    """Call ip(8)."""
    subprocess.run(["ip", *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())
