"""Measures what a byte costs a database client: Tcl with Pgtcl, pgbench and psql, each reading from
PostgreSQL.

    .venv/bin/python reproductions/cisco-dpp/client_cost.py [--rounds 5] [--megabytes 256] [--page]

Starts a server of its own on loopback and stops it; writes `client-cost.json` and, from it,
`client-cost.md`. `--page` measures nothing and writes the page from the JSON. Needs PostgreSQL,
tclsh8.6 and libpgtcl of Debian.
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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client_cost_page import SIZES, Cost, conclusion, costs_of, data_of, page
from client_cost_server import server
from tailrace.live.lab.fabric import FabricError
from tailrace.programs.postgres import Installation, version_text

HERE = Path(__file__).resolve().parent
DATA, PAGE, SCRIPT = (
    HERE / name for name in ("client-cost.json", "client-cost.md", "client_cost.tcl")
)
TCLSH = "tclsh8.6"
ROW_BYTES = 500
"""TPC-C's longest field, C_DATA."""
SHAPES = {"one field": None, "rows of 500 B": ROW_BYTES}
CALLS_MIN, CALLS_MAX = 4, 4000
LIMIT_S = 300
CLOCK_LINE = "cpu MHz"


@dataclass(frozen=True)
class Client:
    """A program that reads: its name and its command for a statement and a number of calls."""

    name: str
    program: str
    way: str = ""

    def argv(self, installed: Installation, folder: Path, statement: str, calls: int) -> list[str]:
        """A command line; files that it needs are written to `folder`."""
        if self.program == "tcl":
            return [TCLSH, str(SCRIPT), self.way, statement, str(calls)]
        script = folder / f"{self.program}-{calls}.sql"
        if self.program == "pgbench":
            script.write_text(f"{statement};\n", encoding="utf-8")
            fixed = ["--no-vacuum", "--client=1", "--protocol=simple", f"--file={script}"]
            return [str(installed.program("pgbench")), *fixed, f"--transactions={calls}"]
        script.write_text(f"{statement};\n" * calls, encoding="utf-8")
        fixed = ["--no-psqlrc", "--tuples-only", "--no-align", "--quiet", "--output=/dev/null"]
        return [str(installed.program("psql")), *fixed, f"--file={script}"]


CLIENTS = (
    Client("tcl exec", "tcl", "exec"),
    Client("tcl list", "tcl", "list"),
    Client("tcl select", "tcl", "select"),
    Client("pgbench", "pgbench"),
    Client("psql", "psql"),
)


def main() -> None:
    """Measures and writes, or only writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="runs of each program and size; the fastest counts"
    )
    parser.add_argument("--megabytes", type=float, default=256, help="text that each run reads")
    parser.add_argument(
        "--page", action="store_true", help="measure nothing, write the page from the JSON"
    )
    options = parser.parse_args()
    if not options.page:
        signal.signal(
            signal.SIGTERM, lambda *_: sys.exit("client_cost: ended")
        )  # ends the server too
        try:
            data = measured(options.rounds, options.megabytes)
        except (FabricError, OSError, subprocess.SubprocessError) as error:
            sys.exit(f"client_cost: {error} (hint: apt-get install postgresql tcl8.6 libpgtcl)")
    else:
        data = json.loads(DATA.read_text(encoding="utf-8"))
    data = data_of(costs_of(data), data["machine"])
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(data), encoding="utf-8")


def measured(rounds: int, megabytes: float) -> dict[str, Any]:
    """Everything that the page shows."""
    counts_cycles = has_cycle_counter()
    with server() as (installed, environment), tempfile.TemporaryDirectory() as name:
        fill(installed, environment)
        bench = Bench(installed, environment, Path(name), rounds, counts_cycles)
        costs = list(bench.all(megabytes))
        machine = bench.machine()
    sys.stderr.write(f"{conclusion(costs)}\n")
    return data_of(costs, machine)


@dataclass(frozen=True)
class Bench:
    """Where programs are run, and how often."""

    installed: Installation
    environment: Mapping[str, str]
    folder: Path
    rounds: int
    counts_cycles: bool

    def all(self, megabytes: float) -> Iterator[Cost]:
        """Every program, shape and size."""
        for client in CLIENTS:
            for shape in SHAPES:
                for size, size_bytes in SIZES.items():
                    calls = min(CALLS_MAX, max(CALLS_MIN, round(megabytes * 1e6 / size_bytes)))
                    sys.stderr.write(f"{client.name}, {shape}, {size}\n")
                    yield self.cost(client, shape, size, calls)

    def cost(self, client: Client, shape: str, size: str, calls: int) -> Cost:
        """The CPU time of `calls` calls beyond the first, round by round."""
        statement = f"select t from {table_name(shape, size)}"
        few = client.argv(self.installed, self.folder, statement, 1)
        many = client.argv(self.installed, self.folder, statement, 1 + calls)
        pairs = [(self.spent(few), self.spent(many)) for _ in range(self.rounds)]
        cpu_s = tuple(second[0] - first[0] for first, second in pairs)
        cycles = (
            tuple(second[1] - first[1] for first, second in pairs) if self.counts_cycles else None
        )
        return Cost(client.name, shape, size, calls, cpu_s, cycles)

    def spent(self, argv: Sequence[str]) -> tuple[float, float]:
        """CPU seconds and, where they are counted, cycles of a command that must end well."""
        counts = self.folder / "cycles"
        wrapped = (
            ["perf", "stat", "-x,", "-e", "cycles", "-o", str(counts), "--"]
            if self.counts_cycles
            else []
        )
        process = subprocess.Popen(
            [*wrapped, *argv],
            env=dict(self.environment),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None  # it is a pipe
        complaint = process.stderr.read().decode(errors="replace").strip()
        _, status, usage = os.wait4(process.pid, 0)
        process.stderr.close()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise FabricError(f"{argv[0]} failed: {complaint or process.returncode}")
        cycles = cycles_in(counts.read_text(encoding="utf-8")) if self.counts_cycles else 0.0
        return usage.ru_utime + usage.ru_stime, cycles or 0.0

    def machine(self) -> dict[str, Any]:
        """What the figures belong to."""
        clock_hz = clock_of(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        tcl, pgtcl = answer([TCLSH], "puts [info patchlevel]; puts [package require Pgtcl]").split()
        return {
            "processor": processor_of(Path("/proc/cpuinfo").read_text(encoding="utf-8")),
            "clock": f"{clock_hz / 1e9:.2f} GHz (the clock that the system states)",
            "clock_hz": clock_hz,
            "counts_cycles": self.counts_cycles,
            "system": f"{platform.system()} {platform.release()}, {os.cpu_count()} processors",
            "postgresql": version_text(
                answer([str(self.installed.program("postgres")), "--version"])
            ),
            "tcl": tcl,
            "pgtcl": pgtcl,
            "rounds": self.rounds,
        }


def answer(argv: Sequence[str], text: str = "") -> str:
    """What a short command prints."""
    done = subprocess.run(
        argv, input=text, capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    return done.stdout


def fill(installed: Installation, environment: Mapping[str, str]) -> None:
    """One table for each shape and size, of digits that were drawn by md5; stored as they are, not
    compressed."""
    statements = []
    for shape, row_bytes in SHAPES.items():
        for size, size_bytes in SIZES.items():
            rows = size_bytes // (row_bytes or size_bytes)
            length = size_bytes // rows
            name = table_name(shape, size)
            digits = (
                "select string_agg(md5(i || '/' || n), '') from "
                f"generate_series(0, {length} / 32) i"
            )
            statements += [
                f"create table {name} (t text)",
                f"alter table {name} alter column t set storage external",
                f"insert into {name} select left(({digits}), {length}) from "
                f"generate_series(1, {rows}) n",
                f"vacuum analyze {name}",
            ]
    psql = [
        str(installed.program("psql")),
        "--no-psqlrc",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
        "--file=-",
    ]
    script = "".join(f"{statement};\n" for statement in statements)
    done = subprocess.run(
        psql,
        input=script,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode != 0:
        raise FabricError(f"psql: {done.stderr.strip()}")


def table_name(shape: str, size: str) -> str:
    """`rows_of_500_b_xs`."""
    return f"{shape}_{size}".lower().replace(" ", "_")


def has_cycle_counter() -> bool:
    """Whether perf counts cycles here; virtual machines often have no such counter."""
    if shutil.which("perf") is None:
        return False
    asked = subprocess.run(
        ["perf", "stat", "-x,", "-e", "cycles", "--", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.returncode == 0 and cycles_in(asked.stderr) is not None


def cycles_in(text: str) -> float | None:
    """The count in the output of `perf stat -x,`; None where it says that the event is not
    supported."""
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2].startswith("cycles"):
            return float(fields[0]) if fields[0].replace(".", "").isdecimal() else None
    return None


def clock_of(cpuinfo: str) -> float:
    """The highest clock of `/proc/cpuinfo` in Hz."""
    clocks = [
        float(line.partition(":")[2])
        for line in cpuinfo.splitlines()
        if line.startswith(CLOCK_LINE)
    ]
    if not clocks:
        raise FabricError(f"/proc/cpuinfo states no clock ({CLOCK_LINE})")
    return max(clocks) * 1e6


def processor_of(cpuinfo: str) -> str:
    """Name, family and model, because virtual machines often have a name without a number."""
    fields = {
        key.strip(): value.strip()
        for key, _, value in (line.partition(":") for line in cpuinfo.splitlines())
    }
    return f"{fields['model name']} (family {fields['cpu family']}, model {fields['model']})"


if __name__ == "__main__":
    main()
