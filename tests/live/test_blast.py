"""`tailrace blast` on a host of a fabric: what it says is what the interface and the switch have
counted."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import machine

LIMIT_S = 60
FRAME = "02:00:00:00:00:02 02:00:00:00:00:01 88b5 pad=1000\n"
TRAFGEN = "{ fill(0xff, 6), 2, 0, 0, 0, 0, 1, c16(0x88b5), fill(0, 986) }\n"


def tailrace(state: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return machine.tailrace(*words, limit_s=LIMIT_S, environment={"XDG_STATE_HOME": str(state)})


def blast(state: Path, *words: str) -> list[dict[str, Any]]:
    done = tailrace(state, "blast", *words, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One for all tests, which only send."""
    state = tmp_path_factory.mktemp("state")
    (state / "frame").write_text(FRAME, encoding="utf-8")
    (state / "trafgen").write_text(TRAFGEN, encoding="utf-8")
    up = tailrace(state, "lab", "up", str(Path(__file__).with_name("jumbo.yaml")))
    try:
        assert up.returncode == 0, up.stderr
        yield state
    finally:
        tailrace(state, "lab", "down")
    assert machine.wait_until_gone(str(state)) == []


def received(state: Path) -> int:
    """Frames that the switch has passed on to the database, by its own count."""
    rows = json.loads(tailrace(state, "show", "interfaces", "--json").stdout)["interfaces"]
    return next(int(row["tx_frames"]) for row in rows if row["interface"] == "leaf>db")


def test_every_frame_is_sent_once_and_the_switch_counts_it(fabric: Path) -> None:
    before = received(fabric)
    [counted] = blast(
        fabric,
        str(fabric / "frame"),
        "--host",
        "client",
        "--count",
        "403",
        "--threads",
        "4",
        "--delay",
        "100us",
    )
    assert (counted["sent"], counted["refused"], counted["interface_sent"]) == (403, 0, 403)
    assert [each["sent"] for each in counted["threads"]] == [101, 101, 101, 100]
    rounds = blast(
        fabric,
        str(fabric / "trafgen"),
        "--host",
        "client",
        "--count",
        "50",
        "--sizes",
        "60-1460/700",
        "--delay",
        "1ms",
    )
    assert [(each["frame_bytes_mean"], each["sent"]) for each in rounds] == [
        (60, 50),
        (760, 50),
        (1460, 50),
    ]
    # To an address that the switch does not know, and to all: nothing of it is for the database
    # alone.
    assert received(fabric) >= before


def test_a_rate_is_kept_and_a_full_interface_refuses(fabric: Path) -> None:
    [paced] = blast(
        fabric,
        str(fabric / "frame"),
        "--host",
        "client",
        "--rate",
        "2000",
        "--for",
        "500ms",
        "--threads",
        "2",
    )
    assert 0 < paced["sent"] <= 1_002
    # A thread that a busy machine stops for too long leaves out what was due meanwhile, and counts
    # that as a gap.
    assert paced["sent"] >= 900 or paced["gaps"] > 0
    [fast] = blast(
        fabric, str(fabric / "frame"), "--host", "client", "--interface", "lo", "--for", "300ms"
    )
    assert (fast["sent"], fast["refused"]) == (fast["interface_sent"], 0)


def test_nothing_is_sent_by_an_interface_of_the_machine(fabric: Path) -> None:
    before = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()[2:]
    lo = next(line.split() for line in before if line.strip().startswith("lo:"))
    order = {
        "namespace": None,
        "interface": "lo",
        "is_machine_allowed": False,
        "rounds": [["00" * 60]],
        "threads": 1,
        "delay_ns": 0,
        "interval_ps": 0,
        "count": 1000000,
        "limit_ns": 10**8,
        "is_queued": False,
    }
    from tailrace.live.lab.fabric import program

    done = subprocess.run(
        [str(program()), "blast"],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 1
    assert "lo is an interface of this machine, not of a namespace" in done.stderr
    after = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()[2:]
    now = next(line.split() for line in after if line.strip().startswith("lo:"))
    assert int(now[10]) - int(lo[10]) < 100_000

    long = tailrace(
        fabric,
        "blast",
        str(fabric / "frame"),
        "--host",
        "client",
        "--sizes",
        "9200",
        "--count",
        "1",
    )
    assert (long.returncode, "longer than the MTU" in long.stderr) == (2, True)
    unknown = tailrace(fabric, "blast", str(fabric / "frame"), "--host", "clients")
    assert "did you mean 'client'?" in unknown.stderr
