"""The live commands as one types them, on the stand-in for the fabric."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab import sound
from tailrace.cli.app import app
from tailrace.cli.live import calibrate_hosts
from tailrace.errors import RunRefusedError, TailraceError
from tailrace.live.lab import standing
from tailrace.scenario.calibrated import host_parameters

pytestmark = pytest.mark.usefixtures("fake_lab")


def test_a_calibration_that_cannot_be_kept_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tailrace.live.machine.calibrate.calibrate", lambda *_: pytest.fail("it was measured")
    )
    with pytest.raises(
        TailraceError, match=r"none/hosts.yaml: the file cannot be created: No such file"
    ):
        calibrate_hosts(tmp_path / "none" / "hosts.yaml", "9000B", "1Gbit/s")
    (tmp_path / "there.yaml").touch()
    with pytest.raises(TailraceError, match="exists already"):
        calibrate_hosts(tmp_path / "there.yaml", "9000B", "1Gbit/s")


def test_a_measurement_that_fails_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise TailraceError("no database")

    monkeypatch.setattr("tailrace.live.machine.calibrate.calibrate", fails)
    with pytest.raises(TailraceError, match="no database"):
        calibrate_hosts(tmp_path / "hosts.yaml", "9000B", "1Gbit/s")
    assert not (tmp_path / "hosts.yaml").exists()


def run(*words: str) -> tuple[int, str]:
    """Exit code and output of a command; errors for people are raised."""
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    return result.exit_code, result.stdout


def test_the_doctor_ends_with_its_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    status, text = run("lab", "doctor")
    assert (status, text.splitlines()[-1]) == (0, "live runs can start on this machine")
    monkeypatch.setenv("FAKE_FAULT", "no-tun")
    status, text = run("lab", "doctor", "--json")
    found = json.loads(text)
    assert (status, found["can_run_live"]) == (1, False)
    tun = next(fact for fact in found["facts"] if fact["what"] == "/dev/net/tun")
    assert tun["advice"] == "load the kernel module: `modprobe tun`"


def test_the_doctor_tells_the_machine_from_the_switch_when_it_has_measured() -> None:
    assert "frames a second not measured" in " ".join(run("lab", "doctor")[1].split())
    text = " ".join(run("lab", "doctor", "--measure")[1].split())
    assert (
        "lateness of the switch 0.86 ms (p99.9; this machine alone: 0.24 ms; the switch's own "
        "work: 0.06 ms)" in text
    )


def test_a_live_run_prints_its_fidelity_and_is_listed_as_live(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(sound(workloads__backup=...)), encoding="utf-8")
    status, text = run("run", str(file), "--live", "--full", "--out", str(tmp_path / "run"))
    assert status == 0
    assert text.startswith("sound, live: seed 1")
    assert "worst value over trials" in text


def test_a_machine_that_cannot_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_FAULT", "no-tun")
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(sound()), encoding="utf-8")
    with pytest.raises(
        TailraceError, match="a live run cannot start on this machine: /dev/net/tun: missing"
    ):
        run("run", str(file), "--live", "--out", str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_clean_says_what_it_removed() -> None:
    assert run("lab", "clean") == (0, "removed: tailrace-7-42\n")


def test_a_dry_run_does_not_guess_how_long_programs_take(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(sound(workloads__backup=...)), encoding="utf-8")
    status, text = run("run", str(file), "--live", "--dry-run", "--out", str(tmp_path / "run"))
    assert status == 0
    assert "time unknown: the duration of a live trial depends on its programs" in text


def test_which_fabric_is_asked_when_none_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert run("lab", "list") == (0, "no fabric is up\n")
    with pytest.raises(TailraceError, match="no fabric is up"):
        run("lab", "exec", "db", "--", "true")


def test_a_fabric_whose_process_is_gone_is_not_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = standing.home() / "old"
    folder.mkdir(parents=True)
    (folder / "lab.json").write_text(json.dumps({"lab_pid": 2**30, "hosts": []}), encoding="utf-8")
    assert standing.standing() == []


def test_a_file_of_something_else_is_no_host_parameters(tmp_path: Path) -> None:
    file, scenario = tmp_path / "h.yaml", tmp_path / "s.yaml"
    file.write_text("hosts: {}\nswitches: {}\n", encoding="utf-8")
    scenario.write_text(json.dumps(sound()), encoding="utf-8")
    with pytest.raises(
        TailraceError, match=r"h\.yaml:2: switches: 'switches' is not a host parameter"
    ):
        host_parameters(file, [scenario])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--time-budget", "15"], "--time-budget: "),
        (["--log-ingress"], "--log-ingress requires --live"),
        (["--live", "--time-budget", "15"], "--time-budget: "),
        (["--live", "--time-budget", "0s"], "--time-budget must be greater than zero"),
        (["--live-scale", "0"], "--live-scale 0 is outside 1 to 1000"),
    ],
)
def test_a_budget_or_a_scale_that_makes_no_sense_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "lab.yaml")[0] == 0
    with pytest.raises(RunRefusedError, match=message):
        run("run", "lab.yaml", *options)
