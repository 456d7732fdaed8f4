"""The runner of `make test`: what fails is seen, what hangs is ended, the last line is the verdict."""

import os
import sys
import time
from pathlib import Path

import pytest

import checks


def python(program: str, limit_s: int = 30) -> checks.Check:
    """A check that runs a line of Python."""
    return checks.Check("sample", (sys.executable, "-c", program), limit_s)


def test_a_check_passes_when_its_command_does() -> None:
    assert checks.run(python("pass")).outcome == "passed"


def test_a_failed_command_is_a_failed_check() -> None:
    assert checks.run(python("raise SystemExit(3)")).outcome == "FAILED (status 3)"


def test_a_check_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    child = f"import pathlib, os, time; pathlib.Path({str(note)!r}).write_text(str(os.getpid())); time.sleep(600)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert checks.run(python(parent, limit_s=3)).outcome == "FAILED (over its limit of 3 s)"
    assert not is_alive(int(note.read_text()))


def is_alive(pid: int) -> bool:
    """Whether a process still runs after a moment to end."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True


def test_the_summary_ends_with_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    good = checks.Verdict(python("pass"), "passed", 1.0)
    bad = checks.Verdict(python("pass"), "FAILED (status 1)", 2.0)
    assert checks.summarise([good, bad]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "checks: 1 of 2 passed in 3 s"
    assert checks.summarise([good]) == 0


def test_each_check_can_be_run_alone() -> None:
    for check in checks.LINTS + checks.TESTS:
        assert checks.select([check.name]) == (check,)
    assert checks.select(["unknown"]) == ()


def test_random_cases_have_one_seed_which_can_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = "import os; raise SystemExit(f\"{os.environ['PROPTEST_RNG_SEED']} {os.environ['PYTEST_ADDOPTS']}\" != '%s')"
    usual = seeds % "1 --hypothesis-seed=1"
    assert checks.run(python(usual)).outcome == "passed"
    assert checks.run(python(usual), seed=2).outcome == "FAILED (status 1)"
    monkeypatch.setattr(checks, "SEEDED", (python(seeds % "77 --hypothesis-seed=77"),))
    monkeypatch.setenv("SEED", "77")
    assert checks.main(["explore"]) == 0
    monkeypatch.delenv("SEED")
    assert checks.main(["explore"]) == 1  # a seed of its own
