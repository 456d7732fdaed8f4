"""Predict a fan-out of real web servers by the simulator, and print how far off it is.

    two_tiers.py [--backends N] [--requests N] [--out DIR]

On real kernels in virtual time, wrk asks an nginx whose page includes an answer of each of several
other nginx (`calls` of a scenario, `ssi` of nginx), in two ways:

- In turn: an answer is put into a variable, for which nginx waits before it asks the next server.
- At once: all are asked at the same time. The response has all answers, and nginx sends its first
  part before the last answer has come, which the simulator does not: the traffic program on real
  kernels, which sends a response when it has all answers, does the same calls in a third way.

A load of one user calibrates the `server_time` of the first server: the difference of the medians,
real and simulated. Loads with other users and sizes, which were not used, are then run both ways.
The size of a response is the one that wrk counted.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import convert

from tailrace.exact import program
from tailrace.exact.load import (
    BEGUN_WALL_US,
    OUTPUT,
    START_NS,
    Addresses,
    GuestProgram,
    programs_file,
)
from tailrace.files import make_folder, write_text
from tailrace.outcome.types import Latency
from tailrace.programs import lua_log, nginx, wrk
from tailrace.programs.latency import latency_outcome
from tailrace.programs.measured import PS_PER_US
from tailrace.programs.requests import RequestWork
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.planned import planned_workloads
from tailrace.scenario.workloads.ports import HTTP
from tailrace.statistics import Histogram

TAILRACE = [sys.executable, "-c", "from tailrace.cli import main; main()"]
LIMIT_S = 400
MEMORY_MIB = "512"
TRIAL_S = 30
NOMINAL_BYTES = 2000
"""Of the page: its name, from which the users' request follows."""
HERE = "/run/tailrace/own"
P50_MOST, P99_MOST = 0.15, 0.30


@dataclass(frozen=True)
class Load:
    """Users, and the size of each included answer."""

    users: int
    answer_bytes: int


LOADS = (Load(1, 4000), Load(4, 4000), Load(1, 16_000), Load(8, 16_000))
"""The one of the calibration, and those that are predicted."""
WAYS = (
    ("in turn", False, False),
    ("at once", True, False),
    ("at once, traffic program", True, True),
)


@dataclass(frozen=True)
class Tiers:
    """What all loads have in common."""

    folder: Path
    backends: int
    requests: int
    is_at_once: bool
    is_traffic: bool = False

    @property
    def names(self) -> list[str]:
        """Hosts of the second tier."""
        return [f"back{number}" for number in range(1, self.backends + 1)]

    @property
    def hosts(self) -> list[str]:
        """All hosts."""
        return ["client", "front", *self.names]

    def asked(self, load: Load) -> str:
        """A request of the first server to a second one."""
        return f"GET /{nginx.file_name(load.answer_bytes)} HTTP/1.1\r\nHost: back1\r\n\r\n"

    def scenario(self, load: Load, response_bytes: int, server_time_us: float) -> dict[str, Any]:
        """The simulated counterpart."""
        call = {
            "servers": self.names,
            "request": f"{len(self.asked(load))}B",
            "response": f"{load.answer_bytes}B",
            "parallel": self.is_at_once,
        }
        workload = {
            "kind": "requests",
            "client": "client",
            "server": "front",
            "users": load.users,
            "requests": self.requests,
            "request": "100B",
            "response": f"{response_bytes}B",
            "server_time": f"{server_time_us:.3f}us",
            "calls": [call],
        }
        topology = {"kind": "star", "hosts": self.hosts}
        return {
            "tailrace": 1,
            "name": "tiers",
            "network": {"link": {"rate": "1Gbit/s"}, "topology": topology},
            "workloads": {"asking": workload},
            "experiment": {"trials": 1, "duration": f"{TRIAL_S}s"},
        }


@dataclass(frozen=True)
class Seen:
    """Of one load."""

    latencies: Histogram
    response_bytes: int

    def ms(self, percent: float) -> float:
        """A percentile."""
        return (self.latencies.percentile_ps(percent) or 0) / 1e9


def real(at: Tiers, load: Load) -> Seen:
    """By real programs."""
    folder = at.folder / f"real-{load.users}-{load.answer_bytes}"
    make_folder(folder)
    plan = lower(load_scenario(at.scenario(load, NOMINAL_BYTES, 0.0)).scenario, "base", 1)
    [own] = planned_workloads(json.loads(json.dumps(plan)))
    work = RequestWork.of(own.flat, int(plan["seed"]))
    write_text(folder / "plan.json", json.dumps(plan))
    addresses = Addresses(at.hosts, [])
    programs = [
        *(_back(folder, addresses, name, load) for name in at.names),
        _front(folder, addresses, at, load),
    ]
    programs.append(_users(folder, addresses, work))
    write_text(folder / "programs.json", programs_file(programs))
    command = [str(program.installed(program.ENGINE)), "run", "--plan", str(folder / "plan.json")]
    command += [
        "--programs",
        str(folder / "programs.json"),
        "--dir",
        str(folder / "run"),
        "--memory",
        MEMORY_MIB,
    ]
    command += ["--without", work.name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        sys.exit(f"{load}: {done.stderr.strip()}")
    out = folder / "run" / "hosts" / "client" / "out"
    whole = lua_log.transactions(work, wrk.PROGRAM, out / "log")
    assert len(whole) == load.users * at.requests, f"{len(whole)} requests were done"
    assert min(one.begun_us for one in whole) >= BEGUN_WALL_US, "users begin with the trial"
    said = (out / "0.err").read_text(encoding="utf-8")
    found = wrk.TOTAL.search(said)
    assert found, said
    total = dict(zip(found[1].split()[::2], map(int, found[1].split()[1::2]), strict=True))
    assert total["status"] == total["read"] == 0, said
    latencies = Histogram.from_outcomes(
        [latency_outcome(one.latency_us * PS_PER_US for one in whole)]
    )
    assert latencies is not None, "there are requests"
    return Seen(latencies, total["bytes"] // total["requests"])


def _server(folder: Path, name: str, text: str) -> GuestProgram:
    command = nginx.command(name, f"{HERE}/conf", 0)
    write_text(folder / name / "conf", text)
    copies = {HERE: str((folder / name).absolute())}
    return GuestProgram(
        name,
        command.name,
        command.argv,
        user=command.user,
        copies=copies,
        stop_signal="TERM",
        is_server=True,
    )


def _back(folder: Path, addresses: Addresses, name: str, load: Load) -> GuestProgram:
    make_folder(folder / name)
    nginx.write_files(folder / name / "files", [(load.answer_bytes, True)])
    text = nginx.configuration(HERE, f"{HERE}/files", [addresses.of(name, 0)], 64, 1, HTTP)
    return _server(folder, name, text)


def _front(folder: Path, addresses: Addresses, at: Tiers, load: Load) -> GuestProgram:
    """A page that includes an answer of each other server."""
    make_folder(folder / "front" / "files")
    answer = nginx.file_name(load.answer_bytes)

    def kept(name: str) -> str:
        return "" if at.is_at_once else f'set="{name}" '

    lines = [f'<!--# include virtual="/{name}/{answer}" {kept(name)}-->' for name in at.names]
    page = folder / "front" / "files" / nginx.file_name(NOMINAL_BYTES)
    write_text(page, "".join(lines) + "tailrace " * 200)
    for path in (folder / "front" / "files", page):
        path.chmod(0o755)
    upstreams = "".join(
        f"  upstream {name} {{ server {addresses.of(name, 0)}:{HTTP}; keepalive 64; }}\n"
        for name in at.names
    )
    locations = "".join(
        f"    location /{name}/ {{ proxy_pass http://{name}/; proxy_http_version 1.1; "
        'proxy_set_header Connection "";'
        f" proxy_set_header Host back1; }}\n"
        for name in at.names
    )
    text = nginx.configuration(HERE, f"{HERE}/files", [addresses.of("front", 0)], 64, 1, HTTP)
    text = text.replace(
        "  server {\n", f"{upstreams}  server {{\n    ssi on;\n    ssi_types *;\n{locations}", 1
    )
    text = text.replace("worker_connections 80;", "worker_connections 512;")
    text = text.replace(
        "    max_ranges 0;", "    subrequest_output_buffer_size 64k;\n    max_ranges 0;"
    )
    return _server(folder, "front", text)


def _users(folder: Path, addresses: Addresses, work: RequestWork) -> GuestProgram:
    make_folder(folder / "client")
    script = wrk.Script(work)
    write_text(folder / "client" / "script.lua", script.text(Path(OUTPUT) / "log"))
    command = script.command(Path(HERE) / "script.lua", addresses.of("front", 0), TRIAL_S)
    return GuestProgram(
        "client",
        command.name,
        command.argv,
        is_awaited=True,
        delay_ns=START_NS,
        copies={HERE: str((folder / "client").absolute())},
        stop_signal="INT",
        finished_by={"stream": "err", "text": lua_log.DONE, "lines": work.users},
    )


def traffic(at: Tiers, load: Load) -> Seen:
    """By the traffic program on real kernels, with the same sizes."""
    response_bytes = at.backends * load.answer_bytes
    return run(at, load, response_bytes, 0.0, "traffic", "--exact")


def run(
    at: Tiers, load: Load, response_bytes: int, server_time_us: float, name: str, *options: str
) -> Seen:
    """By the simulator, or as the options say."""
    folder = at.folder / f"{name}-{load.users}-{load.answer_bytes}"
    make_folder(folder)
    file = folder / "scenario.yaml"
    write_text(file, json.dumps(at.scenario(load, response_bytes, server_time_us)))
    command = [*TAILRACE, "run", str(file), *options, "--out", str(folder / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        sys.exit(f"{load}: {done.stderr.strip()}")
    outcome = json.loads(
        (folder / "run" / "trials" / "base" / "1.json").read_text(encoding="utf-8")
    )["outcome"]
    latencies = Histogram.from_outcomes(
        [convert(outcome["workloads"][0]["latency"], Latency | None)]
    )
    assert latencies is not None, "there are requests"
    return Seen(latencies, response_bytes)


def row(load: Load, one: Seen, model: Seen) -> str:
    """A line of the table."""
    errors = [model.ms(percent) / one.ms(percent) - 1 for percent in (50.0, 99.0)]
    is_good = abs(errors[0]) <= P50_MOST and abs(errors[1]) <= P99_MOST
    figures = (
        f"{one.ms(50):.3f} | {model.ms(50):.3f} | {errors[0]:+.1%} | {one.ms(99):.3f} | "
        f"{model.ms(99):.3f}"
    )
    name = f"{load.users} x {load.answer_bytes / 1000:g} kB"
    return f"| {name} | {figures} | {errors[1]:+.1%} | {'within' if is_good else '**outside**'} |"


def main(words: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backends", type=int, default=4)
    parser.add_argument("--requests", type=int, default=200, help="of each user")
    parser.add_argument("--way", action="append", choices=[name for name, _, _ in WAYS])
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args(words)
    folder = chosen.out or Path(tempfile.mkdtemp(prefix="tiers-"))
    print(
        "| Servers are asked | Load | p50 real, ms | simulated | error | p99 real, ms | "
        "simulated | error | |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|---|")
    for name, is_at_once, is_traffic in WAYS:
        at = Tiers(
            folder / name.replace(" ", "-"),
            chosen.backends,
            chosen.requests,
            is_at_once,
            is_traffic,
        )
        if name in (chosen.way or [name]):
            table(name, at)
    print(f"runs: {folder}")


def table(name: str, at: Tiers) -> None:
    """The lines of one way."""
    measure = traffic if at.is_traffic else real
    first = measure(at, LOADS[0])
    plain = run(at, LOADS[0], first.response_bytes, 0.0, "uncalibrated")
    server_time_us = max(0.0, (first.ms(50.0) - plain.ms(50.0)) * 1000)
    print(
        f"<!-- {name}: response {first.response_bytes} B, server_time {server_time_us:.1f} us -->",
        flush=True,
    )
    for load in LOADS[1:]:
        one = measure(at, load)
        print(
            f"| {name} "
            + row(load, one, run(at, load, one.response_bytes, server_time_us, "model")),
            flush=True,
        )


if __name__ == "__main__":
    main()
