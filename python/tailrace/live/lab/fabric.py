"""The fabric program, which creates and joins the hosts: its location and its short commands."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError

NAME = "tailrace-fabric"
ENVIRONMENT = "TAILRACE_FABRIC"
"""Environment variable with the path of another program to use instead of the installed one."""
SHORT_LIMIT_S = 60
"""Limit for short commands, which take less than a second; measuring the limits takes longer."""
BUILD_DIGITS = 12
"""Hexadecimal digits that identify a build: 48 bits."""


class FabricError(TailraceError):
    """The fabric failed or rejected a command."""


def program() -> Path:
    """Path of the program; raises `FabricError` if it is not built."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        found = shutil.which(named)
        if found is None:
            raise FabricError(
                f"{ENVIRONMENT}={named}: there is no such program (hint: unset the variable)"
            )
        return Path(found).resolve()
    installed = Path(__file__).parents[2] / "bin" / NAME
    if installed.is_file():
        return installed
    raise FabricError(f"{NAME} is not built (hint: run `make build`)")


def build() -> str:
    """Identifies the build of the fabric."""
    return hashlib.sha256(program().read_bytes()).hexdigest()[:BUILD_DIGITS]


def ask(
    *arguments: str, limit_s: float = SHORT_LIMIT_S, descriptors: Sequence[int] = ()
) -> dict[str, Any]:
    """Runs a short command and reads the JSON object that it prints; it inherits these
    descriptors."""
    done = run_short(*arguments, limit_s=limit_s, descriptors=descriptors)
    try:
        answer = json.loads(done)
    except ValueError:
        raise FabricError(
            f"{NAME} {arguments[0]}: the answer is not JSON: {done[:200]!r}"
        ) from None
    if not isinstance(answer, dict):
        raise FabricError(f"{NAME} {arguments[0]}: the answer is not a JSON object")
    return answer


def run_short(
    *arguments: str, limit_s: float = SHORT_LIMIT_S, descriptors: Sequence[int] = ()
) -> str:
    """Runs a short command; returns its output."""
    command = [str(program()), *arguments]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
            pass_fds=descriptors,
        )
    except subprocess.TimeoutExpired:
        raise FabricError(f"{NAME} {arguments[0]}: no answer within {limit_s:g} s") from None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        raise FabricError(f"{NAME} {arguments[0]}: {last[0]}")
    return done.stdout
