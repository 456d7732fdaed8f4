"""The program that makes the hosts and joins them: where it is, and its short commands."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError

NAME = "tailrace-fabric"
ENVIRONMENT = "TAILRACE_FABRIC"
"""Names another program instead of the installed one."""
SHORT_LIMIT_S = 60
"""Commands that look and end take less than a second; measuring the limits takes some."""
BUILD_DIGITS = 12
"""Hexadecimal digits that tell builds apart: 48 bits."""


class FabricError(TailraceError):
    """The fabric cannot do what was asked for."""


def program() -> Path:
    """The program; raises `FabricError` where it is not built."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        found = shutil.which(named)
        if found is None:
            raise FabricError(f"{ENVIRONMENT}={named}: the program does not exist (hint: unset the variable)")
        return Path(found).resolve()
    installed = Path(__file__).parents[2] / "bin" / NAME
    if installed.is_file():
        return installed
    raise FabricError(f"{NAME} is not built (hint: run `make build`)")


def build() -> str:
    """What tells one build of the fabric from another."""
    return hashlib.sha256(program().read_bytes()).hexdigest()[:BUILD_DIGITS]


def ask(*arguments: str, limit_s: float = SHORT_LIMIT_S) -> dict[str, Any]:
    """Runs a short command and reads the JSON object that it prints."""
    done = run_short(*arguments, limit_s=limit_s)
    try:
        answer = json.loads(done)
    except ValueError:
        raise FabricError(f"{NAME} {arguments[0]}: the answer is not JSON: {done[:200]!r}") from None
    if not isinstance(answer, dict):
        raise FabricError(f"{NAME} {arguments[0]}: the answer is not a JSON object")
    return answer


def run_short(*arguments: str, limit_s: float = SHORT_LIMIT_S) -> str:
    """Runs a short command; returns what it prints."""
    command = [str(program()), *arguments]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        raise FabricError(f"{NAME} {arguments[0]}: no answer within {limit_s:g} s") from None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        raise FabricError(f"{NAME} {arguments[0]}: {last[0]}")
    return done.stdout
