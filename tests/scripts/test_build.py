"""Builds, and the tests on real kernels: which commands run, what is linked, and that a failure is
the exit code."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

import build
import checked
import checks
import exact_checks

CHOSEN = "unoptimised"
"""A profile of the toy."""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which `cargo` and `maturin` end with the status in the file of their name,
    here 0."""
    place = tmp_path / ".venv" / "bin"
    place.mkdir(parents=True)
    for name in ("cargo", "maturin"):
        (place / name).write_text(
            f'#!/bin/sh\necho {name} >> calls\nread status < "$0.status"\nexit $status\n'
        )
        (place / name).chmod(0o755)
        (place / f"{name}.status").write_text("0\n")
    for folder in (CHOSEN, "debug"):
        (tmp_path / "target" / folder).mkdir(parents=True)
        for name in (*build.PROGRAMS, "lib_native.so"):
            (tmp_path / "target" / folder / name).write_text(f"{name} of {folder}")
    package = tmp_path / "package"
    package.mkdir()
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "TARGET", tmp_path / "target")
    monkeypatch.setattr(build, "BIN", package / "bin")
    monkeypatch.setattr(build, "LOG", tmp_path / "build.log")
    monkeypatch.setattr(checks, "ROOT", tmp_path)
    monkeypatch.setattr(checks, "DURATIONS", tmp_path / "durations.jsonl")
    monkeypatch.setattr(checks, "CHECKED", tmp_path / "checked")
    monkeypatch.setattr(checked, "PACKAGE", package)
    monkeypatch.setattr(checked, "BUILT", tmp_path / "target" / "debug")
    monkeypatch.setattr("sys.argv", ["build", "--profile", CHOSEN])
    return place


def test_a_build_installs_the_package_and_the_programs_of_its_profile(
    programs: Path, tmp_path: Path
) -> None:
    assert build.main() == 0
    assert (tmp_path / "calls").read_text().split() == ["cargo", "maturin"]
    for name in build.PROGRAMS:
        assert (build.BIN / name).read_text() == f"{name} of {CHOSEN}"


@pytest.mark.parametrize("name", ["cargo", "maturin"])
def test_a_build_that_fails_has_that_exit_code_and_installs_no_program(
    programs: Path, name: str
) -> None:
    (programs / f"{name}.status").write_text("7\n")
    assert build.main() == 7
    assert not build.BIN.exists()


def test_the_checked_package_has_the_extension_and_the_programs_of_the_build_for_tests(
    programs: Path,
) -> None:
    package, laid = checked.PACKAGE, checks.CHECKED / "tailrace"
    (package / "api.py").touch()
    (package / "_native.abi3.so").write_text("the installed one")
    (package / "bin").mkdir()
    (laid / "bin").mkdir(parents=True)
    (laid / "gone.py").symlink_to(package / "gone.py")
    (laid / "_native.abi3.so").symlink_to(package / "_native.abi3.so")
    (programs / "tailrace").touch()
    assert checked.main() == 0
    found = {
        str(path.relative_to(laid)): path.readlink()
        for path in laid.rglob("*")
        if path.is_symlink()
    }
    assert found == {
        "api.py": package / "api.py",
        "_native.abi3.so": checked.BUILT / "lib_native.so",
        **{f"bin/{name}": checked.BUILT / name for name in build.PROGRAMS},
    }


def test_a_build_for_tests_that_fails_has_that_exit_code(programs: Path) -> None:
    (programs / "cargo.status").write_text("7\n")
    assert checked.main() == 7
    assert not checks.CHECKED.exists()


def test_a_fresh_clone_has_the_build_for_tests_installed(programs: Path) -> None:
    assert checked.main() == 0
    assert (checked.PACKAGE / "_native.abi3.so").read_text() == "lib_native.so of debug"
    assert (build.BIN / build.PROGRAMS[0]).read_text() == f"{build.PROGRAMS[0]} of debug"
    (programs / "maturin.status").write_text("7\n")
    assert checked.main() == 7


# --- tests on real kernels ------------------------------------------------------------------------


class Machine:
    """Where kernels run or not; keeps the commands that are started, each with its environment."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started: list[tuple[str, dict[str, str]]] = []
        self.failing = "none"
        monkeypatch.setattr(exact_checks, "can_build", lambda: True)
        monkeypatch.setattr(exact_checks, "why_not", lambda: "")
        monkeypatch.setattr("exact_checks.subprocess.run", self.run)

    def run(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        words = " ".join(command)
        self.started.append((words, options["env"]))
        return subprocess.CompletedProcess(command, 7 if self.failing in words else 0)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


@pytest.mark.parametrize("is_all", [False, True])
def test_after_the_kernel_is_built_the_tests_of_both_languages_run_and_must_find_it(
    machine: Machine, is_all: bool
) -> None:
    assert exact_checks.main(["--all"] if is_all else []) == 0
    (kernel, _), (python, of_python), (rust, of_rust) = machine.started
    assert kernel.endswith("scripts/exact_deps.py")
    assert "pytest" in python
    assert "tests/exact" in python
    assert ("not slow" in python) == (not is_all)
    assert rust.startswith("cargo test")
    assert "--test guests" in rust
    assert ("--include-ignored" in rust) == is_all
    assert of_python["TAILRACE_EXACT_REQUIRED"] == of_rust["TAILRACE_EXACT_REQUIRED"] == "1"


@pytest.mark.parametrize(("failing", "started"), [("exact_deps", 1), ("pytest", 3), ("guests", 3)])
def test_a_kernel_or_tests_that_fail_are_the_exit_code(
    machine: Machine, failing: str, started: int
) -> None:
    machine.failing = failing
    assert exact_checks.main([]) == 7
    assert len(machine.started) == started


def test_only_the_kernel_is_built_on_request(machine: Machine) -> None:
    assert exact_checks.main(["--kernel"]) == 0
    assert len(machine.started) == 1


def test_a_machine_without_kernels_runs_no_test_and_says_why(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(exact_checks, "can_build", lambda: False)
    monkeypatch.setattr(exact_checks, "why_not", lambda: "it is another one")
    assert exact_checks.main([]) == 0
    assert machine.started == []
    assert capsys.readouterr().out == "exact tests: skipped, it is another one\n"
