"""1 to 40 PostgreSQL servers on this machine, each with a limit of CPU time: does throughput grow
with their number?

Every database is a server and its pgbench (-S, four clients, over a socket in the file system) in
one control group with a quota, as a virtual machine with virtual cores is. The quotas of all
together are less than the machine has. All servers run all the time; at each point so many of them
are loaded. Writes live.json and prints every point. Usage, as root: .venv/bin/python
reproductions/nutanix-density/live_density.py [--databases 40] [--quota 1.5]
"""

import argparse
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.programs.errors import ProgramError
from tailrace.programs.postgres import SETTINGS, USER, installation
from tailrace.statistics import fit_amdahl, fit_usl, jain_index, mean

HERE = Path(__file__).resolve().parent
OUT = HERE / "live.json"
COUNTS = (1, 2, 5, 10, 20, 30, 40)
CLIENTS = 4
PERIOD_US = 100_000
QUOTA_US_MIN = 1_000
"""Shortest quota that the kernel accepts."""
SHARES = 262_144
"""Weight of all databases together, the kernel's largest: other programs take none of their
quotas."""
MEMORY_MB = 100
"""Of one database: its files in memory (55 MB), its processes and shared buffers."""
BUFFERS = "16MB"
WARM_UP_S = 5
SCALE = "1"
LIMIT_S = 60.0
GROUPS = Path("/sys/fs/cgroup/cpu")
ACCOUNTS = Path("/sys/fs/cgroup/cpuacct")
"""Where the kernel counts the time of a group."""
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
TPS = re.compile(r"^tps = ([\d.]+) \(without initial", re.MULTILINE)


@dataclass
class Database:
    """One server with its control group."""

    number: int
    folder: Path
    group: Path
    account: Path
    server: subprocess.Popen[bytes] | None = None

    def command(self, program: str, *arguments: str) -> list[str]:
        """A program in the group: a shell enters it and becomes the program."""
        enter = f"echo $$ > {self.group}/cgroup.procs && echo $$ > {self.account}/cgroup.procs"
        account = f'exec setpriv --reuid {USER} --regid {USER} --init-groups "$@"'
        return [
            "sh",
            "-c",
            f"{enter} && {account}",
            "sh",
            str(installation().program(program)),
            *arguments,
        ]

    def start(self) -> None:
        """The server, with the lab's settings."""
        own = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "max_connections": "20",
        }
        settings = {one.name: one.value for one in SETTINGS} | own | {"shared_buffers": BUFFERS}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("wb") as log:
            argv = self.command("postgres", "-D", str(self.folder / "data"), *options)
            self.server = subprocess.Popen(argv, stdout=log, stderr=log, env=ENVIRONMENT, cwd="/")

    def load(self, seconds: int) -> subprocess.Popen[bytes]:
        """Its pgbench."""
        options = [
            "-S",
            "-n",
            "-M",
            "prepared",
            "-c",
            str(CLIENTS),
            "-T",
            str(seconds),
            "-h",
            str(self.folder),
        ]
        argv = self.command("pgbench", *options, "postgres")
        return subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, cwd="/"
        )

    def used_s(self) -> float:
        """CPU time of the group so far."""
        return int((self.account / "cpuacct.usage").read_text()) / 1e9

    def stop(self) -> None:
        """Ends the server, which this program has started."""
        if self.server is not None and self.server.poll() is None:
            self.server.terminate()
            try:
                self.server.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait(LIMIT_S)


def refusal(databases: int, quota_percent: float, memory_mb: int) -> str | None:
    """Why so many databases cannot run; None where they can."""
    if databases * MEMORY_MB > memory_mb:
        return (
            f"{databases} databases need {databases * MEMORY_MB} MB of memory ({MEMORY_MB} each), "
            f"and {memory_mb} MB are available (hint: --databases {memory_mb // MEMORY_MB})"
        )
    if quota_percent * PERIOD_US / 100 < QUOTA_US_MIN:
        return (
            f"a quota of {quota_percent:g} % of a core is below the "
            "kernel's least (hint: --quota 1)"
        )
    cores = os.cpu_count() or 1
    if databases * quota_percent > 100 * cores:
        return (
            f"{databases} quotas of {quota_percent:g} % are more than the {cores} cores of "
            "this machine: the sum would"
            f" measure the machine (hint: --quota {100 * cores / databases:.3g})"
        )
    return None


def available_mb() -> int:
    """Memory that the kernel says is available."""
    text = Path("/proc/meminfo").read_text()
    return int(re.findall(r"MemAvailable:\s+(\d+)", text)[0]) // 1000


def busy_ticks() -> tuple[int, int]:
    """Time of all cores that was not idle, and all."""
    ticks = [int(part) for part in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def template(folder: Path) -> Path:
    """A data directory with pgbench's tables."""
    data, installed = folder / "template", installation()
    account = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups"]

    def run(program: str, *arguments: str) -> None:
        argv = [*account, str(installed.program(program)), *arguments]
        subprocess.run(
            argv, check=True, capture_output=True, timeout=LIMIT_S, env=ENVIRONMENT, cwd="/"
        )

    run("initdb", "-D", str(data), "--no-sync")
    run(
        "pg_ctl",
        "-D",
        str(data),
        "-w",
        "-l",
        str(folder / "log"),
        "-o",
        f"-k {folder} -c listen_addresses=''",
        "start",
    )
    try:
        run("pgbench", "-i", "-q", "-s", SCALE, "-h", str(folder), "postgres")
    finally:
        run("pg_ctl", "-D", str(data), "-w", "-m", "fast", "stop")
    return data


def made(folder: Path, name: str, databases: int, quota_percent: float) -> list[Database]:
    """Databases with their files and groups, started and ready."""
    source, found = template(folder), []
    for number in range(databases):
        place = f"{name}/db{number}"
        database = Database(number, folder / f"db{number}", GROUPS / place, ACCOUNTS / place)
        for made_here in (database.folder, database.group, database.account):
            made_here.mkdir()
        (database.group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (database.group / "cpu.cfs_quota_us").write_text(
            str(round(quota_percent * PERIOD_US / 100))
        )
        subprocess.run(
            ["cp", "-a", str(source), str(database.folder / "data")], check=True, timeout=LIMIT_S
        )
        shutil.chown(database.folder, USER, USER)
        database.start()
        found.append(database)
    deadline = time.monotonic() + LIMIT_S
    for database in found:
        while not (database.folder / ".s.PGSQL.5432.lock").exists():
            if time.monotonic() > deadline:
                raise ProgramError(
                    f"server {database.number} was not ready: "
                    f"{(database.folder / 'log').read_text()[-400:]}"
                )
            time.sleep(0.1)
    time.sleep(3)  # a quota of 1.5 % needs a while for what a server does at its start
    return found


def measured(databases: Sequence[Database], seconds: int) -> dict[str, Any]:
    """Throughput of these databases at the same time."""
    before, used_s = busy_ticks(), sum(database.used_s() for database in databases)
    loads = [database.load(seconds) for database in databases]
    texts = [load.communicate(timeout=seconds + LIMIT_S) for load in loads]
    after, used_s = busy_ticks(), sum(database.used_s() for database in databases) - used_s
    found = [TPS.findall(out.decode()) for out, _ in texts]
    if not all(found):
        raise ProgramError(
            "pgbench said: "
            f"{next(err for (_, err), tps in zip(texts, found, strict=True) if not tps)!r}"
        )
    rates = [float(tps[0]) for tps in found]
    return {
        "databases": len(rates),
        "tps": round(sum(rates), 1),
        "least": round(min(rates), 1),
        "most": round(max(rates), 1),
        "jain": round(jain_index(rates) or 0, 4),
        "cpu_percent": round(used_s / len(rates) / seconds * 100, 3),
        "cpu_us": round(used_s / sum(rates) / seconds * 1e6, 1),
        "busy": round((after[0] - before[0]) / (after[1] - before[1]), 3),
    }


def points(
    databases: list[Database], counts: Sequence[int], seconds: int, repeats: int
) -> list[dict[str, Any]]:
    """Every count, repeated; which databases are loaded moves on, so that none is always the
    first."""
    measured(databases, WARM_UP_S)  # tables and plans are read for the first time
    found, at = [], 0
    for repeat in range(repeats):
        for count in counts:
            chosen = [databases[(at + index) % len(databases)] for index in range(count)]
            at += count
            point = measured(chosen, seconds) | {
                "repeat": repeat,
                "load": round(os.getloadavg()[0], 1),
            }
            print(json.dumps(point), flush=True)
            found.append(point)
    return found


def judged(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Share of perfect growth at each count, and the laws."""
    counts = sorted({point["databases"] for point in found})
    of = {
        count: mean([point["tps"] for point in found if point["databases"] == count])
        for count in counts
    }
    first = of[counts[0]] / counts[0]
    curve = [(float(point["databases"]), float(point["tps"])) for point in found]
    work = {
        count: mean([point["cpu_us"] for point in found if point["databases"] == count])
        for count in counts
    }
    given = {
        count: mean([point["cpu_percent"] for point in found if point["databases"] == count])
        for count in counts
    }
    laws = {name: fit(curve) for name, fit in (("amdahl", fit_amdahl), ("usl", fit_usl))}
    return {
        "perfect_share": {str(count): round(of[count] / (first * count), 4) for count in counts},
        "cpu_us_of_a_transaction": {str(count): round(work[count], 1) for count in counts},
        "cpu_percent_of_a_database": {str(count): round(given[count], 3) for count in counts},
        "contention": {name: law and round(law.contention, 5) for name, law in laws.items()},
        "contention_interval": {
            name: law
            and law.contention_interval
            and [round(law.contention_interval.low, 5), round(law.contention_interval.high, 5)]
            for name, law in laws.items()
        },
        "coherency": laws["usl"] and round(laws["usl"].coherency, 7),
    }


def main(arguments: Sequence[str]) -> int:
    """Runs, or refuses in words."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--databases", type=int, default=40)
    parser.add_argument(
        "--quota", type=float, default=1.5, help="of one core, in percent, for each database"
    )
    parser.add_argument("--seconds", type=int, default=8, help="of one point")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument(
        "--memory", type=int, help="memory in MB that may be used; default: what is available"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="file with the results")
    options = parser.parse_args(arguments)
    problem = refusal(options.databases, options.quota, options.memory or available_mb())
    if problem is None and (os.geteuid() != 0 or not (GROUPS / "cpu.cfs_quota_us").exists()):
        problem = (
            f"control groups with quotas need root and {GROUPS} (hint: cgroup version 1 with "
            "the cpu controller)"
        )
    if problem is not None:
        print(f"refused: {problem}", file=sys.stderr)
        return 2
    name = f"tailrace-density-{os.getpid()}"
    tops = [GROUPS / name, ACCOUNTS / name]
    databases: list[Database] = []
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="density-") as place:
        folder = Path(place)
        os.chown(folder, pwd.getpwnam(USER).pw_uid, pwd.getpwnam(USER).pw_gid)
        for top in tops:
            top.mkdir()
        (tops[0] / "cpu.shares").write_text(str(SHARES))
        try:
            databases = made(folder, name, options.databases, options.quota)
            counts = [count for count in COUNTS if count <= options.databases]
            found = points(databases, counts, options.seconds, options.repeats)
        finally:
            for database in databases:
                database.stop()
            for top in tops:
                for group in [*top.glob("db*"), top]:
                    group.rmdir()
    shown = {"quota_percent": options.quota, "seconds": options.seconds, "points": found} | judged(
        found
    )
    options.out.write_text(json.dumps(shown, indent=1) + "\n")
    print(json.dumps(judged(found), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
