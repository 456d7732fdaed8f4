"""Real programs on real kernels in virtual time. What is not installed is named in the line that
skips its test."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from machine import ROOT, TAILRACE, wait_until_gone
from tailrace.exact import program
from tailrace.programs.needed import path_of
from tailrace.programs.postgres import PGBENCH, POSTGRES
from tailrace.programs.sysbench import SYSBENCH
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("database.yaml")
EXAMPLES = ROOT / "examples" / "exact"
LIMIT_S = 250
MIB = 512
FIO_READS = 1000
DISK_NS = 100_000
BLOCK_BITS = 8192 * 8


def skip_without(*programs: str) -> None:
    """Skips a test whose programs are missing."""
    missing = [
        name
        for name in programs
        if shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") is None
    ]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def run_example(folder: Path, name: str, *changes: str) -> tuple[dict[str, Any], Path]:
    """The outcome of a file of programs, and the folder with what the client has written."""
    words = [word for change in changes for word in ("--set", change)]
    plan = subprocess.run(
        [*TAILRACE, "plan", str(EXAMPLES / "network.yaml"), *words],
        capture_output=True,
        text=True,
        check=True,
    )
    folder.mkdir()
    (folder / "plan.json").write_text(plan.stdout, encoding="utf-8")
    command = [str(program.installed(program.ENGINE)), "run", "--plan", str(folder / "plan.json")]
    command += [
        "--programs",
        str(EXAMPLES / f"{name}.json"),
        "--dir",
        str(folder / "run"),
        "--memory",
        str(MIB),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert wait_until_gone(str(folder)) == []
    return json.loads(done.stdout), folder / "run" / "hosts" / "client" / "out"


@pytest.mark.parametrize("name", [pytest.param("iscsi", marks=pytest.mark.slow), "nvme"])
def test_fio_reads_the_disk_of_another_host(tmp_path: Path, name: str) -> None:
    skip_without("fio", *(["iscsistart"] if name == "iscsi" else []))
    digests = []
    for attempt in ("one", "other"):
        outcome, written = run_example(tmp_path / attempt, name)
        [job] = json.loads((written / "fio.json").read_text(encoding="utf-8"))["jobs"]
        assert job["error"] == 0
        assert job["read"]["total_ios"] == FIO_READS
        # Four blocks at a time share a line of 1 Gbit/s.
        assert 4 * BLOCK_BITS < job["read"]["clat_ns"]["mean"] < 4 * BLOCK_BITS + DISK_NS
        digests.append(outcome["digest"])
    assert digests[0] == digests[1]


@pytest.mark.slow
def test_wrk_asks_nginx_for_as_much_as_the_line_carries(tmp_path: Path) -> None:
    skip_without("nginx", "wrk")
    outcome, written = run_example(tmp_path / "run", "web", "network.link.rate=100Mbit/s")
    text = (written / "0.out").read_text(encoding="utf-8")
    [rate] = [
        float(line.split()[1]) for line in text.splitlines() if line.startswith("Requests/sec")
    ]
    # Of 100 Mbit/s, with 1448 bytes in each frame of 1538.
    assert rate == pytest.approx(100e6 / 8 * 1448 / 1538 / 100_000, rel=0.05)
    assert outcome["exact"]["hosts"][0]["programs"] == [0]


@pytest.mark.slow
def test_a_workload_that_names_a_program_has_a_database_and_the_rest_the_usual_traffic(
    tmp_path: Path,
) -> None:
    missing = [needed.program for needed in (POSTGRES, PGBENCH) if path_of(needed) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    found = []
    for name in ("one", "other"):
        out = tmp_path / name
        command = [*TAILRACE, "run", str(SCENARIO), "--exact", "--trials", "1", "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done.stderr
        assert not (out / "exact").exists(), "templates and trials are gone"
        found.append(read_trial(out / "trials" / "fifo" / "1.json"))
    one, other = found
    assert one["digest"] == other["digest"]
    orders, more, copy = one["workloads"]
    assert (orders["name"], orders["transactions"], orders["latency"]["count"]) == (
        "orders",
        40,
        40,
    )
    # Two answers of 26 kB in all at 1 Gbit/s, and four times the delay of two links.
    assert 288_000_000 < orders["latency"]["min_ps"] < 1_000_000_000
    assert more["transactions"] == 20
    assert copy["goodput_bytes"] > 0
    assert one["exact"]["span_ps"] < 5e12, "the trial ends when everything with an end is complete"


@pytest.mark.slow
def test_two_load_generators_ask_one_database_and_a_signal_is_the_end_of_one(
    tmp_path: Path,
) -> None:
    missing = [
        needed.program for needed in (POSTGRES, PGBENCH, SYSBENCH) if path_of(needed) is None
    ]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    found = []
    for name in ("one", "other"):
        out = tmp_path / name
        command = [
            *TAILRACE,
            "run",
            str(SCENARIO.with_name("sysbench.yaml")),
            "--exact",
            "--out",
            str(out),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done.stderr
        found.append(read_trial(out / "trials" / "base" / "1.json"))
    one, other = found
    assert one["digest"] == other["digest"]
    plain, third = one["workloads"]
    assert (plain["transactions"], plain["latency"]["count"], plain["goodput_bytes"]) == (
        40,
        40,
        40 * 8500,
    )
    assert plain["completion_ps"] == max(plain["user_completion_ps"])
    # Two answers of 8.5 kB in all at 1 Gbit/s, and four times the delay of two links.
    assert 148_000_000 < plain["latency"]["min_ps"] < 1_000_000_000
    assert third["transactions"] == 10
    commands = one["exact"]["programs"]["commands"]
    assert "--db-driver=pgsql" in commands["app/sysbench-plain"]
    assert [name for name in commands if name.startswith("db/")] == ["db/postgres-db"], (
        "one server for both"
    )
