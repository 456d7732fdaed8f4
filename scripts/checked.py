"""The build that tests use: the extension and the programs, optimised, with overflow checks and
debug assertions.

It is of the graph of the Rust tests, so that their crates are compiled once, and lies beside what
`make build` has installed: `target/checked/tailrace` is the package by links, with this extension
and these programs. With its folder in PYTHONPATH, `tailrace` is that. In a fresh clone it is
installed as well, until `make build` replaces it by the faster one.
"""

import shutil
import sys
from pathlib import Path

import build
import checks

PACKAGE = checks.ROOT / "python" / "tailrace"
BUILT = build.TARGET / "debug"
"""Where cargo puts what it builds with the profile of tests."""


def main() -> int:
    """Build, and lay the package."""
    if status := build.step("for tests", "cargo", "build", "--profile", "test", *build.ALL):
        return status
    lay(PACKAGE, checks.CHECKED / "tailrace")
    return 0 if (checks.ROOT / ".venv" / "bin" / "tailrace").exists() else install()


def install() -> int:
    """What a fresh clone has until `make build`; returns an exit code."""
    if status := build.install("test"):
        return status
    # With cargo's profile for tests maturin has compiled the extension as a program that runs its
    # tests.
    shutil.copy2(BUILT / "lib_native.so", PACKAGE / "_native.abi3.so")
    build.put_programs(BUILT)
    return 0


def lay(package: Path, checked: Path) -> None:
    """The package by links, with the extension and the programs that tests use."""
    own = ("_native.abi3.so", "__pycache__", "bin")
    links = {path.name: path for path in package.iterdir() if not path.name.startswith(own)}
    links["_native.abi3.so"] = BUILT / "lib_native.so"
    links |= {f"bin/{name}": BUILT / name for name in build.PROGRAMS}
    (checked / "bin").mkdir(parents=True, exist_ok=True)
    # Links that are right stay: other checks may be importing by them.
    for path in (*checked.iterdir(), *(checked / "bin").iterdir()):
        if path.is_symlink() and links.get(str(path.relative_to(checked))) != path.readlink():
            path.unlink()
    for name, target in links.items():
        if not (checked / name).is_symlink():
            (checked / name).symlink_to(target)


if __name__ == "__main__":
    sys.exit(main())
