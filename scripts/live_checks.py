"""The tests with real programs: run them where that is possible, and say in one line why not elsewhere.

They need root, Linux with the privileges of the fabric, and Debian's packages, which are installed when missing.
"""

import os
import subprocess
import sys
from pathlib import Path

import live_deps

ROOT = Path(__file__).resolve().parent.parent
TESTS_LIMIT_S = 350
"""All live tests take less than six minutes."""


def main() -> int:
    """Runs the tests; returns their exit code, or 0 where they cannot run."""
    why = why_not()
    if why:
        print(f"live tests: skipped, {why}")
        return 0
    if live_deps.missing() and (status := live_deps.install()):
        print(f"live tests: the packages cannot be installed (apt-get ended with {status})", file=sys.stderr)
        return status
    command = [sys.executable, "-m", "pytest", "--quiet", "tests/live"]
    environment = os.environ | {"TAILRACE_LIVE_TESTS": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, timeout=TESTS_LIMIT_S, check=False).returncode


def why_not() -> str:
    """Why the tests cannot run on this machine; empty where they can."""
    if sys.platform != "linux":
        return "they need Linux"
    if os.geteuid() != 0:
        return "they need root"
    if not Path("/etc/debian_version").exists():
        return "they install Debian's packages"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    return ""


if __name__ == "__main__":
    sys.exit(main())
