"""PostgreSQL servers under quotas: they grow with their number, get the same CPU time, and leave
nothing behind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import live_density
import machine
from live_checks import LACKS

LIMIT_S = 200


@pytest.mark.slow  # databases work for 24 seconds
@pytest.mark.skipif(
    not (live_density.GROUPS / "cpu.cfs_quota_us").exists(),
    reason=f"{LACKS}control groups of version 1",
)
def test_two_databases_do_twice_what_one_does_and_leave_nothing(tmp_path: Path) -> None:
    before, out = machine.picture(), tmp_path / "live.json"
    few = [
        "--databases",
        "2",
        "--seconds",
        "4",
        "--repeats",
        "2",
        "--quota",
        "5",
        "--out",
        str(out),
    ]
    done = subprocess.run(
        [sys.executable, live_density.__file__, *few],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    # Other programs of the machine change what a transaction costs, and not the time that a quota
    # gives.
    given = found["cpu_percent_of_a_database"]
    assert given["2"] == pytest.approx(given["1"], rel=0.15)
    assert 0.6 < found["perfect_share"]["2"] < 1.7
    assert min(point["jain"] for point in found["points"]) > 0.8
    assert machine.picture() == before
