"""Scenarios on real kernels in virtual time. Where there is no kernel for them, one line says
so."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from machine import TAILRACE, left_of, wait_until_gone
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("small.yaml")
EDGES = Path(__file__).with_name("edges.yaml")
LIMIT_S = 250
INTERRUPTED = 130


def run(
    out: Path, *options: str, engine: str = "--exact", scenario: Path = SCENARIO
) -> "subprocess.CompletedProcess[str]":
    """A run of a scenario by one engine."""
    command = [
        *TAILRACE,
        "run",
        str(scenario),
        "--out",
        str(out),
        *([engine] if engine else []),
        *options,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def outcome(out: Path, trial: int = 1) -> dict[str, Any]:
    """The outcome of a trial."""
    found: dict[str, Any] = read_trial(out / "trials" / "fifo" / f"{trial}.json")
    return found


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A simulated and an exact run; the folder's name is longer than the address of a socket may
    be."""
    folder = tmp_path_factory.mktemp("x" * 120)
    simulated, exact = folder / "simulated", folder / "exact"
    for out, engine in ((simulated, ""), (exact, "--exact")):
        done = run(out, "--trials", "1", engine=engine)
        assert done.returncode == 0, done.stderr
    return simulated, exact


def test_the_same_transactions_happen_as_simulated(both: tuple[Path, Path]) -> None:
    simulated, exact = map(outcome, both)
    assert exact["status"] == "ok"
    assert exact["finished"]
    for a, b in zip(simulated["workloads"], exact["workloads"], strict=True):
        assert a["name"] == b["name"]
        if a["name"] in ("orders", "web"):
            assert a["transactions"] == b["transactions"] > 0
    goodput = [
        w["goodput_bytes"] / o["end_ps"]
        for o in (simulated, exact)
        for w in o["workloads"]
        if w["name"] == "copy"
    ]
    assert goodput[1] == pytest.approx(goodput[0], rel=0.05)


def test_every_frame_is_accounted_for_and_nothing_is_left(both: tuple[Path, Path]) -> None:
    _, exact = both
    frames = outcome(exact)["conservation"]
    assert frames["sent"] == frames["delivered"] + frames["dropped"] + frames["in_network"] > 1000
    assert not (exact / "exact").exists()
    assert wait_until_gone(str(exact)) == []


@pytest.mark.slow
def test_the_same_seed_gives_the_same_frames(both: tuple[Path, Path], tmp_path: Path) -> None:
    done = run(tmp_path / "again", "--trials", "1")
    assert done.returncode == 0, done.stderr
    assert outcome(tmp_path / "again")["digest"] == outcome(both[1])["digest"]


@pytest.mark.slow
def test_an_interrupt_while_another_is_held_back_waits_with_it(tmp_path: Path) -> None:
    done = run(tmp_path / "fast", scenario=SCENARIO.with_name("fast.yaml"))
    assert done.returncode == 0, done.stderr
    assert outcome(tmp_path / "fast")["status"] == "ok"


def test_the_engines_stand_side_by_side(both: tuple[Path, Path]) -> None:
    command = [*TAILRACE, "compare", *map(str, both)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    assert "simulated" in done.stdout
    assert "exact" in done.stdout
    assert "agree within 5 %" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_process_and_keeps_what_is_done(
    tmp_path: Path, sign: signal.Signals
) -> None:
    out = tmp_path / "run"
    command = [
        *TAILRACE,
        "run",
        str(SCENARIO),
        "--exact",
        "--trials",
        "30",
        "--jobs",
        "1",
        "--out",
        str(out),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as running:
        until_s = time.monotonic() + LIMIT_S
        while not (out / "trials" / "fifo").is_dir() or len(left_of(str(out))) < 4:
            assert running.poll() is None
            assert time.monotonic() < until_s
            time.sleep(0.02)
        running.send_signal(sign)
        _, errors = running.communicate(timeout=LIMIT_S)
    assert running.returncode == (INTERRUPTED if sign == signal.SIGINT else -sign), errors
    assert wait_until_gone(str(out)) == []
    kept = sorted((out / "trials" / "fifo").glob("*.json"))
    assert kept
    assert all(json.loads(path.read_text(encoding="utf-8"))["status"] == "ok" for path in kept)


def test_a_kernel_that_does_not_start_fails_its_trial_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAILRACE_EXACT_KERNEL", "/bin/false")
    done = run(tmp_path / "run", "--trials", "1")
    assert done.returncode == 3, done.stderr
    assert "its kernel does not start" in outcome(tmp_path / "run")["reason"]
    assert "Traceback" not in done.stderr
    assert wait_until_gone(str(tmp_path)) == []


def run_at_the_edge(out: Path, *settings: str) -> "subprocess.CompletedProcess[str]":
    """A run of the scenario that ends with much on its way."""
    return run(out, *(word for each in settings for word in ("--set", each)), scenario=EDGES)


@pytest.mark.slow
def test_buffers_that_are_too_few_for_a_frame_are_not_tried_for_ever(tmp_path: Path) -> None:
    done = run_at_the_edge(
        tmp_path / "run", "network.link.rate=900Gbit/s", "experiment.duration=1ms"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_guest_with_a_full_ring_is_told_to_end(tmp_path: Path) -> None:
    done = run_at_the_edge(
        tmp_path / "run", "network.link.rate=850Gbit/s", "experiment.duration=1ms"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_guest_ends_with_much_in_the_queue_of_its_interface(tmp_path: Path) -> None:
    done = run_at_the_edge(tmp_path / "run", "workloads.shop.users=3000")
    assert done.returncode == 0, done.stderr
