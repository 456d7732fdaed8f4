"""Mutants of a change: what differs, which tests run, and what is printed of the survivors. No mutant is made here."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mutants


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("python/tailrace/statistics/rank.py", "tests/python/statistics"),
        ("python/tailrace/results/sweep/no_folder_of_tests/curves.py", "tests/python/results"),
        ("python/tailrace/api.py", "tests/python"),
        ("scripts/mutants.py", "tests/scripts/test_mutants.py"),
        ("scripts/code_items.py", "tests/scripts"),
    ],
)
def test_a_module_has_the_tests_of_its_layer(file: str, tests: str) -> None:
    assert mutants.tests_of(Path(file)) == tests


def test_the_base_is_where_the_branch_left_main_and_on_main_the_last_commit_but_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m"]
    for command in (["init", "--quiet", "--initial-branch=main"], [*commit, "first"], [*commit, "second"]):
        mutants.git(*command)
    assert mutants.git("show", "--format=%s", mutants.usual_base()) == "first"
    for command in (["switch", "--quiet", "--create", "branch"], [*commit, "third"], [*commit, "fourth"]):
        mutants.git(*command)
    assert mutants.git("show", "--format=%s", mutants.usual_base()) == "second"


def test_survivors_are_told_with_their_lines_and_counted() -> None:
    diff = "--- mutation diff ---\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n a\n-if cut < 1:\n+if cut < 2:\n b"
    job = {"mutations": [{"start_pos": [58, 11]}]}
    results = [
        {"worker_outcome": "normal", "test_outcome": "survived", "diff": diff},
        {"worker_outcome": "normal", "test_outcome": "killed", "diff": diff},
        {"worker_outcome": "skipped", "test_outcome": None, "diff": None},
        None,
    ]
    dumped = "\n".join(json.dumps([job, result]) for result in results)
    assert mutants.python_summary(Path("x.py"), "tests/x", dumped).splitlines() == [
        "survived: x.py:58",
        "    -if cut < 1:",
        "    +if cut < 2:",
        "x.py with tests/x: 1 noticed, 1 survived, 1 not tried",
    ]


def test_a_program_ends_when_its_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "STATE", tmp_path)
    (tmp_path / "copy").mkdir()
    assert mutants.until(["sleep", "1000"], 0, dict(os.environ)) is None
    assert mutants.until(["false"], float("inf"), dict(os.environ)) == 1


def test_the_tests_of_a_mutant_end_with_the_program_that_runs_them() -> None:
    program = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert _is_running(child)
        mutants.end(process.pid)
    while _is_running(child):
        time.sleep(0.01)


def _is_running(pid: int) -> bool:
    """Whether a process is there that is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
