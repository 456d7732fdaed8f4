"""csg-htsim: our driver is built against the user's tree, and our plans become its jobs.

Only plans of endless streams over drop-tail queues are translated. What htsim does not model
differs: no selective acknowledgements, no delayed acknowledgements, no receive window, and routes
that packets carry instead of look-ups in switches.
"""

import json
import os
import subprocess
from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import Any

Plan = dict[str, Any]

DRIVER = Path(__file__).with_name("htsim_driver.cpp")
LIMIT_S = 1200
#: As its makefile has them; `PEER_CXXFLAGS` puts others in their place.
FLAGS = "-O3 -std=c++11"


class PeerError(Exception):
    """The peer cannot be used, in words."""


def build(tree: Path, folder: Path) -> Path:
    """The driver, linked with the library of a built tree of csg-htsim (its folder `sim`, or what
    holds that)."""
    sim = tree / "sim" if (tree / "sim" / "eventlist.h").exists() else tree
    library = sim / "libhtsim.a"
    if not library.exists():
        raise PeerError(
            f"PEER_HTSIM={tree}: there is no libhtsim.a (hint: `make libhtsim.a` in its folder sim)"
        )
    program = folder / "htsim_driver"
    flags = os.environ.get("PEER_CXXFLAGS", FLAGS).split()
    command = ["g++", *flags, f"-I{sim}", str(DRIVER), str(library), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise PeerError(f"the driver does not build against {sim}:\n{done.stderr[-2000:]}")
    return program


def job_of(plan: Plan) -> str:
    """A plan as a job of the driver. Raises `PeerError` for what htsim cannot do."""
    numbers, lines = _links(plan)
    neighbours = _neighbours(plan)
    hosts = {host["name"]: host for host in plan["hosts"]}
    framing = plan["framing"]
    # htsim has one size for a data packet, on the line.
    sizes = {
        host["mtu_bytes"] + framing["header_bytes"] + framing["overhead_bytes"]
        for host in plan["hosts"]
    }
    if len(sizes) != 1:
        raise PeerError("htsim has one size of packets")
    for workload in plan["workloads"]:
        stream = workload["body"].get("stream")
        if stream is None or stream["bytes"] or stream["connections"] != 1:
            raise PeerError(
                f"{workload['header']['name']}: only endless streams of one "
                "connection are translated"
            )
        source, destination = stream["source"], stream["destination"]
        ways = []
        for start, end, pins in (
            (source, destination, stream["pin_forward"]),
            (destination, source, stream["pin_backward"]),
        ):
            path = [start, *pins, end] if pins else _shortest(neighbours, start, end)
            ways.append([numbers[pair] for pair in pairwise(path)])
        window = hosts[source]["tcp"]["window_cap_bytes"]
        way = " ".join(f"{len(links)} {' '.join(map(str, links))}" for links in ways)
        lines.append(f"flow {workload['header']['start_ps']} {window} {way}")
    head = [f"mss {sizes.pop()}", f"stop {plan['stop_at_ps']}"]
    return "\n".join([*head, *lines]) + "\n"


def run(program: Path, job: Path, *words: str) -> dict[str, Any]:
    """One run of a job: what the driver says."""
    command = [str(program), str(job), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise PeerError(f"htsim ended with {done.returncode}: {done.stderr[-500:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _links(plan: Plan) -> tuple[dict[tuple[str, str], int], list[str]]:
    """Numbers of the directions of links, and their lines: before each is the interface of a host,
    or a port."""
    limits = {host["name"]: host["nic"]["queue_bytes"] for host in plan["hosts"]}
    for switch in plan["switches"]:
        [queue] = switch["policy"]["queues"]
        limits[switch["name"]] = queue["limit"]["bytes"]
    numbers: dict[tuple[str, str], int] = {}
    lines: list[str] = []
    for link in plan["links"]:
        for start, end in ((link["a"], link["b"]), (link["b"], link["a"])):
            numbers[start, end] = len(lines)
            lines.append(f"link {link['rate_bps']} {limits[start]} {link['delay_ps']}")
    return numbers, lines


def _neighbours(plan: Plan) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for link in plan["links"]:
        found.setdefault(link["a"], []).append(link["b"])
        found.setdefault(link["b"], []).append(link["a"])
    return found


def _shortest(neighbours: dict[str, list[str]], start: str, end: str) -> list[str]:
    before: dict[str, str] = {start: start}
    waiting = deque([start])
    while waiting and end not in before:
        at = waiting.popleft()
        for other in neighbours[at]:
            if other not in before:
                before[other] = at
                waiting.append(other)
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]
