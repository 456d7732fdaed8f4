"""The program as a user runs it."""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

LIMIT_S = 240
"""Ends a command that hangs."""
SERVER = Path(__file__).with_name("forking.py")


def tailrace(*words: str) -> subprocess.CompletedProcess[str]:
    """One command in a process of its own; whatever it says, no traceback is part of it."""
    with tempfile.TemporaryDirectory() as folder:
        stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
        stdout.touch()
        stderr.touch()
        returncode = _server().run(words, stdout, stderr)
        done = subprocess.CompletedProcess(
            ["tailrace", *words], returncode, stdout.read_text(encoding="utf-8"), stderr.read_text(encoding="utf-8")
        )
    assert "Traceback" not in done.stdout + done.stderr
    assert "internal error" not in done.stderr
    return done


def used_s() -> float:
    """Processor time of all commands so far, in seconds; they are no children of this process."""
    return _server().used_s if _server.cache_info().currsize else 0.0


class _Server:
    """The process that the commands are forked from."""

    def __init__(self) -> None:
        self.used_s = 0.0
        self._process = subprocess.Popen(
            [sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        atexit.register(self._process.communicate)

    def run(self, words: tuple[str, ...], stdout: Path, stderr: Path) -> int:
        """The status of one command."""
        assert self._process.stdin is not None
        request = {
            "words": words,
            "folder": str(Path.cwd()),
            "environment": dict(os.environ),
            "stdout": str(stdout),
            "stderr": str(stderr),
        }
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        process = self._answer()["process"]
        try:
            ended = self._answer()
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            self._answer()
            raise
        self.used_s += ended["processor_s"]
        return int(ended["returncode"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        # One line at a time is on its way, so that none waits in the buffer of the reader.
        if not select.select([self._process.stdout], [], [], LIMIT_S)[0]:
            raise TimeoutError(f"no answer within {LIMIT_S} s")
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found


@cache
def _server() -> _Server:
    return _Server()
