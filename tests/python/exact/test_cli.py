"""The commands of exact runs as one types them, without a kernel that runs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fake_engine
from lab import sound
from tailrace.cli.app import app
from tailrace.errors import RunRefusedError
from tailrace.exact import program


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario, and a file that is named as the kernel."""
    monkeypatch.setenv(program.VARIABLE, "/bin/true")
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(sound()), encoding="utf-8")
    return file


def run(*words: object) -> tuple[int, str]:
    """Exit code and output of a command; errors for people are raised."""
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    return result.exit_code, result.output


def test_a_dry_run_does_not_guess_how_long_kernels_take(scenario: Path, tmp_path: Path) -> None:
    status, text = run("run", scenario, "--exact", "--dry-run", "--out", tmp_path / "run")
    assert status == 0
    assert (
        "time unknown: the duration of an exact trial depends on the "
        "packets that its kernels handle" in text
    )


def test_a_kernel_that_is_named_and_is_not_there_is_not_one_to_be_built(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(program.VARIABLE, "/no/such/kernel")
    with pytest.raises(RunRefusedError, match="TAILRACE_EXACT_KERNEL: /no/such/kernel is no file"):
        run("run", scenario, "--exact", "--out", tmp_path / "run")


def test_a_kernel_that_never_answers_is_refused_before_anything_runs(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 100\n", encoding="utf-8")
    silent.chmod(0o755)
    monkeypatch.setenv(program.VARIABLE, str(silent))
    monkeypatch.setattr(program, "ANSWER_LIMIT_S", 0.2)
    with pytest.raises(
        RunRefusedError,
        match=rf"{silent} is no kernel: `--version` has no answer in 0.2 s \(hint: omit",
    ):
        run("run", scenario, "--exact", "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_processor_with_more_registers_than_a_guest_has_room_for_is_refused_before_anything_runs(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = (
        "the extended registers of this processor have 11072 bytes, and there is room for "
        "11008 (hint: raise it)"
    )
    fake_engine.answer(monkeypatch, tmp_path, kernel={"kernel": "/bin/true", "problem": problem})
    with pytest.raises(RunRefusedError) as refused:
        run("run", scenario, "--exact", "--out", tmp_path / "run")
    assert str(refused.value) == f"exact runs do not work on this machine: {problem}"
    assert not (tmp_path / "run").exists()
