"""Ctrl-C in a run of a thousand hosts, with the real simulator: the command ends soon whatever it is doing."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_run import FakeRun
from tailrace.cli import large, running
from tailrace.experiment.reporter import Silent
from tailrace.experiment.run import Finished, outcome_bytes

PROGRAM = [sys.executable, "-c", "from tailrace.cli import main; main()"]
SCENARIO = """
tailrace: 1
name: thousand
network: {topology: {kind: fat-tree, k: 16}, link: {rate: 10Gbit/s, delay: 1us}}
workloads: {web: {kind: flows, sizes: web-search, load: 50%}}
experiment: {duration: 10s, trials: 4}
"""
WALL_S_MAX = 15.0
"""Until the command has ended, on a busy machine; `scripts/interrupt_latency.py` measures it on a quiet one."""
CPU_S_MAX = 2.5
"""Processor time of the command after the signal. A trial goes on for minutes, and a summary of one takes as long."""
START_S_MAX = 120.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the scenario."""
    (tmp_path / "lab.yaml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


def cpu_s(pid: int) -> float:
    """Processor time of a process, user and system (proc(5): fields 14 and 15 of its stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def ended_cpu_s(program: subprocess.Popen[str]) -> float:
    """The last processor time that a process shows before it is gone."""
    seen = cpu_s(program.pid)
    until = time.monotonic() + WALL_S_MAX
    while program.poll() is None:
        assert time.monotonic() < until, "it goes on"
        try:
            seen = cpu_s(program.pid)
        except (FileNotFoundError, ProcessLookupError):
            break
        time.sleep(0.02)
    return seen


def cpu_s_after_ctrl_c(program: subprocess.Popen[str], *words: str) -> float:
    """What a program takes to end when it is interrupted as soon as it has said one of these on stderr."""
    assert program.stderr is not None
    said = ""
    while not any(word in said for word in words):
        line = program.stderr.readline()
        assert line, said
        said += line
    before_s = cpu_s(program.pid)
    program.send_signal(signal.SIGINT)
    return ended_cpu_s(program) - before_s


@pytest.mark.parametrize("words", [["run", "--jobs", "2"], ["run", "--jobs", "1", "--json"]], ids=" ".join)
def test_a_run_of_a_thousand_hosts_ends_soon_after_ctrl_c(place: Path, words: list[str]) -> None:
    command = [*PROGRAM, words[0], "lab.yaml", *words[1:], "--out", "mine"]
    with subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as program:
        assert program.stderr is not None
        spent_s = cpu_s_after_ctrl_c(program, "% done", '"fraction": 0.0')
        errors = program.stderr.read()
        assert program.wait(WALL_S_MAX) == 130, errors
    assert spent_s < CPU_S_MAX
    assert "interrupted: completed trials are kept" in errors
    assert "Traceback" not in errors
    assert json.loads((place / "mine/manifest.json").read_text())["state"] == "interrupted"
    assert not list(place.glob("mine/trials/*/*.json")), "a trial that did not end is no result"


def test_a_large_run_that_was_interrupted_is_not_summarised_and_says_how_it_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = FakeRun(trials=1).write(tmp_path / "run")
    interrupted = Finished(path, is_interrupted=True, statuses={})
    monkeypatch.setattr(running, "SUMMARY_BYTES_MAX", outcome_bytes(path) - 1)
    assert running._conclude(interrupted, Silent(), is_json=False) == 130
    assert f"`tailrace report {path}` summarises them" in capsys.readouterr().err
    assert not (path / "report.html").exists()
    monkeypatch.setattr(running, "SUMMARY_BYTES_MAX", outcome_bytes(path))
    assert running._conclude(interrupted, Silent(), is_json=False) == 130
    assert (path / "report.html").exists()


@pytest.mark.parametrize(
    "write",
    [
        lambda path: running._conclude(Finished(path, is_interrupted=False, statuses={}), Silent(), is_json=False),
        lambda path: running.report_run(path, json_=False),
    ],
    ids=["run", "report"],
)
def test_an_interrupt_while_the_report_is_written_says_what_is_kept_and_how_to_have_it(
    write: Callable[[Path], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = FakeRun(trials=1).write(tmp_path / "run")

    def interrupted(_path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "summarise_and_report", interrupted)
    with pytest.raises(SystemExit) as ended:
        write(path)
    assert ended.value.code == 130
    told = f"interrupted: the outcomes of trials are kept; `tailrace report {path}` summarises them"
    assert capsys.readouterr().err.splitlines()[-1] == told


def test_an_interrupt_while_a_large_sweep_is_summarised_says_how_to_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(large, "summarise_large", interrupted)
    with pytest.raises(SystemExit) as ended:
        large.print_large(tmp_path, is_json=False)
    assert ended.value.code == 130
    assert f"`tailrace report {tmp_path}` summarises them" in capsys.readouterr().err


LONG = """
tailrace: 1
name: long
network: {topology: {kind: star, hosts: [a, b, c]}, link: {rate: 10Gbit/s, delay: 1us}}
workloads: {web: {kind: flows, sizes: web-search, load: 80%}}
experiment: {duration: 100000s, trials: 2}
"""
STAGES = [
    (["advise", "lab.yaml", "--out", "mine"], "the present: 1 trial"),
    (["advise", "lab.yaml", "--out", "mine", "--json"], '"stage": "the present"'),
    (["whatif", "long.yaml"], "the size of a short run: "),
    (["fit", "pipe.pcap"], "reading pipe.pcap: "),
    (["fit", "pipe.pcap", "--json"], '"text": "reading pipe.pcap: '),
    (["profile", "pipe.pcap"], "reading pipe.pcap: "),
]


@pytest.mark.parametrize(("words", "stage"), STAGES, ids=lambda one: one if isinstance(one, str) else " ".join(one))
def test_a_long_command_says_what_it_does_and_ends_soon_after_ctrl_c(place: Path, words: list[str], stage: str) -> None:
    (place / "long.yaml").write_text(LONG, encoding="utf-8")
    os.mkfifo(place / "pipe.pcap")
    pipe = os.open(place / "pipe.pcap", os.O_RDWR)  # a capture that does not come to its end
    try:
        with subprocess.Popen(
            [*PROGRAM, *words], cwd=place, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        ) as program:
            assert program.stderr is not None
            try:
                spent_s = cpu_s_after_ctrl_c(program, stage)
            finally:
                program.kill()
            rest = program.stderr.read()
            assert program.wait(WALL_S_MAX) == 130, rest
    finally:
        os.close(pipe)
    assert spent_s < CPU_S_MAX
    assert [number for number, line in enumerate(reversed(rest.splitlines())) if "interrupted" in line] == [0], rest
    assert "Traceback" not in rest
