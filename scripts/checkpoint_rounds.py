"""Kill experiments at random moments and continue them: nothing measured is lost, and the end is
that of an undisturbed one.

For `run` (with a calibration), a sweep, a large sweep, `search` and `sensitivity`: one undisturbed
run, then a run that is ended again and again (SIGKILL, SIGINT, a file cut in half as a power
failure leaves it, a full disk) and started with the same command until it is complete. Digests and
figures of both are compared, and of every trial that was complete its digest.

`checkpoint_rounds.py [--rounds 12] [--seed 1] [--commands run sweep large search sensitivity]
[--ways kill interrupt cut full]`; needs root to fill a disk.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SCENARIO = """
tailrace: 1
name: checkpoint
network: {topology: {kind: star, hosts: [client, server, other]}, link: {rate: 1Gbit/s, delay: 1us}}
switches: {defaults: {buffer: 1MB}}
workloads:
  orders:
    {kind: oltp, client: client, server: server, users: 4, transactions: 200, round_trips: [{response: 20kB}],
     gap: exponential(1ms)}
  bulk: {kind: stream, source: other, destination: client}
arms: {base: {}, quiet: {workloads.bulk.enabled: false}}
experiment: {duration: 2s, trials: 6}
"""  # noqa: E501
CALIBRATION = "experiment.calibrate.to=300ms"
BUFFER = "switches.defaults.buffer"
SHORT = [
    "--trials",
    "1",
    "--set",
    "workloads.orders.transactions=2",
    "--set",
    "workloads.bulk.enabled=false",
]
"""Of thousands of trials each ends after two transactions, which nothing delays."""
GOAL = ["--goal", "orders.p99 < 20ms", "--minimise", "buffer", "--arm", "base"]
DELAY = "network.link.delay=1us..5us"
COMMANDS: dict[str, list[str]] = {
    "run": ["run", "--set", CALIBRATION],
    "sweep": ["run", "--sweep", f"{BUFFER}=50kB,200kB,800kB", "--trials", "2"],
    "large": ["run", "--sweep", f"{BUFFER}=log(20kB..1000kB, 2100)", *SHORT],
    "search": ["search", "--vary", f"{BUFFER}=10kB..1MB", *GOAL],
    "sensitivity": [
        *("sensitivity", "--vary", DELAY, "--vary", f"{BUFFER}=50kB..1MB"),
        *("--figure", "orders.p99", "--trials", "2"),
    ],
}
WAYS = ("kill", "interrupt", "cut", "full")
RUN_LIMIT_S = 600.0
FULL_MARGIN_BYTES = 20_000
INTERRUPTED, REFUSED, EXPECTATION_FAILED = 130, 2, 1
TIMES = frozenset({"wall_s", "started", "finished", "path", "command", "jobs", "report"})
"""Keys whose values differ between two runs."""


def tailrace(words: Sequence[str], scenario: Path, out: Path) -> list[str]:
    """The command into a directory."""
    program = [sys.executable, "-c", "from tailrace.cli import main; main()"]
    return [*program, words[0], str(scenario), *words[1:], "--out", str(out), "--jobs", "2"]


def timeless(value: Any) -> Any:
    """A result without what depends on the clock."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key not in TIMES}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def trials(out: Path) -> dict[str, str]:
    """Digests of all complete trials by place."""
    found = {}
    for file in out.rglob("trials/*/[0-9]*.json"):
        try:
            found[str(file.relative_to(out))] = str(
                json.loads(file.read_text())["outcome"]["digest"]
            )
        except ValueError:  # cut in half by this script
            continue
    for file in out.rglob(
        "trials/*.jsonl"
    ):  # of a large sweep; a line that is not whole is of no trial
        for text in file.read_bytes().split(b"\n")[:-1]:
            line = json.loads(text)
            found[f"{line['point']}/{line['arm']}/{line['trial']}"] = str(line.get("digest"))
    return found


def figures(out: Path) -> Any:
    """What the command found, whichever command it was."""
    for name in ("search.json", "sensitivity.json", "result.json"):
        if (out / name).is_file():
            return timeless(json.loads((out / name).read_text()))
    return None


class Room:
    """A file system with little room, in which a run fills the disk."""

    def __init__(self, folder: Path, size: str) -> None:
        self.folder = folder
        folder.mkdir()
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tailrace-rounds", str(folder)],
            check=True,
        )

    def fill(self) -> Path:
        """Leaves next to no room until the file that is returned is removed."""
        filler = self.folder / "filler"
        free = shutil.disk_usage(self.folder).free
        filler.write_bytes(b"\0" * max(0, free - FULL_MARGIN_BYTES))
        return filler

    def close(self) -> None:
        """Gone."""
        subprocess.run(["umount", str(self.folder)], check=True)


def disturbed(
    way: str, command: Sequence[str], out: Path, room: Room, after_s: float, drawn: random.Random
) -> int:
    """Starts the command and ends it; returns the exit code."""
    filler = room.fill() if way == "full" else None
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        if way in ("kill", "cut", "interrupt"):
            try:
                running.wait(after_s)
            except subprocess.TimeoutExpired:
                running.send_signal(signal.SIGINT if way == "interrupt" else signal.SIGKILL)
        _, said = running.communicate(timeout=RUN_LIMIT_S)
    finally:
        if filler is not None:
            filler.unlink()
    if b"Traceback" in said or b"internal error" in said:
        raise SystemExit(f"{way}: {said.decode()}")
    if way == "cut" and (
        files := [file for file in out.rglob("*") if file.is_file() and file.stat().st_size]
    ):
        last = max(files, key=lambda file: file.stat().st_mtime_ns)
        if last.suffix in (".json", ".ndjson") and last.name != "manifest.json":
            last.write_bytes(last.read_bytes()[: drawn.randrange(last.stat().st_size)])
    return running.returncode


def rounds_of(name: str, ways: Sequence[str], drawn: random.Random, folder: Path) -> str:
    """One command: an undisturbed run, and one that is disturbed until it is complete."""
    scenario = folder / "scenario.yaml"
    scenario.write_text(SCENARIO)
    begun_s = time.monotonic()
    whole = tailrace(COMMANDS[name], scenario, folder / "whole")
    subprocess.run(whole, check=False, capture_output=True, timeout=RUN_LIMIT_S)
    lasts_s = time.monotonic() - begun_s
    room = Room(folder / "room", "64m")
    try:
        out = room.folder / "broken"
        command = tailrace(COMMANDS[name], scenario, out)
        held: dict[str, str] = {}
        codes: list[str] = []
        for way in ways:
            code = disturbed(way, command, out, room, lasts_s * drawn.uniform(0.2, 1.0), drawn)
            codes.append(f"{way} {code}")
            now = trials(out)
            lost = [place for place, digest in held.items() if now.get(place) not in (digest, None)]
            gone = [place for place in held if place not in now]
            if lost or len(gone) > (way == "cut"):
                raise SystemExit(f"{name}, {way}: {lost or gone} changed or gone")
            held = now
            if code in (0, EXPECTATION_FAILED):  # it is complete: the next round begins another one
                if now != trials(folder / "whole"):
                    raise SystemExit(f"{name}, {way}: digests differ")
                shutil.rmtree(out)
                held = {}
        last = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=RUN_LIMIT_S
        )
        if "Traceback" in last.stderr or last.returncode in (REFUSED, INTERRUPTED):
            raise SystemExit(f"{name}: {last.stderr}")
        same = trials(out) == trials(folder / "whole")
        equal = figures(out) == figures(folder / "whole") is not None
        found = f"digests {'equal' if same else 'DIFFER'}, figures {'equal' if equal else 'DIFFER'}"
        return (
            f"{name:<12} {lasts_s:5.1f} s undisturbed, {len(trials(out))} trials: {found}; "
            f"{', '.join(codes)}"
        )
    finally:
        room.close()


def main() -> None:
    """A line for each command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), help="in turn")
    given = parser.parse_args()
    # A shell that starts this in the background has it ignore Ctrl-C, and the runs would inherit
    # that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ways = [given.ways[number % len(given.ways)] for number in range(given.rounds)]
    for name in given.commands:
        with tempfile.TemporaryDirectory(prefix="tailrace-checkpoints-") as folder:
            print(rounds_of(name, ways, random.Random(given.seed), Path(folder)), flush=True)


if __name__ == "__main__":
    main()
