"""The tests with real programs: run them where that is possible, and say in one line why not
elsewhere.

`live_checks.py` runs those that are not marked `slow`, `live_checks.py --all` runs all of them.
With `--install` it installs their packages and ends: most of that is waiting, and a build can go on
beside it.

They need root, Linux with the privileges of the fabric, and Debian's packages, which are installed
when missing. Where the machine cannot have them (a container without rights or network), nothing
failed: the tests are skipped. Elsewhere each test that was skipped is listed at the end with its
reason, and a skip is a failure unless the machine is that reason (`machine.skip_lacking` in the
tests); when that is so for more than a tenth of the tests, the last line says it.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import live_deps
from tailrace.live.lab import fabric
from tailrace.live.lab.fabric import FabricError

ROOT = Path(__file__).resolve().parent.parent
TESTS_LIMIT_S = {False: 900, True: 3600}
"""Those that are not slow, and all: they take about two and twelve minutes on two cores that have
little else to do; a busy machine needs more."""
STOP_GRACE_S = 15
"""After the interrupt: what the tests started ends, and clears up."""
LACKS = "this machine lacks "
"""The beginning of a reason to skip a test that is no failure: `machine.skip_lacking` writes it."""
LACKING_SHARE_MAX = 0.1
"""Of the tests: where the machine cannot run more of them, the last line says so."""


@dataclass(frozen=True)
class Skip:
    """A test that was skipped."""

    test: str
    reason: str

    @property
    def is_of_machine(self) -> bool:
        """Whether the machine cannot run the test."""
        return self.reason.startswith(LACKS)


def main(words: Sequence[str] = ()) -> int:
    """Runs the tests; returns their exit code, or 0 where they cannot run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--all", action="store_true", help="those that are marked `slow`, too")
    parser.add_argument(
        "--install", action="store_true", help="install the packages, and run nothing"
    )
    chosen = parser.parse_args(words)
    why = why_not() or why_no_packages(is_all=chosen.all)
    if why:
        print(f"live tests: skipped, {why}")
        return 0
    return 0 if chosen.install else run_tests(is_all=chosen.all)


def why_not() -> str:
    """Why the tests cannot run on this machine; empty where they can. Raises `FabricError` where
    the fabric fails."""
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


def why_no_packages(*, is_all: bool) -> str:
    """Installs what is missing; why it cannot be installed, empty where everything is there."""
    packages = live_deps.missing_for_tests(is_all=is_all)
    if not packages:
        return ""
    complaint = live_deps.install(packages)
    if complaint:
        return f"packages cannot be installed: {complaint}"
    # A fabric for comparison may lack more than packages: its tests say so.
    still = ", ".join(live_deps.missing_for_tests(is_all=False))
    return f"installed, and yet not there: {still}" if still else ""


def run_tests(*, is_all: bool) -> int:
    """Runs the tests and lists those that were skipped; returns 1 for a skip whose reason is not
    the machine."""
    with tempfile.TemporaryDirectory(prefix="live-checks-") as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "--quiet", "tests/live", f"--junit-xml={report}"]
        command += [] if is_all else ["-m", "not slow"]
        environment = (
            os.environ
            | {"TAILRACE_LIVE_TESTS": "1"}
            | ({"TAILRACE_TESTS": "all"} if is_all else {})
        )
        code = run(command, environment, TESTS_LIMIT_S[is_all])
        return code or told(skips(report), len(cases(report)))


def cases(report: Path) -> list[ElementTree.Element]:
    """All tests, skipped ones too, from a report in the format of JUnit."""
    return list(ElementTree.parse(report).iter("testcase"))


def skips(report: Path) -> list[Skip]:
    """The tests that were skipped."""
    found = ((case, case.find("skipped")) for case in cases(report))
    return [
        Skip(f"{case.get('classname')}::{case.get('name')}", skipped.get("message") or "")
        for case, skipped in found
        if skipped is not None
    ]


def told(skipped: Sequence[Skip], tests: int) -> int:
    """Prints what was skipped of so many tests; returns 1 when there is a skip whose reason is not
    the machine."""
    for skip in skipped:
        print(
            f"live tests: {'not run' if skip.is_of_machine else 'NOT RUN'}: {skip.test}: "
            f"{skip.reason}"
        )
    bad = [skip for skip in skipped if not skip.is_of_machine]
    if bad:
        print(
            f"live tests: {len(bad)} skipped for a reason that is not the machine", file=sys.stderr
        )
    lacking = len(skipped) - len(bad)
    if lacking > LACKING_SHARE_MAX * tests:
        print(f"live tests: {lacking} of {tests} were not run, because of what this machine lacks")
    return 1 if bad else 0


def run(command: list[str], environment: dict[str, str], limit_s: float) -> int:
    """Exit code of a command that is interrupted when it takes too long, so that it can clear
    up."""
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
        sys.exit(main(sys.argv[1:]))
    except FabricError as error:
        sys.exit(f"live tests: {error}")
