"""A scenario with real PostgreSQL, pgbench and iperf3, from the command line to the report."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import machine
from trial_files import read_trial

RUN_LIMIT_S = 200
KILL_LIMIT_S = 900
"""Several runs and their replays, each with a limit of its own: two minutes on an idle machine."""


def command(out: Path, *options: str) -> list[str]:
    """`tailrace run --live`."""
    return [*machine.TAILRACE, "run", "--live", str(machine.SCENARIO), "--out", str(out), *options]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of every arm, and a look at what it left on the machine."""
    out = tmp_path_factory.mktemp("live") / "run"
    before = machine.picture()
    done = machine.run_program(command(out, "--log-ingress"), RUN_LIMIT_S)
    machine.assert_ended(done)
    assert machine.wait_until_gone(str(out)) == []
    assert machine.picture() == before
    return out


def outcome(out: Path, arm: str) -> dict[str, Any]:
    """The outcome of an arm's trial."""
    data: dict[str, Any] = read_trial(out / "trials" / arm / "1.json")
    return data


def test_every_transaction_was_done_in_every_arm(finished: Path) -> None:
    for arm in ("fifo", "dpp", "solo-orders"):
        orders = outcome(finished, arm)["workloads"][0]
        assert orders["transactions"] == 120, arm
        assert orders["goodput_bytes"] == 120 * 18_000
        assert orders["latency"]["count"] == 120
        assert None not in orders["user_completion_ps"]


def test_frames_are_conserved_and_none_is_lost_outside_the_queues(finished: Path) -> None:
    for arm in ("fifo", "dpp"):
        data = outcome(finished, arm)
        books = data["conservation"]
        assert books["sent"] == books["delivered"] + books["dropped"] + books["in_network"]
        assert all(
            sum(lost.values()) == 0 for lost in data["fabric"]["frames_lost_outside"].values()
        )
        assert data["fabric"]["foreign_frames"] == 0


def test_the_backup_fills_the_queue_and_dpp_takes_the_orders_past_it(finished: Path) -> None:
    ports = {
        arm: next(port for port in outcome(finished, arm)["ports"] if port["towards"] == "client")
        for arm in ("fifo", "dpp")
    }
    [fifo] = ports["fifo"]["queues"]
    express, normal = ports["dpp"]["queues"]
    assert sum(lost["frames"] for lost in fifo["drops"].values()) > 0
    # An answer of 18 kB is three frames at this MTU: all of them are first packets of a flow that
    # was silent before.
    assert ports["dpp"]["dpp"]["prioritised_frames"] >= 120 * 2
    assert express["tx_bytes"] > 0
    assert normal["tx_frames"] > 0


def test_what_lateness_did_and_what_programs_waited_is_told(finished: Path) -> None:
    for arm in ("fifo", "dpp"):
        data = outcome(finished, arm)
        port = data["fabric"]["effect"]["leaf>client"]
        assert port["drain_ms"] == pytest.approx(80.0), "a megabyte at 100 Mbit/s"
        # Both passes have the same frames; how many the bulk sent depends on the machine.
        assert port["frames"] > 100
        assert abs(port["mean_ms"]) < port["drain_ms"]
        assert abs(port["drops"] - port["punctual_drops"]) <= port["drops"]
        lost = data["live"]["core_waits"]["orders"]
        assert lost["wait_s"] > 0, "no program gets a core at once each time"
        assert 0 < lost["share"] < 1
        # One entry for each core, also where the trial was too short to tell how much the
        # hypervisor took.
        cores = data["live"]["steal_by_core"]
        assert len(cores) >= 1
        assert all(steal is None or 0 <= steal <= 1 for steal in cores)


def test_what_linux_was_told_is_recorded(finished: Path) -> None:
    manifest = json.loads((finished / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["engine"] == "live"
    assert {"postgres", "iperf3", "fabric_build"} <= set(manifest["versions"])
    controls = {
        name
        for arm in ("fifo", "dpp")
        for name in outcome(finished, arm)["live"]["congestion_controls"]
    }
    assert controls <= {"cubic"}


def test_frames_have_the_ports_of_the_protocols(finished: Path) -> None:
    assert machine.server_ports(finished) == {"db": {5432}, "client": {5201}}


def test_the_run_directory_holds_results_and_no_template(finished: Path) -> None:
    assert (finished / "report.html").exists()
    assert {path.name for path in (finished / "live").iterdir()} <= {"ingress"}


def test_what_entered_the_switches_is_replayed_to_the_same_digest(finished: Path) -> None:
    assert len(machine.replay(finished)) == 3


def test_a_transaction_is_traced_beside_what_the_fabric_did_to_frames(
    finished: Path, tmp_path: Path
) -> None:
    done = machine.tailrace(
        "trace", str(finished), "--arm", "fifo", "-o", str(tmp_path / "trace"), "--json"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr, "the replay is the same"
    told = json.loads(done.stdout)
    (one,) = told["transactions"]
    assert one["workload"] == "orders"
    assert (
        "(the program's log). Of the frames of its workload meanwhile "
        "(the fabric's log): one waited " in one["sentence"]
    )
    assert " at leaf>client behind backup " in one["sentence"]
    # Its answer alone is three frames at this MTU, and the backup fills the port.
    assert told["frames"] >= 4
    assert told["slices_of_others"] > 10
    assert outcome(finished, "fifo")["live"]["begun_within_us"] > 0
    content = (tmp_path / "trace").read_bytes()
    assert b"live: port leaf>client, from the fabric's log" in content


@pytest.mark.slow
@pytest.mark.timeout(KILL_LIMIT_S + 60)
def test_whatever_is_killed_of_a_run_leaves_nothing_and_the_run_resumes() -> None:
    """A few of the rounds that `scripts/kill_rounds.py` can do by the hundred."""
    rounds = ["--rounds", "4", "--seed", "8", "--whole-s", "6"]
    words = [sys.executable, str(machine.ROOT / "scripts" / "kill_rounds.py"), *rounds]
    done = subprocess.run(words, capture_output=True, text=True, timeout=KILL_LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads("{" + done.stdout.partition("\n{\n")[2])["bad"] == 0


def test_an_interrupt_keeps_what_was_finished(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = command(out, "--json", "--set", "experiment.trials=20")
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    try:
        for line in running.stderr:
            if json.loads(line)["event"] == "trial":
                break
        running.send_signal(signal.SIGINT)
        running.stderr.read()
        assert running.wait(RUN_LIMIT_S) == 130
    finally:
        running.kill()
        running.wait(10)
        running.stderr.close()
    kept = list(out.glob("trials/*/*.json"))
    assert kept
    assert machine.wait_until_gone(str(out)) == []
    assert {path.name for path in (out / "live").iterdir()} <= {"ingress"}
