"""Commands of tailrace in forks of one process that has imported the program.

A command costs some 20 ms of processor time instead of the half second in which an interpreter
starts and imports. Each is a process all the same, with its own arguments, environment, signals and
exit code, and may become another program. Several may run at the same time.

`forks.py SOCKET` is the process that forks. It ends with its standard input, which the tests keep
open.
"""

import atexit
import contextlib
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

START_LIMIT_S = 240.0
ORDER_BYTES_MAX = 2**20
DEFAULT_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD)
ENTRY_POINT = "tailrace.__main__"


class Forks:
    """The tests' end; the path of a socket must be short."""

    def __init__(self) -> None:
        self.used_s = 0.0
        """Processor time of all commands so far: they are no children of this process."""
        self._folder = Path(tempfile.mkdtemp(prefix="forks-"))
        self._path = self._folder / "forks"
        self._server = subprocess.Popen(
            [sys.executable, __file__, str(self._path)], stdin=subprocess.PIPE
        )
        deadline_s = time.monotonic() + START_LIMIT_S
        while not self._path.exists():
            assert self._server.poll() is None, "the process that forks has ended"
            assert time.monotonic() < deadline_s
            time.sleep(0.01)

    def close(self) -> None:
        """Ends the process that forks."""
        self._server.communicate()
        shutil.rmtree(self._folder)

    def run(
        self, words: Sequence[str], limit_s: float, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """`tailrace WORDS` to its end; raises `subprocess.TimeoutExpired` when it takes too
        long."""
        order = {"words": list(words), "environment": dict(environment), "folder": str(Path.cwd())}
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as out,
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as err,
            socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line,
        ):
            line.settimeout(limit_s)
            line.connect(str(self._path))
            socket.send_fds(line, [json.dumps(order).encode()], [out.fileno(), err.fileno()])
            code, used_s = _ending(line, ["tailrace", *words], limit_s)
            self.used_s += used_s
            return subprocess.CompletedProcess(["tailrace", *words], code, _text(out), _text(err))


@cache
def shared() -> Forks:
    """One for all tests of this process."""
    made = Forks()
    atexit.register(made.close)
    return made


def _ending(line: socket.socket, argv: list[str], limit_s: float) -> tuple[int, float]:
    """Exit code and processor time of a command whose number comes first; one that takes too long
    is ended."""
    pid = int(line.recv(64))
    try:
        code, used_s = line.recv(64).split()
    except TimeoutError:
        os.kill(pid, signal.SIGKILL)
        raise subprocess.TimeoutExpired(argv, limit_s) from None
    return int(code), float(used_s)


def _text(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


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
    """The whole package, and what most commands build. Nothing runs, so that there are no
    threads."""
    import tailrace

    for module in pkgutil.walk_packages(tailrace.__path__, "tailrace."):
        if module.name != ENTRY_POINT:
            import_module(module.name)
    from tailrace.report.page import environment
    from tailrace.scenario.scenario import Scenario

    Scenario.model_rebuild()
    environment().get_template("page.html.j2")


def report(line: socket.socket) -> NoReturn:
    """Carries out an order in a process of its own, and tells its number, its exit code and its
    processor time."""
    content, files, _, _ = socket.recv_fds(line, ORDER_BYTES_MAX, 2)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        carry_out(json.loads(content), files)
    line.sendall(str(pid).encode())
    _, status, used = os.wait4(pid, 0)
    with contextlib.suppress(OSError):  # a command that took too long has no reader any more
        line.sendall(
            f"{os.waitstatus_to_exitcode(status)} {used.ru_utime + used.ru_stime}".encode()
        )
    os._exit(0)


def carry_out(order: Mapping[str, Any], files: Sequence[int]) -> NoReturn:
    """Becomes the command, as if an interpreter had started for it."""
    code = 1
    try:
        for number, target in zip(
            (os.open(os.devnull, os.O_RDONLY), *files), range(3), strict=True
        ):
            os.dup2(number, target)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        sys.stdin = sys.__stdin__ = os.fdopen(0)  # type: ignore[misc]  # final only where nothing forks
        sys.stdout = sys.__stdout__ = os.fdopen(1, "w")  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, errors="backslashreplace")  # type: ignore[misc]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for each in DEFAULT_SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        sys.argv = ["tailrace", *order["words"]]
        from tailrace.cli import start

        start.main()
        code = 0
    except SystemExit as asked:
        code = asked.code if isinstance(asked.code, int) else int(bool(asked.code))
    except BaseException:  # noqa: BLE001  as an interpreter does
        traceback.print_exc()
    end(code)


def end(code: int) -> NoReturn:
    """Ends the process as an interpreter does, but frees nothing: that takes 0.2 s for all
    modules."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
