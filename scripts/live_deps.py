"""Install the programs of live runs from Debian's packages: `make live-deps`. No daemon is started by it."""

import os
import subprocess
import sys
from pathlib import Path

from tailrace.live import doctor

POLICY = Path("/usr/sbin/policy-rc.d")
"""Debian asks this program whether a package may start its daemon; 101 says no (invoke-rc.d(8))."""
REFUSAL = "#!/bin/sh\nexit 101\n"
INSTALL_LIMIT_S = 280


def missing() -> list[str]:
    """Packages of required programs that are not there."""
    return list(dict.fromkeys(needed.package for needed in doctor.missing()))


def install() -> int:
    """Installs what is missing; returns the exit code of apt-get."""
    is_ours = not POLICY.exists()
    if is_ours:
        POLICY.write_text(REFUSAL, encoding="ascii")
        POLICY.chmod(0o755)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        for words in (["update"], ["install", "--yes", "--no-install-recommends", *missing()]):
            done = subprocess.run(
                ["apt-get", "--quiet", "--quiet", *words], env=environment, timeout=INSTALL_LIMIT_S, check=False
            )
            if done.returncode:
                return done.returncode
    finally:
        if is_ours:
            POLICY.unlink(missing_ok=True)
    return 0


def main() -> int:
    """Installs what is missing and says what that is."""
    lacking = missing()
    if not lacking:
        print("live-deps: every program is there")
        return 0
    if os.geteuid() != 0:
        print(f"live-deps: as root, apt-get install {' '.join(lacking)}", file=sys.stderr)
        return 1
    print(f"live-deps: {' '.join(lacking)}", flush=True)
    return install()


if __name__ == "__main__":
    sys.exit(main())
