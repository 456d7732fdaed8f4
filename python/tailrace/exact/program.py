"""The programs and the kernel of exact runs: where they are, and what identifies them."""

import hashlib
import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path

from tailrace.errors import RunRefusedError, TailraceError

ENGINE = "tailrace-exact"
TRAFFIC = "tailrace-traffic"
VARIABLE = "TAILRACE_EXACT_KERNEL"
"""Names the kernel's file (`crates/exact/src/kernel.rs`)."""
SHORT_LIMIT_S = 30
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


def kernel() -> Path | None:
    """The kernel of the guests; None where there is none."""
    try:
        done = subprocess.run(
            [str(installed(ENGINE)), "kernel"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SHORT_LIMIT_S,
            check=True,
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise ExactError(f"{ENGINE} kernel: {error}") from None
    found = json.loads(done.stdout)["kernel"]
    return Path(found) if found else None


def named() -> str | None:
    """The kernel that the environment names, whether or not it is there."""
    return os.environ.get(VARIABLE) or None


def required_kernel() -> Path:
    """The kernel of the guests; raises `RunRefusedError` where there is none."""
    found = kernel()
    if found is None and (path := named()):
        raise RunRefusedError(f"{VARIABLE}: {path} is no file (hint: omit it for the kernel of `make exact-deps`)")
    if found is None:
        raise RunRefusedError(f"an exact run needs a kernel for its hosts, which is not built (hint: {KERNEL_HINT})")
    return found


def kernel_key(path: Path) -> str:
    """What a kernel of `make exact-deps` was built from, in 16 digits: source package, configuration, patches. For a
    kernel from elsewhere, the name of its folder.
    """
    return path.resolve().parent.name


def kernel_release(path: Path) -> str:
    """Release of a kernel, such as 6.1.170; empty when it says something else.

    Raises `RunRefusedError` when it does not answer.
    """
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
    return said if RELEASE.match(said) else ""


def build() -> str:
    """Identifies the programs and the kernel: results of two of them are never mixed."""
    return _digest((installed(ENGINE), installed(TRAFFIC), required_kernel()))


@cache
def _digest(paths: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:BUILD_DIGITS]
