"""Commands of tailrace in forks of one process that has imported the program.

A command costs 20 ms of processor time instead of the half second in which an interpreter starts and imports. Each is a
process all the same, with its own arguments, environment, signals and exit code, and may become another program.

`forks.py SOCKET` is the process that forks. It ends with its standard input, which the tests keep open.
"""

import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

START_LIMIT_S = 240.0
ORDER_BYTES_MAX = 2**20
DEFAULT_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD)
IMPORTED = (
    "tailrace.cli",
    "tailrace.live",
    "tailrace.probe",
    "tailrace.blast",
    "tailrace.profile",
    "tailrace.scenario",
)
"""Packages of the commands that many tests call; what else a command needs it imports itself."""


class Forks:
    """The tests' end."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def run(
        self, words: Sequence[str], limit_s: float, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """`tailrace WORDS` to its end; raises `subprocess.TimeoutExpired` when it takes too long."""
        order = {"words": list(words), "environment": dict(environment), "folder": str(Path.cwd())}
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as out,
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as err,
            socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line,
        ):
            line.settimeout(limit_s)
            line.connect(str(self._path))
            socket.send_fds(line, [json.dumps(order).encode()], [out.fileno(), err.fileno()])
            code = _code(line, ["tailrace", *words], limit_s)
            return subprocess.CompletedProcess(["tailrace", *words], code, _text(out), _text(err))


def _code(line: socket.socket, argv: list[str], limit_s: float) -> int:
    """The exit code of a command whose number comes first; a command that takes too long is ended."""
    pid = int(line.recv(64))
    try:
        return int(line.recv(64))
    except TimeoutError:
        os.kill(pid, signal.SIGKILL)
        raise subprocess.TimeoutExpired(argv, limit_s) from None


def _text(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


@contextmanager
def forks(folder: Path) -> Iterator[Forks]:
    """The process is up for the block; `folder` has a short path, for a socket."""
    path = folder / "forks"
    with subprocess.Popen([sys.executable, __file__, str(path)], stdin=subprocess.PIPE) as server:
        assert server.stdin is not None
        deadline_s = time.monotonic() + START_LIMIT_S
        while not path.exists():
            assert server.poll() is None, "the process that forks has ended"
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
        yield Forks(path)
        server.stdin.close()


def main(path: str) -> None:
    """Forks for each order until standard input ends."""
    import_all()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who report
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as orders:
        orders.bind(f"{path}.new")
        orders.listen()
        Path(f"{path}.new").rename(path)
        while True:
            ready, _, _ = select.select([orders, sys.stdin], [], [])
            if sys.stdin in ready:
                return
            line, _ = orders.accept()
            if os.fork() == 0:
                orders.close()
                report(line)
            line.close()


def import_all() -> None:
    """The modules that commands import when they run."""
    for name in IMPORTED:
        for found in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            importlib.import_module(found.name)


def report(line: socket.socket) -> None:
    """Carries out an order in a process of its own, and tells its number and its exit code. Does not return."""
    content, files, _, _ = socket.recv_fds(line, ORDER_BYTES_MAX, 2)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        line.close()
        carry_out(json.loads(content), files)
    line.sendall(str(pid).encode())
    _, status = os.waitpid(pid, 0)
    with suppress(OSError):  # a command that took too long has no reader any more
        line.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def carry_out(order: Mapping[str, Any], files: Sequence[int]) -> None:
    """Becomes the command. Does not return."""
    code = 1
    try:
        with Path(os.devnull).open("rb") as nothing:
            for number, target in ((nothing.fileno(), 0), (files[0], 1), (files[1], 2)):
                os.dup2(number, target)
        for number in files:
            os.close(number)
        for each in DEFAULT_SIGNALS:
            signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        sys.argv = ["tailrace", *order["words"]]
        from tailrace.cli import main as command

        command()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
