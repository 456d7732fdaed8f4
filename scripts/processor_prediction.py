"""Predict processor time and rate of real servers at three loads from a fourth, and compare with
live runs.

    processor_prediction.py calibrate FILE [--program nginx|redis|postgresql].. [--trials N]   runs one load
    processor_prediction.py predict FILE [--program ..]                                        simulates all loads
    processor_prediction.py compare FILE [--program ..] [--trials N]                           runs the other loads

The server has one core of this machine and its load generator the other; both are in a real-time
class, so that other programs take nothing of these cores but the 5 % that Linux leaves them (a
quota in the simulation). They talk over loopback. Simulated, client and server are hosts with one
core each on an ideal link. What the kernel does costs what `tailrace lab calibrate --processor`
measures. One load gives the rest: `server_work` for the server, and for the client, whose work has
no key, a longer system call.

Processor time is that of all processes of the server (/proc/PID/stat). With TICK_CPU_ACCOUNTING it
contains soft interrupts, so that simulated soft interrupts count too.
"""  # noqa: E501

import argparse
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.live.machine.kernel_costs import measure

TAILRACE = [sys.executable, "-c", "from tailrace.cli import main; main()"]
SERVER_CORE, CLIENT_CORE = "0", "1"
TRIAL_S = 3
SIMULATED = "0.3s"
REAL_TIME = {"quota": "95ms", "period": "100ms"}
"""Linux `sched_rt_runtime_us`, with a shorter period than its second."""
LIMIT_S = 60
UP_S = 20
MOST = 0.20
"""Error within which a prediction counts as good."""
POSTGRESQL = "/usr/lib/postgresql"
HEADERS = {"nginx": (45, 240), "redis": (30, 10), "postgresql": (70, 110)}
"""Bytes of a request, and of a response beside its payload [A]: protocols' headers, to 20 %."""


@dataclass(frozen=True)
class Load:
    """Users, each with a connection, and the payload of a response."""

    users: int
    bytes: int


LOADS = {
    "nginx": (Load(8, 1000), Load(1, 1000), Load(24, 1000), Load(8, 4000)),
    "redis": (Load(8, 100), Load(1, 100), Load(24, 100), Load(8, 4000)),
    # A row of pgbench_accounts; another size would be another query.
    "postgresql": (Load(8, 4), Load(1, 4), Load(3, 4), Load(16, 4)),
}
"""Of each program: the load of the calibration, and those that are predicted."""
SERVERS: dict[str, dict[str, Any]] = {
    "nginx": {"concurrency": 1},
    "redis": {"concurrency": 1},
    "postgresql": {},
}
"""One worker of nginx, one thread of Redis, a process for each connection of PostgreSQL."""


@dataclass(frozen=True)
class Seen:
    """Processor time for a request in microseconds, and requests in a second."""

    server_us: float
    client_us: float
    rate: float


def simulate(
    program: str, load: Load, costs: Mapping[str, Any], work_us: float, call_us: float
) -> Seen:
    """One load with this work of the server and these system calls of the client."""
    request, header = HEADERS[program]
    host = {**costs, "cores": 1, "groups": {"real-time": {"workloads": ["asking"], **REAL_TIME}}}
    scenario = {
        "tailrace": 1,
        "name": "prediction",
        "network": {
            "link": {"rate": "100Gbit/s", "delay": "0s"},
            "topology": {"kind": "star", "hosts": ["client", "server"]},
        },
        "hosts": {
            "defaults": {"mtu": "9000B", "nic": {"rx_coalesce": "0s", "rx_jitter": "0s"}},
            "client": {"cpu": {**host, "system_call": f"{call_us * 1e6:.0f}ps"}},
            "server": {"cpu": host},
        },
        "workloads": {
            "asking": {
                "kind": "requests",
                "client": "client",
                "server": "server",
                "users": load.users,
                "request": f"{request}B",
                "response": f"{header + load.bytes}B",
                "server_work": f"{work_us * 1e6:.0f}ps",
                **SERVERS[program],
            }
        },
        "experiment": {"trials": 1, "duration": SIMULATED},
    }
    with tempfile.TemporaryDirectory(prefix="prediction-") as name:
        folder = Path(name)
        (folder / "scenario.yaml").write_text(json.dumps(scenario), encoding="utf-8")
        command = [*TAILRACE, "run", str(folder / "scenario.yaml"), "--out", str(folder / "run")]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT_S * 5, check=False
        )
        if done.returncode != 0:
            sys.exit(done.stderr)
        outcome = json.loads(
            (folder / "run" / "trials" / "base" / "1.json").read_text(encoding="utf-8")
        )["outcome"]
    count = outcome["workloads"][0]["transactions"]
    kinds = ("user_ps", "system_ps", "softirq_ps")
    used = {
        host["name"]: sum(core[kind] for core in host["processor"]["cores"] for kind in kinds)
        / 1e6
        / count
        for host in outcome["hosts"]
    }
    return Seen(used["server"], used["client"], count / (outcome["end_ps"] / 1e12))


def fitted(program: str, costs: Mapping[str, Any], seen: Seen) -> tuple[float, float]:
    """Work of the server and system calls of the client that give what was seen at the load of the
    calibration."""
    work_us, call_us = 0.6 * seen.server_us, 0.3 * seen.client_us
    for _ in range(4):
        model = simulate(program, LOADS[program][0], costs, work_us, call_us)
        work_us = max(0.0, work_us + seen.server_us - model.server_us)
        # Two calls for each request, or fewer where one finds several responses.
        call_us = max(0.0, call_us + (seen.client_us - model.client_us) / 2)
    return work_us, call_us


def run(*command: str, **options: Any) -> str:
    """Output of a command."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT_S, check=False, **options
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return str(done.stdout + done.stderr)


def pinned(core: str, *command: str) -> list[str]:
    """The command on a core, before all programs that are not in a real-time class."""
    return ["taskset", "-c", core, "chrt", "--rr", "1", *command]


def free_port() -> int:
    """A port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def tree_s(root: int) -> float:
    """Processor time of a process and its children, those included that have ended."""
    ticks, found = 0, [root]
    while found:
        pid = found.pop()
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        except OSError:
            continue  # it has ended: its parent counts it
        ticks += sum(int(field) for field in fields[11:15])
        found += [int(child) for child in children]
    return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def started(*command: str, port: int) -> Iterator[int]:
    """A server that accepts connections; its process number."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            end = time.monotonic() + UP_S
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    if time.monotonic() > end or server.poll() is not None:
                        sys.exit(f"{command[0]} does not come up")
                    time.sleep(0.1)
            yield server.pid
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


@contextmanager
def nginx(folder: Path) -> Iterator[tuple[int, int]]:
    """One worker that serves files."""
    port = free_port()
    for load in LOADS["nginx"]:
        (folder / str(load.bytes)).write_bytes(b"x" * load.bytes)
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error; user root;"
        " events { worker_connections 256; } http { access_log off; keepalive_requests 100000000;"
        f" open_file_cache max=9; server {{ listen 127.0.0.1:{port}; root {folder}; }} }}",
        encoding="utf-8",
    )
    with started(*pinned(SERVER_CORE, "nginx", "-c", str(folder / "nginx.conf")), port=port) as pid:
        yield pid, port


@contextmanager
def redis(folder: Path) -> Iterator[tuple[int, int]]:
    """One server without persistence."""
    port = free_port()
    command = (
        "redis-server",
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        str(folder),
    )
    with started(*pinned(SERVER_CORE, *command), port=port) as pid:
        for load in LOADS["redis"]:
            run("redis-cli", "-p", str(port), "set", f"v{load.bytes}", "x" * load.bytes)
        yield pid, port


@contextmanager
def postgresql(folder: Path) -> Iterator[tuple[int, int]]:
    """A server with the tables of pgbench."""
    port, data = free_port(), folder / "data"
    shutil.chown(folder, "postgres")
    programs = max(Path(POSTGRESQL).glob("*/bin"))
    as_server = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups")
    run(
        *as_server,
        str(programs / "initdb"),
        "-D",
        str(data),
        "-U",
        "postgres",
        "--auth=trust",
        cwd=folder,
    )
    server = (
        str(programs / "postgres"),
        "-D",
        str(data),
        "-p",
        str(port),
        "-k",
        str(folder),
        "-c",
        "autovacuum=off",
    )
    with started(
        *pinned(SERVER_CORE, *as_server, *server, "-c", "listen_addresses=127.0.0.1"), port=port
    ) as pid:
        run(
            "pgbench",
            "-h",
            "127.0.0.1",
            "-p",
            str(port),
            "-U",
            "postgres",
            "-i",
            "-q",
            "-s",
            "5",
            "postgres",
        )
        yield pid, port


SERVICES = {"nginx": nginx, "redis": redis, "postgresql": postgresql}


def ask(program: str, port: int, load: Load, seconds: int) -> tuple[int, float]:
    """Loads a server: requests, and how many in a second."""
    at = ("127.0.0.1", str(port), str(load.users))
    if program == "nginx":
        url = f"http://{at[0]}:{at[1]}/{load.bytes}"
        text = run(*pinned(CLIENT_CORE, "wrk", "-t1", f"-c{load.users}", f"-d{seconds}s", url))
        if "Non-2xx" in text or "Socket errors" in text:
            sys.exit(text)
        return int(found(r"(\d+) requests in", text)), float(
            found(r"Requests/sec:\s+([\d.]+)", text)
        )
    if program == "redis":
        count = seconds * 40_000
        command = (
            "redis-benchmark",
            "-h",
            at[0],
            "-p",
            at[1],
            "-c",
            at[2],
            "-n",
            str(count),
            "GET",
            f"v{load.bytes}",
        )
        text = run(*pinned(CLIENT_CORE, *command))
        return count, float(found(r"throughput summary: ([\d.]+)", text))
    own = ("-U", "postgres", "-S", "-n", "-c", at[2], "-j", "1", "-T", str(seconds), "postgres")
    text = run(*pinned(CLIENT_CORE, "pgbench", "-h", at[0], "-p", at[1], *own))
    done = int(found(r"transactions actually processed: (\d+)", text))
    return done, float(found(r"tps = ([\d.]+) \(without", text))


def found(pattern: str, text: str) -> str:
    """What a program has printed."""
    match = re.search(pattern, text)
    if match is None:
        sys.exit(f"no '{pattern}' in {text}")
    return match[1]


def live(program: str, loads: tuple[Load, ...], trials: int) -> list[Seen]:
    """Medians of trials of each load, taken in turn."""
    rows: list[list[Seen]] = [[] for _ in loads]
    with (
        tempfile.TemporaryDirectory(prefix="prediction-") as name,
        SERVICES[program](Path(name)) as (pid, port),
    ):
        ask(program, port, loads[0], 1)
        for _ in range(trials):
            for load, row in zip(loads, rows, strict=True):
                before, mine = tree_s(pid), os.times()
                count, rate = ask(program, port, load, TRIAL_S)
                used, client = tree_s(pid) - before, os.times()
                client_s = (
                    client.children_user
                    + client.children_system
                    - mine.children_user
                    - mine.children_system
                )
                row.append(Seen(used / count * 1e6, client_s / count * 1e6, rate))
    median = statistics.median
    return [
        Seen(
            *(
                median(getattr(one, key) for one in row)
                for key in ("server_us", "client_us", "rate")
            )
        )
        for row in rows
    ]


def calibrate(file: Path, programs: list[str], trials: int) -> None:
    """Writes what the kernel's work costs, and what the load of the calibration takes; no other
    load has run."""
    costs = measure(print).quantities()
    held = {}
    for program in programs:
        [seen] = live(program, LOADS[program][:1], trials)
        held[program] = {"kernel": costs, "calibration": asdict(seen)}
        print(program, seen, flush=True)
    file.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


def predict(file: Path, programs: list[str], _: int) -> None:
    """Adds the predictions."""
    held = json.loads(file.read_text(encoding="utf-8"))
    for program in programs:
        own = held[program]
        work_us, call_us = fitted(program, own["kernel"], Seen(**own["calibration"]))
        model = {
            load: simulate(program, load, own["kernel"], work_us, call_us)
            for load in LOADS[program]
        }
        own["fitted"] = {
            "server_work_us": round(work_us, 3),
            "client_system_call_us": round(call_us, 3),
        }
        own["simulated"] = {name_of(load): asdict(one) for load, one in model.items()}
        print(program, json.dumps(own, indent=1), flush=True)
    file.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


def name_of(load: Load) -> str:
    """As in the file."""
    return f"{load.users} x {load.bytes} B"


def compare(file: Path, programs: list[str], trials: int) -> None:
    """Prints the table."""
    held = json.loads(file.read_text(encoding="utf-8"))
    print(
        "| Server | Load | processor time, us: live | predicted | error | requests/s: live | "
        "predicted | error | |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---:|---|")
    for program in programs:
        others = LOADS[program][1:]
        for load, real in zip(others, live(program, others, trials), strict=True):
            model = held[program]["simulated"][name_of(load)]
            errors = [model["server_us"] / real.server_us - 1, model["rate"] / real.rate - 1]
            good = "within" if max(map(abs, errors)) <= MOST else "**outside**"
            print(
                f"| {program} | {name_of(load)} | {real.server_us:.2f} | {model['server_us']:.2f} |"
                f" {errors[0]:+.1%} | {real.rate:.0f} | {model['rate']:.0f} | "
                f"{errors[1]:+.1%} | {good} |",
                flush=True,
            )


def main() -> None:
    """Does one of the three."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("calibrate", "predict", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--program", action="append", choices=LOADS)
    parser.add_argument("--trials", type=int, default=3)
    chosen = parser.parse_args()
    act = {"calibrate": calibrate, "predict": predict, "compare": compare}[chosen.what]
    act(chosen.file, chosen.program or list(LOADS), chosen.trials)


if __name__ == "__main__":
    main()
