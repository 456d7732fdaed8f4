"""The tests with real kernels in virtual time: build their kernel where that is possible, and run
them.

`--all` runs those marked `slow` as well. They need Linux on x86-64, and a kernel in the user's
cache, which root of a Debian machine builds here once. Where the machine cannot have one, one line
says so, and nothing failed; where it can, a test that finds no kernel fails.
"""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

import checks
from tailrace.exact import program

DEBIAN = Path("/etc/debian_version")
REQUIRED = {"TAILRACE_EXACT_REQUIRED": "1"}
"""Tests of guests fail instead of being skipped."""


def main(arguments: list[str]) -> int:
    """Build the kernel and run the tests; returns their exit code, or 0 where there can be none."""
    parser = argparse.ArgumentParser(prog="exact_checks", description=__doc__)
    parser.add_argument("--all", action="store_true", help="the slow ones too")
    parser.add_argument("--kernel", action="store_true", help="build the kernel and end")
    options = parser.parse_args(arguments)
    if can_build() and (status := run([sys.executable, "scripts/exact_deps.py"])):
        return status
    if options.kernel:
        return 0
    if why := why_not():
        print(f"exact tests: skipped, {why}")
        return 0
    python = [sys.executable, "-m", "pytest", "--quiet", "-rs", "tests/exact"]
    chosen = [] if options.all else ["-m", "not slow"]
    rust = ["cargo", "test", "--locked", "--quiet", "-p", "tailrace-exact", "--test", "guests"]
    ignored = ["--", "--include-ignored"] if options.all else []
    return max(run([*python, *chosen]), run([*rust, *ignored]))


def why_not() -> str:
    """Why the tests cannot run on this machine; empty where they can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "they need Linux on x86-64"
    if program.kernel() is None and not can_build():
        return "there is no kernel for guests, and only root of a Debian machine can build one here"
    return ""


def can_build() -> bool:
    """Whether the kernel is built here, and the packages of its tests are installed, where they are
    missing or old."""
    return os.geteuid() == 0 and DEBIAN.exists() and platform.machine() == "x86_64"


def run(command: list[str]) -> int:
    """The exit code of some of the tests."""
    return subprocess.run(
        command, cwd=checks.ROOT, env=os.environ | REQUIRED, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
