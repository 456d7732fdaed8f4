"""The tests with real programs: run them where that is possible, and say in one line why not elsewhere.

They need root, Linux with the privileges of the fabric, and Debian's packages, which are installed when missing. Where
the machine cannot have them (a container without rights or network), nothing failed: the tests are skipped.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import live_deps
from tailrace.live.lab import fabric
from tailrace.live.lab.fabric import FabricError

ROOT = Path(__file__).resolve().parent.parent
TESTS_LIMIT_S = 1500
"""They take about eight minutes on two cores that have little else to do; a busy machine needs more."""
STOP_GRACE_S = 15
"""After the interrupt: what the tests started ends, and clears up."""


def main() -> int:
    """Runs the tests; returns their exit code, or 0 where they cannot run."""
    why = why_not() or why_no_packages()
    if why:
        print(f"live tests: skipped, {why}")
        return 0
    command = [sys.executable, "-m", "pytest", "--quiet", "tests/live"]
    return run(command, os.environ | {"TAILRACE_LIVE_TESTS": "1"}, TESTS_LIMIT_S)


def why_not() -> str:
    """Why the tests cannot run on this machine; empty where they can. Raises `FabricError` where the fabric fails."""
    if sys.platform != "linux":
        return "they need Linux"
    if os.geteuid() != 0:
        return "they need root"
    if not Path("/etc/debian_version").exists():
        return "they install Debian's packages"
    found = fabric.ask("doctor")
    if not found["capabilities"]["lab"]:
        return "root has neither CAP_SYS_ADMIN nor CAP_NET_ADMIN here, or one of them only"
    if not found["tun"]:
        return "/dev/net/tun cannot be used"
    if found["lab_error"]:
        return f"this machine refuses a lab: {found['lab_error']}"
    return ""


def why_no_packages() -> str:
    """Installs what is missing; why it cannot be installed, empty where everything is there."""
    packages = live_deps.missing_for_tests()
    if not packages:
        return ""
    complaint = live_deps.install(packages)
    if complaint:
        return f"packages cannot be installed: {complaint}"
    still = ", ".join(live_deps.missing_for_tests())
    return f"installed, and yet not there: {still}" if still else ""


def run(command: list[str], environment: dict[str, str], limit_s: float) -> int:
    """Exit code of a command that is interrupted when it takes too long, so that it can clear up."""
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        print(f"live tests: not done within {limit_s:g} s", file=sys.stderr)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
        return 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, live_deps.end_in_order)
    try:
        sys.exit(main())
    except FabricError as error:
        sys.exit(f"live tests: {error}")
