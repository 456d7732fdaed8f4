"""What runs and measures the commands of other tests: forks with a toy program, and what is counted
and refused."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import command_line
import durations
import forks

TOY = """
import json, os, sys, time


def main():
    match sys.argv[1]:
        case "environment":
            print(json.dumps(dict(os.environ)))
        case "hang":
            time.sleep(1000)
        case "compute":
            while time.process_time() < 0.1:
                pass
        case "exit":
            sys.exit(7)
"""
MODULES = {
    "__init__": "",
    "cli/__init__": "",
    "cli/start": TOY,
    "report/__init__": "",
    "report/page": "def environment():\n    return type('E', (), {'get_template': print})()\n",
    "scenario/__init__": "",
    "scenario/scenario": "class Scenario:\n    model_rebuild = print\n",
}
"""What the process that forks imports of the program."""


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[forks.Forks]:
    """Forks of the toy program."""
    folder = tmp_path_factory.mktemp("toy")
    for name, text in MODULES.items():
        path = folder / "tailrace" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(folder))
        patched.setenv("OF_THE_FIRST", "1")
        made = forks.Forks()
    yield made
    made.close()


def test_a_command_has_the_environment_of_its_order_alone(toy: forks.Forks) -> None:
    for environment in ({"A": "1"}, {"B": "2"}):
        assert json.loads(toy.run(["environment"], 60, environment).stdout) == environment


def test_a_command_that_hangs_is_killed(toy: forks.Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[tuple[int, int]] = []
    kill = os.kill

    def keep(pid: int, number: int) -> None:
        killed.append((pid, number))
        kill(pid, number)

    monkeypatch.setattr("forks.os.kill", keep)
    with pytest.raises(subprocess.TimeoutExpired):
        toy.run(["hang"], 1, {})
    [(pid, _)] = killed
    while Path(f"/proc/{pid}/stat").exists():  # its parent waits for it
        time.sleep(0.01)


def test_the_exit_code_and_the_processor_time_of_a_command_are_told(toy: forks.Forks) -> None:
    assert toy.run(["exit"], 60, {}).returncode == 7
    before = toy.used_s
    assert toy.run(["compute"], 60, {}).returncode == 0
    assert toy.used_s - before > 0.05


def test_a_test_is_charged_with_the_commands_that_it_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = SimpleNamespace(used_s=100.0)
    monkeypatch.setattr(forks, "shared", cache(lambda: commands))
    assert command_line.used_s() == 0, "no process is started to count"
    forks.shared()
    assert command_line.used_s() == 100
    monkeypatch.setenv(durations.VARIABLE, str(tmp_path / "durations"))
    item: Any = SimpleNamespace(nodeid="a test")
    running = durations.pytest_runtest_protocol(item)
    next(running)
    commands.used_s += 50
    with pytest.raises(StopIteration):
        running.send(None)
    row = json.loads((tmp_path / "durations").read_text(encoding="utf-8"))
    assert row["name"] == "a test"
    assert row["processor_s"] == pytest.approx(50, abs=5)


@pytest.mark.parametrize(
    ("out", "err"),
    [("", "Traceback (most recent call last):"), ("Traceback", ""), ("", "internal error: x")],
)
def test_a_command_with_a_traceback_fails_its_test(
    monkeypatch: pytest.MonkeyPatch, out: str, err: str
) -> None:
    done = subprocess.CompletedProcess(["tailrace"], 0, out, err)
    monkeypatch.setattr(forks, "shared", lambda: SimpleNamespace(run=lambda *_: done))
    with pytest.raises(AssertionError):
        command_line.tailrace("check")
