"""The parts of an answer's time, of a real database over a real link, and the capacity of the
machine."""

import json
from pathlib import Path

import pytest

import machine
from tailrace.live.machine import answers
from tailrace.live.measure import ingress
from tailrace.scenario.workloads import ports

pytestmark = pytest.mark.slow  # it compares times of a few answers
SMALL, LARGE = 18_000, 8_000_000
COUNTS = {SMALL: 20, LARGE: 5}


def test_a_large_answer_is_built_before_its_first_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "LOOPBACK_COUNTS", COUNTS)
    monkeypatch.setattr(answers, "LINK_COUNTS", COUNTS)
    times = answers.measure(tmp_path, "9000B")
    # 8 MB take 12 ms to be formed and the frames of both wait for the same switch: no neighbour
    # turns the order around.
    assert times.before_ms[LARGE] > 2 * times.before_ms[SMALL]
    assert times.loopback_ms[LARGE] > times.loopback_ms[SMALL]
    assert set(times.after_ms) == {SMALL, LARGE}
    seen = ingress.answers(tmp_path / "answers" / ingress.FILE, ports.POSTGRESQL)
    found = [answer for answer in seen if answer.size_bytes >= SMALL]
    assert len(found) == sum(COUNTS.values()), "those over loopback do not enter the switch"
    [user] = {answer.connection[:2] for answer in found}
    assert user == (0, 1)
    # A link of 1 Gbit/s carries 8 MB in 64 ms and never sooner.
    assert all(answer.sending_ms > 63 for answer in found if answer.size_bytes >= LARGE)


def test_a_machine_is_measured_once_before_its_first_live_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it sustains: on a busy machine that may be too little for this scenario, which is
    said."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = machine.tailrace(
        "run", "--live", str(machine.SCENARIO), "--trials", "1", "--out", str(tmp_path / "run")
    )
    assert "measuring the capacity of this machine, once" in done.stderr
    assert done.returncode == 0 or "but this machine sustains" in done.stderr, done.stderr
    [file] = (tmp_path / "cache").rglob("*.json")
    assert (
        json.loads(file.read_text(encoding="utf-8"))["figures"]["frames"]["frames_per_second_max"]
        > 0
    )
