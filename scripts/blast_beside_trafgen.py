"""Send frames by `tailrace blast` and by trafgen in turn, and print which was faster.

    blast_beside_trafgen.py [--pairs N] [--seconds S] [--threads 1,2] [--sizes 64,1500] [--save]

As root, with trafgen (package netsniff-ng) installed. The script makes a network namespace with a
pair of veth interfaces, of which the other end takes no frame for itself, and removes it at the
end. Both programs read the same file, and for both the same is counted: frames that the interface
has sent, by its own counter, in a window that begins when the counter has moved. They alternate,
the first of each pair changes from pair to pair, and the ratio is the median of the ratios of
pairs, so that a drift of the machine meets both. What else the machine does shifts the result: the
load average before the run is printed and saved with it. `--save` writes
`scripts/blast_beside_trafgen.json`, from which `make docs` makes the table of docs/how-to/blast.md.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tailrace.results.format.columns import align

RESULTS = Path(__file__).with_suffix(".json")
MARKS = (
    "<!-- blast beside trafgen: written by `make docs` -->",
    "<!-- end of blast beside trafgen -->",
)
NAMESPACE = f"blast-beside-{os.getpid()}"
OUT, FAR = "out", "far"
ADDRESSES = "0x02, 0, 0, 0, 0, 2,  0x02, 0, 0, 0, 0, 1,  c16(0x88b5)"
"""Locally administered, of no interface of the namespace; a type for experiments (IEEE 802,
9.2.3)."""
HEADER_BYTES = 14
SETTLE_S = 0.3
"""From the first frame to the window."""
START_LIMIT_S, STOP_LIMIT_S, COMMAND_LIMIT_S = 20.0, 10.0, 10.0
TAILRACE = (sys.executable, "-m", "tailrace")
PROGRAMS = ("blast", "trafgen")


@dataclass(frozen=True)
class Row:
    """One number of threads and size of frames; rates are frames per second, medians over the
    pairs."""

    threads: int
    frame_bytes: int
    """Without the check sequence."""
    blast_per_s: float
    trafgen_per_s: float
    ratio: float
    """Median of the ratios of the pairs: blast over trafgen."""
    at_least_as_fast: int
    """Pairs in which blast sent at least as many frames."""
    pairs: int


def run(*words: str) -> str:
    """One command; its output."""
    return subprocess.run(
        words, check=True, capture_output=True, text=True, timeout=COMMAND_LIMIT_S
    ).stdout


@contextmanager
def sink() -> Iterator[None]:
    """A namespace with an interface whose frames end in it."""
    run("ip", "netns", "add", NAMESPACE)
    try:
        run("ip", "-n", NAMESPACE, "link", "add", OUT, "type", "veth", "peer", "name", FAR)
        for name in (OUT, FAR):
            # Without IPv6 the kernel itself sends nothing by them.
            run(
                "ip",
                "netns",
                "exec",
                NAMESPACE,
                "sysctl",
                "-qw",
                f"net.ipv6.conf.{name}.disable_ipv6=1",
            )
            run("ip", "-n", NAMESPACE, "link", "set", name, "up")
        yield
    finally:
        run("ip", "netns", "delete", NAMESPACE)


def sent() -> tuple[float, int]:
    """The time, and what the interface has sent."""
    [link] = json.loads(run("ip", "-n", NAMESPACE, "-s", "-j", "link", "show", "dev", OUT))
    return time.monotonic(), int(link["stats64"]["tx"]["packets"])


def command(program: str, frames: Path, threads: int, limit_s: float) -> list[str]:
    """What sends for at most so long."""
    if program == "blast":
        words = [*TAILRACE, "blast", str(frames), "--netns", NAMESPACE, "--interface", OUT]
        return [*words, "--threads", str(threads), "--for", f"{limit_s:.0f}s"]
    words = ["ip", "netns", "exec", NAMESPACE, "timeout", "--signal=INT", f"{limit_s:.0f}"]
    return [*words, "trafgen", "--conf", str(frames), "--out", OUT, "--cpus", str(threads)]


def rate(program: str, frames: Path, threads: int, window_s: float) -> float:
    """Frames per second that the interface has sent in the window."""
    before = sent()[1]
    words = command(program, frames, threads, START_LIMIT_S + window_s)
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(words, stdout=said, stderr=said, start_new_session=True)
        try:
            until = time.monotonic() + START_LIMIT_S
            while sent()[1] == before:
                if process.poll() is not None or time.monotonic() > until:
                    said.seek(0)
                    raise SystemExit(
                        f"{program} sent nothing: {said.read().decode(errors='replace').strip()}"
                    )
                time.sleep(0.02)
            time.sleep(SETTLE_S)
            began, first = sent()
            time.sleep(window_s)
            ended, last = sent()
            if process.poll() is not None:
                raise SystemExit(f"{program} ended within its window")
        finally:
            end(process)
    return (last - first) / (ended - began)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends the program with its threads or forks, which are a session of their own."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
        try:
            process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            continue
        return


def compared(folder: Path, threads: int, size: int, pairs: int, window_s: float) -> Row:
    """Alternating runs."""
    frames = folder / f"{size}.trafgen"
    frames.write_text(f"{{ {ADDRESSES}, fill(0, {size - HEADER_BYTES}) }}\n", encoding="ascii")
    found: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for number in range(pairs):
        for name in PROGRAMS if number % 2 == 0 else reversed(PROGRAMS):
            found[name].append(rate(name, frames, threads, window_s))
    ratios = [ours / theirs for ours, theirs in zip(*found.values(), strict=True)]
    ours, theirs = (round(median(found[name])) for name in PROGRAMS)
    faster = sum(ratio >= 1 for ratio in ratios)
    return Row(threads, size, ours, theirs, round(median(ratios), 3), faster, pairs)


def cells(row: Row) -> list[str]:
    """A row of the table."""
    rates = [f"{rate / 1e6:.3f}" for rate in (row.blast_per_s, row.trafgen_per_s)]
    often = f"{row.at_least_as_fast} of {row.pairs}"
    return [str(row.threads), str(row.frame_bytes), *rates, f"{row.ratio:.3f}", often]


HEAD = [
    "threads",
    "bytes",
    "blast, million/s",
    "trafgen, million/s",
    "ratio",
    "blast at least as fast",
]


def render() -> str:
    """The table of the page, from the saved results."""
    saved = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = [HEAD, ["---"] * len(HEAD), *(cells(Row(**row)) for row in saved["rows"])]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    where = f"{saved['cores']} cores, Linux {saved['kernel']}, trafgen {saved['trafgen']}"
    windows = (
        f"windows of {saved['window_s']:g} s; load average before the run: "
        f"{saved['load_average']:.1f}"
    )
    return (
        f"{table}\n\nFrames a second of all threads, medians; ratio: median over pairs. "
        f"{where}, {windows}."
    )


def numbers(text: str) -> list[int]:
    """Numbers between commas."""
    return [int(part) for part in text.split(",")]


def main(arguments: Sequence[str]) -> int:
    """Compare, print, and save if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pairs", type=int, default=11, help="pairs of runs for each row (default: 11)"
    )
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="length of a window (default: 2)"
    )
    parser.add_argument(
        "--threads", type=numbers, default=[1, 2], help="numbers of threads (default: 1,2)"
    )
    parser.add_argument(
        "--sizes", type=numbers, default=[64, 1500], help="bytes of frames (default: 64,1500)"
    )
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args(arguments)
    if os.geteuid() != 0 or shutil.which("trafgen") is None:
        raise SystemExit("run it as root, with trafgen installed (package netsniff-ng)")
    load = os.getloadavg()[0]
    print(f"load average before the run: {load:.1f}", flush=True)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place, sink():
        for threads in options.threads:
            for size in options.sizes:
                rows.append(compared(Path(place), threads, size, options.pairs, options.seconds))
                print(align([HEAD, cells(rows[-1])]), flush=True)
    if options.save:
        saved: dict[str, Any] = {
            "cores": os.cpu_count(),
            "kernel": platform.release(),
            "trafgen": version(),
        }
        saved |= {"window_s": options.seconds, "load_average": load}
        saved["rows"] = [asdict(row) for row in rows]
        RESULTS.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
    return 0


def version() -> str:
    """Of trafgen, from the first line of `--version`."""
    words = ["trafgen", "--version"]  # which ends with code 1
    done = subprocess.run(
        words, check=False, capture_output=True, text=True, timeout=COMMAND_LIMIT_S
    )
    return done.stdout.split()[1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
