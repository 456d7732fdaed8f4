"""The client of the fabric: it speaks the protocol, waits with limits, and takes everything
down."""

import json
from pathlib import Path

import pytest

from lab import load
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.machine import doctor
from tailrace.live.trial.replay import replay
from tailrace.outcome.stored import FORMAT
from tailrace.programs.command import Command
from tailrace.scenario.lowering.plan import canonical_json, lower
from whole import stored

pytestmark = pytest.mark.usefixtures("fake_lab")
PLAN = canonical_json(lower(load().scenario, "dpp", 1))


def test_a_program_is_started_and_its_end_is_known(tmp_path: Path) -> None:
    with Lab(PLAN, tmp_path / "lab") as lab:
        assert lab.addresses["db"] == "10.77.0.2"
        started = lab.start(Command("one", ["true"], host="db"))
        ended = started.require(5)
        assert (ended.exit_code, ended.user_s, ended.max_rss_bytes) == (0, 0.25, 10**6)


def test_what_the_fabric_refuses_is_said_in_its_words(tmp_path: Path) -> None:
    with (
        Lab(PLAN, tmp_path / "lab") as lab,
        pytest.raises(FabricError, match="signal: there is no program 'nobody'"),
    ):
        lab.call("signal", name="nobody", signal="INT")


def test_a_program_that_ends_before_its_signal_arrives_is_no_failure(tmp_path: Path) -> None:
    with Lab(PLAN, tmp_path / "lab") as lab:
        program = lab.start(Command("done-already", ["postgres"], host="db"))
        program.signal("INT")
        assert program.wait(5).is_good


def test_waiting_has_a_limit(tmp_path: Path) -> None:
    with Lab(PLAN, tmp_path / "lab") as lab:
        server = lab.start(Command("server", ["postgres"], host="db"))
        with pytest.raises(FabricError, match=r"server did not end within 0\.05 s"):
            server.wait(0.05)
        assert server.stop().is_good


def test_a_lab_that_is_down_answers_nothing(tmp_path: Path) -> None:
    with Lab(PLAN, tmp_path / "lab") as lab:
        pass
    with pytest.raises(FabricError, match="the lab is down"):
        lab.call("counters")


def test_a_fabric_that_does_not_start_is_an_error_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_FAULT", "unready")
    with (
        pytest.raises(FabricError, match="did not start: no /dev/net/tun"),
        Lab(PLAN, tmp_path / "lab"),
    ):
        pytest.fail("it is not up")


def test_the_doctor_names_the_package_of_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        doctor, "version_of", lambda needed: None if needed.program == "iperf3" else "1.0"
    )
    facts = doctor.examine()
    assert not doctor.is_healthy(facts)
    assert "NO  iperf3" in doctor.as_text(facts)
    assert "Debian package iperf3" in doctor.as_text(facts)


def test_a_log_is_replayed_to_the_same_digest(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "trials" / "fifo").mkdir(parents=True)
    manifest = {"manifest_version": FORMAT, "name": "s", "arms": ["fifo"], "workloads": []}
    (run / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    file, parts = (
        run / "trials" / "fifo" / "1.json",
        {"fabric": {"replay_log": "live/ingress/a/log"}},
    )
    folder = run / "live" / "ingress" / "a"
    folder.mkdir(parents=True)
    for name in ("log", "plan.json"):
        (folder / name).write_text("{}", encoding="utf-8")
    stored(file, "fifo", 1, {"digest": "0123456789abcdef", **parts})
    [same] = replay(run)
    assert same.is_same
    stored(file, "fifo", 1, {"digest": "f" * 16, **parts})
    [different] = replay(run)
    assert "DIFFERENT" in different.sentence


def test_a_run_without_logs_is_not_replayed(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(
        json.dumps({"manifest_version": FORMAT, "name": "s", "arms": []}), encoding="utf-8"
    )
    with pytest.raises(FabricError, match="no trial has an ingress log"):
        replay(tmp_path)
