"""Runs a command on a machine that is made to look otherwise: `elsewhere.py KIND COMMAND ...`.

Kinds: `read-only` (control groups cannot be made), `version-2` (one hierarchy of version 2),
`no-namespaces` (an ordinary user who may not make a user namespace), `open-tun` (every user may use
/dev/net/tun). Everything happens in namespaces of this process's own.
"""

import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
TUN, TUN_NUMBERS = Path("/dev/net/tun"), (10, 200)
"""Documentation/admin-guide/devices.txt of Linux."""
NO_RIGHTS = ("setpriv", "--inh-caps=-all", "--bounding-set=-all")


def elsewhere(kind: str, words: Sequence[str]) -> list[str]:
    """The command line."""
    space = (
        ["--user", "--map-root-user"]
        if kind == "no-namespaces"
        else ["--mount", "--propagation", "private"]
    )
    return ["unshare", *space, sys.executable, __file__, kind, *words]


def main(kind: str, words: Sequence[str]) -> None:
    """Changes what the namespaces show, and becomes the command."""
    match kind:
        case "read-only":
            for place in mounted():
                subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True, timeout=10)
        case "version-2":
            for place in mounted():
                subprocess.run(["umount", "--lazy", place], check=True, timeout=10)
            subprocess.run(
                ["mount", "-t", "cgroup2", "cgroup2", str(GROUPS)], check=True, timeout=10
            )
        case "no-namespaces":
            Path("/proc/sys/user/max_user_namespaces").write_text("0", encoding="ascii")
            words = [*NO_RIGHTS, *words]
        case "open-tun":
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", str(TUN.parent)],
                check=True,
                timeout=10,
            )
            os.mknod(TUN, stat.S_IFCHR | 0o666, os.makedev(*TUN_NUMBERS))
            TUN.chmod(0o666)
    os.execvp(words[0], list(words))


def mounted() -> list[str]:
    """Where control groups are mounted."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [line.split()[4] for line in lines if line.partition(" - ")[2].startswith("cgroup")]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
