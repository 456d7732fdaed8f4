"""The program as a process of its own: start-up, pipes, no terminal, Ctrl-C."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenario_files import ROOT
from tailrace.scenario.starter import STARTER

PROGRAM = [sys.executable, str(ROOT / "tests" / "support" / "fake_native.py")]
LIMIT_S = 60


def environment(**extra: str) -> dict[str, str]:
    python = [
        str(ROOT / "python"),
        str(ROOT / "tests" / "python"),
        *filter(None, [os.environ.get("PYTHONPATH")]),
    ]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(python), **extra}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "lab.yaml").write_text(STARTER, encoding="utf-8")
    return tmp_path


def wait_for(path: Path, pattern: str, program: "subprocess.Popen[str]") -> None:
    until_s = time.monotonic() + LIMIT_S
    while not list(path.glob(pattern)):
        assert program.poll() is None, program.communicate()
        assert time.monotonic() < until_s, f"{pattern} did not appear"
        time.sleep(0.02)


def test_help_imports_nothing_heavy() -> None:
    # What makes `--help` answer in a tenth of a second: none of these is imported for it.
    heavy = (
        "pydantic",
        "rich",
        "ruamel",
        "arro3",
        "jinja2",
        "tailrace.scenario",
        "tailrace.results",
    )
    code = (
        "import sys\nfrom tailrace.cli import main\nsys.argv = ['tailrace', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.stderr.strip() == "[]"


def test_the_package_is_the_command(place: Path) -> None:
    command = [sys.executable, "-m", "tailrace", "check", "lab.yaml"]
    done = subprocess.run(
        command, cwd=place, env=environment(), capture_output=True, text=True, timeout=LIMIT_S
    )
    assert (done.returncode, "lab.yaml: valid" in done.stdout) == (0, True), done.stderr


def test_without_a_terminal_there_are_plain_lines(place: Path) -> None:
    command = [*PROGRAM, "run", "lab.yaml", "--trials", "2", "--set", "expect=[]"]
    done = subprocess.run(
        command, cwd=place, env=environment(), capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "6/6" in done.stderr


def test_on_a_terminal_there_is_a_bar_with_the_time_to_go(place: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, "run", "lab.yaml", "--trials", "2", "--set", "expect=[]"],
        cwd=place,
        env=environment(FAKE_TRIAL_WALL_S="0.5", TERM="xterm", COLUMNS="120"),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as program:
        os.close(theirs)
        shown = b"".join(iter(lambda: read_terminal(ours), b"")).decode()
    os.close(ours)
    assert program.returncode == 0, shown
    assert "6 trials, about" in shown
    assert "s remaining" in shown


def read_terminal(descriptor: int) -> bytes:
    """What a terminal shows next; nothing when the program has left it."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


def leave_early(place: Path, words: list[str], *, streams: str) -> "tuple[int, str]":
    """The exit code and stderr of a command that writes when the reader of stdout, or of both
    streams, has left."""
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        ended = subprocess.run(
            [*PROGRAM, *words],
            cwd=place,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs if streams == "both" else subprocess.PIPE,
            text=True,
            timeout=LIMIT_S,
        )
    finally:
        os.close(theirs)
    return ended.returncode, ended.stderr or ""


COMMANDS = [
    ["schema"],
    ["--help"],
    ["run", "--help"],
    ["check", "lab.yaml"],
    ["list"],
    ["import", "nxos", "leaf.cfg"],
]


@pytest.mark.parametrize("streams", ["stdout", "both"])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_reader_that_leaves_early_is_no_error(
    place: Path, words: list[str], streams: str
) -> None:
    (place / "leaf.cfg").write_text(
        "feature lldp\npolicy-map type queuing out\n  class type queuing c-out-q-default\n    "
        "bandwidth percent 100\n",
        encoding="utf-8",
    )
    code, errors = leave_early(place, words, streams=streams)
    assert code == 0
    assert "error" not in errors
    assert "Traceback" not in errors


def test_a_usage_error_that_nobody_reads_keeps_its_exit_code(place: Path) -> None:
    assert leave_early(place, ["nosuch"], streams="both") == (2, "")


@pytest.mark.parametrize("how", [[], ["--json"]], ids=" ".join)
def test_a_run_goes_on_when_the_reader_of_its_progress_leaves(place: Path, how: list[str]) -> None:
    words = ["run", "lab.yaml", "--trials", "2", "--out", "mine", "--set", "expect=[]", *how]
    assert leave_early(place, words, streams="both") == (0, "")
    assert json.loads((place / "mine/manifest.json").read_text())["state"] == "finished"
    assert leave_early(place, ["report", "mine", *how], streams="both") == (0, "")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_keeps_what_is_done_and_the_same_command_goes_on(
    place: Path, sign: signal.Signals
) -> None:
    command = [*PROGRAM, "run", "lab.yaml", "--jobs", "1", "--out", "mine", "--set", "expect=[]"]
    with subprocess.Popen(
        command,
        cwd=place,
        env=environment(FAKE_TRIAL_WALL_S="0.4"),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        wait_for(place, "mine/trials/*/1.json", program)
        program.send_signal(sign)
        out, errors = program.communicate(timeout=LIMIT_S)
    assert program.returncode == 130, errors
    assert "Traceback" not in errors
    assert "report: mine/report.html" in out
    assert json.loads((place / "mine/manifest.json").read_text())["state"] == "interrupted"
    kept = {path: path.stat().st_mtime_ns for path in place.glob("mine/trials/*/*.json")}
    assert 1 <= len(kept) < 15

    again = subprocess.run(
        command, cwd=place, env=environment(), capture_output=True, text=True, timeout=LIMIT_S
    )
    assert again.returncode == 0, again.stderr
    assert f"{len(kept)} of 15 trials are complete already" in again.stderr
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in kept.items())
    assert json.loads((place / "mine/manifest.json").read_text())["state"] == "finished"


def test_an_interrupt_while_calibrating_leaves_a_run_that_can_go_on(place: Path) -> None:
    command = [*PROGRAM, "run", "lab.yaml", "--out", "mine", "--set", "expect=[]", "--trials", "2"]
    command += ["--set", "experiment.calibrate={to: 1s, workloads: [orders]}"]
    with subprocess.Popen(
        command,
        cwd=place,
        env=environment(FAKE_TRIAL_WALL_S="20"),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        wait_for(place, "mine/scenario.json", program)
        time.sleep(0.2)
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=LIMIT_S)
    assert program.returncode == 130, errors
    again = subprocess.run(
        command, cwd=place, env=environment(), capture_output=True, text=True, timeout=LIMIT_S
    )
    assert again.returncode == 0, again.stderr


def test_a_full_output_is_told_in_one_line(place: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*PROGRAM, "check", "lab.yaml"],
            cwd=place,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    assert ended.returncode == 2
    assert ended.stderr.startswith("No space left on device (hint: ")


@pytest.mark.parametrize("closed", ["1", "2"])
def test_a_closed_stream_changes_no_exit_code(place: Path, closed: str) -> None:
    file = {"1": "lab.yaml", "2": "none.yaml"}[closed]
    command = ["sh", "-c", f'exec "$@" {closed}>&-', "sh", *PROGRAM, "check", file]
    ended = subprocess.run(
        command,
        cwd=place,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == {"1": 0, "2": 2}[closed], ended.stderr
    assert ended.stdout + ended.stderr == ""


STEPS = """
import itertools, os, sys
steps = itertools.count(1)
def after(_frame, event, _argument):
    if event == "call" and next(steps) == {step}:
        sys.setprofile(None)
        os.kill(os.getpid(), {signal})
import tailrace.cli.start as start
start.answer_interrupts()
sys.argv = {argv!r}
sys.setprofile(after)
start.main()
"""


@pytest.mark.parametrize(
    ("step", "number"),
    [
        (4, signal.SIGINT),
        (50, signal.SIGINT),
        (2_000, signal.SIGTERM),
        (9_000, signal.SIGINT),
        (40_000, signal.SIGINT),
        (2_000, signal.SIGHUP),
        (9_000, signal.SIGQUIT),
    ],
)
def test_an_interrupt_is_answered_from_the_first_import_on(
    place: Path, step: int, number: int
) -> None:
    # In function calls and not in seconds: wherever it falls, a line tells it.
    argv = ["tailrace", "check", "lab.yaml"]
    code = STEPS.format(step=step, signal=int(number), argv=argv)
    command = [sys.executable, "-c", code]
    ended = subprocess.run(
        command,
        cwd=place,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n"), ended.stderr


def test_an_interrupt_in_a_finalizer_is_answered_after_it() -> None:
    code = """
import os, signal, time
from tailrace.cli.start import answer_interrupts
answer_interrupts()
class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)
last = Last()
del last
try:
    time.sleep(30)
except KeyboardInterrupt:
    print("interrupted")
"""
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")


def test_the_program_imports_next_to_nothing_before_it_can_be_interrupted() -> None:
    code = (
        "import sys; before = set(sys.modules); import tailrace.cli; "
        "print(sorted(set(sys.modules) - before))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    modules = ["tailrace", "tailrace.cli", "tailrace.cli.codes", "tailrace.cli.start"]
    assert ended.stdout.strip() == str(modules)


def test_an_interrupt_that_the_caller_ignores_stays_ignored(place: Path) -> None:
    code = STEPS.format(step=50, signal=int(signal.SIGINT), argv=["tailrace", "check", "lab.yaml"])
    program = f"import _signal; _signal.signal(_signal.SIGINT, _signal.SIG_IGN)\n{code}"
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=place,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
