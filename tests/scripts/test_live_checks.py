"""Where real programs cannot run, the live tests are skipped with one line, and only there."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import live_checks
import live_deps
from tailrace.live.lab.fabric import FabricError

SOUND: dict[str, Any] = {"capabilities": {"lab": True}, "tun": True, "lab_error": None}


@pytest.fixture
def on_debian(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root of a Debian machine that has every program."""
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("pathlib.Path.exists", lambda _path: True)
    monkeypatch.setattr(live_deps, "missing_for_tests", list)


@pytest.mark.usefixtures("on_debian")
@pytest.mark.parametrize(
    ("found", "why"),
    [
        ({"capabilities": {"lab": False}}, "root has neither CAP_SYS_ADMIN nor CAP_NET_ADMIN"),
        ({"tun": False}, "/dev/net/tun cannot be used"),
        ({"lab_error": "mounting /proc: no"}, "this machine refuses a lab: mounting /proc: no"),
    ],
)
def test_a_container_without_rights_is_told_in_one_line(
    found: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tailrace.live.lab.fabric.ask", lambda _word: SOUND | found)
    assert live_checks.main() == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(f"live tests: skipped, {why}")


@pytest.mark.usefixtures("on_debian")
def test_packages_that_cannot_be_installed_are_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tailrace.live.lab.fabric.ask", lambda _word: SOUND)
    monkeypatch.setattr(live_deps, "missing_for_tests", lambda: ["iperf3"])
    monkeypatch.setattr(live_deps, "install", lambda _packages: "apt-get install: E: no network")
    assert live_checks.main() == 0
    expected = "live tests: skipped, packages cannot be installed: apt-get install: E: no network"
    assert capsys.readouterr().out.splitlines() == [expected]


@pytest.mark.usefixtures("on_debian")
def test_tests_that_fail_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tailrace.live.lab.fabric.ask", lambda _word: SOUND)
    monkeypatch.setattr(live_checks, "run", lambda *_words: 1)
    assert live_checks.main() == 1


@pytest.mark.usefixtures("on_debian")
def test_a_fabric_that_fails_is_no_reason_to_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(_word: str) -> dict[str, Any]:
        raise FabricError("it is not built")

    monkeypatch.setattr("tailrace.live.lab.fabric.ask", ask)
    with pytest.raises(FabricError):
        live_checks.main()


def test_tests_that_hang_are_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    assert live_checks.run(words, {}, 0.5) == 1
    assert "not done within 0.5 s" in capsys.readouterr().err


def test_the_complaint_of_apt_is_its_last_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(command: list[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 100, "", "W: slow\nE: Temporary failure resolving 'mirror'\n")

    policy = tmp_path / "policy-rc.d"
    monkeypatch.setattr(live_deps, "POLICY", policy)
    monkeypatch.setattr("subprocess.run", refused)
    assert live_deps.install(["iperf3"]) == "apt-get update: E: Temporary failure resolving 'mirror'"
    assert not policy.exists()
