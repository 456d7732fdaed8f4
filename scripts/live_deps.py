"""Install the programs of live runs from Debian's packages: `make live-deps`. No daemon is started
by it.

What only some runs need is named: `make live-deps WITH="ovs ovs-dpdk"`.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tailrace.live.lab import fabric
from tailrace.live.machine import doctor
from tailrace.programs import needed
from tailrace.programs.needed import Needed
from tailrace.tools.drive.identity import NVME, SMARTCTL

POLICY = Path("/usr/sbin/policy-rc.d")
"""Debian asks this program whether a package may start its daemon; 101 says no (invoke-rc.d(8))."""
REFUSAL = "#!/bin/sh\nexit 101\n"
INSTALL_LIMIT_S = 280
"""For both steps together: lists and packages."""
EXTRA = {
    "ovs": ("openvswitch-switch",),
    # Libraries that DPDK loads while it runs; their names end in the version of its interface.
    "ovs-dpdk": (
        "openvswitch-switch-dpdk",
        "^librte-net-af-packet[0-9]+$",
        "^librte-mempool-ring[0-9]+$",
    ),
}
"""Packages of what is installed when it is named."""
DRIVES = (SMARTCTL, NVME)
"""What drives say of themselves: `tailrace measure drive` and `split` do without, and tell less
then."""
TCL = ("tcl", "tcl-thread", "libpgtcl")
"""For the tests alone: a stand-in for HammerDB, which no package has, is a Tcl program."""
TCL_LIMIT_S = 10
IPTABLES = Needed("iptables", "iptables", "--version", "lines that `tailrace advise` prints")
"""For the tests alone."""
SLOW_ALONE = (
    "mariadb-server",
    "mariadb-client",
    "galera-4",
    "rsync",
    "rabbitmq-server",
    "hpcc",
    "netpipe-openmpi",
    "sysbench",
    "smartmontools",
    "nvme-cli",
)
"""Packages whose programs only tests marked `slow` start: half of the time that the installation
takes."""
APT = (
    "apt-get",
    "--quiet",
    "--quiet",
    "--option",
    "Acquire::http::Timeout=20",
    "--option",
    "Acquire::Retries=1",
)
"""A machine without a network is told from a slow one within a minute."""


def missing(wanted: Sequence[str] = ()) -> list[str]:
    """Packages of required programs that are not there, and of what was named besides and is not
    there."""
    packages = needed.packages(
        [*doctor.missing(), *(each for each in DRIVES if needed.path_of(each) is None)]
    )
    lacking = fabric.ask("doctor").get("fabrics") or {} if wanted else {}
    packages += [package for name in wanted if lacking.get(name) for package in EXTRA[name]]
    return list(dict.fromkeys(packages))


def missing_for_tests(*, is_all: bool) -> list[str]:
    """Packages that are not there and that the tests need: all of them, or those that are not
    marked `slow`."""
    if not is_all:
        return [package for package in missing() if package not in SLOW_ALONE]
    found = missing(tuple(EXTRA)) + needed.packages(
        [IPTABLES] if needed.path_of(IPTABLES) is None else []
    )
    return [*found, *([] if _has_tcl() else TCL)]


def _has_tcl() -> bool:
    words = ["tclsh"]
    script = "package require Thread; package require Pgtcl"
    try:
        done = subprocess.run(
            words, input=script, capture_output=True, text=True, timeout=TCL_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return not done.stderr


def install(packages: Sequence[str]) -> str:
    """Installs packages; returns the last complaint of apt-get, empty when it had none."""
    is_ours = not POLICY.exists()
    try:
        if is_ours:
            POLICY.write_text(REFUSAL, encoding="ascii")
            POLICY.chmod(0o755)
        deadline_s = time.monotonic() + INSTALL_LIMIT_S
        update = _apt_complaint("update", limit_s=deadline_s - time.monotonic())
        words = ("install", "--yes", "--no-install-recommends", *packages)
        # Lists that are there already may do where they cannot be renewed.
        complaint = _apt_complaint(*words, limit_s=deadline_s - time.monotonic())
    except OSError as error:
        return str(error)
    finally:
        if is_ours:
            POLICY.unlink(missing_ok=True)
    return (update or complaint) if complaint else ""


def _apt_complaint(*words: str, limit_s: float) -> str:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [*APT, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=max(1.0, limit_s),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"apt-get {words[0]} was not done within {limit_s:.0f} s"
    if done.returncode == 0:
        return ""
    said = [line for line in done.stderr.splitlines() if line.startswith(("E:", "W:"))]
    return f"apt-get {words[0]}: {said[-1] if said else f'status {done.returncode}'}"


def end_in_order(number: int, _frame: object) -> None:
    """A signal ends the program in the ordinary way, so that the policy is removed."""
    sys.exit(128 + number)


def main() -> int:
    """Installs what is missing and says what that is."""
    wanted = sys.argv[1:]
    if unknown := [name for name in wanted if name not in EXTRA]:
        print(f"live-deps: there is no {unknown[0]!r} (hint: {', '.join(EXTRA)})", file=sys.stderr)
        return 2
    lacking = missing(wanted)
    if not lacking:
        print("live-deps: every program is there")
        return 0
    if os.geteuid() != 0:
        print(f"live-deps: as root, apt-get install {' '.join(lacking)}", file=sys.stderr)
        return 1
    print(f"live-deps: {' '.join(lacking)}", flush=True)
    complaint = install(lacking)
    if complaint:
        print(f"live-deps: {complaint}", file=sys.stderr)
    return 1 if complaint else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end_in_order)
    sys.exit(main())
