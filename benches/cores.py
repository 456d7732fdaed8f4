"""One trial on several threads beside one thread, by turns: `benches/cores.py [--cores 2] [--rounds
3]`.

Fat trees of 1024 and 3456 hosts with links of 10 Gbit/s and 500 ns. Ends with a failure where a
digest differs.

With `--predict` a table of how much faster more cores would be: events by window are counted in so
many parts, however few cores there are; the time of an event is that of one thread, and the cost of
a window that of two threads without work, times half the number of parts. With `--mixed` a service
of 144 hosts beside flows between all 1024, and how many events a window of a part has. With
`--skewed` the share of the events that falls to the busiest part when all traffic is in one pod of
eight, divided by the rates of ports and by measured load.
"""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from instructions import PROGRAM, build
from workloads import MS, US, Plan, fat_tree

SIZES = ((16, 2 * MS), (24, MS))
"""Ports of a switch, and length of the trial."""
MIXED_SIZES = ((16, 5 * MS),)
DELAY_PS = US // 2
PREDICTED = (2, 8, 16, 64)
"""Cores of the prediction."""
PREDICTED_SIZES = ((8, 2 * MS), (16, MS // 2), (24, MS // 8))
"""Counts of a window change little over a trial: a part of it will do."""
WINDOW_TRIES = 12
PARTS_BY_PORTS_MAX = 64 * 16
"""Each part has a network in memory: the largest is not divided into most parts."""
TIMES = 5
"""Runs of one thread, of which the fastest counts."""


@dataclass(frozen=True)
class Counted:
    """What a trial in parts has counted."""

    windows: int
    events: list[int]
    longest: int
    """Of each window the events of the busiest part, together."""

    @property
    def imbalance(self) -> float:
        """Events of the busiest part of each window beside an equal share."""
        return self.longest * len(self.events) / sum(self.events)


def plan(ports: int, stop_ps: int) -> Plan:
    """A fat tree with short links."""
    tree = fat_tree(ports, stop_ps)
    return tree | {"links": [link | {"delay_ps": DELAY_PS} for link in tree["links"]]}


def skewed(ports: int, stop_ps: int) -> Plan:
    """The same with traffic between the hosts of the first pod alone."""
    tree = plan(ports, stop_ps)
    hosts = (ports // 2) ** 2
    names = [host["name"] for host in tree["hosts"]][:hosts]
    template = tree["workloads"][0]
    workloads = []
    for at, source in enumerate(names):
        ends = {"source": source, "destination": names[(at + ports // 2) % hosts]}
        stream = template["body"]["stream"] | ends | {"pin_forward": [], "pin_backward": []}
        workloads.append(
            {"header": template["header"] | {"name": f"skewed{at}"}, "body": {"stream": stream}}
        )
    return tree | {"workloads": workloads}


def mixed(ports: int, stop_ps: int) -> Plan:
    """A service with a connection for each request, beside flows at a third of the rate of all
    hosts."""
    tree = plan(ports, stop_ps)
    names = [host["name"] for host in tree["hosts"]]
    nothing = {"constant": 0}
    requests = {
        "clients": names[::8],
        "servers": names[4::64],
        "is_random": True,
        "is_udp": False,
        "is_kept": False,
        "users": 4 * len(names[::8]),
        "gap": {"exponential": {"mean": 50 * US}},
        "arrivals": None,
        "spikes": [],
        "connections": 0,
        "pipeline": 1,
        "requests": 0,
        "request": {"constant": 200},
        "response": {"exponential": {"mean": 8_000}},
        "service": {"time": nothing, "work": nothing, "concurrency": 0},
        "timeout_ps": 0,
        "retries": 0,
        "stages": [],
    }
    flow_bytes = 1_000_000
    gap_ps = 3 * flow_bytes * 8 * 100 // len(names)
    flows = {
        "sources": names,
        "destinations": names,
        "sizes": {"exponential": {"mean": flow_bytes}},
        "interarrival": {"exponential": {"mean": gap_ps}},
        "flows": 0,
    }
    header = tree["workloads"][0]["header"]
    bodies = {"requests": requests, "flows": flows}
    workloads = [
        {"header": header | {"name": kind}, "body": {kind: body}} for kind, body in bodies.items()
    ]
    return tree | {"workloads": workloads}


def run(path: Path, cores: int, how: str = "--cores") -> tuple[float, str]:
    """Seconds by the clock, with building, and the digest."""
    words = [str(PROGRAM), str(path), *([how, str(cores)] if cores > 1 else [])]
    begun_s = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return time.monotonic() - begun_s, str(json.loads(done.stdout)["digest"])


def counted(path: Path, how: str, parts: int) -> Counted:
    """What a run in parts counts."""
    done = subprocess.run(
        [str(PROGRAM), str(path), how, str(parts)], capture_output=True, text=True, check=True
    )
    found = re.search(r"windows: (\d+),.*events: \[([\d, ]+)\], longest: (\d+)", done.stderr)
    assert found is not None, done.stderr
    return Counted(int(found[1]), [int(one) for one in found[2].split(",")], int(found[3]))


def predict(folder: Path) -> None:
    """Prints the table of predictions."""
    words = [str(PROGRAM), "--window", "2"]
    # Where another program has one of the cores, threads wait for it: the fastest try is that of
    # free cores.
    tries = [
        subprocess.run(words, capture_output=True, text=True, check=True)
        for _ in range(WINDOW_TRIES)
    ]
    window_ns = min(int(one.stdout) for one in tries)
    print(f"a window of two threads without events: {window_ns} ns", flush=True)
    for ports, stop_ps in PREDICTED_SIZES:
        path = folder / "plan.json"
        path.write_text(json.dumps(plan(ports, stop_ps)), encoding="utf-8")
        alone = [subprocess.run([str(PROGRAM), str(path)], capture_output=True, text=True, check=True)  # noqa: E501
                 for _ in range(TIMES)]  # fmt: skip
        outcomes = [json.loads(done.stdout) for done in alone]
        event_ns = min(outcome["wall_s"] for outcome in outcomes) * 1e9 / outcomes[0]["events"]
        print(f"{ports**3 // 4} hosts: {event_ns:.0f} ns for each event of one thread", flush=True)
        for cores in (cores for cores in PREDICTED if cores * ports <= PARTS_BY_PORTS_MAX):
            found = counted(path, "--cores", cores)
            events = sum(found.events)
            waiting = found.windows * window_ns * cores / 2 / event_ns
            faster = events / (found.longest + waiting)
            each = events / found.windows / cores
            print(
                f"{ports**3 // 4} hosts, {cores} cores: {each:.0f} events in a window of a "
                "part, imbalance"
                f" {found.imbalance:.2f}, windows "
                f"{waiting / (found.longest + waiting):.1%} of the time,"
                f" {faster:.2f} times as fast, efficiency {faster / cores:.0%}",
                flush=True,
            )


def print_skewed(folder: Path) -> None:
    """Prints the shares of the busiest parts."""
    path = folder / "plan.json"
    path.write_text(json.dumps(skewed(8, 20 * MS)), encoding="utf-8")
    for parts in (2, 4):
        for what, how in (("rates of ports", "--cores"), ("measured load", "--measured")):
            found = counted(path, how, parts)
            share = max(found.events) / sum(found.events)
            print(
                f"{parts} parts by {what}: the busiest has {share:.0%} of the events, "
                f"imbalance {found.imbalance:.2f}"
            )


def print_windows(path: Path, cores: int) -> None:
    """Prints how many windows a plan has, and what is in one."""
    found = counted(path, "--cores", cores)
    each = sum(found.events) / found.windows / cores
    print(
        f"{found.windows} windows with {each:.0f} events of each of {cores} parts, imbalance "
        f"{found.imbalance:.2f}"
    )


def compare(folder: Path, options: argparse.Namespace) -> int:
    """Prints seconds and ratios."""
    cores, rounds, how = (
        options.cores,
        options.rounds,
        "--up-to" if options.automatic else "--cores",
    )
    plan_of, sizes = (mixed, MIXED_SIZES) if options.mixed else (plan, SIZES)
    for ports, stop_ps in sizes:
        path = folder / "plan.json"
        path.write_text(json.dumps(plan_of(ports, stop_ps)), encoding="utf-8")
        if options.mixed:
            print_windows(path, cores)
        ratios = []
        for _ in range(rounds):
            (one_s, one), (several_s, several) = run(path, 1), run(path, cores, how)
            if one != several:
                print(f"{ports**3 // 4} hosts: digests {one} and {several}")
                return 1
            ratios.append(one_s / several_s)
            print(
                f"{ports**3 // 4} hosts: {one_s:.2f} s and {several_s:.2f} "
                f"s: {ratios[-1]:.2f} times",
                flush=True,
            )
        print(f"{ports**3 // 4} hosts: median {statistics.median(ratios):.2f} times")
    return 0


def main() -> int:
    """Compares, or predicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--skewed", action="store_true")
    parser.add_argument(
        "--automatic", action="store_true", help="as many as pay, as `tailrace run` does by itself"
    )
    options = parser.parse_args()
    build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.predict:
            predict(folder)
        if options.skewed:
            print_skewed(folder)
        if options.predict or options.skewed:
            return 0
        return compare(folder, options)


if __name__ == "__main__":
    raise SystemExit(main())
