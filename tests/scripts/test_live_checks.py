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
    monkeypatch.setattr(live_deps, "missing_for_tests", lambda **_which: [])


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
    found: dict[str, Any],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
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
    monkeypatch.setattr(live_deps, "missing_for_tests", lambda **_which: ["iperf3"])
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
@pytest.mark.parametrize("is_all", [False, True])
def test_slow_tests_and_their_packages_are_those_of_all(
    is_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[bool] = []
    started: list[tuple[list[str], dict[str, str]]] = []

    def missing(*, is_all: bool) -> list[str]:
        wanted.append(is_all)
        return []

    def run(command: list[str], environment: dict[str, str], _limit_s: float) -> int:
        started.append((command, environment))
        return 1

    monkeypatch.delenv("TAILRACE_TESTS", raising=False)
    monkeypatch.delenv("TAILRACE_LIVE_TESTS", raising=False)
    monkeypatch.setattr("tailrace.live.lab.fabric.ask", lambda _word: SOUND)
    monkeypatch.setattr(live_deps, "missing_for_tests", missing)
    monkeypatch.setattr(live_checks, "run", run)
    assert live_checks.main(["--all"] if is_all else []) == 1
    [(command, environment)] = started
    assert ("not slow" in command, environment.get("TAILRACE_TESTS")) == (
        not is_all,
        "all" if is_all else None,
    )
    assert environment["TAILRACE_LIVE_TESTS"] == "1"
    assert wanted == [is_all]


def test_programs_of_slow_tests_alone_are_not_installed_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_deps, "missing", lambda _wanted=(): ["iperf3", *live_deps.SLOW_ALONE])
    assert live_deps.missing_for_tests(is_all=False) == ["iperf3"]
    assert live_deps.missing_for_tests(is_all=True)[:2] == ["iperf3", live_deps.SLOW_ALONE[0]]


TESTS = """
import pytest

def test_passes():
    pass

def test_of_a_fabric():
    pytest.skip("{lacks}a fabric")

@pytest.mark.skipif(True, reason="fio is not installed")
def test_of_fio():
    pass
"""


def test_a_skip_is_told_and_is_a_failure_unless_the_machine_is_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, report = tmp_path / "test_three.py", tmp_path / "report.xml"
    file.write_text(TESTS.format(lacks=live_checks.LACKS), encoding="utf-8")
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        str(file),
        f"--junit-xml={report}",
    ]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    of_machine, other = live_checks.skips(report)
    assert (of_machine.test, of_machine.is_of_machine) == ("test_three::test_of_a_fabric", True)
    assert (other.test, other.is_of_machine) == ("test_three::test_of_fio", False)
    assert len(live_checks.cases(report)) == 3
    assert live_checks.told([of_machine], 3) == 0
    assert live_checks.told([of_machine, other], 3) == 1
    told = capsys.readouterr()
    assert "NOT RUN: test_three::test_of_fio: fio is not installed" in told.out
    assert "1 skipped for a reason that is not the machine" in told.err


REPORT = (
    '<testsuites><testcase classname="a" name="b"><skipped '
    'message="{reason}"/></testcase></testsuites>'
)


@pytest.mark.usefixtures("on_debian")
@pytest.mark.parametrize(
    ("reason", "code"), [(f"{live_checks.LACKS}fio", 0), ("fio is not installed", 1)]
)
def test_the_skips_of_tests_that_pass_are_judged(
    reason: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], _environment: dict[str, str], _limit_s: float) -> int:
        Path(command[-3].partition("--junit-xml=")[2]).write_text(
            REPORT.format(reason=reason), encoding="utf-8"
        )
        return 0

    monkeypatch.setattr("tailrace.live.lab.fabric.ask", lambda _word: SOUND)
    monkeypatch.setattr(live_checks, "run", run)
    assert live_checks.main() == code


@pytest.mark.parametrize(("tests", "last"), [(20, "a::b2: "), (19, "2 of 19 were not run")])
def test_a_machine_that_lacks_much_is_told_in_the_last_line(
    tests: int, last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    skipped = [live_checks.Skip(f"a::b{number}", f"{live_checks.LACKS}fio") for number in (1, 2)]
    assert live_checks.told(skipped, tests) == 0
    assert last in capsys.readouterr().out.splitlines()[-1]


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


def test_the_complaint_of_apt_is_its_last_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(command: list[str], **_options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(
            command, 100, "", "W: slow\nE: Temporary failure resolving 'mirror'\n"
        )

    policy = tmp_path / "policy-rc.d"
    monkeypatch.setattr(live_deps, "POLICY", policy)
    monkeypatch.setattr("subprocess.run", refused)
    assert (
        live_deps.install(["iperf3"]) == "apt-get update: E: Temporary failure resolving 'mirror'"
    )
    assert not policy.exists()
