"""The programs and the kernel of exact runs: their paths and identities."""

import hashlib
import json
import os
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError, TailraceError

ENGINE = "tailrace-exact"
TRAFFIC = "tailrace-traffic"
VARIABLE = "TAILRACE_EXACT_KERNEL"
"""Names the kernel's file (`crates/exact/src/kernel.rs`)."""
SHORT_LIMIT_S = 30
BOOT_LIMIT_S = 60
"""For two guests that do nothing, which take less than a second: a kernel that says nothing is
given up after ten."""
ANSWER_LIMIT_S = 5
"""For a kernel to say its version, which takes milliseconds."""
BUILD_DIGITS = 12
"""Hexadecimal digits that identify a build: 48 bits."""
RELEASE = re.compile(r"\d+\.\d+\S*$")
KERNEL_HINT = "`make exact-deps` in the sources of tailrace builds it, once, in about five minutes"


class ExactError(TailraceError):
    """The exact engine failed, or rejected a plan."""


def installed(name: str) -> Path:
    """Path of a program of this package; raises `ExactError` if it is not built."""
    path = Path(__file__).parents[1] / "bin" / name
    if not path.is_file():
        raise ExactError(f"{name} is not built (hint: run `make build`)")
    return path


@dataclass(frozen=True)
class Booted:
    """Properties of this machine that two idle guests measured."""

    release: str
    wall_s: float
    registers_bytes: int
    """Extended registers of the processor."""
    registers_room_bytes: int
    """The size of the registers that their kernel can store."""


def _ask(question: str, limit_s: float) -> dict[str, Any]:
    """An answer of the engine; raises `ExactError` with its first line when it fails."""
    try:
        done = subprocess.run(
            [str(installed(ENGINE)), question],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise ExactError(f"{ENGINE} {question}: {error}") from None
    if done.returncode:
        first = done.stderr.strip().partition("\n")[0].removeprefix(f"{ENGINE}: ")
        raise ExactError(first or f"{ENGINE} {question}: status {done.returncode}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def kernel() -> Path | None:
    """The kernel of the guests; None where there is none."""
    found = _ask("kernel", SHORT_LIMIT_S)["kernel"]
    return Path(found) if found else None


def boot() -> Booted:
    """Starts two guests and ends them; raises `ExactError` with the reason when they do not
    start."""
    answer = _ask("boot", BOOT_LIMIT_S)
    registers = answer["registers"]
    return Booted(answer["release"], answer["wall_s"], registers["bytes"], registers["room_bytes"])


def named() -> str | None:
    """The kernel that the environment names, whether or not it is there."""
    return os.environ.get(VARIABLE) or None


def required_kernel() -> Path:
    """The kernel of the guests; raises `RunRefusedError` where there is none, or none for this
    processor."""
    answer = _ask("kernel", SHORT_LIMIT_S)
    found = Path(answer["kernel"]) if answer["kernel"] else None
    if found is None and (path := named()):
        raise RunRefusedError(
            f"{VARIABLE}: {path} is no file (hint: omit it for the kernel of `make exact-deps`)"
        )
    if found is None:
        raise RunRefusedError(
            f"an exact run needs a kernel for its hosts, which is not built (hint: {KERNEL_HINT})"
        )
    if problem := answer.get("problem"):
        raise RunRefusedError(f"exact runs do not work on this machine: {problem}")
    return found


def kernel_key(path: Path) -> str:
    """Hash of the inputs of a kernel of `make exact-deps`, in 16 digits: the content of its
    sources, configuration and patches. For a kernel from elsewhere, the name of its folder."""
    return path.resolve().parent.name


def kernel_release(path: Path) -> str:
    """Release of a kernel, such as 6.1.170; empty for other output. Raises `RunRefusedError` when
    it does not answer."""
    try:
        done = subprocess.run(
            [str(path), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ANSWER_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        hint = f"omit {VARIABLE} for the kernel of `make exact-deps`" if named() else KERNEL_HINT
        what = f"{path} is no kernel: `--version` has no answer in {ANSWER_LIMIT_S} s"
        raise RunRefusedError(f"{what} (hint: {hint})") from None
    except OSError:
        return ""
    said = done.stdout.strip().partition("\n")[0]
    return said if RELEASE.fullmatch(said) else ""


def build() -> str:
    """Identifies the programs and the kernel: results of two of them are never mixed."""
    return _digest((installed(ENGINE), installed(TRAFFIC), required_kernel()))


@cache
def _digest(paths: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:BUILD_DIGITS]
