"""The client of the fabric: it speaks the protocol, waits with limits, and takes everything down."""

import json
from pathlib import Path

import pytest

from lab import load
from tailrace.live import doctor
from tailrace.live.calibrate import Calibration, fragment, least_squares
from tailrace.live.fabric import FabricError
from tailrace.live.lab import Lab
from tailrace.live.program import Command
from tailrace.live.replay import replay
from tailrace.scenario.calibrated import host_parameters
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lower import canonical_json, lower

pytestmark = pytest.mark.usefixtures("fake_lab")
PLAN = canonical_json(lower(load().scenario, "dpp", 1))


def test_a_program_is_started_and_its_end_is_known(tmp_path: Path) -> None:
    with Lab(PLAN, tmp_path / "lab") as lab:
        assert lab.addresses["db"] == "10.77.0.2"
        started = lab.start(Command("one", ["true"], host="db"))
        ended = started.require(5)
        assert (ended.exit_code, ended.user_s, ended.max_rss_bytes) == (0, 0.25, 10**6)


def test_what_the_fabric_refuses_is_said_in_its_words(tmp_path: Path) -> None:
    with Lab(PLAN, tmp_path / "lab") as lab, pytest.raises(FabricError, match="signal: there is no program 'nobody'"):
        lab.call("signal", name="nobody", signal="INT")


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
    with pytest.raises(FabricError, match="did not start: no /dev/net/tun"), Lab(PLAN, tmp_path / "lab"):
        pytest.fail("it is not up")


def test_the_doctor_names_the_package_of_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "version_of", lambda needed: None if needed.program == "iperf3" else "1.0")
    facts = doctor.examine()
    assert not doctor.is_healthy(facts)
    assert "NO  iperf3" in doctor.as_text(facts)
    assert "Debian package iperf3" in doctor.as_text(facts)


def test_a_line_is_found_by_least_squares() -> None:
    assert least_squares([(1, 3), (2, 5), (4, 9)]) == pytest.approx((1, 2))


def test_a_calibration_is_taken_up_by_a_scenario(tmp_path: Path) -> None:
    found = Calibration(
        mtu="9000B",
        rate="1Gbit/s",
        round_trip_mean_us=100,
        round_trip_least_us=64,
        wire_us=4,
        frame_us={1500: 2.0, 9000: 3.5},
        answer_ms={1000: 0.101, 101_000: 0.201},
    )
    file = tmp_path / "hosts.yaml"
    file.write_text(fragment(found), encoding="utf-8")
    scenario = tmp_path / "s.yaml"
    scenario.write_text(json.dumps(_SCENARIO), encoding="utf-8")
    loaded = load_scenario(scenario, host_parameters(file, scenario)).scenario
    host = loaded.host("db")
    assert host.nic.rx_coalesce == 30_000_000
    assert host.nic.rx_jitter.mean == 18_000_000
    assert (host.cpu.per_packet, host.cpu.per_byte) == (1_700_000, 200_000)
    [trip] = loaded.workloads["orders"].round_trips  # type: ignore[union-attr]  # it is OLTP
    assert trip.server_time.mean == 100_000_000
    assert trip.produce_rate == 8_000_000_000


_SCENARIO = {
    "tailrace": 1,
    "name": "s",
    "network": {"topology": {"kind": "star", "hosts": ["web", "db"]}},
    "workloads": {
        "orders": {"kind": "oltp", "client": "web", "server": "db", "users": 1, "round_trips": [{"response": "1kB"}]}
    },
    "experiment": {"duration": "1s"},
}


def test_a_log_is_replayed_to_the_same_digest(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "trials" / "fifo").mkdir(parents=True)
    manifest = {"name": "s", "arms": ["fifo"], "workloads": []}
    (run / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    outcome = {"digest": "0123456789abcdef", "workloads": [], "fabric": {"replay_log": "live/ingress/a/log"}}
    (run / "trials" / "fifo" / "1.json").write_text(json.dumps(outcome), encoding="utf-8")
    [same] = replay(run)
    assert same.is_same
    (run / "trials" / "fifo" / "1.json").write_text(json.dumps(outcome | {"digest": "f" * 16}), encoding="utf-8")
    [different] = replay(run)
    assert "DIFFERENT" in different.sentence


def test_a_run_without_logs_is_not_replayed(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"name": "s", "arms": []}), encoding="utf-8")
    with pytest.raises(FabricError, match="no trial has a log"):
        replay(tmp_path)
