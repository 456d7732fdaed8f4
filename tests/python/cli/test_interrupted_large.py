"""Ctrl-C in a run of a thousand hosts, with the real simulator: the command ends whatever it is
doing."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_run import FakeRun
from tailrace.cli import large, running
from tailrace.experiment.reporter import Silent
from tailrace.experiment.run import Finished
from tailrace.experiment.schedule import TrialKey
from tailrace.experiment.storage import outcome_bytes

PROGRAM = [sys.executable, "-c", "from tailrace.cli import main; main()"]
SCENARIO = """
tailrace: 1
name: thousand
network: {topology: {kind: fat-tree, k: 16}, link: {rate: 10Gbit/s, delay: 1us}}
workloads: {web: {kind: flows, sizes: web-search, load: 50%}}
experiment: {duration: 10s, trials: 4}
"""
END_S_MAX = 120.0
"""Ends a command that goes on for hours. `scripts/interrupt_latency.py` measures the time that an
interrupt takes."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the scenario."""
    (tmp_path / "lab.yaml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


def interrupted(program: subprocess.Popen[str], *words: str) -> str:
    """What a program says after an interrupt that comes as soon as it has said one of these on
    stderr."""
    assert program.stderr is not None
    said = ""
    while not any(word in said for word in words):
        line = program.stderr.readline()
        assert line, said
        said += line
    program.send_signal(signal.SIGINT)
    _, rest = program.communicate(timeout=END_S_MAX)
    return rest


@pytest.mark.parametrize(
    "words", [["run", "--jobs", "2"], ["run", "--jobs", "1", "--json"]], ids=" ".join
)
def test_a_run_of_a_thousand_hosts_ends_after_ctrl_c(place: Path, words: list[str]) -> None:
    command = [*PROGRAM, words[0], "lab.yaml", *words[1:], "--out", "mine"]
    with subprocess.Popen(
        command, cwd=place, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as program:
        try:
            errors = interrupted(program, "% done", '"fraction": 0.0')
        finally:
            program.kill()
        assert program.returncode == 130, errors
    assert "interrupted: completed trials are kept" in errors
    assert "Traceback" not in errors
    assert json.loads((place / "mine/manifest.json").read_text())["state"] == "interrupted"
    assert not list(place.glob("mine/trials/*/*.json")), "a trial that did not end is no result"


def test_a_large_run_that_was_interrupted_is_not_summarised_and_says_how_it_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = FakeRun(trials=1).write(tmp_path / "run")
    interrupted = Finished(path, is_interrupted=True, statuses={TrialKey("fifo", 1): "ok"})
    monkeypatch.setattr(running, "SUMMARY_BYTES_MAX", outcome_bytes(path) - 1)
    assert running._conclude(interrupted, Silent(), is_json=False) == 130
    assert f"`tailrace report {path}` summarises them" in capsys.readouterr().err
    assert not (path / "report.html").exists()
    monkeypatch.setattr(running, "SUMMARY_BYTES_MAX", outcome_bytes(path))
    assert running._conclude(interrupted, Silent(), is_json=False) == 130
    assert (path / "report.html").exists()


def test_a_run_that_was_interrupted_before_a_trial_was_complete_has_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted = Finished(tmp_path, is_interrupted=True, statuses={})
    assert running._conclude(interrupted, Silent(), is_json=False) == 130
    assert capsys.readouterr().err == f"interrupted: {running.KEPT}\n"
    assert list(tmp_path.iterdir()) == []


AT_ONE_MOMENT = """
tailrace: 1
name: moment
network: {topology: {kind: star, hosts: [a, b]}, link: {rate: 10Gbit/s, delay: 1us}}
workloads:
  m:
    {kind: mpi, hosts: [a], ranks: 127, pattern: barrier, iterations: 1000000, warm_up_iterations: 100000,
     send_overhead: 0s, receive_overhead: 0s, local_latency: 0s}
experiment: {duration: 1s, trials: 1}
"""  # noqa: E501
"""A job of which all is due at one moment: a hundred million messages."""


def test_a_trial_of_which_all_is_due_at_one_moment_ends_after_ctrl_c(place: Path) -> None:
    (place / "lab.yaml").write_text(AT_ONE_MOMENT, encoding="utf-8")
    command = [*PROGRAM, "run", "lab.yaml", "--json", "--out", "mine"]
    with subprocess.Popen(
        command, cwd=place, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as program:
        try:
            rest = interrupted(program, '"fraction": 0.0')
        finally:
            program.kill()
        assert program.returncode == 130, rest
    assert "interrupted" in rest
    assert not (place / "mine/report.html").exists()


@pytest.mark.parametrize(
    "write",
    [
        lambda path: running._conclude(
            Finished(path, is_interrupted=False, statuses={}), Silent(), is_json=False
        ),
        lambda path: running.report_run(path, json_=False),
    ],
    ids=["run", "report"],
)
def test_an_interrupt_while_the_report_is_written_says_what_is_kept_and_how_to_have_it(
    write: Callable[[Path], int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = FakeRun(trials=1).write(tmp_path / "run")

    def interrupted(_path: Path, _baseline: str | None = None) -> None:
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
    def interrupted(_path: Path, _baseline: str | None) -> None:
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


@pytest.mark.parametrize(
    ("words", "stage"), STAGES, ids=lambda one: one if isinstance(one, str) else " ".join(one)
)
def test_a_long_command_says_what_it_does_and_ends_after_ctrl_c(
    place: Path, words: list[str], stage: str
) -> None:
    (place / "long.yaml").write_text(LONG, encoding="utf-8")
    os.mkfifo(place / "pipe.pcap")
    pipe = os.open(place / "pipe.pcap", os.O_RDWR)  # a capture that does not come to its end
    try:
        with subprocess.Popen(
            [*PROGRAM, *words],
            cwd=place,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        ) as program:
            try:
                rest = interrupted(program, stage)
            finally:
                program.kill()
            assert program.returncode == 130, rest
    finally:
        os.close(pipe)
    assert [
        number for number, line in enumerate(reversed(rest.splitlines())) if "interrupted" in line
    ] == [0], rest
    assert "Traceback" not in rest
